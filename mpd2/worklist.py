"""The worklist: who reads each case, when all routers of a run decide together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.cohort import UNKNOWN, Cohort
from mpd2.policy import Policy, Rule, choose, route


def mean_policy(policy: Policy) -> Policy:
    """One policy for a population: the mean of its members' π, [E, N] to [N]."""
    defer = policy.defer.mean(0)
    shared = (policy.defer[..., None] * policy.allocation).mean(0)  # [N, M]
    deferring = defer[:, None] > 0
    allocation = np.divide(shared, defer[:, None], out=policy.allocation.mean(0), where=deferring)
    return Policy(defer, allocation, policy.available)


def decisions_frame(policy: Policy, cohort: Cohort, rule: Rule) -> pd.DataFrame:
    """One row a case: the action of the mean policy, who that is, the label if known, votes, d and every q.

    `policy` is that of a population, [E, N]; `votes` counts the members who would act the same alone.
    """
    mean = mean_policy(policy)
    action = choose(mean, rule)  # [N]
    label = pd.Series(route(mean, cohort, rule).label, dtype="Int64")
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
