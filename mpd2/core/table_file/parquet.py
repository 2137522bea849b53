"""Parquet files: what they say of themselves before anything is unpacked, and how long their texts really are."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

POINTER = 8  # bytes that a cell takes at least, whatever it holds


@dataclass(frozen=True)
class Described:
    """A column as the file describes it."""

    name: str
    kind: str
    nested: bool  # whether its cells hold lists or tables of their own
    unpacked: int  # bytes that its cells take, a text that stands in many rows counted once


@dataclass(frozen=True)
class Description:
    """A file as it describes itself; nobody has checked that it is true."""

    rows: int
    columns: tuple[Described, ...]

    @property
    def unpacked(self) -> int:
        """Bytes that all columns take."""
        return sum(column.unpacked for column in self.columns)


def described(data: bytes) -> Description:
    """What a file says it holds, without unpacking it."""
    file = pq.ParquetFile(io.BytesIO(data))
    about = file.metadata
    groups = [about.row_group(place) for place in range(about.num_row_groups)]
    columns, first = [], 0
    for field in file.schema_arrow:
        leaves = range(first, first + _leaves(field.type))
        chunks = [group.column(leaf) for group in groups for leaf in leaves]
        size = sum(max(chunk.num_values * POINTER, chunk.total_uncompressed_size) for chunk in chunks)
        columns.append(Described(field.name, str(field.type), pa.types.is_nested(field.type), size))
        first = leaves.stop
    return Description(about.num_rows, tuple(columns))


def read_compactly(data: bytes, columns: Sequence[str] | None = None) -> pa.Table:
    """The table with each different text once: one that stands in many rows is not copied into them."""
    words = [field.name for field in pq.read_schema(io.BytesIO(data)) if is_text(field.type)]
    return pq.ParquetFile(io.BytesIO(data), read_dictionary=words).read(columns=columns, use_threads=False)


def plain(table: pa.Table) -> pa.Table:
    """A compact table with every text in its cell."""
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names) if columns else table


def text_bytes(table: pa.Table) -> int:
    """How many bytes the texts of a compact table take when each is written as often as it stands there."""
    return sum(map(_size, table.columns))


def longest_text(column: pa.ChunkedArray) -> int:
    """How many bytes the longest text of a column of a compact table has."""
    if not _is_compact(column):
        return 0
    return max((int(pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0) for chunk in column.chunks), default=0)


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of a kind are text, or bytes that may be."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _is_compact(column: pa.ChunkedArray) -> bool:
    return pa.types.is_dictionary(column.type) and is_text(column.type.value_type)


def _size(column: pa.ChunkedArray) -> int:
    if not _is_compact(column):
        return 0
    lengths = [pc.take(pc.binary_length(chunk.dictionary), chunk.indices) for chunk in column.chunks]
    return sum(int(pc.sum(chunk.cast(pa.int64())).as_py() or 0) for chunk in lengths)


def _leaves(kind: pa.DataType) -> int:
    """How many columns of the file a column of the table takes."""
    if not pa.types.is_nested(kind):
        return 1
    return sum(_leaves(kind.field(place).type) for place in range(kind.num_fields))
