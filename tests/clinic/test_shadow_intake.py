"""Cases come in: what is good is decided and kept, what is not is refused row by row, and nothing is there twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shadows import START, arrivals, deciders_of, learned, opened
from sqlalchemy import text

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.answering import set_day
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.rows import USUAL, Setting
from mpd2.clinic.shadow.snapshot import snapshot
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ShadowStore]:
    with opened(tmp_path) as made:
        yield made


@pytest.fixture
def deciders(store: ShadowStore) -> Deciders:
    return deciders_of("mpd2-plus", store)


@pytest.fixture
def frame(small_cohort: Cohort) -> pd.DataFrame:
    return arrivals(small_cohort).head(6)


def test_a_bad_row_is_refused_alone_with_its_reason(frame: pd.DataFrame, deciders: Deciders) -> None:
    frame = frame.astype(object).assign(camera="", y_true="")
    frame.loc[1, "time"] = "yesterday"
    frame.loc[2, "logit_0"] = "much"
    frame.loc[3, "camera"] = "A"
    frame.loc[4, "y_true"] = "1"
    frame.loc[4, "case_id"] = ""
    taken = take_in(frame, deciders.store, deciders, by=LOCAL)
    assert [key.case for key in taken.accepted] == [frame["case_id"][0], frame["case_id"][5]]
    said = [problem.sentence("monday.csv") for problem in taken.refused]
    assert said[0] == (
        "monday.csv, row 3, column time: found yesterday, expected a date and time such as 2026-11-16T08:30:00+00:00."
    )
    assert said[1] == "monday.csv, row 4, column logit_0: found much, expected a finite number."
    assert said[2].startswith("monday.csv, row 5, column camera: found A, expected an empty cell: only ")
    assert {problem.column for problem in taken.refused if problem.row == 6} == {"y_true", "case_id"}
    assert [problem.row for problem in taken.refused] == sorted(problem.row or 0 for problem in taken.refused)


def test_a_column_that_is_missing_is_said_of_every_row(frame: pd.DataFrame, deciders: Deciders) -> None:
    taken = take_in(frame.drop(columns="vCDR"), deciders.store, deciders, by=LOCAL)
    assert not taken.accepted
    assert {(each.column, each.found) for each in taken.refused} == {("vCDR", "no such column")}
    assert deciders.store.version() == 0


def test_the_same_row_again_does_no_harm_and_another_one_for_the_same_key_is_refused(
    frame: pd.DataFrame, deciders: Deciders
) -> None:
    twice = pd.concat([frame, frame.head(2)])
    first = take_in(twice, deciders.store, deciders, by=LOCAL)
    assert (len(first.accepted), len(first.repeated), first.refused) == (6, 2, ())
    version = deciders.store.version()
    changed = frame.head(1).assign(vCDR="0.9")
    second = take_in(pd.concat([changed, frame.tail(2)]), deciders.store, deciders, by=LOCAL)
    assert (len(second.accepted), len(second.repeated)) == (0, 2)
    assert "is there with other content" in second.refused[0].expected
    assert deciders.store.version() == version
    later = take_in(frame.head(1).assign(time="2024-11-16T08:30:00+01:00"), deciders.store, deciders, by=LOCAL)
    assert later.accepted[0].time == datetime(2024, 11, 16, 7, 30, tzinfo=UTC)  # a case may come in again


def test_a_time_without_a_zone_is_utc_and_the_case_may_be_called_case(
    frame: pd.DataFrame, deciders: Deciders
) -> None:
    renamed = frame.head(1).rename(columns={"case_id": "case"}).assign(time="2024-10-01 08:00")
    assert take_in(renamed, deciders.store, deciders, by=LOCAL).accepted[0].time == START


def test_nobody_need_say_who_can_be_asked(frame: pd.DataFrame, deciders: Deciders) -> None:
    plain = frame.drop(columns=[name for name in frame if name.endswith("_available")])
    take_in(plain, deciders.store, deciders, by=LOCAL)
    assert snapshot(deciders.store, learned(), learned().manifest).cohort.available.all()


def test_a_cohort_nobody_knows_counts_as_other(frame: pd.DataFrame, deciders: Deciders) -> None:
    frame = frame.assign(cohort=["elsewhere", *frame["cohort"][1:]])
    assert len(take_in(frame, deciders.store, deciders, by=LOCAL).accepted) == 6
    shown = snapshot(deciders.store, learned(), learned().manifest)
    place = shown.cohort.ids.tolist().index(frame["case_id"][0])
    assert shown.cohort.sources[place] == "other"
    assert shown.cohort.sources.tolist().count("other") == 1


def test_an_empty_store_is_an_empty_snapshot(deciders: Deciders) -> None:
    shown = snapshot(deciders.store, learned(), learned().manifest)
    assert (len(shown), shown.version, shown.decisions.label.shape) == (0, 0, (0,))


def test_cases_of_another_table_are_left_out_and_counted(frame: pd.DataFrame, deciders: Deciders) -> None:
    take_in(frame, deciders.store, deciders, by=LOCAL)
    other = learned().manifest.but(inputs=learned().manifest.inputs[1:])
    shown = snapshot(deciders.store, learned(), learned().manifest)
    assert (len(shown), shown.elsewhere) == (6, 0)
    fewer = Cohort(**{
        **{name: getattr(learned(), name) for name in Cohort.__dataclass_fields__},
        "manifest": other,
        "state": learned().state[:, learned().layout.positions(other.layout.names)],
        "absent": learned().absent[:, learned().layout.positions(other.layout.names)],
    })  # fmt: skip
    assert snapshot(deciders.store, fewer, other).elsewhere == 6


def test_tables_of_a_newer_version_are_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as store, store.engine.begin() as connection:
        connection.execute(text("UPDATE shadow_version SET version_num = '9999'"))
    with pytest.raises(UserError, match="shadow mode: it was written by a newer version"), opened(tmp_path):
        raise AssertionError("it was opened")


def test_the_record_and_shadow_mode_may_share_a_database(empty_database: str, tmp_path: Path) -> None:
    from mpd2.clinic.record.storage import Storage

    record = Storage(empty_database, tmp_path)
    record.open("id")
    record.close()
    with opened(tmp_path, empty_database) as store:
        assert store.version() == 0
    record = Storage(empty_database, tmp_path)
    assert record.open("another") == "id"
    record.close()


# ---------------------------------------------------------------------------------- limits are prices


def test_without_limits_nothing_has_a_price(deciders: Deciders) -> None:
    assert deciders.on(START.date()).prices.place == 0
    assert not any(deciders.on(START.date()).prices.readers)


@pytest.mark.parametrize("run", ["mpd2-plus", "studio"])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.6])
def test_a_budget_sends_about_its_share(held_out: Cohort, store: ShadowStore, run: str, share: float) -> None:
    decided = deciders_of(run, store).under(Setting(date(2024, 10, 1), {"budget": str(share)})).decided(held_out)
    assert abs((decided.beliefs.action > 0).mean() - share) < 0.04


def test_a_larger_budget_never_takes_a_case_back(held_out: Cohort, deciders: Deciders) -> None:
    sent = [
        deciders.under(Setting(date(2024, 10, 1), {"budget": budget})).decided(held_out).beliefs.action > 0
        for budget in ("0.1", "0.3", "0.5")
    ]
    assert (sent[0] <= sent[1]).all()
    assert (sent[1] <= sent[2]).all()


def test_whoever_is_away_is_never_asked_and_a_reader_with_few_places_less_often(
    held_out: Cohort, store: ShadowStore
) -> None:
    deciders, columns = deciders_of("studio", store), learned().manifest.columns
    usual = np.bincount(deciders.under(USUAL).decided(held_out).beliefs.action, minlength=13)[1:]
    busiest = int(usual.argmax())
    away = deciders.under(Setting(date.min, {"away": columns[busiest]})).decided(held_out).beliefs
    assert (away.action != busiest + 1).all()
    assert (away.worth[:, busiest] == -np.inf).all()
    few = deciders.under(Setting(date.min, {"at_most": f"{columns[busiest]}:5", "day": "300"}))
    asked = np.bincount(few.decided(held_out).beliefs.action, minlength=13)[1:]
    assert asked[busiest] < usual[busiest] / 2
    assert few.prices.readers[busiest] > 0


@pytest.mark.parametrize("day", [{"budget": "0.3", "soft": "1"}, {"budget": "0.3", "by_cohort": "1"}, {"reserve": "9"}])
def test_a_limit_that_needs_the_whole_day_is_refused_in_words(day: dict[str, str], deciders: Deciders) -> None:
    with pytest.raises(UserError, match="need the whole day's cases; expected a hard budget"):
        set_day(Setting(date(2024, 10, 1), day), deciders.store, deciders, by=LOCAL)
    assert deciders.store.settings() == []


def test_each_case_is_decided_under_the_setting_of_its_day(frame: pd.DataFrame, deciders: Deciders) -> None:
    set_day(Setting(date(2024, 10, 2), {"budget": "0"}), deciders.store, deciders, by=LOCAL)
    set_day(Setting(date(2024, 10, 4), {"budget": "1"}), deciders.store, deciders, by=LOCAL)
    days = ["2024-10-01", "2024-10-02", "2024-10-03", "2024-10-04", "2024-10-05", "2024-10-05"]
    take_in(frame.assign(time=days), deciders.store, deciders, by=LOCAL)
    shown = snapshot(deciders.store, learned(), learned().manifest)
    assert (shown.action[1:3] == 0).all()
    assert (shown.action[3:] > 0).all()
    assert len(shown.bases) == 3


def test_the_newest_setting_of_a_day_holds(deciders: Deciders) -> None:
    for budget in ("0.1", "0.2"):
        set_day(Setting(date(2024, 10, 2), {"budget": budget}), deciders.store, deciders, by=LOCAL)
    assert deciders.setting_on(date(2024, 10, 9)).day == {"budget": "0.2"}
    assert deciders.setting_on(date(2024, 10, 1)) == USUAL
