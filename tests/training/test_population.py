"""A population applied to very many cases, in threads, says what it says of them one part after the other."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toy import toy_problem

from mpd2.training import population
from mpd2.training.config import PAPER
from mpd2.training.population import fit_routers, population_policy

COHORT = toy_problem(90).cohort


def test_many_cases_in_threads_get_the_policy_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    run = fit_routers(COHORT, COHORT.manifest.default_costs(), [PAPER.but(training__epochs=1, training__warm_up=0)])
    monkeypatch.setattr(population, "CHUNK", 7)
    whole, threads = population_policy(run, COHORT), torch.get_num_threads()
    monkeypatch.setattr(population, "MANY", 2)
    parts = population_policy(run, COHORT)
    np.testing.assert_allclose(parts.defer, whole.defer, atol=1e-6)
    np.testing.assert_allclose(parts.allocation, whole.allocation, atol=1e-6)
    assert torch.get_num_threads() == threads
