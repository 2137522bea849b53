"""What is watched, and that a page and the simulations are given the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from shadows import START, deciders_of, learned, opened

from mpd2.cli.bench.clinic.drifts import watched
from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.evidence.monitoring import (
    INPUT,
    READER,
    Past,
    Seen,
    Watcher,
    learned_of,
    past_of,
    watchers,
    watchers_of,
)
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.rng import Stream, stream


@pytest.fixture(scope="module")
def decider(tmp_path_factory: pytest.TempPathFactory) -> Decider:
    with opened(tmp_path_factory.mktemp("shadow")) as store:
        return deciders_of("mpd2-plus", store).on(START.date())


@pytest.fixture(scope="module")
def past(decider: Decider, val: Cohort) -> Seen:
    return past_of(decider, val)


@pytest.fixture(scope="module")
def watching(decider: Decider) -> dict[str, Watcher]:
    return {each.name: each for each in watchers_of(decider)}


def rung(watcher: Watcher, seen: Seen) -> list[tuple[str, int]]:
    """Sides of the alarms, and the cases at which they rang."""
    assert watcher.monitor is not None
    there, values = watcher.observe(seen)
    where = np.flatnonzero(there)
    return [(each.side, int(where[each.number])) for each in watcher.monitor.alarms(*values)]


def test_the_simulations_watch_what_the_page_watches(decider: Decider, watching: dict[str, Watcher]) -> None:
    simulated = watched(decider, learned_of(decider))
    assert set(simulated) == {name for name, each in watching.items() if each.monitor is not None}
    for name, each in simulated.items():
        shown = watching[name].monitor
        assert shown is not None
        assert each.monitor.arl == shown.arl
        np.testing.assert_array_equal(each.monitor.thresholds, shown.thresholds)


def test_monitors_share_the_alarms_for_nothing(decider: Decider, watching: dict[str, Watcher]) -> None:
    past = learned_of(decider)
    a_year = []
    for each in watching.values():
        seen = past.of(each.kind)
        asked = int(each.observe(seen)[0].sum()) / len(seen.cohort)
        assert each.monitor is not None
        a_year.append(300 * 365.25 * asked / each.monitor.arl)
    np.testing.assert_allclose([rate for rate in a_year if rate], 12 / len(watching))


def test_a_reader_is_heard_where_the_run_asks_and_compared_with_every_word(past: Seen, decider: Decider) -> None:
    reader = int(past.heard.sum(0).argmax())
    column = past.cohort.manifest.columns[reader]
    (misses,) = [each for each in watchers_of(decider) if each.name == f"{READER} {column} misses"]
    there, _ = misses.observe(past)
    assert (past.cohort.truth[there] == 1).all()
    assert past.heard[there, reader].all()
    assert misses.observe(past.with_every_word())[0].sum() > there.sum() > 0


def test_without_outcomes_only_what_needs_none_has_values(past: Seen, watching: dict[str, Watcher]) -> None:
    unknown = replace(past, cohort=replace(past.cohort, truth=np.full(len(past.cohort), UNKNOWN)))
    for each in watching.values():
        assert bool(each.observe(unknown)[0].any()) == (not each.needs_truth), each.name


def test_a_moved_input_rings_soon_after_it_did(past: Seen, decider: Decider, watching: dict[str, Watcher]) -> None:
    arrived = past.rows(stream(0, Stream.ARRIVAL).permutation(len(past.cohort)))
    cohort, state = arrived.cohort, arrived.cohort.state.copy()
    column = cohort.layout.distances[0]
    at = cohort.layout.position(column)
    state[200:, at] += state[:, at].std()
    found = rung(watching[f"{INPUT} {column}"], replace(arrived, cohort=replace(cohort, state=state)))
    first = next(each for each in found if each[1] >= 200)
    assert first[0] == "higher"
    assert first[1] < 300


def test_a_reader_who_becomes_worse_is_named(past: Seen, watching: dict[str, Watcher]) -> None:
    reader = int(past.heard.sum(0).argmax())
    words = past.cohort.decisions.copy()
    words[past.heard[:, reader], reader] = 1
    rows = np.tile(np.arange(len(past.cohort)), 4)
    worse = replace(past, cohort=replace(past.cohort, decisions=words)).rows(rows)
    name = f"{READER} {past.cohort.manifest.columns[reader]} false alarms"
    assert "higher" in {side for side, _ in rung(watching[name], worse)}


def test_what_has_too_few_cases_to_compare_with_has_no_monitor_and_says_so(decider: Decider, past: Seen) -> None:
    few = past.rows(np.arange(120))
    found = {each.name: each for each in watchers(decider, Past(few, few))}
    assert found["ai misses"].monitor is None
    assert "expected at least 50" in found["ai misses"].why_not
    assert found["ai score"].monitor is not None


def test_what_the_hard_stop_was_fitted_to_does_not_say_how_often_it_stops(decider: Decider) -> None:
    past = learned_of(decider)
    held_out = past_of(decider, learned().subset(split="test"))
    stops = {"train and val": past.every, "val": past.of("hard stop"), "test": held_out}
    share = {name: float(seen.stopped.mean()) for name, seen in stops.items()}
    assert abs(share["val"] - share["test"]) < abs(share["train and val"] - share["test"])


def test_a_year_like_the_cases_learned_from_rings_about_as_often_as_promised(decider: Decider) -> None:
    from mpd2.cli.bench.clinic.drifts import alarms_a_year, arrivals

    past = learned_of(decider)
    watching = watched(decider, past)
    found = alarms_a_year(watching, arrivals(watching, past))
    assert sum(found.values()) == pytest.approx(12, rel=0.35)
    assert max(found.values()) < 2
