"""Charts of the Ablations page."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.text import percent
from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import OTHER, ROUTER, AltairChart, with_interval, with_marks
from mpd2.study.definition import ABLATIONS, CONDITIONS, TARGETS

FULL, BUDGET = "full", "budget"  # the condition nothing is taken from, and the study of budgets
AGAINST = {"objective": FULL, "regularisation": FULL, BUDGET: "noal"}
"""The condition that the others of a study are compared with."""

KINDS = {"DeferSoft": "soft: mean probability", "DeferHard": "hard: cases sent"}


def condition_name(name: str, budget: bool = False) -> str:
    r"""A condition in words; among budgets the full objective is the one with its own target.

    >>> condition_name("no-gsdp"), condition_name("al25"), condition_name("full", budget=True), condition_name("noal")
    ('without GSDP', 'budget 25\xa0%', 'budget 70\xa0%', 'no budget')
    """
    target = TARGETS.get(name)
    if target is not None and (budget or name != FULL):
        return f"budget {percent(target, 0)}"
    return "no budget" if name in TARGETS and name != FULL else CONDITIONS[name].title


def in_words(rows: pd.DataFrame, study: str) -> pd.DataFrame:
    """A table of the ablations with its conditions' titles in words."""
    return rows.assign(title=[condition_name(name, study == BUDGET) for name in rows["method"]])


def effects_of(rows: pd.DataFrame, study: str, metric: str) -> pd.DataFrame:
    """The rows of the table of effects that one study and metric is about, with titles in words."""
    second = AGAINST[study]
    chosen = rows[(rows["metric"] == metric) & (rows["second"] == second) & rows["first"].isin(ABLATIONS[study])]
    return chosen.assign(title=[condition_name(name, study == BUDGET) for name in chosen["first"]])


@drawn_once
def levels(rows: pd.DataFrame, metric: str) -> AltairChart:
    """One metric of every condition, mean and interval over seeds; the paper's hollow.

    `rows`: a table of the ablations.
    """
    shown = _marked(rows[rows["metric"] == metric], "method")
    title, hollow = "Mean over seeds; hollow: in the paper", ("published", "in the paper")
    return forest(shown, label_of(metric), title, metric=metric, hollow=hollow)


@drawn_once
def effects(rows: pd.DataFrame) -> AltairChart:
    """What each condition changes in a metric, seed by seed. `rows`: as `effects_of` gives them."""
    label, against = label_of(rows["metric"].iloc[0]), condition_name(rows["second"].iloc[0]).lower()
    shown = _marked(rows.rename(columns={"difference": "value"}), "first")
    return forest(shown, f"{label}, less {against}", f"Change against {against}", zero=True)


@drawn_once
def budget_control(rows: pd.DataFrame) -> AltairChart:
    """Soft and hard deferral against the target, with the line where they would be equal; the paper's hollow.

    `rows`: the table of budgets; the condition without a target is left out.
    """
    targets = rows["method"].map(TARGETS).astype(float)
    shown = rows.assign(target=targets, kind=rows["metric"].map(KINDS))
    shown = shown[shown["target"].notna() & shown["kind"].notna()]
    marks = sorted(shown["target"].unique())
    ends = [marks[0], marks[-1]]
    line = alt.Chart(pd.DataFrame({"target": ends, "value": ends})).mark_line(color=OTHER.colour, strokeDash=[4, 3])
    kinds = list(KINDS.values())
    base = alt.Chart(shown).encode(
        x=alt.X("target:Q", title="target", axis=alt.Axis(format="%", values=marks, tickCount=len(marks)),
                scale=alt.Scale(zero=False, padding=12)),
        color=alt.Color("kind:N", title=None, legend=alt.Legend(orient="top", columns=2, labelLimit=0),
                        scale=alt.Scale(domain=kinds, range=[ROUTER.colour, OTHER.colour])),
    )  # fmt: skip
    shape = alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[ROUTER.shape, OTHER.shape]))
    axis = alt.Axis(format="%")
    which = [alt.Tooltip("kind:N", title="deferral"), alt.Tooltip("target:Q", format=".0%")]
    layers = [
        line.encode(
            x="target:Q", y=alt.Y("value:Q", title="realised deferral", axis=axis, scale=alt.Scale(zero=False))
        ),
        base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title="realised deferral"), y2="high:Q"),
        base.mark_point(filled=True, size=90, opacity=1).encode(
            y="value:Q",
            shape=shape,
            tooltip=[*which, *with_interval("value", "realised", ".1%"), alt.Tooltip("n:Q", title="seeds")],
        ),
        base.mark_point(filled=False, size=110, strokeWidth=1.5).encode(
            y="published:Q",
            shape=shape,
            tooltip=[*which, alt.Tooltip("published:Q", title="in the paper", format=".1%")],
        ),
    ]
    return alt.layer(*layers).properties(title="Deferral against its target; dashed: equal", height=340)


def _marked(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return with_marks(rows, (ROUTER if condition == FULL else OTHER for condition in rows[name]))
