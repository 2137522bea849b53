"""Charts of the Risk page."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.text import decimal, interval
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.labels import spread
from mpd2.present.charts.kit.style import OTHER, AltairChart, mark_of, method_scales, with_interval

PICKED = "point"  # the selection: one method in one stratum
HEIGHT = 365
LABEL_GAP = 0.065  # of the chart's height, below which two labels touch
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4, 1, 4])  # tell methods of one colour apart


@drawn_once
def risk_curves(rows: pd.DataFrame, active: str, signal: str, bands: bool = True) -> AltairChart:
    """Clinical cost against the stratum of risk, a line a method with its band; a point can be picked.

    `rows`: one signal of `curves.risk_curves`; `signal`: its name as shown.
    """
    methods = rows["method"].drop_duplicates().tolist()
    own = [method for method in methods if mark_of(method, active) != OTHER]
    rows = rows.sort_values("method", key=lambda names: names.isin(own), kind="stable")  # these on top
    strata = int(rows["stratum"].max())
    colour, shape = method_scales(methods, active)
    dash = alt.Scale(domain=methods, range=_dashes(methods, active))
    has_own_mark = alt.FieldOneOfPredicate("method", own)
    picked = alt.selection_point(name=PICKED, fields=["method", "stratum"], on="click", empty=False)
    base = alt.Chart(rows).encode(
        x=alt.X(
            "stratum:Q",
            title=f"stratum of risk, from lowest (1) to highest ({strata})",
            scale=alt.Scale(domain=[1, strata], nice=False),
            axis=alt.Axis(values=list(range(1, strata + 1)), tickCount=strata, format="d", grid=False),
        ),
        color=alt.Color("method:N", scale=colour, legend=None),
    )
    cost = alt.Y("value:Q", title="clinical cost of a case", scale=alt.Scale(zero=True))
    band = base.mark_area().encode(
        y=alt.Y("low:Q", title="clinical cost of a case"),
        y2="high:Q",
        opacity=alt.condition(has_own_mark, alt.value(0.16), alt.value(0.07)),
    )
    line = base.mark_line(strokeWidth=2).encode(y=cost, strokeDash=alt.StrokeDash("method:N", scale=dash, legend=None))
    dots = (
        base.mark_point(filled=True, opacity=1, cursor="pointer")
        .encode(
            y=cost,
            shape=alt.Shape("method:N", scale=shape, legend=None),
            size=alt.when(picked).then(alt.value(320)).when(has_own_mark).then(alt.value(110)).otherwise(alt.value(55)),
            tooltip=[
                alt.Tooltip("title:N", title="method"),
                alt.Tooltip("stratum:Q", title="stratum"),
                *with_interval("value", "clinical cost"),
                alt.Tooltip("n:Q", title="cases"),
            ],
        )
        .add_params(picked)
    )
    ends = alt.Chart(labels(rows)).encode(x="stratum:Q", y="place:Q")
    names = [  # in the colour of text, which can be read; the mark before it is the line's
        ends.mark_point(filled=True, size=45, opacity=1, xOffset=14).encode(
            color=alt.Color("method:N", scale=colour, legend=None),
            shape=alt.Shape("method:N", scale=shape, legend=None),
        ),
        ends.mark_text(align="left", dx=22, fontSize=12).encode(text="title:N"),
    ]
    shown = [*([band] if bands else []), line, dots, *names]
    return alt.layer(*shown).properties(title=f"Clinical cost by {_lower(signal)}", height=HEIGHT)


def labels(rows: pd.DataFrame) -> pd.DataFrame:
    """The last point of every line with the `place` of its name: as near as can be without one name over another."""
    last = rows[rows["stratum"] == rows["stratum"].max()].sort_values("value", kind="stable").reset_index(drop=True)
    top = float(rows["high"].max())
    gap = min(LABEL_GAP, 1 / len(last)) * top  # however many there are, none below 0
    return last.assign(place=spread(last["value"].to_numpy(float), gap, top))


def in_words(rows: pd.DataFrame, active: str) -> str:
    """What the hardest stratum costs, in a sentence: the active run first, then those with a mark of their own."""
    last = rows[rows["stratum"] == rows["stratum"].max()].set_index("method")
    named = [active, *(method for method in last.index if method != active and mark_of(method, active) != OTHER)]
    parts = [
        f"{row['title']} {decimal(row['value'])} ({interval(row['low'], row['high'])})"
        for row in (last.loc[method] for method in named if method in last.index)
    ]
    strata = rows["stratum"].max()
    return f"Clinical cost of a case in the hardest of {strata} strata, with its 95 % interval: {', '.join(parts)}."


def _lower(signal: str) -> str:
    """A name inside a sentence; what is all capitals, such as AI, stays."""
    return signal if signal[:2].isupper() else signal[:1].lower() + signal[1:]


def _dashes(methods: list[str], active: str) -> list[list[int]]:
    """Solid for what has a mark of its own, a pattern each for the others."""
    others = [method for method in methods if mark_of(method, active) == OTHER]
    patterns = {method: DASHES[position % len(DASHES)] for position, method in enumerate(others)}
    return [patterns.get(method, DASHES[0]) for method in methods]
