"""Parquet files: what they claim to unpack to, and what their texts really do."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def declared(data: bytes) -> tuple[int, int]:
    """Rows and bytes that a file says it unpacks to, without unpacking it."""
    about = pq.read_metadata(io.BytesIO(data))
    return about.num_rows, sum(about.row_group(position).total_byte_size for position in range(about.num_row_groups))


def read_compactly(data: bytes) -> pa.Table:
    """The table with each different text once: one that stands in many rows is not copied into them."""
    words = [field.name for field in pq.read_schema(io.BytesIO(data)) if is_text(field.type)]
    return pq.read_table(io.BytesIO(data), read_dictionary=words)


def text_bytes(table: pa.Table) -> int:
    """How many bytes the texts of a compact table take when each is written as often as it stands there."""
    return sum(map(_size, table.columns))


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of a kind are text, or bytes that may be."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)


def _size(column: pa.ChunkedArray) -> int:
    if not pa.types.is_dictionary(column.type) or not is_text(column.type.value_type):
        return 0
    lengths = [pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks]
    return sum(int(pc.sum(chunk.cast(pa.int64())).as_py() or 0) for chunk in lengths)
