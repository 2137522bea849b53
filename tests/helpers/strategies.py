"""Small random cohorts and policies for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mpd2.core.cohort import SPLITS, UNKNOWN, Cohort
from mpd2.core.manifest import ClinicalCosts, CohortEntry, Manifest, Reader, parse_manifest
from mpd2.core.policy import Policy

SHARES = st.floats(0, 1)
FEW_READERS = st.integers(1, 6)
FEW_CASES = st.integers(1, 12)


FIRST = """
title = "made up"
table = "made_up.csv"
costs = {false_negative = 2.0, false_positive = 1.5}
readers = [{column = "reader", name = "Reader", group = "panel", fee = 0.1, tier = "B"}]
cohorts = [{key = "north", name = "North", readings = "real"}]
"""
"""A manifest of version 1, whose inputs are those of the benchmark."""


def made_up_manifest(readers: int) -> Manifest:
    """Two cohorts and any number of readers, their fees rising from 0.1 to 0.3."""
    first = parse_manifest(FIRST, "made up")
    return first.but(
        title="made up",
        table="made_up.csv",
        costs=ClinicalCosts(false_negative=2.0, false_positive=1.5),
        readers=tuple(
            Reader(column=f"reader_{j}", name=f"Reader {j}", group="panel", fee=fee, tier="B")
            for j, fee in enumerate(np.linspace(0.1, 0.3, readers).tolist())
        ),
        cohorts=(
            CohortEntry(key="north", name="North", readings="real"),
            CohortEntry(key="south", name="South", readings="induced"),
        ),
    )


TASK = made_up_manifest(1).task
STATE = made_up_manifest(1).layout.names
MEASURED = made_up_manifest(1).layout.measured


@st.composite
def cohorts(
    draw: st.DrawFn,
    readers: st.SearchStrategy[int] = FEW_READERS,
    cases: st.SearchStrategy[int] = FEW_CASES,
) -> Cohort:
    """A valid cohort under any availability mask, cases without a reader included."""
    n, m = draw(cases), draw(readers)
    bits = st.integers(0, 1)
    available = draw(hnp.arrays(bool, (n, m)))
    decisions = draw(hnp.arrays(np.int64, (n, m), elements=bits))
    logits = draw(hnp.arrays(float, (n, 2), elements=st.floats(-8, 8)))
    vim = draw(hnp.arrays(float, n, elements=st.floats(-4, 40)))
    quality, vertical, area = draw(hnp.arrays(float, (3, n), elements=SHARES))
    probability = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    uncertainty = np.minimum(probability, 1 - probability)
    return Cohort(
        manifest=made_up_manifest(m),
        fingerprint="made up",
        ids=np.array([f"case {i}" for i in range(n)]),
        source=draw(hnp.arrays(np.int64, n, elements=bits)),
        split=np.array(SPLITS)[draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))],
        state=np.column_stack([probability, logits, vim, quality, uncertainty, vertical, area]),
        cluster=np.arange(n),
        absent=np.zeros((n, len(STATE)), bool),
        drawn=np.full((n, 1), np.nan),
        truth=draw(hnp.arrays(np.int64, n, elements=bits)),
        decisions=np.where(available, decisions, UNKNOWN),
        available=available,
    )


@st.composite
def policies(draw: st.DrawFn, cohort: Cohort) -> Policy:
    """Any policy on the cohort's masked simplex; where there is no reader it keeps the AI."""
    available = cohort.available
    weights = draw(hnp.arrays(float, available.shape, elements=SHARES)) * available
    silent = weights.sum(-1, keepdims=True) == 0
    weights = np.where(silent, available, weights)
    total = weights.sum(-1, keepdims=True)
    allocation = np.divide(weights, total, out=np.zeros_like(weights, float), where=total > 0)
    defer = draw(hnp.arrays(float, len(cohort), elements=SHARES)) * available.any(-1)
    return Policy(defer, allocation, available)
