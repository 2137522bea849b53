"""The cells of a workspace's table as text, read and written."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from mpd2.core.manifest import Manifest
from mpd2.core.table_file import table_bytes
from mpd2.core.table_file.cells import read_cells


def table_cells(data: bytes, manifest: Manifest) -> pd.DataFrame:
    """A workspace's table as text; its index holds the rows as a spreadsheet counts them."""
    row, groups = manifest.row, [manifest.groups.column] if manifest.groups else []
    return read_cells(data, manifest.table, [*row.names, *groups])


def written_cells(cells: pd.DataFrame, name: str) -> bytes:
    """Text cells as the bytes of the file `name`, CSV or Parquet by its ending."""
    if Path(name).suffix.lower() == ".csv":
        return table_bytes(cells)
    file = io.BytesIO()
    cells.reset_index(drop=True).to_parquet(file, index=False, compression="zstd")
    return file.getvalue()
