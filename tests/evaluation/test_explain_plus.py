"""What decides a case of the shipped MPD²+ is taken apart exactly, and what is said to change it does."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from scipy.special import logit

from mpd2.core.cohort import Cohort
from mpd2.core.costs import OperatingPoint
from mpd2.core.files import ROOT
from mpd2.core.runs import Run, load_run
from mpd2.evaluation import explain
from mpd2.methods.plus.asking import first_gain
from mpd2.methods.plus.method import Plus, outlook_of
from mpd2.methods.registry import continuations_of, policy_of

METHOD = Plus()
DEAR = 6.0  # weight of a miss at another operating point than the run's own


@cache
def shipped() -> Run:
    return load_run(ROOT / "data" / "glaucoma" / "runs" / METHOD.key)


def elsewhere() -> Run:
    """The same run where a miss weighs more, and a confident AI is not overruled unread."""
    costs = shipped().costs
    return METHOD.at(shipped(), OperatingPoint(type(costs)(DEAR, costs.false_positive, costs.fees), confident=0.95))


def done(run: Run, cases: Cohort) -> np.ndarray:
    return explain.done(lambda each: (policy_of(run, each), continuations_of(run, each)), run.rule, cases)


def test_on_every_test_case_the_inputs_add_up_to_the_log_odds_of_glaucoma(train: Cohort, held_out: Cohort) -> None:
    run, nobody = shipped(), held_out.with_available(np.zeros(held_out.readers, bool))  # then nothing else is computed
    prior = outlook_of(run, held_out).together().prior
    seen = METHOD.inputs(train.layout)
    for row in range(len(held_out)):
        found = explain.attribute(partial(METHOD.grounds, run), seen, nobody.rows(np.array([row])), train, 4)
        assert float(found["positive"].total) == pytest.approx(logit(prior[row]), abs=1e-9)
    assert len(held_out) == 899


@pytest.mark.parametrize("run", [shipped(), elsewhere()], ids=["as fitted", "at another point"])
def test_the_inputs_add_up_to_what_asking_the_best_reader_saves(run: Run, train: Cohort, held_out: Cohort) -> None:
    rows = np.arange(0, len(held_out), 45)
    outlook = outlook_of(run, held_out.rows(rows)).together()
    best = first_gain(outlook, run.costs, METHOD.most_readers(run)).max(-1)
    for row, saved in zip(rows, best, strict=True):
        case = held_out.rows(np.array([row]))
        found = explain.attribute(partial(METHOD.grounds, run), METHOD.inputs(train.layout), case, train, 4)
        assert float(found["asking"].total) == pytest.approx(saved, abs=1e-9)
        assert float(found["positive"].total) == pytest.approx(
            logit(METHOD.expectations(run, case, run.costs).positive[0]), abs=1e-9
        )


def test_the_cohort_of_a_case_is_one_of_its_reasons(train: Cohort, held_out: Cohort) -> None:
    case, seen = held_out.rows(np.array([700])), METHOD.inputs(train.layout)
    found = explain.attribute(partial(METHOD.grounds, shipped()), seen, case, train)
    adds = explain.attribution_frame(found["positive"], held_out.rows(np.array([700]))).set_index("variable")["adds"]
    assert abs(adds["cohort"]) > 0.05


@pytest.mark.parametrize("run", [shipped(), elsewhere()], ids=["as fitted", "at another point"])
def test_a_flip_that_is_run_again_flips(run: Run, train: Cohort, held_out: Cohort) -> None:
    tried, kinds = 0, set()
    for row in range(0, len(held_out), 75):
        case = held_out.rows(np.array([row]))
        now = done(run, case)[0]
        flips = explain.flips(lambda each: (policy_of(run, each), continuations_of(run, each)), run.rule, case, train)
        for flip in flips.itertuples():
            state = explain.changed(case, {flip.variable: flip.flips_at})
            there = done(run, explain.copies_with(case, state[None]))[0]
            assert ((there > 1) != (now > 1)) if flip.crosses else there != now and (there > 1) == (now > 1)
            kinds.add((bool(now > 1), flip.crosses))
            tried += 1
    assert tried > 15
    assert kinds >= {(True, True), (False, True)}
