"""Worklists to take to a clinic: one table of all cases, and a sheet for each reader."""

from __future__ import annotations

import io
import re
import zipfile

import pandas as pd

from mpd2.core.manifest import Manifest
from mpd2.core.policy import DECIDED_BY, DECIDERS
from mpd2.present.documents.spreadsheets import to_csv

HEADINGS = {"reader": "assigned_to", "kept_cost": "cost_if_kept"}
FIRST = (
    "case_id", "cohort", "ai_answer", "ai_probability", "assigned_to", "then_1", "then_2", "decided_by", "answer",
    "reason", "expected_cost", "cost_if_kept", "urgent", "place",
)  # fmt: skip
"""What a clinician reads, in this order; whatever else a worklist has comes after it."""

DIGITS = {"ai_probability": 4, "expected_cost": 3, "cost_if_kept": 3, "defer": 3}
TURNS = ("first", "second", "third")
NOT_SHOWN = ["action", "margin"]  # for programs
IN_WORDS = dict(zip(DECIDED_BY, DECIDERS, strict=True))
EVERYBODY = "all-cases"


def clinic_table(rows: pd.DataFrame) -> pd.DataFrame:
    """A `planning.worklist` as people read it: clinical columns first, those sent first, then the costliest to keep."""
    sent = rows["action"] != "ai"
    rows = rows.assign(decided_by=rows["decided_by"].map(IN_WORDS))
    table = rows.iloc[(-rows["kept_cost"]).argsort(kind="stable")]
    table = table.iloc[(~sent.loc[table.index]).argsort(kind="stable")].rename(columns=HEADINGS)
    table = table.drop(columns=[name for name in NOT_SHOWN if name in table])
    first = [name for name in FIRST if name in table]
    others = [name for name in table if name not in first]
    return table[[*first, *others]].round(DIGITS).reset_index(drop=True)


def reader_sheets(rows: pd.DataFrame, manifest: Manifest) -> dict[str, pd.DataFrame]:
    """For each reader who has any, by name, the cases to read, with `turn`: whether as the first reader or a later one.

    A later one is asked only after those before.
    """
    table = clinic_table(rows)
    asked = table[["assigned_to", *(name for name in FIRST if name.startswith("then_") and name in table)]]
    sheets = {}
    for reader in manifest.readers:
        mine = asked == reader.name
        turn = mine.to_numpy().argmax(1)
        sheet = table.drop(columns=asked.columns).drop(columns=["decided_by", "answer"])
        sheet.insert(1, "turn", [TURNS[step] for step in turn])
        sheets[reader.name] = sheet[mine.any(axis=1)].reset_index(drop=True)
    return {name: sheet for name, sheet in sheets.items() if len(sheet)}


def reader_files(rows: pd.DataFrame, manifest: Manifest) -> bytes:
    """A zip file with a CSV file for each reader who has any case, and one of all cases."""
    tables = {EVERYBODY: clinic_table(rows)} | reader_sheets(rows, manifest)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for position, (name, table) in enumerate(tables.items()):
            archive.writestr(f"{position:02d}-{_file_name(name)}.csv", to_csv(table))
    return packed.getvalue()


def _file_name(name: str) -> str:
    """A name that every system takes for a file's.

    >>> _file_name("Zoë 1"), _file_name("../etc")
    ('Zoë-1', 'etc')
    """
    return re.sub(r"[^\w]+", "-", name).strip("-") or "reader"
