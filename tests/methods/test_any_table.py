"""Every method on tables of every shape: it fits, asks nobody who is absent, and does the same again."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from any_table import Shape, made_up

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates import error_rates
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY
from mpd2.core.runs import Run
from mpd2.methods.base import Method
from mpd2.methods.learned import Learned
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated
from mpd2.methods.registry import (
    METHODS,
    applicable,
    continuations_of,
    decisions_of,
    expectations_of,
    policy_of,
)
from mpd2.training.config import PAPER

SEEDS = (42, 43)
SHAPES = {
    "one reader, no input, one logit": Shape(readers=1, roles=(), cohorts=1, ai="logit"),
    "a probability and one other input": Shape(roles=("other",), ai="probability", thresholds=True),
    "missing and constant inputs": Shape(
        roles=("risk", "structure", "other", "ai"), missing=(True, False, True, True), constant=(False, True)
    ),
    "readers never heard, or never about positives": Shape(readers=5, unheard=(0,), never=(1,), per_case=3),
    "patients in several cohorts": Shape(per_cluster=3, across=True, cohorts=3, ai="probability"),
    "many inputs": Shape(roles=("risk", "structure", "other") * 6, missing=(False, True) * 9, rows=200),
    "many cohorts": Shape(cohorts=50, rows=300, roles=("risk", "other", "other", "other", "structure")),
    "sixty readers, three a case": Shape(readers=60, per_case=3, rows=200),
}
MOST = {key: method for key, method in METHODS.items() if not key.endswith("-plain")}


def quick(key: str) -> Method:
    method = METHODS[key]
    if isinstance(method, Learned):
        return replace(method, net=replace(method.net, hidden=(8,), epochs=2))
    if isinstance(method, Mpd2):
        return Mpd2(PAPER.but(network__width=8, training__epochs=2, training__learning_rate=0.01))
    return replace(method, draws=2) if isinstance(method, Plus | Recalibrated) else method


@cache
def table(shape: str) -> Cohort:
    return made_up(SHAPES[shape])


def fit(key: str, cohort: Cohort) -> Run:
    return quick(key).fit(cohort, cohort.manifest.default_costs(), SEEDS)


@cache
def fitted(key: str, shape: str) -> Run:
    return fit(key, table(shape))


every_shape = pytest.mark.parametrize("shape", SHAPES)
every_method = pytest.mark.parametrize("key", MOST)


@every_shape
@every_method
def test_every_method_keeps_its_contract_on_tables_of_every_shape(key: str, shape: str) -> None:
    cohort = table(shape)
    if key not in applicable(cohort.layout):
        with pytest.raises(UserError, match="the table has none"):
            fit(key, cohort)
        return
    run = fitted(key, shape)
    policy, decisions = policy_of(run, cohort), decisions_of(run, cohort)
    assert policy.allocation.shape == (len(SEEDS), len(cohort), cohort.readers)
    assert np.isfinite(policy.defer).all()
    assert (policy.allocation[:, ~cohort.available] == 0).all()
    assert np.allclose(policy.allocation.sum(-1), cohort.available.any(-1), atol=1e-6)
    members, cases, steps = np.nonzero(decisions.consulted != NOBODY)
    assert cohort.available[cases, decisions.consulted[members, cases, steps]].all()
    assert set(np.unique(decisions.label)) <= {0, 1}
    endings = continuations_of(run, cohort)
    if endings is not None:
        assert (endings.label[:, cohort.available] != UNKNOWN).all()
        assert (endings.consulted[:, ~cohort.available] == NOBODY).all()


@every_shape
@pytest.mark.parametrize("key", ["mpd2", "mpd2-plus", "recalibrated", "mao"])
def test_a_method_does_the_same_again_and_needs_no_answers(key: str, shape: str) -> None:
    cohort = table(shape)
    again = fit(key, cohort)
    assert all(np.array_equal(values, again.arrays[name]) for name, values in fitted(key, shape).arrays.items())
    unknown = replace(cohort, truth=np.full(len(cohort), UNKNOWN), decisions=np.full(cohort.decisions.shape, UNKNOWN))
    assert np.array_equal(policy_of(again, unknown).actions, policy_of(again, cohort).actions)


@every_shape
@pytest.mark.parametrize("key", ["mpd2-plus", "recalibrated", "best-reader"])
def test_what_is_expected_of_a_case_is_finite_whatever_the_table(key: str, shape: str) -> None:
    cohort = table(shape)
    costs = cohort.manifest.default_costs()
    expected = expectations_of(fitted(key, shape), cohort, costs, error_rates(cohort))
    assert expected is not None
    assert ((expected.positive >= 0) & (expected.positive <= 1)).all()
    assert np.array_equal(np.isfinite(expected.cost[:, 1:]), cohort.available)
    assert ((expected.wrong > -1e-9) & (expected.wrong < 1 + 1e-9)).all()


@pytest.mark.parametrize("key", [key for key in MOST if key not in ("ai", "random-reader", "oracle")])
@pytest.mark.parametrize(("split", "label"), [("train", 0), ("train", 1), ("val", 0), ("val", 1)])
def test_learning_without_one_kind_of_case_is_refused_in_plain_words(key: str, split: str, label: int) -> None:
    cohort = table("missing and constant inputs")
    one_kind = replace(cohort, truth=np.where(cohort.split == split, 1 - label, cohort.truth))
    word = cohort.manifest.task.answers[label]
    with pytest.raises(UserError, match=f"training needs {split} cases of both kinds; none of the .* is {word}"):
        fit(key, one_kind)


def test_a_reader_heard_only_later_answers_like_the_others_and_is_no_surer() -> None:
    shape = "readers never heard, or never about positives"
    run, cohort = fitted("mpd2-plus", shape), table(shape)
    method = METHODS["mpd2-plus"]
    assert isinstance(method, Plus)
    answers = method.answers(run, cohort)  # [N, M, 2]
    others = answers[:, 2:]
    assert (answers[:, 0] > others.min(1) - 0.3).all()
    assert (answers[:, 0] < others.max(1) + 0.3).all()


def test_cohorts_without_a_part_of_their_own_have_a_level_and_a_new_one_is_like_all() -> None:
    cohort = table("many cohorts")
    run = fitted("recalibrated", "many cohorts")
    assert run.notes["full_cohorts"] < len(run.notes["cohorts"]) == 50
    columns = cohort.layout.informative
    assert run.arrays["posterior"].shape[-1] < 2 * 256
    moved = replace(cohort, source=(cohort.source + 1) % 50)
    here, there = (policy_of(run, part) for part in (cohort, moved))
    assert here.defer.shape == there.defer.shape
    assert len(columns) * 50 > 256
