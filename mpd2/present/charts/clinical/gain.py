"""The gain over the AI alone as bars: by recalibration, and by readers."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import count, decimal
from mpd2.evaluation.clinical.gain import READERS, RECALIBRATION
from mpd2.evaluation.clinical.per_thousand import SCREENED
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import AI, OTHER, READER, AltairChart, heading

STEPS = {RECALIBRATION: ("by recalibrating the AI", AI), READERS: ("by asking readers", READER)}
ROW, AROUND = 60, 95  # pixels of an outcome's two bars, and of title, legend and axis
ROOM = 0.22  # of the widest bar, for the words behind it


def outcomes(task: Task) -> dict[str, str]:
    """The errors there may be fewer of."""
    return {"alarm": "false alarms", "missed": f"{task.positives} missed"}


@drawn_once
def split(rows: pd.DataFrame, task: Task) -> AltairChart:
    """How many fewer false alarms and misses each step leaves among a thousand people; to the left there are more.

    `rows`: as of `evaluation.clinical.gain`.
    """
    shown, named = in_people(rows, task), list(outcomes(task).values())
    ends = [*shown["low"], *shown["high"], 0.0]
    room = ROOM * (max(ends) - min(ends) or 1.0)
    names, colours = [name for name, _ in STEPS.values()], [mark.colour for _, mark in STEPS.values()]
    base = alt.Chart(shown).encode(
        y=alt.Y("outcome:N", sort=named, title=None),
        yOffset=alt.YOffset("step:N", sort=names),
        tooltip=[
            alt.Tooltip("outcome:N", title="of them"),
            alt.Tooltip("step:N", title="fewer"),
            alt.Tooltip("fewer:Q", title=f"of {count(SCREENED)} screened", format=".1f"),
            alt.Tooltip("low:Q", title="95 % from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
        ],
    )
    across = alt.X(
        "fewer:Q",
        title=f"fewer of {count(SCREENED)} {task.people} screened",
        scale=alt.Scale(domain=[min(min(ends) - room / 4, 0), max(max(ends), 0) + room], nice=False),
    )
    colour = alt.Color(
        "step:N",
        title=None,
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(orient="top", symbolType="square", labelLimit=0),
    )
    layers = (
        base.mark_bar(opacity=0.75).encode(x=across, color=colour),
        base.mark_rule(strokeWidth=2, color=OTHER.colour).encode(x=alt.X("low:Q"), x2="high:Q"),
        base.mark_text(align="left", dx=6, fontSize=12).encode(x="words_at:Q", text="words:N"),
        alt.Chart(pd.DataFrame({"at": [0.0]})).mark_rule(color=OTHER.colour).encode(x="at:Q"),
    )
    title = heading("Where the gain over the AI alone comes from")
    return alt.layer(*layers).properties(title=title, height=ROW * len(named) + AROUND)


def in_people(rows: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Both steps of both outcomes in people: outcome, step, fewer, low, high, words, words_at."""
    named = outcomes(task)
    kept = rows[rows["quantity"].isin(named) & rows["step"].isin(STEPS)]
    fewer = pd.DataFrame({
        "outcome": kept["quantity"].map(named),
        "step": kept["step"].map({step: name for step, (name, _) in STEPS.items()}),
        "fewer": -kept["change"],
        "low": -kept["high"],
        "high": -kept["low"],
    })  # fmt: skip
    behind = fewer[["high", "fewer"]].max(axis=1).clip(lower=0)
    return fewer.assign(words=fewer["fewer"].map(in_words), words_at=behind).reset_index(drop=True)


def in_words(fewer: float) -> str:
    """A number of people that there are fewer, or more, in words.

    >>> in_words(110.6), in_words(-2.7), in_words(0.2)
    ('111 fewer', '3 more', 'as many')
    """
    people = decimal(abs(fewer), 0)
    return "as many" if people == "0" else f"{people} {'fewer' if fewer > 0 else 'more'}"
