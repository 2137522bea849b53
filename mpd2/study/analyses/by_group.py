"""What it does to intervals that rows belong together: resampled by patient or exam, and row by row."""

from __future__ import annotations

from functools import partial

import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.clusters import clusters_of
from mpd2.core.text import brief
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import bootstrap, estimates, resample_weights
from mpd2.evaluation.metrics import COUNTED
from mpd2.study.tables import StudyTables

SHOWN = ("Sens", "Spec", "Defer", "ClinicalCost", "TotalCost")


def by_group(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """Every method on the test cases, its intervals over resamples of groups (`weights`) and of rows.

    Columns: method, title, metric (SHOWN), value, low, high (by group), row_low, row_high (row by row), n, groups.
    """
    cohort = evidence.cohort
    alone = resample_weights(cohort, by_cluster=False)
    parts = []
    for name, counted in evidence.tallies.items():
        grouped, single = (pd.DataFrame(estimates(partial(bootstrap, counted), each)) for each in (weights, alone))
        rows = grouped[["value", "low", "high"]].assign(row_low=single["low"], row_high=single["high"], metric=COUNTED)
        rows.insert(0, "method", name)
        rows.insert(1, "title", evidence.outcomes[name].title)
        rows.insert(2, "metric", rows.pop("metric"))
        parts.append(rows[rows["metric"].isin(SHOWN)])
    return pd.concat(parts, ignore_index=True).assign(n=len(cohort), groups=len(clusters_of(cohort)))


def group_rows(tables: StudyTables) -> list[list[str]]:
    """Sensitivity and total cost of every method, with the interval by group beside the one row by row."""
    rows = tables["groups"]
    word = tables.manifest.groups.word if tables.manifest.groups else "group"
    heads = [f"{metric}, {how}" for metric in ("Sens", "TotalCost") for how in (f"by {word}", "row by row")]
    cells = {(row["method"], row["metric"]): row for row in rows.to_dict("records")}
    body = []
    for name in dict.fromkeys(rows["method"]):
        own = [cells[name, metric] for metric in ("Sens", "TotalCost")]
        pairs = [(row, ends) for row in own for ends in (("low", "high"), ("row_low", "row_high"))]
        body.append(
            [tables.titles[name]]
            + [f"{brief(row['value'])} ({brief(row[low])} to {brief(row[high])})" for row, (low, high) in pairs]
        )
    return [["method", *heads], *body]


def group_words(tables: StudyTables) -> str:
    """How much wider, or narrower, intervals are where groups are kept together."""
    rows = tables["groups"]
    known = rows[(rows["row_high"] > rows["row_low"]) & (rows["metric"] != "Defer")]
    ratio = (known["high"] - known["low"]) / (known["row_high"] - known["row_low"])
    word = tables.manifest.groups.word if tables.manifest.groups else "group"
    return (
        f"Resampled by {word} ({rows['groups'].max()} of them, {rows['n'].max()} rows), intervals are "
        f"{ratio.median():.2f} times as wide as row by row (median; {ratio.min():.2f} to {ratio.max():.2f} times)."
    )
