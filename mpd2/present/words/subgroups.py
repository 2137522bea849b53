"""Subgroups in words: which gaps stand out, and how many do by chance."""

from __future__ import annotations

import pandas as pd

from mpd2.core.text import capital, decimal, listed
from mpd2.evaluation.clinical.subgroups import Comparisons
from mpd2.evaluation.metrics import METRICS

NAMED = 3  # gaps that are named


def multiplicity(seen: Comparisons) -> str:
    """How many comparisons were made, and what chance makes of that.

    >>> multiplicity(Comparisons(48, 2.4, 9, 4)).split(". ")[0]
    'Of 48 comparisons 9 look beyond chance one by one, where 2.4 are expected to if no group differs from the others'
    """
    expected, left = decimal(seen.by_chance, 1), seen.beyond_all or "none"
    return (
        f"Of {seen.made} comparisons {seen.beyond} look beyond chance one by one, where {expected} are expected to if "
        f"no group differs from the others. Judged all together, {left} {'does' if left == 1 else 'do'}."
    )


def largest(rows: pd.DataFrame) -> str:
    """The largest gaps in merit that stand out among all comparisons; empty if none does.

    That more is sent in one group than in another is no fault.
    """
    merits = [name for name, metric in METRICS.items() if metric.merit]
    found = rows[rows["beyond_all"] & rows["metric"].isin(merits)]
    reach = (found["gap"] / (found["wide_high"] - found["wide_low"])).abs()
    chosen = found.loc[reach.sort_values(ascending=False, kind="stable").index[:NAMED]]
    said = []
    for row in chosen.to_dict("records"):
        metric = METRICS[row["metric"]]
        span = metric.interval(row["gap_low"], row["gap_high"], signed=True)
        said.append(f"{metric.label} in {row['group']} {metric.change(row['gap'])} ({span})")
    return f"{capital(listed(said))} against all other cases." if said else ""
