"""The map of cases for paper: drawn by Vega, so that points stay points however large they are printed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import altair as alt
import pandas as pd

from mpd2.present.charts.kit.style import OTHER
from mpd2.present.charts.map import AMOUNT, FADED, PANELS, RIGHT_OR_WRONG, Paint, kinds


def for_paper(table: pd.DataFrame, paints: Mapping[str, Paint], picked: Collection[str] = ()) -> alt.ConcatChart:
    """A panel for each of some of `map.paints`; what is picked stands out as it does on screen."""
    side = 660 if len(paints) == 1 else 330
    panels = [_drawn(table, name, paint, picked, side) for name, paint in paints.items()]
    return alt.concat(*panels, columns=2).resolve_scale(color="independent", shape="independent")


def _drawn(table: pd.DataFrame, name: str, paint: Paint, picked: Collection[str], side: int) -> alt.Chart:
    mark = PANELS[name][1] if name in PANELS else OTHER
    cases = table[table[paint.column].notna()]
    painted: pd.Series[Any] = 1 - cases[paint.column] if paint.flipped else cases[paint.column]
    if isinstance(painted.dtype, pd.CategoricalDtype):
        look = _kinds_drawn(painted, name)
    else:
        look = {"color": _amounts_drawn(painted, paint, name), "shape": alt.value(mark.shape)}
    chosen = cases["case_id"].isin(list(picked)) if picked else pd.Series(True, cases.index)
    rows = pd.DataFrame({"x": cases["x"], "y": cases["y"], "painted": painted, "chosen": chosen})
    return (
        alt.Chart(rows)
        .mark_point(filled=True, size=side / 14, stroke=OTHER.colour, strokeWidth=0.4)
        .encode(
            x=alt.X("x:Q", axis=None, scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", axis=None, scale=alt.Scale(zero=False)),
            opacity=alt.when("datum.chosen").then(alt.value(1.0)).otherwise(alt.value(FADED)),
            **look,
        )
        .properties(title=f"{paint.title} (n = {len(cases)})", width=side, height=side)
    )


def _kinds_drawn(kind: pd.Series[str], name: str) -> dict[str, Any]:
    marks = {each: mark for each, mark in kinds(kind.cat.categories, name).items() if (kind == each).any()}
    colours = alt.Scale(domain=list(marks), range=[mark.colour for mark in marks.values()])
    shapes = alt.Scale(domain=list(marks), range=[mark.shape for mark in marks.values()])
    legend = alt.Legend(title=None, symbolOpacity=1)
    return {
        "color": alt.Color("painted:N", scale=colours, legend=legend),
        "shape": alt.Shape("painted:N", scale=shapes, legend=legend),
    }


def _amounts_drawn(values: pd.Series[float], paint: Paint, name: str) -> alt.Color:
    steps = RIGHT_OR_WRONG if paint.flipped else AMOUNT
    low, high = (0.0, 1.0) if name in PANELS else (float(values.min()), float(values.max()))
    places = [low + place * (high - low) for place, _ in steps]
    scale = alt.Scale(domain=places, range=[colour for _, colour in steps], interpolate="rgb")
    return alt.Color("painted:Q", title=None, scale=scale, legend=alt.Legend(gradientLength=160))
