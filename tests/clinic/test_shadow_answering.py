"""Readers answer, decline and are passed over; outcomes and other choices follow; everybody does what they may."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from people import ADMIN, PEOPLE
from shadows import RUNS, arrivals, deciders_of, learned, opened, outcomes

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import LOCAL, Actor
from mpd2.clinic.access.authorise import NotAllowed
from mpd2.clinic.settings import SETTINGS, read_settings
from mpd2.clinic.shadow.answering import acknowledge, add_outcomes, add_readings, override, reader_of
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.rows import Key
from mpd2.clinic.shadow.snapshot import Snapshot, snapshot
from mpd2.clinic.shadow.worklists import awaited, overview_of, seen_worklist, worklist_of
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY


@pytest.fixture(params=RUNS)
def deciders(request: pytest.FixtureRequest, tmp_path: Path, held_out: Cohort) -> Iterator[Deciders]:
    """A run with cases that have come in."""
    with opened(tmp_path) as store:
        made = deciders_of(request.param, store)
        take_in(arrivals(held_out.rows(np.arange(0, len(held_out), 9))), store, made, by=LOCAL)
        yield made


def now(deciders: Deciders) -> Snapshot:
    return snapshot(deciders.store, learned(), learned().manifest)


def say(deciders: Deciders, row: int, **cells: object) -> object:
    """An answer about the arrival in a row of the snapshot, by whoever is awaited."""
    shown = now(deciders)
    line = {"case": shown.cohort.ids[row], "reader": shown.waiting[row], **cells}
    return add_readings(pd.DataFrame([line]), deciders.store, deciders, by=LOCAL)


def first_waiting(deciders: Deciders) -> int:
    return int(np.flatnonzero(now(deciders).waiting != "")[0])


def test_while_a_reading_is_awaited_the_answer_is_not_known(deciders: Deciders) -> None:
    shown = now(deciders)
    assert ((shown.decisions.label == UNKNOWN) == (shown.waiting != "")).all()
    assert ((shown.waiting != "") == (shown.action > 0)).all()
    counted = overview_of(shown)
    assert counted["unread"] == counted["sent"] == int((shown.action > 0).sum())
    assert counted["kept"] + counted["sent"] == counted["in"] == len(shown)
    lists = {reader: worklist_of(shown, reader) for reader in learned().manifest.columns}
    assert sum(map(len, lists.values())) == counted["unread"]
    assert all(rows["time"].is_monotonic_increasing for rows in lists.values())


def test_whoever_declines_is_passed_over_and_whoever_answers_after_all_is_heard(deciders: Deciders) -> None:
    row = first_waiting(deciders)
    asked = now(deciders).waiting[row]
    say(deciders, row, declined=1, at="2024-10-02")
    shown = now(deciders)
    assert shown.waiting[row] != asked
    assert shown.declined[row].sum() == 1
    assert learned().manifest.columns.index(asked) not in shown.decisions.consulted[row]
    line = {"case": shown.cohort.ids[row], "reader": asked, "says": 1, "at": "2024-10-03"}
    add_readings(pd.DataFrame([line]), deciders.store, deciders, by=LOCAL)
    assert now(deciders).decisions.consulted[row, 0] == learned().manifest.columns.index(asked)


def test_if_everybody_declines_the_case_is_kept(deciders: Deciders) -> None:
    row = first_waiting(deciders)
    while now(deciders).waiting[row]:
        say(deciders, row, declined=1)
    shown = now(deciders)
    assert shown.decisions.label[row] == shown.beliefs.kept[row]
    assert (shown.decisions.consulted[row] == NOBODY).all()


def test_the_decider_tells_of_one_case_what_the_snapshot_tells(deciders: Deciders, held_out: Cohort) -> None:
    row = first_waiting(deciders)
    case = held_out.rows(held_out.ids == now(deciders).cohort.ids[row])
    decider, said = deciders.on(date(2024, 10, 1)), {}
    while True:
        shown = now(deciders)
        assert (decider.next_question(case, said) or "") == shown.waiting[row]
        label = decider.label(case, said)
        assert (UNKNOWN if label is None else label) == shown.decisions.label[row]
        if not shown.waiting[row]:
            break
        said[str(shown.waiting[row])] = 1
        say(deciders, row, says=1)
    [decision] = decider.decide(case)
    assert decision.action == next(iter(said))
    assert decision.reason == shown.reasons[row]


def test_a_later_answer_takes_the_place_of_the_one_before(deciders: Deciders) -> None:
    row = first_waiting(deciders)
    asked, case = now(deciders).waiting[row], now(deciders).cohort.ids[row]
    j = learned().manifest.columns.index(asked)
    lines = [
        {"case": case, "reader": asked, "says": 0, "confidence": 0.9, "at": "2024-10-05"},
        {"case": case, "reader": asked, "says": 1, "confidence": 0.6, "at": "2024-10-04"},
    ]
    for line in lines:
        assert add_readings(pd.DataFrame([line]), deciders.store, deciders, by=LOCAL).accepted
    assert (now(deciders).cohort.decisions[row, j], now(deciders).confidence[row, j]) == (0, 0.9)
    again = add_readings(pd.DataFrame(lines).drop(columns="at").head(1), deciders.store, deciders, by=LOCAL)
    assert len(again.repeated) == 1
    other = add_readings(pd.DataFrame([{**lines[0], "says": 1}]), deciders.store, deciders, by=LOCAL)
    assert "another answer of this reader at this time" in other.refused[0].expected


def test_answers_that_are_not_as_they_should_be_are_refused_one_by_one(deciders: Deciders) -> None:
    case, reader = now(deciders).cohort.ids[0], learned().manifest.columns[0]
    good = {"case": case, "reader": reader, "says": "1", "confidence": "", "declined": ""}
    wrong = [
        {**good, "reader": "nobody"},
        {**good, "says": "maybe"},
        {**good, "confidence": "2"},
        {**good, "declined": "1"},
        {**good, "case": "never came"},
        {**good, "mood": "fine"},
    ]
    taken = add_readings(pd.DataFrame([good, *wrong]).fillna(""), deciders.store, deciders, by=LOCAL)
    assert len(taken.accepted) == 1
    assert [(each.row, each.column) for each in taken.refused] == [
        (3, "reader"), (4, "says"), (5, "confidence"), (6, "says"), (7, "case"), (8, "mood"),
    ]  # fmt: skip
    assert taken.refused[4].expected == "a case that has come in"


def test_where_a_case_came_in_twice_it_must_be_said_which_time(deciders: Deciders, held_out: Cohort) -> None:
    again = arrivals(held_out.rows(np.arange(1))).assign(time="2024-12-01")
    take_in(again, deciders.store, deciders, by=LOCAL)
    line = pd.DataFrame([{"case": held_out.ids[0], "truth": 1}])
    assert add_outcomes(line, deciders.store, by=LOCAL).refused[0].column == "time"
    assert add_outcomes(line.assign(time="2024-12-01"), deciders.store, by=LOCAL).accepted


def test_what_was_done_may_be_known_without_the_truth_and_truth_may_be_corrected(deciders: Deciders) -> None:
    case = now(deciders).cohort.ids[0]
    for cells in ({"done": 1, "at": "2024-10-05"}, {"truth": 0, "at": "2024-11-05"}, {"truth": 1, "at": "2024-11-06"}):
        assert add_outcomes(pd.DataFrame([{"case": case, **cells}]), deciders.store, by=LOCAL).accepted
    shown = now(deciders)
    assert (shown.done[0], shown.cohort.truth[0], shown.acted_on[0]) == (1, 1, 1)
    assert str(shown.truth_at[0])[:10] == "2024-11-06"
    nothing = add_outcomes(pd.DataFrame([{"case": case}]), deciders.store, by=LOCAL)
    assert nothing.refused[0].column == "truth"


def test_a_clinician_sends_a_case_elsewhere_and_what_the_run_says_stays(deciders: Deciders) -> None:
    row, other = first_waiting(deciders), learned().manifest.columns[11]
    shown = now(deciders)
    key = Key(str(shown.cohort.ids[row]), shown.times[row].astype(object).replace(tzinfo=UTC))
    override(key, other, "knows the patient", deciders.store, by=PEOPLE[Role.CLINICIAN])
    after = now(deciders)
    assert (after.chosen[row], awaited(after)[row]) == (other, other)
    assert (after.decisions.label == shown.decisions.label).all()
    assert bool(worklist_of(after, other).set_index("case")["chosen"][key.case])
    override(key, "ai", "back again", deciders.store, by=LOCAL)
    assert awaited(now(deciders))[row] == ""
    with pytest.raises(UserError, match="choice: found 'nobody'"):
        override(key, "nobody", "why", deciders.store, by=LOCAL)
    with pytest.raises(UserError, match="reason: found 0 characters"):
        override(key, other, " ", deciders.store, by=LOCAL)


def test_a_reader_answers_and_looks_for_themselves_alone(
    deciders: Deciders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, (own, other) = PEOPLE[Role.READER], learned().manifest.columns[:2]
    line = pd.DataFrame([{"case": now(deciders).cohort.ids[0], "reader": own, "says": 1}])
    unnamed = add_readings(line, deciders.store, deciders, by=reader)
    assert f'no reader is named for you in the settings: [clinic.readers] takes the line "{reader.id}" = "' in (
        unnamed.refused[0].found
    )
    (tmp_path / "settings.toml").write_text(f'[clinic.readers]\n"{reader.id}" = "{own}"\n')
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    assert add_readings(line, deciders.store, deciders, by=reader).accepted
    refused = add_readings(line.assign(reader=other), deciders.store, deciders, by=reader)
    assert f"you answer for {own}, not for {other}" in refused.refused[0].found
    seen_worklist(now(deciders), own, by=reader)
    with pytest.raises(NotAllowed, match=f"this is the worklist of {other}"):
        seen_worklist(now(deciders), other, by=reader)
    assert add_readings(line.assign(reader=other), deciders.store, deciders, by=ADMIN).accepted


def test_nobody_becomes_a_reader_by_a_name_or_an_address_that_nobody_has_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = learned().manifest.columns[:2]
    said = f'[clinic.readers]\n"ben@example.org" = "{own}"\n"7f3a@login.example.org" = "{other}"\n'
    (tmp_path / "settings.toml").write_text(said)
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    for name in ("ben@example.org", "7f3a@login.example.org", "token:x"):
        assert reader_of(Actor("9e@login.example.org", name, Role.READER)) is None
    assert reader_of(Actor("9e@login.example.org", "Ben", Role.READER, email="ben@example.org")) == own
    assert reader_of(Actor("7f3a@login.example.org", "Ada", Role.READER, email="ben@example.org")) == other


def test_settings_that_name_a_reader_by_a_display_name_say_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[clinic.readers]\n"Ada Lovelace" = "north-1"\n')
    with pytest.raises(UserError, match=r"clinic.readers: .*'Ada Lovelace', which a name could be.* the subject"):
        read_settings(tmp_path / "settings.toml")


def test_an_acknowledgement_is_kept_with_its_reason(deciders: Deciders) -> None:
    made = acknowledge("deferral higher 2024-10-05", "the roster changed", deciders.store, by=PEOPLE[Role.CLINICIAN])
    assert [(each.alarm, each.reason) for each in deciders.store.acknowledgements()] == [(made.alarm, made.reason)]


def test_outcomes_again_do_no_harm(deciders: Deciders, held_out: Cohort) -> None:
    cohort = held_out.rows(np.arange(0, len(held_out), 9))
    assert len(add_outcomes(outcomes(cohort), deciders.store, by=LOCAL).accepted) == len(cohort)
    version = deciders.store.version()
    assert len(add_outcomes(outcomes(cohort), deciders.store, by=LOCAL).repeated) == len(cohort)
    assert len(add_outcomes(outcomes(cohort).drop(columns="at"), deciders.store, by=LOCAL).repeated) == len(cohort)
    assert deciders.store.version() == version
