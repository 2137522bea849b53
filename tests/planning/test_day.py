"""One setting of a clinic's day, in a link and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import made_up_manifest

from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest, Reader
from mpd2.planning.day import NAMES, DaySetting, costs_in_words, from_query, in_words
from mpd2.planning.roster_and_limits import Limits

MANIFEST = made_up_manifest(3)
TASK = MANIFEST.task
USUAL = DaySetting(MANIFEST.default_costs())


@st.composite
def any_setting(draw: st.DrawFn) -> DaySetting:
    columns = st.sampled_from(MANIFEST.columns)
    numbers = st.integers(0, 900)
    budget = draw(st.none() | st.integers(0, 1000).map(lambda thousandths: thousandths / 1000))
    by_cohort = draw(st.booleans())
    cost = st.integers(0, 5000).map(lambda thousandths: thousandths / 1000)
    return DaySetting(
        costs=Costs(draw(cost), draw(cost), tuple(draw(cost) for _ in MANIFEST.columns)),
        limits=Limits(
            budget=budget,
            soft=budget is not None and draw(st.booleans()),
            by_cohort=by_cohort,
            total=draw(st.none() | numbers),
            capacity=tuple(draw(st.dictionaries(columns, numbers)).items()),
            away=tuple(draw(st.sets(columns))),
            reserve=0 if by_cohort else draw(numbers),
        ),
        urgent=draw(numbers),
        for_costs=draw(st.booleans()),
        day=draw(st.integers(1, 2000)),
    )


@given(any_setting())
def test_a_link_says_all_of_a_setting(setting):
    query = setting.to_query(MANIFEST)
    assert set(query) <= set(NAMES)
    assert from_query(query, MANIFEST, cases=899) == setting


def test_the_usual_setting_needs_no_words_in_the_link():
    assert USUAL.to_query(MANIFEST) == {}
    assert from_query({"run": "studio", "split": "val"}, MANIFEST, cases=899) == USUAL


def test_a_reader_of_any_name_can_be_in_a_link():
    odd = Reader(column="Dr. A, B: 1/2 & Co", name="Odd", group="panel", fee=0.1, tier="B")
    manifest = Manifest(**{**MANIFEST.model_dump(), "readers": (odd,)})
    setting = DaySetting(manifest.default_costs(), Limits(capacity=((odd.column, 3),), away=(odd.column,)))
    assert from_query(setting.to_query(manifest), manifest, cases=899) == setting


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"budget": "lots"}, "budget: found 'lots' in the link, expected a number"),
        ({"budget": "nan"}, "budget: found nan, expected a share from 0 to 1"),
        ({"total": "1.5"}, "total: found '1.5' in the link, expected a whole number"),
        ({"total": "9" * 40}, "expected a whole number up to 1000000"),
        ({"missed": "inf"}, "missed: found 'inf' in the link, expected a number up to 1000000000000"),
        ({"total": "-1"}, "total: found -1, expected a whole number of cases, at least 0"),
        ({"away": "nobody"}, "reader: found nobody, expected some of reader_0, reader_1, reader_2"),
        ({"fees": "nobody:1"}, "fees: found nobody, expected some of"),
        ({"missed": "-1"}, "cost of a miss: found -1.0, expected a number of at least 0"),
        ({"urgent": "-3"}, "urgent: found -3, expected a number of cases, at least 0"),
        ({"soft": "1"}, "a soft budget needs its share"),
        ({"day": "0"}, "day: found 0 cases, expected 1 to 1000000"),
        ({"day": "many"}, "day: found 'many' in the link, expected a whole number"),
    ],
)
def test_a_link_that_makes_no_sense_is_refused_with_the_reason(query, reason):
    with pytest.raises(UserError, match=reason):
        from_query(query, MANIFEST, cases=899)


def test_numbers_a_day_are_scaled_to_the_cases_shown():
    limits = Limits(total=90, capacity=(("reader_0", 20), ("reader_1", 0)), reserve=5)
    slice_of = DaySetting(USUAL.costs, limits, urgent=30).scaled_to(899)
    assert slice_of.limits.capacity == (("reader_0", 60), ("reader_1", 0))  # 59.93
    assert (slice_of.limits.total, slice_of.limits.reserve, slice_of.urgent, slice_of.day) == (270, 15, 90, 899)
    assert slice_of.scaled_to(899) == slice_of


@given(any_setting())
def test_a_day_as_large_as_the_slice_is_not_scaled(setting):
    assert setting.scaled_to(setting.day) == setting


def test_a_link_without_a_day_counts_places_on_the_whole_slice_as_it_always_did():
    old = {"at_most": "reader_0:20", "total": "90", "reserve": "5", "urgent": "30", "per_day": "150"}
    scaled = from_query(old, MANIFEST, cases=899).scaled_to(899)
    assert scaled.limits.capacity == (("reader_0", 20),)
    assert (scaled.limits.total, scaled.limits.reserve, scaled.urgent) == (90, 5, 30)


def test_a_link_with_a_day_counts_places_a_day():
    new = {"at_most": "reader_0:20", "day": "300"}
    assert from_query(new, MANIFEST, cases=899).scaled_to(899).limits.capacity == (("reader_0", 60),)


def test_an_old_link_without_places_keeps_its_cases_a_day():
    assert from_query({"per_day": "150", "budget": "0.3"}, MANIFEST, cases=899).day == 150


def test_a_setting_reads_as_a_person_would_say_it():
    assert in_words(USUAL, MANIFEST, own=0.327) == "default share sent, 32.7\xa0%"
    limits = Limits(budget=0.25, away=("reader_2",), capacity=(("reader_0", 20),), total=90, reserve=5)
    setting = DaySetting(replace(USUAL.costs, false_negative=4.0), limits, urgent=30, for_costs=True)
    assert in_words(setting, MANIFEST, own=0.327) == (
        "25\xa0% of cases sent; Reader 2 away; Reader 0 at most 20 a day; at most 90 a day in all; 5 places a day "
        "reserved for the 30 most urgent cases; missed glaucoma 4, false alarm 1.5; routed for these costs"
    )
    soft = in_words(DaySetting(USUAL.costs, Limits(budget=0.4, soft=True, by_cohort=True)), MANIFEST, own=0.327)
    assert soft == "40\xa0% mean probability of deferral in every cohort"
    every = Limits(capacity=(("reader_0", 7), ("reader_1", 7)), away=("reader_2",))
    assert "every reader at most 7 a day" in in_words(DaySetting(USUAL.costs, every), MANIFEST, own=0.327)


def test_costs_are_told_as_what_one_error_is_worth_in_the_other():
    assert costs_in_words(Costs(4.0, 1.0, (0.2, 0.3)), TASK) == (
        "One missed glaucoma counts as 4 false alarms. A missed glaucoma costs as much as 16 readings."
    )
    assert costs_in_words(Costs(1.0, 2.0, (0.0,)), TASK) == "One false alarm counts as 2 missed glaucomas."
    assert costs_in_words(Costs(1.0, 1.0, (0.0,)), TASK) == "One missed glaucoma counts as much as one false alarm."
    assert "Nothing is lost by a missed glaucoma" in costs_in_words(Costs(0.0, 1.0, (0.1,)), TASK)


def test_a_budget_can_be_set_and_left_to_the_run():
    limited = USUAL.with_budget(0.3)
    assert limited.limits.budget == 0.3
    assert limited.free == USUAL
