"""Photographs rendered of simulated cases, and, where there is a pipeline, what it measures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from scipy.stats import norm

from mpd2.core.arrays import Ints
from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.imaging.measurement import OUTLINE_COLUMNS, RESOLUTION, Measurement, row_of_outlines
from mpd2.imaging.outlines import outlines_of_ellipses
from mpd2.imaging.photograph import read_photograph
from mpd2.imaging.pipeline import Pipeline
from mpd2.imaging.simulation.law import COLUMNS, QUALITY, VERTICAL
from mpd2.imaging.simulation.programme import Programme
from mpd2.imaging.simulation.render import Eye, Shot, draw_eye, render

SIDE = 512  # pixels
JPEG_QUALITY = 92
BATCH = 16  # photographs measured at once
FIRST = ("test", "val", "train")  # the splits in the order in which their cases get photographs
WORST = 0.9  # of any single fault
LEAST_RATIO, LARGEST_RATIO = 0.1, 0.95  # that an eye is drawn with
SHARES = slice(COLUMNS.index("quality_risk"), None)  # a ratio beyond 0 to 1 is no measurement
OF_OUTLINES = (*OUTLINE_COLUMNS, RESOLUTION)

Tell = Callable[[str], None]


def photographed(programme: Programme, count: int) -> Ints:
    """The cases that get a photograph: of test first, then val, then train, each in the table's order."""
    if not 0 < count <= len(programme):
        raise UserError(f"photographs: found {count}, expected 1 to {len(programme)}, as many as there are cases")
    rows = np.concatenate([np.flatnonzero(programme.split == split) for split in FIRST])
    return np.sort(rows[:count])


def eye_and_shot(programme: Programme, row: int) -> tuple[Eye, Shot]:
    """The eye of a case, with its vertical ratio, and how it was taken: with its site's camera and by its quality.

    How poor a photograph is among those of its site and kind decides how much goes wrong; what goes wrong is drawn.
    """
    random = stream(programme.seed, Stream.RENDER, row)
    site = programme.law.sites[programme.source[row]]
    label = int(programme.truth[row])
    middle, spread = site.mean[label][QUALITY], np.sqrt(site.covariance[label][QUALITY][QUALITY])
    poor = float(norm.cdf((programme.coordinates_of(row)[QUALITY] - middle) / spread)) ** 2
    blur, darkness, haze, crop = np.minimum(WORST, 1.6 * poor * random.dirichlet(np.ones(4)))
    ratio = float(np.clip(programme.columns[row, VERTICAL], LEAST_RATIO, LARGEST_RATIO))
    shot = Shot(site.camera, float(blur), float(darkness), float(haze), float(crop), 0.1 + 0.3 * poor)
    return draw_eye(ratio, random), shot


def with_photographs(programme: Programme, rows: Ints, folder: Path, tell: Tell = lambda _: None) -> Programme:
    """The same programme with a JPEG of each of these cases in `folder`, and the true outlines in its table."""
    folder.mkdir(parents=True, exist_ok=True)
    files = np.full(len(programme), "", dtype="U24")
    outlines = []
    for done, row in enumerate(rows.tolist()):
        files[row] = f"s{row + 1:07d}.jpg"
        eye, shot = eye_and_shot(programme, row)
        Image.fromarray(render(eye, shot, SIDE)).save(folder / files[row], quality=JPEG_QUALITY)
        outlines.append(row_of_outlines(outlines_of_ellipses(eye.disc, eye.cup, 1.0)))
        tell(f"{done + 1} of {len(rows)} photographs")
    return replace(programme, files=files, besides=_besides(programme, rows, outlines, OF_OUTLINES))


def measured_by(
    programme: Programme, rows: Ints, folder: Path, pipeline: Pipeline, tell: Tell = lambda _: None
) -> Programme:
    """The same programme with the states of photographed cases as the pipeline measures them; NaN where it cannot."""
    if programme.files is None:
        raise UserError("found a programme without photographs, expected some to measure")
    found: list[Measurement] = []
    for start in range(0, len(rows), BATCH):
        names = programme.files[rows[start : start + BATCH]]
        found += pipeline.measure([read_photograph(folder / name, name) for name in names])
        tell(f"{len(found)} of {len(rows)} photographs measured")
    table = pd.DataFrame([each.row() for each in found])
    states = table[list(COLUMNS)].apply(pd.to_numeric, errors="coerce").to_numpy(float).round(5)
    states[:, SHARES] = np.where((states[:, SHARES] >= 0) & (states[:, SHARES] <= 1), states[:, SHARES], np.nan)
    others = [str(name) for name in table if name not in COLUMNS]
    besides = _besides(programme, rows, table[others].to_dict("records"), others)
    return replace(programme.with_states(rows, states), besides=besides)


def _besides(programme: Programme, rows: Ints, found: Sequence[object], columns: Sequence[str]) -> pd.DataFrame:
    """Columns that only photographed cases have, empty elsewhere, a row a case."""
    return pd.DataFrame(found, index=rows, columns=list(columns)).reindex(np.arange(len(programme)))
