"""The least cost of routing, against brute force and against trained methods."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Decisions
from mpd2.imaging.simulation.bayes import (
    AI,
    ASKING,
    KINDS,
    LABEL,
    OWN,
    THREE,
    WORD,
    Known,
    bounds,
    enquiries,
    expected_costs,
    known,
    least,
    mean,
)
from mpd2.imaging.simulation.law import fitted_law
from mpd2.imaging.simulation.manifest import simulated_manifest
from mpd2.imaging.simulation.programme import draw
from mpd2.methods.base import Method
from mpd2.methods.learned import Net
from mpd2.methods.mao import Mao
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated
from mpd2.methods.registry import decisions_of
from mpd2.methods.simple import AiOnly, BestReader

NOISE = 4.0  # standard errors
KIND_OF = {AiOnly.key: AI, "recalibrated": OWN, BestReader.key: WORD, "mao": WORD, "mpd2-plus": THREE}


def programme_of(n: int, seed: int) -> Cohort:
    programme = draw(fitted_law(), n, seed)
    return programme.cohort(simulated_manifest(programme.law, "Simulated", "cases.csv"))


def best_of(belief: Floats, says: Floats, left: frozenset[int], fees: Floats, costs: Costs, limit: int) -> float:
    """The least cost from here on by trying everything; `belief` is not normalised."""
    stop = min(costs.false_positive * belief[0], costs.false_negative * belief[1])
    if not limit:
        return float(stop)
    asking = [
        fees[reader] * belief.sum()
        + sum(
            best_of(
                belief * (says[reader] if word else 1 - says[reader]), says, left - {reader}, fees, costs, limit - 1
            )
            for word in (0, 1)
        )
        for reader in left
    ]
    return float(min([stop, *asking]))


@given(seed=st.integers(0, 10_000), readers=st.integers(1, 4), limit=st.integers(0, 4))
def test_asking_costs_what_trying_everything_finds(seed: int, readers: int, limit: int) -> None:
    random = np.random.default_rng(seed)
    fees = random.uniform(0, 0.2, readers)
    costs = Costs(2.0, 1.5, tuple(fees.tolist()))
    facts = Known(
        positive=random.random(3),
        says=random.random((3, readers, 2)),
        available=random.random((3, readers)) < 0.7,
        ai_label=random.integers(0, 2, 3),
    )
    found = enquiries(facts, costs, limit)
    for row in range(3):
        left = frozenset(np.flatnonzero(facts.available[row]).tolist())
        belief = np.array([1 - facts.positive[row], facts.positive[row]])
        assert found[row] == pytest.approx(best_of(belief, facts.says[row], left, fees, costs, limit), abs=1e-12)


@given(seed=st.integers(0, 10_000))
def test_one_word_costs_what_its_outcomes_cost(seed: int) -> None:
    random = np.random.default_rng(seed)
    costs = Costs(2.0, 1.5, (0.1, 0.05))
    facts = Known(random.random(1), random.random((1, 2, 2)), np.array([[True, False]]), np.array([1]))
    positive, says = float(facts.positive[0]), facts.says[0, 0]
    truths = {1: positive, 0: 1 - positive}
    reader = costs.fees[0] + sum(
        chance * (says[truth] if word else 1 - says[truth]) * costs.of_errors(np.array(word), np.array(truth))
        for (truth, chance), word in product(truths.items(), (0, 1))
    )
    own = costs.false_positive * (1 - positive)
    assert least(facts, costs, WORD)[0] == pytest.approx(min(own, float(reader)))


def test_whoever_may_do_more_costs_no_more() -> None:
    cohort = programme_of(4_000, seed=1)
    facts, costs = known(fitted_law(), cohort), cohort.manifest.default_costs()
    cost = {kind: least(facts, costs, kind) for kind in KINDS}
    for less, more in ((AI, WORD), (AI, OWN), (OWN, LABEL), (WORD, LABEL), (LABEL, THREE), (THREE, ASKING)):
        assert (cost[more] <= cost[less] + 1e-12).all()
    assert cost[LABEL].mean() < cost[WORD].mean()


def test_free_and_faultless_readers_leave_nothing_to_pay() -> None:
    facts = Known(np.array([0.3]), np.array([[[0.0, 1.0]]]), np.array([[True]]), np.array([0]))
    assert enquiries(facts, Costs(2.0, 1.5, (0.0,)), 1)[0] == 0.0
    assert enquiries(facts, Costs(2.0, 1.5, (9.0,)), 1)[0] == pytest.approx(0.6)


def test_bounds_come_with_how_sure_they_are() -> None:
    cohort = programme_of(3_000, seed=2)
    found = bounds(fitted_law(), cohort, cohort.manifest.default_costs(), sample=1_000)
    again = bounds(fitted_law(), cohort, cohort.manifest.default_costs(), sample=1_000)
    assert found == again
    assert all(bound.n == 1_000 and 0 < bound.margin < 0.05 for bound in found.values())
    assert found[ASKING].cost <= found[LABEL].cost <= found[WORD].cost <= found[AI].cost


def test_expected_costs_of_decisions_are_what_they_cost_on_average() -> None:
    cohort = programme_of(60_000, seed=3)
    costs, facts = cohort.manifest.default_costs(), known(fitted_law(), cohort)
    first, last = cohort.available.argmax(1), 11 - cohort.available[:, ::-1].argmax(1)
    rows = np.arange(len(cohort))
    label = cohort.decisions[rows, first] & cohort.decisions[rows, last]
    decisions = Decisions(np.column_stack([first, last]), label)
    expected = expected_costs(facts, decisions, cohort.decisions, costs)
    realised = costs.of_errors(label, cohort.truth) + np.array(costs.fees)[decisions.consulted].sum(-1)
    apart = mean(realised - expected)
    assert abs(apart.cost) < 2 * apart.margin
    assert expected.std() < realised.std()


@pytest.mark.parametrize(
    "method",
    [AiOnly(), BestReader(), Recalibrated(), Mao(net=Net(epochs=12, patience=6)), Plus(draws=2)],
    ids=lambda method: str(method.key),
)
def test_no_trained_method_costs_less_than_the_bound_of_its_kind(method: Method) -> None:
    cohort = programme_of(5_000, seed=4)
    costs, test = cohort.manifest.default_costs(), cohort.subset(split="test")
    run = method.fit(cohort, costs, [1])
    facts = known(fitted_law(), test)
    cost = expected_costs(facts, decisions_of(run, test), test.decisions, costs)[0]
    excess = cost - least(facts, costs, KIND_OF[method.key])
    assert excess.mean() >= -NOISE * excess.std() / np.sqrt(len(excess))
    if KIND_OF[method.key] == OWN:
        assert (excess > -1e-12).all()
