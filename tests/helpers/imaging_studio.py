"""A small workspace of rendered photographs with outlines in its table, and a tiny pipeline to measure new ones."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from imaging_models import save_classifier, save_segmenter
from PIL import Image
from tiny_study import quick

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.workspace import Workspace
from mpd2.imaging.measurement import row_of_outlines
from mpd2.imaging.outlines import outlines_of_ellipses
from mpd2.imaging.pipeline import make_pipeline
from mpd2.imaging.simulation.render import FRAME, Eye, Shot, draw_eye, render
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.shelf import create
from mpd2.study.definition import CONTENDERS, Study

NAME = "eyes"
SIDE = 256  # pixels of a photograph
PATIENT = "Mustermann"  # in the metadata of every file, and nowhere else
MANIFEST = """
version = 2
title = "Rendered eyes"
table = "eyes.csv"

[task]
positive = "glaucoma"
negative = "healthy"
case = "photograph"

[columns]
case = "eye"
truth = "truth"
cohort = "site"
split = "part"

[ai]
logits = ["logit_0", "logit_1"]

[drawing]
vertical = "vCDR"
horizontal = "hCDR"
area = "aCDR"

[photographs]
column = "file"

[costs]
false_negative = 2.0
false_positive = 1.5

[[inputs]]
column = "vim_risk_z"
title = "image distance"
role = "risk"
signal = "distance"

[[inputs]]
column = "quality_risk"
title = "quality risk"
role = "risk"
signal = "quality"

[[inputs]]
column = "vCDR"
title = "vertical CDR"
role = "structure"

[[inputs]]
column = "aCDR"
title = "area CDR"
role = "structure"

[[readers]]
column = "ann"
name = "Ann"
fee = 0.2

[[readers]]
column = "bob"
name = "Bob"
fee = 0.1

[[cohorts]]
key = "east"
name = "East"
readings = "simulated"

[[cohorts]]
key = "west"
name = "West"
readings = "simulated"
"""


def eyes(cases: int) -> list[Eye]:
    """Every other one with a large cup."""
    random = np.random.default_rng(3)
    return [draw_eye(0.75 if case % 2 else 0.4, random) for case in range(cases)]


def jpeg(eye: Eye, side: int = SIDE, shot: Shot | None = None) -> bytes:
    """A photograph as a camera writes it, with the patient's name in its metadata."""
    image = Image.fromarray(render(eye, shot or Shot(), side))
    exif = Image.Exif()
    exif[0x010E] = PATIENT
    file = BytesIO()
    image.save(file, "JPEG", quality=92, exif=exif)
    return file.getvalue()


def table(drawn: list[Eye]) -> pd.DataFrame:
    """A row a case; outlines are the true ones, in pixels of its file."""
    random = np.random.default_rng(4)
    rows = []
    for number, eye in enumerate(drawn):
        sick = number % 2 == 1
        outlines = outlines_of_ellipses(eye.disc.scaled(SIDE / FRAME), eye.cup.scaled(SIDE / FRAME), FRAME / SIDE)
        ratios = outlines.ratios
        score = random.normal(1.2 if sick else -1.2, 1)
        said = [int(sick != (random.random() < 0.15)) for _ in range(2)]
        rows.append(
            {
                "eye": f"e{number:03d}",
                "site": "east" if number % 3 else "west",
                "part": ("train", "train", "val", "test")[number // 2 % 4],
                "truth": int(sick),
                "logit_0": round(-score / 2, 4),
                "logit_1": round(score / 2, 4),
                "vim_risk_z": round(random.normal(0, 1), 4),
                "quality_risk": round(random.uniform(0, 0.5), 4),
                "vCDR": round(ratios.vertical, 4),
                "hCDR": round(ratios.horizontal, 4),
                "aCDR": round(ratios.area, 4),
                "ann": said[0],
                "bob": said[1],
                "file": f"{number:03d}.jpg",
                **row_of_outlines(outlines),
            }
        )
    return pd.DataFrame(rows)


def photograph_workspace(place: Workshop, cases: int = 96, runs: tuple[str, ...] = ("mpd2-plus", "ai")) -> Workspace:
    """The workspace with its photographs inside it and two runs that were hardly trained; no tables, no map."""
    drawn = eyes(cases)
    rows = table(drawn)
    made = create(NAME, rows.to_csv(index=False).encode(), MANIFEST, place, by=LOCAL)
    folder = made.folder / "photographs"
    folder.mkdir()
    for eye, name in zip(drawn, rows["file"], strict=True):
        (folder / name).write_bytes(jpeg(eye))
    study = Study(made.cohort(), made.folder, (42,), contenders={run: quick(CONTENDERS[run]) for run in runs})
    for run in runs:
        study.make(run, say=lambda _: None)
    return made


def tiny_pipeline(folder: Path) -> Path:
    """Networks of drawn weights: they measure, but not well."""
    parts = folder.parent / "drawn"
    classifier = save_classifier(parts / "classifier", size=128)
    segmenter = save_segmenter(parts / "segmenter", size=128)
    return make_pipeline(folder, classifier, segmenter)
