"""Who decides: a chart of the AI by its own word, the rule against it, and readers, with the numbers in its words."""

from __future__ import annotations

import pandas as pd

from mpd2.present.charts.clinical import deciders as charts
from mpd2.present.words.deciders import in_words
from mpd2.studio.parts import widgets

NOTE = (
    "The rule is the run's own, fitted to the training cases: with nobody asked it ends a case against the AI where "
    "that error is expected to cost less. Runs without such a rule keep a case with the AI's own word."
)


def who_decides(rows: pd.DataFrame, *, key: str) -> None:
    """The chart and its note; `rows`: `readers.who_decides`."""
    words = in_words(rows["cases"].to_numpy(float)[:3])
    widgets.chart(charts.who_decides(rows), table=rows, key=key, alt_text=f"Who decides. {words}",
                  note=f"{words} {NOTE}")  # fmt: skip
