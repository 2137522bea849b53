"""Where a gain over the AI alone comes from: so much by recalibrating the AI, so much by asking readers.

The recalibrated AI asks nobody. What it changes against the AI is a matter of thresholds; what a run changes against it
is what readers add. Each of the three decides at whatever operating point its outcome is of.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, Programme, per_thousand
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import paired_difference

AI, RECALIBRATED = "ai", "recalibrated"  # the runs between which the first step lies
RECALIBRATION, READERS, BOTH = "recalibration", "readers", "both"
PEOPLE = ("missed", "alarm", "read")  # of a thousand who are screened
MEASURES = (*PEOPLE, "Sens", "Spec", "TotalCost")
COLUMNS = ("step", "before", "after", "quantity", "change", "low", "high", "n")


def gain(evidence: Evidence, run: str, weights: Floats, programme: Programme = AS_COUNTED) -> pd.DataFrame:
    """How much more of MEASURES there is after each step from the AI over the recalibrated AI to the run, and in all.

    Paired on the shared resamples `weights`, [R, N]; the two steps add up to both. PEOPLE are counted among a thousand
    at the programme's prevalence, the total cost over the cases as they are. Columns: step, before and after (titles),
    quantity, change, low, high, n.
    """
    if run in (AI, RECALIBRATED):
        raise UserError(f"the gain of {run}: found a run that asks nobody, expected one that asks readers")
    evidence = replace(evidence, outcomes={name: evidence.outcomes[name] for name in (AI, RECALIBRATED, run)})
    people = {before: per_thousand(evidence, programme, weights, reference=before) for before in (AI, RECALIBRATED)}
    parts = []
    for step, before, after in (
        (RECALIBRATION, AI, RECALIBRATED), (READERS, RECALIBRATED, run), (BOTH, AI, run),
    ):  # fmt: skip
        counted = people[before]
        rows = counted[(counted["method"] == after) & counted["quantity"].isin(MEASURES)]
        parts.append(_part(evidence, step, before, after, rows, weights))
    return pd.concat(parts, ignore_index=True)


def _part(
    evidence: Evidence, step: str, before: str, after: str, people: pd.DataFrame, weights: Floats
) -> pd.DataFrame:
    """One step; `people` as of `per_thousand` with `before` as the reference."""
    changes = people[["quantity", "difference", "difference_low", "difference_high"]]
    costs = paired_difference(evidence.tallies[after], evidence.tallies[before], weights)
    cost = costs.loc[costs["metric"] == "TotalCost", ["metric", "difference", "low", "high"]]
    names = ["quantity", "change", "low", "high"]
    rows = pd.concat([changes.set_axis(names, axis=1), cost.set_axis(names, axis=1)])
    rows = rows.set_index("quantity").loc[list(MEASURES)].reset_index()
    titles = {"before": evidence.outcomes[before].title, "after": evidence.outcomes[after].title}
    return rows.assign(step=step, **titles, n=len(evidence.cohort))[list(COLUMNS)]
