"""What of a clinic is watched in the simulations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from places import DATA

from mpd2.cli.bench.clinic.signals import Seen, alarms_of, monitors, signals
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.policy import decided_together
from mpd2.core.rng import Stream, stream
from mpd2.core.runs import load_run
from mpd2.evaluation.over_time.monitors import Monitor
from mpd2.methods.registry import METHODS, continuations_of, expectations_of, policy_of

RUN = load_run(DATA / "runs" / "mpd2-plus")


def seen_of(cohort: Cohort) -> Seen:
    expected = expectations_of(RUN, cohort, RUN.costs, None)
    assert expected is not None
    return Seen.of(
        cohort, expected, decided_together(policy_of(RUN, cohort), cohort, RUN.rule, continuations_of(RUN, cohort))
    )


@pytest.fixture(scope="module")
def learned(val: Cohort) -> Seen:
    return seen_of(val)


@pytest.fixture(scope="module")
def watching(learned: Seen) -> dict[str, Monitor]:
    return monitors(learned)


def test_every_input_the_ai_and_every_reader_have_a_signal(learned: Seen) -> None:
    names = set(signals(learned))
    manifest = learned.cohort.manifest
    assert {f"input: {entry.title}" for entry in manifest.inputs} <= names
    assert {f"{reader.name}: {error}" for reader in manifest.readers for error in ("misses", "false alarms")} <= names
    assert len(names) == 1 + len(manifest.inputs) + 6 + 2 * len(manifest.readers)


def test_what_readers_are_expected_to_say_is_what_the_method_expects(learned: Seen) -> None:
    method = METHODS["mpd2-plus"]
    np.testing.assert_allclose(learned.says, method.answers(RUN, learned.cohort), atol=1e-6)


def test_a_reader_is_watched_where_they_were_asked_and_the_truth_is_known(learned: Seen) -> None:
    reader = int(learned.asked.sum(0).argmax())
    name = learned.cohort.manifest.readers[reader].name
    rows = signals(learned)[f"{name}: misses"].rows
    assert (learned.cohort.truth[rows] == 1).all()
    assert learned.asked[rows, reader].all()
    assert len(signals(learned, every_word=True)[f"{name}: misses"].rows) > len(rows)


def test_without_outcomes_only_what_needs_none_is_watched(learned: Seen) -> None:
    waiting = replace(learned, cohort=replace(learned.cohort, truth=np.full(len(learned.cohort), UNKNOWN)))
    with_values = {name for name, signal in signals(waiting).items() if len(signal.rows)}
    assert "positives, before outcomes" in with_values
    assert "sent to a reader" in with_values
    assert not any(name.endswith(("misses", "false alarms", "by outcomes")) for name in with_values)


def test_monitors_share_the_alarms_for_nothing(learned: Seen, watching: dict[str, Monitor]) -> None:
    asked = {name: len(signal.rows) / len(learned.cohort) for name, signal in signals(learned).items()}
    a_year = [300 * 365.25 * asked[name] / monitor.arl for name, monitor in watching.items() if asked[name]]
    np.testing.assert_allclose(a_year, 12 / len(watching))


def test_a_moved_input_rings_with_the_case_at_which_it_did(learned: Seen, watching: dict[str, Monitor]) -> None:
    order = stream(0, Stream.ARRIVAL).permutation(len(learned.cohort))
    arrived = learned.rows(order)
    cohort, state = arrived.cohort, arrived.cohort.state.copy()
    at = cohort.layout.position(cohort.layout.distances[0])
    state[200:, at] += state[:, at].std()
    rung = alarms_of(watching, replace(arrived, cohort=replace(cohort, state=state)))
    name = f"input: {cohort.layout.titles[cohort.layout.distances[0]]}"
    first = next(alarm for alarm in rung if alarm.name == name and alarm.number >= 200)
    assert first.side == "higher"
    assert first.number < 300


def test_a_reader_who_becomes_worse_is_named(learned: Seen, watching: dict[str, Monitor]) -> None:
    reader = int(learned.asked.sum(0).argmax())
    name = learned.cohort.manifest.readers[reader].name
    words = learned.cohort.decisions.copy()
    words[learned.asked[:, reader], reader] = 1
    rows = np.tile(np.arange(len(learned.cohort)), 4)
    worse = replace(learned, cohort=replace(learned.cohort, decisions=words)).rows(rows)
    rung = {(alarm.name, alarm.side) for alarm in alarms_of(watching, worse)}
    assert (f"{name}: false alarms", "higher") in rung


def test_a_signal_with_too_few_cases_to_compare_with_has_no_monitor(learned: Seen) -> None:
    few = learned.rows(np.arange(120))
    assert "AI: misses" not in monitors(few)
    assert "AI's log-odds" in monitors(few)
