"""Ours beside the paper's, in words: what came of all numbers together, and every cell as a row to read."""

from __future__ import annotations

import pandas as pd

from mpd2.core.manifest import Manifest
from mpd2.core.text import brief, capital, interval, typeset
from mpd2.evaluation.metrics import METRICS
from mpd2.study.reproduction import LIKELY, REASONS, SAME, SHOWN, UNKNOWN

TABLES = {
    "overall": "All test cases",
    "cohorts": "Each cohort",
    "collapse": "Readers' load",
    "retention": "Cases left to the AI",
    "readers": "Readers alone",
    "objective": "Terms of the objective",
    "regularisation": "Regularisers",
    "budget": "Budgets",
}
"""The paper's tables in words, by the study's name for them."""

COUNTED = {"FN": "missed", "FP": "false alarms"}
"""Metrics of readers alone that have no other name."""


def metric_name(name: str) -> str:
    """A metric of any table in words.

    >>> metric_name("FN"), metric_name("Defer")
    ('missed', 'share sent')
    """
    return COUNTED.get(name) or METRICS[name].label


def summary(rows: pd.DataFrame) -> str:
    """What came of all numbers, in two sentences; `rows`: as `study.reproduction` gives them."""
    known = rows["reason"].map(lambda name: REASONS[name].known)
    same = rows["reason"] == SAME.name
    counts = {kind: int(((known == kind) & ~same).sum()) for kind in (SHOWN, LIKELY, UNKNOWN)}
    return (
        f"The paper prints {len(rows)} numbers of methods that are here too. {same.sum()} are ours as far as printing "
        f"can tell, and {rows['inside'].sum()} lie in our interval. Of the {(~same).sum()} that differ, the reason is "
        f"shown by numbers for {counts[SHOWN]}, likely for {counts[LIKELY]} and not known for {counts[UNKNOWN]}."
    )


def named(rows: pd.DataFrame, manifest: Manifest) -> pd.DataFrame:
    """Rows whose title says of which cohort they are, where it is one."""
    names = {entry.key: entry.name for entry in manifest.cohorts}
    where = rows["cohort"].map(names)
    return rows.assign(title=rows["title"].where(where.isna(), rows["title"] + ", " + where.fillna("")))


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """Every cell as a person reads it; `rows`: with their titles `named`."""
    return pd.DataFrame(
        {
            "Who": rows["title"],
            "Metric": rows["metric"].map(metric_name).map(capital),
            "Ours": rows["value"].map(_shown),
            "95 % interval": [interval(low, high) for low, high in zip(rows["low"], rows["high"], strict=True)],
            "Paper's": rows["published"].map(_shown),
            "Ours less the paper's": rows["difference"],
            "In our interval": rows["inside"],
            "Reason": rows["reason"],
            "Known": rows["reason"].map(lambda name: REASONS[name].known),
            "Evidence": rows["evidence"].map(typeset),
        }
    )


def reasons(rows: pd.DataFrame) -> pd.DataFrame:
    """Every reason that occurs, the most frequent first: how often, how it is known, and where to look it up."""
    counts = rows["reason"].value_counts()
    entries = [REASONS[name] for name in counts.index]
    return pd.DataFrame(
        {
            "Reason": counts.index,
            "Numbers": counts.to_numpy(),
            "Known": [reason.known for reason in entries],
            "What it is": [typeset(reason.words) for reason in entries],
            "Where to look it up": [reason.source for reason in entries],
        }
    )


def _shown(value: float) -> str:
    return typeset(brief(value))
