"""A small workspace of another field, made up: heart murmurs in recordings, three listeners, two inputs, patients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from tiny_study import quick

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.shelf import create
from mpd2.study.definition import CONTENDERS, Study

NAME = "murmurs"
RUNS = ("mpd2-plus", "ai", "recalibrated-score", "recalibrated", "random-reader", "oracle")
MANIFEST = """
version = 2
title = "Murmurs in two wards"
table = "murmurs.csv"

[task]
positive = "murmur"
negative = "none"
case = "recording"

[columns]
case = "recording"
truth = "echo"
cohort = "ward"
split = "part"

[ai]
probability = "score"
threshold = 0.4

[groups]
column = "patient"

[costs]
false_negative = 3.0
false_positive = 1.0

[[inputs]]
column = "rate"
title = "heart rate"
unit = "1/min"

[[inputs]]
column = "age"
unit = "years"
missing = true

[[readers]]
column = "ann"
name = "Ann"
fee = 0.2

[[readers]]
column = "bob"
name = "Bob"
fee = 0.05

[[readers]]
column = "cat"
name = "Cat"
fee = 0.1

[[cohorts]]
key = "east"
name = "East"
readings = "real"

[[cohorts]]
key = "west"
name = "West"
readings = "real"
"""


def recordings(patients: int = 160, seed: int = 0) -> pd.DataFrame:
    """Three recordings of each patient, as text; each listener has heard most of them."""
    random = np.random.default_rng(seed)
    who = np.repeat(np.arange(patients), 3)
    murmur = (random.random(patients) < 0.35)[who]
    score = np.clip(np.where(murmur, 0.6, 0.35) + random.normal(0, 0.2, len(who)), 0.001, 0.999)
    says = np.where(random.random((3, len(who))) < np.array([[0.95], [0.75], [0.85]]), murmur, ~murmur).astype(int)
    heard = random.random((3, len(who))) < 0.9
    return pd.DataFrame(
        {
            "recording": [f"m{row:04d}" for row in range(len(who))],
            "patient": [f"p{each:03d}" for each in who],
            "ward": np.where(who % 2 == 0, "east", "west"),
            "part": np.array(["train", "train", "val", "test"])[who // 2 % 4],
            "echo": murmur.astype(int).astype(str),
            "score": score.round(4).astype(str),
            "rate": (70 + 10 * murmur + random.normal(0, 8, len(who))).round(1).astype(str),
            "age": np.where(random.random(len(who)) < 0.1, "", random.integers(20, 80, len(who)).astype(str)),
            **{name: np.where(heard[j], says[j].astype(str), "") for j, name in enumerate(("ann", "bob", "cat"))},
        }
    )


def made_workspace(place: Workshop, name: str = NAME, runs: Sequence[str] = RUNS) -> Workspace:
    """The workspace with some runs that were hardly trained; none of its tables, and no map."""
    table = recordings().to_csv(index=False, lineterminator="\n").encode()
    made = create(name, table, MANIFEST, place, "# Murmurs\n\nMade up.\n", by=LOCAL)
    study = Study(made.cohort(), made.folder, (42, 43), contenders={run: quick(CONTENDERS[run]) for run in runs})
    for run in runs:
        study.make(run, say=lambda _: None)
    return made


def many_workspace(place: Workshop, readers: int = 30, inputs: int = 25, cohorts: int = 20) -> Workspace:
    """Many of everything: each case is read by some of many, and few cases are of any one cohort."""
    random = np.random.default_rng(1)
    rows = 40 * cohorts
    truth = random.random(rows) < 0.3
    says = np.where(random.random((readers, rows)) < 0.85, truth, ~truth).astype(int).astype(str)
    table = {
        "id": [f"c{row:05d}" for row in range(rows)],
        "site": [f"s{row % cohorts}" for row in range(rows)],
        "part": np.array(["train", "train", "val", "test"])[np.arange(rows) // cohorts % 4],
        "truth": truth.astype(int),
        "score": np.clip(np.where(truth, 0.6, 0.35) + random.normal(0, 0.2, rows), 0.01, 0.99).round(3),
        **{f"x{each}": random.normal(0, 1, rows).round(3) for each in range(inputs)},
        **{f"r{each}": np.where(random.random(rows) < 0.3, says[each], "") for each in range(readers)},
    }
    manifest = "\n".join(
        [
            'version = 2\ntitle = "Many of everything"\ntable = "many.csv"\n[task]\npositive = "nodule"',
            'negative = "none"\n[columns]\ncase = "id"\ntruth = "truth"\ncohort = "site"\nsplit = "part"',
            '[ai]\nprobability = "score"\n[costs]\nfalse_negative = 3.0\nfalse_positive = 1.0',
            *(f'[[inputs]]\ncolumn = "x{each}"' for each in range(inputs)),
            *(f'[[readers]]\ncolumn = "r{each}"\nname = "Reader {each}"\nfee = 0.1' for each in range(readers)),
            *(f'[[cohorts]]\nkey = "s{each}"\nname = "Site {each}"' for each in range(cohorts)),
        ]
    )
    made = create("many", pd.DataFrame(table).to_csv(index=False).encode(), manifest, place, by=LOCAL)
    study = Study(
        made.cohort(), made.folder, (42,), contenders={run: CONTENDERS[run] for run in ("ai", "recalibrated")}
    )
    for run in study.contenders:
        study.make(run, say=lambda _: None)
    return made
