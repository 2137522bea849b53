"""Tables as other people's programs write them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import xlsxwriter

from mpd2.core.manifest import Manifest
from mpd2.lab.imports.drafting import answer_words, draft, suggest
from mpd2.lab.imports.files import RawTable, read_table
from mpd2.lab.imports.matching import changed, propose
from mpd2.lab.imports.normalise import Normalised, normalise

READERS = ("reader_1", "reader_2", "reader_3")


def clinic(cases: int = 240, seed: int = 0) -> pd.DataFrame:
    """A made-up table of text: two patients' rows side by side, three readers with gaps, two sites, a date each."""
    random = np.random.default_rng(seed)
    truth = (random.random(cases) < 0.3).astype(int)
    truth[:6] = (1, 0, 1, 0, 1, 0)
    noise = random.normal(size=cases)
    frame = pd.DataFrame(
        {
            "case_id": [f"c{n:05d}" for n in range(cases)],
            "patient": [f"p{n // 2:04d}" for n in range(cases)],
            "site": np.array(["north", "south"])[random.integers(0, 2, cases)],
            "visit_date": [f"2024-{1 + n * 12 // cases:02d}-{1 + n % 28:02d}" for n in range(cases)],
            "truth": truth.astype(str),
            "ai_probability": [f"{p:.4f}" for p in 1 / (1 + np.exp(1 - 2 * truth - noise))],
            "age": random.integers(20, 90, cases).astype(str),
            "sex": np.array(["F", "M"])[random.integers(0, 2, cases)],
        }
    )
    for reader in READERS:
        said = np.where(random.random(cases) < 0.15, 1 - truth, truth).astype(str).astype(object)
        said[random.random(cases) < 0.2] = ""
        frame[reader] = said
    return frame.astype(object)


def as_csv(frame: pd.DataFrame, separator: str = ",", encoding: str = "utf-8") -> bytes:
    return frame.to_csv(index=False, sep=separator, lineterminator="\n").encode(encoding)


def as_parquet(frame: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), file)
    return file.getvalue()


def as_workbook(
    rows: Sequence[Sequence[object]], merged: Sequence[tuple[int, int, int, int]] = (), further: str = ""
) -> bytes:
    """A workbook of one sheet, or with a small further one; a merged range is first row, first column, last ones."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    if further:
        book.add_worksheet(further).write(0, 0, "a remark")
    sheet = book.add_worksheet("Cases")
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if hasattr(cell, "year"):
                sheet.write_datetime(row, column, cell, day)
            elif cell not in ("", None):
                sheet.write(row, column, cell)
    for top, left, bottom, right in merged:
        sheet.merge_range(top, left, bottom, right, rows[top][left])
    book.close()
    return file.getvalue()


def raw(frame: pd.DataFrame, name: str = "cases.csv") -> RawTable:
    return read_table(as_csv(frame), name)


def in_long_form(frame: pd.DataFrame, readers: Sequence[str] = READERS) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The cases without their readers, and one row a reading, in no order."""
    long = frame.melt("case_id", list(readers), "who", "answer")
    return frame.drop(columns=list(readers)), long[long["answer"] != ""].sample(frac=1, random_state=0)


def drafted(frame: pd.DataFrame, uses: dict[str, str] | None = None) -> Manifest:
    """The manifest that follows from the proposals for a table, some of them changed."""
    proposals = changed(propose(raw(frame)), uses or {})
    return draft(proposals, suggest(proposals, "cases.csv"))


def normalised(frame: pd.DataFrame, uses: dict[str, str] | None = None) -> Normalised:
    """A table with what was proposed for it, some of it changed."""
    proposals = changed(propose(raw(frame)), uses or {})
    return normalise(raw(frame), None, draft(proposals, suggest(proposals)), answer_words(proposals))
