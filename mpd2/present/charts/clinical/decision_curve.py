"""Charts of the decision curve: net benefit against what a miss weighs, and who costs least where."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from mpd2.evaluation.clinical.decision_curve import ALL, MOVED, NONE
from mpd2.evaluation.clinical.winners import PEOPLE
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.labels import spread
from mpd2.present.charts.kit.style import AI, CATEGORIES, DARK, INK, OTHER, READER, ROUTER, AltairChart, Mark
from mpd2.study.decision_curve import ALWAYS, RECALIBRATED, RECALIBRATED_SCORE
from mpd2.study.definition import PLUS_RUN, STUDIO_RUN

HEIGHT = 380
LABEL_GAP = 0.058  # of the chart's height, below which two labels touch
TICKS = (1, 2, 5, 10, 20, 50)
DEEPEST = 0.5  # of the top, how far below 0 a curve is followed: to call everybody positive begins far deeper
MARK_GAP = 14  # pixels from one name of a marked ratio to the next
SAME = 1e-3  # between two ratios that are one
BENEFIT = "net benefit per 1,000 screened"
TINT = 0.62  # how far a cell within chance is on its way to white
PURPLE, SKY, VERMILION = CATEGORIES[3:6]
SOLID, DASHED, DOTTED = [1, 0], [6, 3], [2, 3]

MARKS: dict[str, Mark] = {
    "ai": AI,
    MOVED: AI,
    RECALIBRATED: Mark(PURPLE, "triangle-down"),
    RECALIBRATED_SCORE: Mark(PURPLE, "triangle-down"),
    ALWAYS: READER,
    PLUS_RUN: Mark(SKY, "circle"),
    STUDIO_RUN: Mark(VERMILION, "cross"),
}
"""How strategies are drawn that are not the active run; all others are grey."""

DASHES = {MOVED: DASHED, RECALIBRATED_SCORE: DASHED, ALL: DOTTED, NONE: DOTTED}
BANDS = ("ai", RECALIBRATED)  # besides the active run: more bands would hide each other


def mark(method: str, active: str) -> Mark:
    """How a strategy is drawn in both charts."""
    return ROUTER if method == active else MARKS.get(method, OTHER)


@drawn_once
def curves(rows: pd.DataFrame, active: str, marked: Mapping[str, float], named: list[str]) -> AltairChart:
    """Net benefit of every strategy, those `named` with their names beside the line and all others in thin grey.

    `rows`: `decision_curve.decision_curves`; `marked`: ratios at which a line with its name stands.
    """
    rows = _per_thousand(rows)
    first, top = rows["method"].isin(named), float(rows["high"].max())
    bottom = max(float(rows.loc[first, "value"].min()), -DEEPEST * top)
    rows = rows[rows["value"] >= bottom].assign(low=rows["low"].clip(lower=bottom))
    shown, others = (rows[rows["method"].isin(named) == inside] for inside in (True, False))
    marks = [mark(name, active) for name in named]
    colour = alt.Color("method:N", legend=None, scale=alt.Scale(domain=named, range=[each.colour for each in marks]))
    shape = alt.Shape("method:N", legend=None, scale=alt.Scale(domain=named, range=[each.shape for each in marks]))
    dashes = alt.Scale(domain=named, range=[DASHES.get(name, SOLID) for name in named])
    across = alt.X(
        "ratio:Q",
        title="false alarms that one miss weighs as much as",
        scale=alt.Scale(type="log", domain=[rows["ratio"].min(), rows["ratio"].max()], nice=False),
        axis=alt.Axis(
            values=list(TICKS), tickCount=len(TICKS), labelExpr="datum.value", grid=False, labelOverlap=False
        ),
    )
    height = alt.Y("value:Q", title=BENEFIT, scale=alt.Scale(domain=[bottom, top], nice=False))
    words = {"value": "net benefit per 1,000", "low": "95 % from", "high": "to", "behind": "behind the best by"}
    tooltip = [
        alt.Tooltip("title:N", title="strategy"),
        alt.Tooltip("ratio:Q", title="a miss weighs", format=".3~g"),
        *(alt.Tooltip(f"{name}:Q", title=word, format=".1f") for name, word in words.items()),
    ]
    base = alt.Chart(shown).encode(x=across, color=colour)
    ends = alt.Chart(labels(shown, bottom, top)).encode(x="ratio:Q", y="place:Q")
    thin = alt.Chart(others).mark_line(color=OTHER.colour, strokeWidth=1, opacity=0.55)
    return alt.layer(
        thin.encode(x=across, y=height, detail="method:N", tooltip=tooltip),
        base.transform_filter(alt.FieldOneOfPredicate("method", [active, *BANDS]))
        .mark_area(opacity=0.12).encode(y=alt.Y("low:Q", title=BENEFIT), y2="high:Q"),
        *_marked(marked, rows, top),
        base.mark_line(strokeWidth=2).encode(
            y=height, strokeDash=alt.StrokeDash("method:N", scale=dashes, legend=None), tooltip=tooltip),
        base.mark_point(filled=True, size=30, opacity=1).encode(y=height, shape=shape, tooltip=tooltip),
        ends.mark_point(filled=True, size=45, opacity=1, xOffset=14).encode(color=colour, shape=shape),
        ends.mark_text(align="left", dx=22, fontSize=12).encode(text="title:N"),
    ).properties(title="Net benefit by what a miss weighs", height=HEIGHT)  # fmt: skip


def labels(rows: pd.DataFrame, bottom: float, top: float) -> pd.DataFrame:
    """The last point of every line with the `place` of its name: as near as can be without one name over another."""
    last = rows[rows["ratio"] == rows["ratio"].max()].sort_values("value", kind="stable").reset_index(drop=True)
    high = top - bottom
    return last.assign(place=bottom + spread(last["value"].to_numpy(float) - bottom, LABEL_GAP * high, high))


def _marked(marked: Mapping[str, float], rows: pd.DataFrame, top: float) -> list[alt.Chart]:
    """An upright line with its name at each ratio that is within the curve, one name below the other."""
    inside = {name: at for name, at in marked.items() if rows["ratio"].min() <= at <= rows["ratio"].max()}
    layers = []
    for place, (name, at) in enumerate(inside.items()):
        here = alt.Chart(pd.DataFrame({"ratio": [at], "words": [f"{name}: {at:.3g}"], "top": [top]}))
        layers += [
            here.mark_rule(strokeDash=[4, 4], color=INK).encode(x="ratio:Q"),
            here.mark_text(align="left", dx=5, dy=6 + MARK_GAP * place, fontSize=11).encode(
                x="ratio:Q", y="top:Q", text="words:N"
            ),
        ]
    return layers


@drawn_once
def winners(rows: pd.DataFrame, active: str, own: float) -> AltairChart:
    """Who costs least by ratio and fees, and by how much; paler where the lead is within chance.

    `rows`: `winners.cells`; `own`: the ratio of the table's own costs, whose cell at the table's own fees is framed.
    """
    titles = dict(zip(rows["method"], rows["title"], strict=True))
    colours = [mark(name, active).colour for name in titles]
    shades = alt.Scale(
        domain=[*titles.values(), *map(_within, titles.values())], range=[*colours, *map(_towards_white, colours)]
    )
    sure = rows["beyond_chance"]
    rows = rows.sort_values(["ratio", "fee"]).assign(
        weighs=lambda r: r["ratio"].map("{:.3g} : 1".format),
        fees=lambda r: r["fee"].map("{:g}×".format),
        shade=rows["title"].where(sure, rows["title"].map(_within)),
        lead=rows["margin"].map("{:.0f}".format).where(sure, rows["margin"].map("≈ {:.0f}".format)),
    )
    words = {"margin": "by, in false alarms", "low": "95 % from", "high": "to"}
    columns, levels = (rows[name].unique().tolist() for name in ("weighs", "fees"))
    level = alt.Axis(labelAngle=0, labelOverlap=False)
    across = alt.X("weighs:N", title="miss : false alarm", sort=columns, axis=level)
    height = alt.Y("fees:N", title="readers' fees, times those of the table", sort=levels[::-1])
    base = alt.Chart(rows).encode(
        x=across,
        y=height,
        tooltip=[
            alt.Tooltip("title:N", title="costs least"),
            alt.Tooltip("weighs:N", title="miss : false alarm"),
            alt.Tooltip("fees:N", title="fees"),
            alt.Tooltip("value:Q", title="total cost per 1,000 screened, in false alarms", format=".0f"),
            alt.Tooltip("second:N", title="ahead of"),
            *(alt.Tooltip(f"{name}:Q", title=word, format=".1f") for name, word in words.items()),
        ],
    )
    legend = alt.Legend(title=None, orient="top", values=list(titles.values()), labelLimit=0)
    here = rows[((rows["ratio"] - own).abs() < SAME) & (rows["fee"] == 1)]
    is_dark = f"luminance(scale('color', datum['shade'])) < {DARK}"
    on_cell = alt.when(is_dark).then(alt.value("white")).otherwise(alt.value("black"))
    return alt.layer(
        base.mark_rect(stroke="white", strokeWidth=1).encode(color=alt.Color("shade:N", scale=shades, legend=legend)),
        base.mark_text(fontSize=11).encode(text="lead:N", color=on_cell),
        alt.Chart(here).mark_rect(filled=False, stroke=INK, strokeWidth=2.5).encode(x=across, y=height),
    ).properties(title="Who costs least", height=HEIGHT)


def _per_thousand(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(**{name: PEOPLE * rows[name] for name in ("value", "low", "high", "behind")})


def _within(title: str) -> str:
    return f"{title}, within chance"


def _towards_white(colour: str) -> str:
    parts = [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(part + TINT * (255 - part)):02x}" for part in parts)
