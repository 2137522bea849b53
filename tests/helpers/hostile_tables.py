"""Tables that are small as files and huge in memory, or that are not what they say."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from places import DATA

from mpd2.lab.uploads import example_table

EXAMPLE = example_table(DATA / "glaucoma.csv")
ROWS = EXAMPLE.count("\n") - 1


def example() -> pa.Table:
    """The example as Arrow has it."""
    return pa.Table.from_pandas(pd.read_csv(io.StringIO(EXAMPLE)), preserve_index=False)


def parquet(table: pa.Table) -> bytes:
    """A table as a file, packed as small as it gets."""
    pq.write_table(table, file := io.BytesIO(), compression="zstd")
    return file.getvalue()


def with_lists(each: int) -> bytes:
    """With a further column whose every cell is a list of zeros."""
    starts = pa.array(np.arange(ROWS + 1, dtype=np.int32) * each)
    return parquet(
        example().append_column("extra", pa.ListArray.from_arrays(starts, pa.array(np.zeros(ROWS * each, np.int8))))
    )


def with_long_text(length: int, column: str = "extra") -> bytes:
    """With one long text in every row of a column: written once, with a reference in each row."""
    texts, table = pa.array(["0" * length] * ROWS), example()
    if column in table.column_names:
        return parquet(table.set_column(table.column_names.index(column), column, texts))
    return parquet(table.append_column(column, texts))


def with_bytes(cell: bytes, column: str, kind: pa.DataType) -> bytes:
    """With a column of cells that claim to be text, or are bytes."""
    table = example()
    cells = pa.array([cell] * len(table), pa.binary())
    claimed = pa.Array.from_buffers(kind, len(table), cells.buffers())
    return parquet(table.set_column(table.column_names.index(column), column, claimed))


def ended_by_returns(rows: int) -> bytes:
    """More rows than there are line feeds."""
    header, first = EXAMPLE.splitlines()[:2]
    rest = first[first.index(",") :]
    return "\r".join([header, *(f"c{number}{rest}" for number in range(rows))]).encode()
