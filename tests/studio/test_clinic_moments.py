"""Moments of the clinic: now where that is quick, else one of before, which newer figures follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from clinic_days import use
from shadows import arrivals, learned, outcomes

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.answering import acknowledge, add_outcomes
from mpd2.clinic.shadow.intake import take_in
from mpd2.core.cohort import Cohort
from mpd2.lab import moments
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.moments import Findings, Moments
from mpd2.lab.shadowing import Shadow
from mpd2.studio.clinic import store


@pytest.fixture
def shadow(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shadow]:
    """A clinic with a run in use and a few cases, whose moments are its own."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    monkeypatch.setattr(store, "MOMENTS", Moments())
    use(Workshop.here())
    found = Shadow.here(Workshop.here())
    take_in(arrivals(cases(0, 20)), found.store, found.deciders, by=LOCAL)
    yield found
    found.store.close()


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were a great many cases."""
    monkeypatch.setattr(moments, "FEW", 0)


def cases(first: int, end: int) -> Cohort:
    return learned().subset(split="test").rows(slice(first, end))


def more(shadow: Shadow, first: int = 20, end: int = 30) -> None:
    """Cases that come in, and what turns out of them."""
    take_in(arrivals(cases(first, end)), shadow.store, shadow.deciders, by=LOCAL)
    add_outcomes(outcomes(cases(first, end)), shadow.store, by=LOCAL)


def test_where_few_are_kept_every_row_is_shown_at_once(shadow: Shadow) -> None:
    assert len(store.here(shadow.place).snapshot) == 20
    more(shadow)
    clinic = store.here(shadow.place)
    assert len(clinic.snapshot) == len(clinic.figures.snapshot) == 30
    assert 0 < store.compared(clinic, "all")["n"].min() == clinic.snapshot.countable.sum()


@pytest.mark.usefixtures("many")
def test_where_many_are_kept_a_moment_is_shown_for_a_while_whatever_comes_in(shadow: Shadow) -> None:
    before = store.here(shadow.place)
    more(shadow)
    clinic = store.here(shadow.place)
    assert clinic.rows is before.rows
    assert clinic.figures is before.figures
    assert clinic.is_behind


@pytest.mark.usefixtures("many")
def test_what_somebody_wrote_is_on_their_page_at_once(shadow: Shadow) -> None:
    before = store.here(shadow.place)
    more(shadow)
    wrote = shadow.store.version()
    more(shadow, 30, 32)
    clinic = store.here(shadow.place, wrote)
    assert clinic.snapshot.version >= wrote
    assert clinic.figures is before.figures  # which follow
    assert len(store.arrivals(clinic)) == len(clinic.snapshot) == 32


@pytest.mark.usefixtures("many")
def test_newer_figures_follow_and_are_those_of_the_rows(shadow: Shadow, monkeypatch: pytest.MonkeyPatch) -> None:
    store.compared(store.here(shadow.place), "cohort")
    more(shadow)
    monkeypatch.setattr(moments, "EVERY", 0.0)
    monkeypatch.setattr(moments, "OLDEST", 0.0)  # so old that they are waited for
    clinic = store.here(shadow.place)
    assert clinic.figures.version == shadow.store.version()
    assert not clinic.is_behind
    alone = Findings(shadow.snapshot())
    expected = store._compared("cohort", shadow.learned, alone)
    pd.testing.assert_frame_equal(store.compared(clinic, "cohort"), expected)


@pytest.mark.usefixtures("many")
def test_an_alarm_that_was_acknowledged_is_so_at_once(shadow: Shadow) -> None:
    more(shadow, 20, 400)
    clinic = store.here(shadow.place)
    alarm = store.watched(clinic).open[0]
    acknowledge(alarm.key, "seen", shadow.store, by=LOCAL)
    again = store.here(shadow.place)
    assert again.figures is clinic.figures
    assert alarm.key not in {each.key for each in store.watched(again).open}


@pytest.mark.usefixtures("many")
def test_another_run_in_use_begins_anew(shadow: Shadow) -> None:
    before = store.here(shadow.place)
    use(shadow.place, "glaucoma/studio")
    clinic = store.here(shadow.place)
    assert clinic.shadow is not before.shadow
    assert clinic.snapshot is not before.snapshot
    clinic.shadow.store.close()
