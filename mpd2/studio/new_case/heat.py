"""The heat map of the AI: last on the page and off, at its own resolution, with two checks beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from mpd2.core.text import chance, percent
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field
from mpd2.imaging.photograph import Photograph
from mpd2.present.charts.clinical import photograph as charts
from mpd2.present.charts.kit.style import ALARM, READER
from mpd2.studio.new_case import store

if TYPE_CHECKING:
    from mpd2.imaging.models.heatmap import Heat

HEAT = "heat_map"  # key of the session
HELP = (
    "Of no use for trust as it is: reviews found that such maps look right whether or not the AI is. Look at the "
    "outlines, the rim and the quality first."
)
NOTE = (
    "What each of {cells} × {cells} cells adds to the AI's log-odds: orange towards {positive}, blue towards "
    "{negative}, stronger for more; not smoothed. A cell has seen the whole {case}, so its place is only roughly where "
    "the evidence is."
)
INSIDE = "{inside} of it, by size, lies within the disc, which takes {area} of the square. "
COVERED = "With the disc covered in grey the AI's probability goes from {before} to {after}: {verdict}."
SAME = 0.05  # a change of probability that says nothing


def draw(
    photograph: Photograph, field: Field, disc: Ellipse | None, folder: Path, words: tuple[str, str, str], key: str
) -> None:
    """A switch, and behind it the map; `words`: positive, negative, case."""
    if not st.toggle("Heat map of the AI", key=f"{HEAT}:{key}", help=HELP):
        return
    from mpd2.imaging.models.heatmap import heat

    with st.spinner("Asking the AI again, with the disc covered …"):
        found = heat(store.pipeline_of(folder).classifier, photograph.pixels, field, disc)
    positive, negative, case = words
    left, right = st.columns(2, gap="medium")
    with left:
        st.image(charts.picture(photograph.pixels, field, charts.whole(field), marks(found, field), _alt(case)))
    with right:
        note = NOTE.format(cells=len(found.contributions), positive=positive, negative=negative, case=case)
        st.caption(f"{note} {checks(found)}")


def marks(found: Heat, field: Field) -> str:
    """The cells that speak for and against, each as strong as it speaks."""
    parts = found.contributions / max(float(np.abs(found.contributions).max()), 1e-12)
    return "".join(
        charts.cell_marks(np.clip(sign * parts, 0, 1), field, mark.colour, "heat")
        for sign, mark in ((1, ALARM), (-1, READER))
    )


def checks(found: Heat) -> str:
    """The share inside of the disc, and what covering it does."""
    if found.inside is None or found.area is None or found.covered is None:
        return "Without a disc neither check can be made."
    change = found.covered - found.probability
    verdict = "it does not depend on the disc" if abs(change) < SAME else "it depends on the disc"
    return INSIDE.format(inside=percent(found.inside, 0), area=percent(found.area, 1)) + COVERED.format(
        before=chance(found.probability), after=chance(found.covered), verdict=verdict
    )


def _alt(case: str) -> str:
    return f"The {case} under the cells that moved the AI"
