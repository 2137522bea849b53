"""The worklist: who reads each case, when all routers of a run decide together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Policy, Rule, choose, decided_together, mean_policy, preferences

ORDERS = {
    "costly": "Most costly first",
    "close": "Closest call first",
    "disputed": "Most disagreement first",
}
"""The ways to say which case should be looked at first."""


def decisions_frame(
    policy: Policy, cohort: Cohort, rule: Rule, continuations: Continuations | None = None
) -> pd.DataFrame:
    """One row a case: the action of the mean policy, who that is, the label if known, votes, d and every q.

    `policy` and `continuations` are of a population, [E, N]; `votes` counts the members who would act the same alone.
    """
    mean = mean_policy(policy)
    action = choose(mean, rule)  # [N]
    label = pd.Series(decided_together(policy, cohort, rule, continuations).label, dtype="Int64")
    columns = {
        "case_id": cohort.ids,
        "action": np.array(["ai", *cohort.manifest.columns])[action],
        "reader": np.array(["AI", *(reader.name for reader in cohort.manifest.readers)])[action],
        "label": label.mask(label == UNKNOWN),
        "votes": (choose(policy, rule) == action).sum(0),
        "defer": mean.defer,
    }
    shares = {f"q:{column}": mean.allocation[:, j] for j, column in enumerate(cohort.manifest.columns)}
    return pd.DataFrame(columns | shares)


def worklist(
    policy: Policy, cohort: Cohort, rule: Rule, expected: Floats, continuations: Continuations | None = None
) -> pd.DataFrame:
    """What is done with each case and what makes it urgent; a row a case, in the order of the cohort.

    `expected` is the cost of every action, [N, 1 + M], as of `reliability.expected_costs`. Columns: case_id, cohort,
    ai_probability, action, reader, votes, members, defer, log_odds, expected_cost (of the action), ai_cost, ending.
    """
    decided = decisions_frame(policy, cohort, rule)
    mean = mean_policy(policy)
    right = decided_together(policy, cohort, rule, continuations).label == cohort.truth
    ending = np.where(cohort.truth == UNKNOWN, "not known", np.where(right, "right", "wrong"))
    names = np.array([entry.name for entry in cohort.manifest.cohorts])
    return decided[["case_id", "action", "reader", "votes", "defer"]].assign(
        cohort=names[cohort.source],
        ai_probability=cohort.ai_probability,
        members=len(policy.defer),
        log_odds=preferences(mean, rule).max(-1),
        expected_cost=expected[np.arange(len(cohort)), choose(mean, rule)],
        ai_cost=expected[:, 0],
        ending=ending,
    )


def ordered(rows: pd.DataFrame, order: str) -> pd.DataFrame:
    """A worklist with the most urgent case first; equal ones by expected cost, then as they were."""
    urgency = {
        "costly": lambda: rows["expected_cost"],
        "close": lambda: -rows["log_odds"].abs(),
        "disputed": lambda: 1 - rows["votes"] / rows["members"],
    }
    if order not in urgency:
        raise UserError(f"order of the worklist: found {order!r}, expected one of {', '.join(ORDERS)}")
    return rows.iloc[np.lexsort((-rows["expected_cost"], -urgency[order]()))].reset_index(drop=True)


def sent_from(odds: Floats, position: int) -> float:
    """The share of all cases that must be sent for this one to be among them, when the clearest go first.

    >>> sent_from(np.array([2.0, -1.0, 0.5, -3.0]), position=2)
    0.5
    """
    return float((odds >= odds[position]).mean())
