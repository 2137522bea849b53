"""A small table from another field, with patients of several rows, and workspaces made of it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.shelf import create

MANIFEST = """
version = 2
title = "Apnoea in nights of sleep"
table = "nights.csv"

[task]
positive = "apnoea"
negative = "none"
case = "epoch"

[columns]
case = "epoch"
truth = "truth"
cohort = "site"
split = "part"
date = "recorded"

[ai]
probability = "score"
threshold = 0.4

[groups]
column = "patient"
word = "patient"

[costs]
false_negative = 4.0
false_positive = 1.0

[[inputs]]
column = "snoring"
role = "structure"

[[inputs]]
column = "age"
unit = "years"
missing = true

[[readers]]
column = "ann"
name = "Ann"
fee = 0.3

[[readers]]
column = "bob"
name = "Bob"
fee = 0.1

[[cohorts]]
key = "hill"
name = "Hill"
readings = "real"

[[cohorts]]
key = "lake"
name = "Lake"
readings = "real"
"""


def nights(patients: int = 60, seed: int = 0, first: int = 0) -> pd.DataFrame:
    """Three epochs of each patient, as text; a column more than the manifest names."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(first, first + patients), 3)
    truth = random.random(len(who)) < 0.3
    score = np.clip(np.where(truth, 0.7, 0.3) + random.normal(0, 0.2, len(who)), 0, 1).round(4)
    says = np.where(random.random((2, len(who))) < 0.85, truth, ~truth).astype(int).astype(str)
    return pd.DataFrame(
        {
            "epoch": [f"e{first * 3 + row:04d}" for row in range(len(who))],
            "patient": [f"p{each:03d}" for each in who],
            "site": np.where(who % 3 == 0, "hill", "lake"),
            "part": np.array(["train", "train", "val", "test"])[who % 4],
            "truth": truth.astype(int).astype(str),
            "score": score.astype(str),
            "snoring": random.normal(5, 1, len(who)).round(3).astype(str),
            "age": np.where(random.random(len(who)) < 0.2, "", random.integers(20, 80, len(who)).astype(str)),
            "ann": says[0],
            "bob": np.where(random.random(len(who)) < 0.3, "", says[1]),
            "recorded": "2025-03-01",
            "note": "seen, twice",
        }
    )


def table_of(cells: pd.DataFrame) -> bytes:
    """As a CSV file."""
    return cells.to_csv(index=False, lineterminator="\n").encode()


def small_workspace(place: Workshop, name: str = "nights", patients: int = 60) -> Workspace:
    """A workspace with that table, a datasheet and a stand-in for what a study makes."""
    made = create(name, table_of(nights(patients)), MANIFEST, place, "# Nights\n\nMade up.\n", by=LOCAL)
    for path, text in {
        "runs/ai/config.json": '{"method": "ai"}',
        "tables/overall.csv": "method,metric\nai,Acc\n",
        "tables/index.json": "{}",
        "map/map.json": "{}",
        "RESULTS.md": "# Results",
        "build/study/draft.json": "{}",
    }.items():
        (made.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (made.folder / path).write_text(text)
    return made
