"""Readers' rates by now: what was learned and what turned out since, together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from shadows import deciders_of, learned, opened

from mpd2.clinic.shadow.evidence.reader_rates import RATES, reader_rates
from mpd2.clinic.shadow.snapshot import Snapshot, snapshot
from mpd2.core.cohort import UNKNOWN, Cohort


@pytest.fixture
def empty(tmp_path) -> Snapshot:
    """A clinic in which no case has come in."""
    with opened(tmp_path) as store:
        deciders = deciders_of("mpd2-plus", store)
        return snapshot(store, deciders.learned, deciders.manifest)


def seen_with(now: Snapshot, cohort: Cohort) -> Snapshot:
    """The same clinic with other cases."""
    return replace(now, cohort=cohort)


def test_before_any_outcome_every_reader_is_near_what_was_learned_and_inside_the_interval(empty):
    rows = reader_rates(empty, learned())
    assert len(rows) == len(RATES) * learned().readers
    assert (rows["n"] == 0).all()
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()
    known = rows.dropna(subset="learned")
    np.testing.assert_allclose(known["value"], known["learned"], atol=0.06)


def test_what_turns_out_moves_a_reader_by_as_much_as_there_is_of_it(empty):
    test = learned().subset(split="test")
    wrong = np.where(test.decisions == UNKNOWN, UNKNOWN, 1 - test.decisions)
    before = reader_rates(empty, learned())["value"]
    some = reader_rates(seen_with(empty, replace(test.rows(np.arange(100)), decisions=wrong[:100])), learned())
    more = reader_rates(seen_with(empty, replace(test, decisions=wrong)), learned())
    spec = (more["metric"] == "Spec") & (before > 0.7) & (some["n"] > 0)
    assert spec.any()
    assert (some["value"] < before)[spec].all()
    assert (more["value"] < some["value"])[spec].all()


def test_an_answer_without_a_truth_counts_for_nothing(empty):
    test = learned().subset(split="test")
    unknown = replace(test, truth=np.full(len(test), UNKNOWN))
    assert (reader_rates(seen_with(empty, unknown), learned())["n"] == 0).all()
