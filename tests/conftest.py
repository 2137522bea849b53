"""Cohorts that every test may use, and how examples are drawn. Cohorts for property tests are in `strategies`."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from places import DATA

from mpd2.core.cohort import Cohort
from mpd2.core.table_file import load_cohort
from mpd2.training.groups import Groups, fit_groups

# What passed once passes again: the examples follow from the code alone, and no clock judges them.
settings.load_profile("ci")
# New examples every time, and those that failed first; `make fuzz` looks for counterexamples with it.
settings.register_profile(
    "search", settings.get_profile("default"), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.fixture(autouse=True)
def the_same_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is run takes the place of the main module, which processes started later would run too."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="session")
def benchmark() -> Cohort:
    """The shipped table, whole."""
    return load_cohort(DATA / "glaucoma.csv")


@pytest.fixture(scope="session")
def train(benchmark: Cohort) -> Cohort:
    """The cases to learn from."""
    return benchmark.subset(split="train")


@pytest.fixture(scope="session")
def val(benchmark: Cohort) -> Cohort:
    """The cases to choose by."""
    return benchmark.subset(split="val")


@pytest.fixture(scope="session")
def held_out(benchmark: Cohort) -> Cohort:
    """The cases to judge by."""
    return benchmark.subset(split="test")


@pytest.fixture(scope="session")
def groups(train: Cohort) -> Groups:
    """The groups of the cases to learn from."""
    return fit_groups(train)


@pytest.fixture(scope="session")
def small_cohort(benchmark: Cohort) -> Cohort:
    """Fifty-four real cases: the first six of every cohort in every split, in the table's order."""
    strata = np.char.add(benchmark.sources, benchmark.split)
    first = [np.flatnonzero(strata == stratum)[:6] for stratum in np.unique(strata)]
    return benchmark.rows(np.sort(np.concatenate(first)))
