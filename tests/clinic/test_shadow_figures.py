"""Figures of shadow mode: what would have been done against what was done, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from shadows import RUNS, START, arrivals, deciders_of, learned, opened, outcomes, readings

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.answering import acknowledge, add_outcomes, add_readings
from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.evidence.comparison import METRICS, against, compare, left_out, weekly
from mpd2.clinic.shadow.evidence.monitoring import KINDS, LOAD, seen_of, watchers_of
from mpd2.clinic.shadow.evidence.watching import Rung, watch
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.snapshot import Snapshot, snapshot
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.metrics import tally

COUNTS = {"missed": 2, "false_alarms": 1, "sent": 4, "load": 5}  # positions in COUNTS


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShadowStore]:
    with opened(tmp_path_factory.mktemp("shadow")) as made:
        yield made


@pytest.fixture(scope="module", params=RUNS)
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, held_out: Cohort) -> Snapshot:
    """The test cases of the benchmark in an order drawn by chance, all known."""
    mixed = held_out.rows(np.random.default_rng(5).permutation(len(held_out)))
    with opened(tmp_path_factory.mktemp("shown")) as store:
        deciders = deciders_of(request.param, store)
        take_in(arrivals(mixed), store, deciders, by=LOCAL)
        add_readings(readings(mixed), store, deciders, by=LOCAL)
        add_outcomes(outcomes(mixed).assign(done=mixed.decisions.max(1).clip(0)), store, by=LOCAL)
        return snapshot(store, learned(), learned().manifest)


@pytest.fixture(scope="module")
def decider(shown: Snapshot, store: ShadowStore) -> Decider:
    run = next(name for name in RUNS if name == shown.runs[0])
    return deciders_of(run, store).on(START.date())


def test_what_would_have_been_done_is_what_every_other_figure_says(shown: Snapshot) -> None:
    costs = shown.costs()
    rows = compare(shown, costs).set_index("metric")
    counts = tally(shown.cohort, shown.decisions, costs).counts
    assert tuple(rows.index) == METRICS
    for name, place in COUNTS.items():
        assert rows["would"][name] == pytest.approx(1000 * counts[place] / len(shown))
    assert rows["would"]["cost"] == pytest.approx(1000 * (counts[6] + counts[7]) / len(shown))
    same = (shown.decisions.label == shown.done).mean()
    assert rows["would"]["agreement"] == pytest.approx(1000 * same)
    assert (rows["n"] == len(shown)).all()


def test_every_interval_holds_its_number_and_parts_sum_to_the_whole(shown: Snapshot) -> None:
    costs = shown.costs()
    whole = compare(shown, costs).set_index("metric")
    for by in ("cohort", "vCDR"):
        rows = compare(shown, costs, by, learned())
        held = rows["difference"].fillna(rows["would"])
        assert ((rows["low"] <= held) & (held <= rows["high"])).all()
        for name, part in rows.groupby("metric"):
            assert part["n"].sum() == len(shown)
            assert (part["would"] * part["n"]).sum() / len(shown) == pytest.approx(whole["would"][name])


def test_the_last_week_is_the_whole_and_cases_only_grow(shown: Snapshot) -> None:
    costs = shown.costs()
    weeks = weekly(shown, costs)
    last = weeks[weeks["part"] == weeks["part"].max()].reset_index(drop=True)
    pd.testing.assert_frame_equal(last.drop(columns="part"), compare(shown, costs).drop(columns="part"))
    assert weeks.groupby("metric")["n"].apply(lambda n: n.is_monotonic_increasing).all()
    assert (pd.to_datetime(weeks["part"]).dt.day_name() == "Sunday").all()


def test_without_what_was_done_the_comparison_is_with_the_ai_and_says_so(shown: Snapshot) -> None:
    alone = replace(shown, done=np.full(len(shown), -1))
    assert "with the AI alone" in against(alone)
    assert against(shown) == "Compared with what was done."
    missed = ((shown.cohort.ai_label == 0) & (shown.cohort.truth == 1)).mean()
    rows = compare(alone, shown.costs()).set_index("metric")
    assert rows["done"]["missed"] == pytest.approx(1000 * missed)


def test_what_is_left_out_lies_in_the_range_whatever_is_answered(
    store: ShadowStore, held_out: Cohort, tmp_path_factory: pytest.TempPathFactory
) -> None:
    few = held_out.rows(np.arange(0, len(held_out), 6))
    with opened(tmp_path_factory.mktemp("awaited")) as store:
        deciders = deciders_of("studio", store)
        take_in(arrivals(few), store, deciders, by=LOCAL)
        add_outcomes(outcomes(few), store, by=LOCAL)
        add_readings(readings(few).iloc[::2], store, deciders, by=LOCAL)
        before = snapshot(store, learned(), learned().manifest)
        found = left_out(before)
        assert found.cases == int((before.waiting != "").sum()) > 0
        told = compare(before, before.costs()).set_index("metric")
        assert found.counted == told["n"]["missed"]
        assert told["n"]["sent"] == told["n"]["load"] == len(before)
        assert told["would"]["sent"] == pytest.approx(1000 * (before.action > 0).mean())
        assert np.isfinite(told[["low", "high"]].to_numpy()).all()
        for says, end in ((before.cohort.truth, 0), (1 - before.cohort.truth, 1)):
            rows = pd.DataFrame({
                "case": before.cohort.ids, "reader": before.waiting, "says": says,
                "at": (START + timedelta(days=300 + end)).isoformat(),
            })[before.waiting != ""]  # fmt: skip
            assert len(add_readings(rows, store, deciders, by=LOCAL).accepted) == found.cases
            after = snapshot(store, learned(), learned().manifest)
            whole = compare(after, after.costs()).set_index("metric")
            for name, each in found.ranges.items():
                assert whole["would"][name] == pytest.approx(each[end])
                assert whole["difference"][name] == pytest.approx(each[2 + end])
        assert left_out(after).cases == 0


def test_where_nothing_is_awaited_the_range_is_the_figure(shown: Snapshot) -> None:
    found, rows = left_out(shown), compare(shown, shown.costs()).set_index("metric")
    assert (found.cases, found.counted) == (0, len(shown))
    for name, each in found.ranges.items():
        assert each.low == each.high == pytest.approx(rows["would"][name])
        assert each.difference_low == pytest.approx(rows["difference"][name])


def test_what_nobody_can_be_compared_by_is_said(shown: Snapshot) -> None:
    with pytest.raises(UserError, match="by: found 'colour'"):
        compare(shown, shown.costs(), "colour")
    with pytest.raises(UserError, match="by vCDR: the cases that were learned from are needed"):
        compare(shown, shown.costs(), "vCDR")


def test_nothing_to_compare_is_no_error(store: ShadowStore) -> None:
    empty = snapshot(store, learned(), learned().manifest)
    assert compare(empty, empty.costs())["n"].tolist() == [0] * len(METRICS)
    assert weekly(empty, empty.costs()).empty


# ---------------------------------------------------------------------------------- what is watched


def test_all_kinds_are_watched_and_past_cases_seldom_ring(shown: Snapshot, decider: Decider) -> None:
    found = watch(shown, decider)
    kinds = set(found.rows["kind"])
    assert kinds == set(KINDS) - (set() if decider.terms.limit > 1 else {LOAD})
    assert (found.rows["why_not"] == "").all()
    assert set(found.paths) == set(found.rows["name"])
    # Test cases are like those learned from, but for the odd one out.
    assert (found.rows["alarms"] > 0).sum() <= 3


def busiest(shown: Snapshot) -> int:
    """The reader who is asked most."""
    asked = shown.decisions.consulted
    return int(np.bincount(asked[asked >= 0]).argmax())


def drifted(shown: Snapshot, change: str) -> Snapshot:
    """The same arrivals with something changed from the middle on."""
    late = np.arange(len(shown)) >= len(shown) // 2
    cohort = shown.cohort
    if change == "camera":
        place = cohort.layout.position("vim_risk_z")
        state = cohort.state.copy()
        state[late, place] += cohort.state[:, place].std()
        return replace(shown, cohort=replace(cohort, state=state))
    if change == "reader":
        words, reader = cohort.decisions.copy(), busiest(shown)
        words[late, reader] = np.where(words[late, reader] >= 0, 1 - cohort.truth[late], -1)
        return replace(shown, cohort=replace(cohort, decisions=words))
    return replace(shown, stops=np.where(late, "record again", shown.stops))


@pytest.mark.parametrize(
    ("change", "name"),
    [("camera", "input vim_risk_z"), ("reader", "reader {}"), ("quality", "hard stop")],
)
def test_a_drift_that_is_planted_rings_after_it_and_not_before(
    shown: Snapshot, decider: Decider, change: str, name: str
) -> None:
    name = name.format(shown.cohort.manifest.columns[busiest(shown)])
    before = [each for each in watch(shown, decider).alarms if each.name.startswith(name)]
    rung = [each for each in watch(drifted(shown, change), decider).alarms if each.name.startswith(name)]
    assert len(rung) > len(before)
    first = min(each.arrivals for each in rung if each.side == "higher")
    assert len(shown) // 2 < first < len(shown) // 2 + 300


def test_a_stop_is_suggested_until_somebody_has_acknowledged_it(
    shown: Snapshot, decider: Decider, store: ShadowStore
) -> None:
    changed = drifted(shown, "quality")
    found = watch(changed, decider)
    assert found.suggestion.startswith("Stop suggested. Cases no router should decide: higher than in")
    assert found.suggestion.endswith("Nothing is stopped by itself.")
    for alarm in found.open:
        acknowledge(alarm.key, "the lamp was changed", store, by=LOCAL)
    after = watch(changed, decider, store.acknowledgements())
    assert (after.open, after.suggestion) == ((), "")
    assert len(after.alarms) == len(found.alarms)


def test_an_alarm_about_errors_has_the_day_on_which_the_truth_was_known(shown: Snapshot, decider: Decider) -> None:
    rung = [each for each in watch(drifted(shown, "reader"), decider).alarms if each.kind == "reader"]
    place = rung[0].arrivals - 1
    assert rung[0].day == str((shown.times[place] + np.timedelta64(timedelta(days=30))).astype("datetime64[D]"))


def test_a_clinic_that_differs_from_the_start_can_compare_with_its_own_first_cases(
    shown: Snapshot, decider: Decider, store: ShadowStore
) -> None:
    place = shown.cohort.layout.position("vim_risk_z")
    state = shown.cohort.state.copy()
    state[:, place] += 2 * state[:, place].std()  # another camera than the run learned from, from the first case on
    here = replace(shown, cohort=replace(shown.cohort, state=state))
    deciders = deciders_of(shown.runs[0], store)
    own = deciders.under(replace(deciders.usual, compare_with=300))

    def alarms(found: Snapshot, by: Decider) -> list[Rung]:
        return [each for each in watch(found, by).alarms if each.name == "input vim_risk_z"]

    assert len(alarms(here, decider)) > 20
    assert alarms(here, own) == []
    later = state.copy()
    later[600:, place] += state[:, place].std()
    rung = alarms(replace(here, cohort=replace(here.cohort, state=later)), own)
    assert 600 < rung[0].arrivals < 650
    assert "higher than in the clinic's first 300 cases" in rung[0].in_words()
    rows = watch(here, own).rows.set_index("name")
    assert rows["n"]["input vim_risk_z"] == len(shown) - 300
    assert set(rows["compared_with"]) == {"the clinic's first 300 cases", "the cases learned from"}  # rare readers


def test_before_there_are_as_many_cases_a_clinic_compares_with_those_learned_from(
    shown: Snapshot, store: ShadowStore
) -> None:
    deciders = deciders_of(shown.runs[0], store)
    rows = watch(shown, deciders.under(replace(deciders.usual, compare_with=len(shown) + 1))).rows
    assert set(rows["compared_with"]) == {"the cases learned from"}
    with pytest.raises(UserError, match="found 5 cases to compare with, expected at least 100"):
        deciders.under(replace(deciders.usual, compare_with=5))


def test_watchers_are_made_once(decider: Decider) -> None:
    assert watchers_of(decider) is watchers_of(decider)


def test_readings_are_watched_up_to_the_first_that_is_awaited(store: ShadowStore, held_out: Cohort) -> None:
    deciders, few = deciders_of("mpd2-plus", store), held_out.rows(np.arange(0, 120, 2))
    take_in(arrivals(few), store, deciders, by=LOCAL)
    add_readings(readings(few.rows(np.arange(30))), store, deciders, by=LOCAL)
    seen = seen_of(snapshot(store, learned(), learned().manifest))
    (load,) = [each for each in watchers_of(deciders.on(START.date())) if each.kind == LOAD]
    there, _ = load.observe(seen)
    awaited = np.flatnonzero(seen.label == UNKNOWN)
    assert len(awaited)
    assert (seen.label[awaited[0] :] != UNKNOWN).any()  # about some later ones nobody is asked
    assert np.flatnonzero(there).tolist() == list(range(awaited[0]))
