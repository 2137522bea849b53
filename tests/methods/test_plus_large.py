"""MPD²+ on tables larger than is looked at in one piece: fewer draws, parts of the cases, few products."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from any_table import Shape, large, made_up

from mpd2.core.costs import OperatingPoint
from mpd2.core.error_rates import logistic
from mpd2.methods import common
from mpd2.methods.plus import posterior
from mpd2.methods.plus.method import Plus
from mpd2.methods.plus.posterior import DRAWS, draws_for, fit_scaler
from mpd2.methods.recalibrated import Recalibrated
from mpd2.methods.registry import continuations_of, expectations_of, policy_of

SMALL = made_up(Shape(rows=240, readers=4, per_case=3, roles=("risk", "structure", "other"), missing=(True,)))
METHOD = Plus(draws=3)
RUN = METHOD.fit(SMALL, SMALL.manifest.default_costs(), (42, 43))


def test_a_run_says_how_many_draws_it_was_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "FEW", 48)
    costs, train = SMALL.manifest.default_costs(), SMALL.subset(split="train")
    assert (draws_for(DRAWS, train), draws_for(1, train)) == (DRAWS * 48 // len(train), 1)
    for method in (Plus(), Recalibrated()):
        run = method.fit(SMALL, costs, (42, 43))
        made = run.settings[0]["draws"]
        assert made == DRAWS * 48 // len(train)
        assert run.arrays["posterior"].shape[:2] == (2, made)


def test_few_cases_have_every_draw_and_many_no_fewer_than_two(monkeypatch: pytest.MonkeyPatch) -> None:
    assert draws_for(DRAWS, SMALL) == DRAWS
    monkeypatch.setattr(posterior, "FEW", 1)
    assert draws_for(DRAWS, SMALL) == 2


def test_a_table_in_parts_is_decided_as_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    costs, point = RUN.costs, OperatingPoint(RUN.costs, None)
    before = policy_of(RUN, SMALL), continuations_of(RUN, SMALL), expectations_of(RUN, SMALL, costs, None)
    together, decided = METHOD.together(RUN, SMALL)(point), METHOD.deciding(RUN, SMALL)(point)
    answers = METHOD.answers(RUN, SMALL)
    monkeypatch.setattr(common, "PART", 37)
    monkeypatch.setattr(logistic, "WHOLE", 1000)
    monkeypatch.setattr(logistic, "BLOCK", 500)
    policy, endings = policy_of(RUN, SMALL), continuations_of(RUN, SMALL)
    expected = expectations_of(RUN, SMALL, costs, None)
    assert np.allclose(policy.actions, before[0].actions, atol=1e-6)
    assert endings is not None
    assert before[1] is not None
    for name in ("kept", "label", "consulted"):
        assert np.array_equal(getattr(endings, name), getattr(before[1], name))
    assert expected is not None
    assert before[2] is not None
    for name in ("positive", "wrong", "says", "cost"):
        assert np.allclose(getattr(expected, name), getattr(before[2], name))
    again = METHOD.together(RUN, SMALL)(point)
    assert np.allclose(again[0].actions, together[0].actions)
    assert np.array_equal(again[1].label, together[1].label)
    assert np.array_equal(METHOD.deciding(RUN, SMALL)(point).label, decided.label)
    assert np.allclose(METHOD.answers(RUN, SMALL), answers)


def test_a_fit_in_blocks_decides_as_one_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    before = policy_of(RUN, SMALL)
    monkeypatch.setattr(logistic, "WHOLE", 1000)
    monkeypatch.setattr(logistic, "BLOCK", 2000)
    again = METHOD.fit(SMALL, SMALL.manifest.default_costs(), (42, 43))
    assert np.allclose(policy_of(again, SMALL).actions, before.actions, atol=2e-3)


def test_of_many_inputs_only_the_score_is_multiplied_with_all_others() -> None:
    few, many = (made_up(Shape(roles=("other",) * size, ai="logit", cohorts=1)) for size in (11, 20))
    few_columns, many_columns = (fit_scaler(cohort, by_cohort=False).quadratic(cohort) for cohort in (few, many))
    assert few_columns.shape[1] == 13 * 14 // 2  # the score, eleven inputs, a constant
    assert many_columns.shape[1] == 1 + 21 + 21 + 20  # constant, all, their squares, the score times each input
    assert (many_columns[:, -1] == 1).all()
    assert np.linalg.matrix_rank(many_columns) == many_columns.shape[1]


def test_where_cohorts_are_many_the_largest_have_a_part_of_their_own() -> None:
    cohort = made_up(Shape(rows=600, cohorts=50, roles=("other",) * 10, ai="logit", readers=1))
    crowded = replace(cohort, source=np.where(np.arange(600) < 300, 7, cohort.source))
    scaler = fit_scaler(crowded)
    width = len(cohort.layout.informative) + 1
    assert scaler.full == 256 // width
    assert scaler.cohorts[0] == "c7"
    columns = scaler.linear(crowded)
    assert columns.shape[1] == scaler.full * width + (len(scaler.cohorts) - scaler.full) + width
    assert (columns[:, : scaler.full * width].any(1) != columns[:, scaler.full * width : -width].any(1)).all()


def test_memory_does_not_grow_with_products_of_rows_readers_and_draws() -> None:
    cohort = made_up(large(rows=12_000))
    tracemalloc.start()
    try:
        run = Plus(limit=1, draws=2).fit(cohort, cohort.manifest.default_costs(), (42, 43))
        policy = policy_of(run, cohort)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert policy.defer.shape == (2, 12_000)
    assert peak < 300 * 2**20  # the products of features alone would be 830 MB
