"""Whose cases these were is erased: no id is left in any table or file, and every figure is the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shadows import START, arrivals, deciders_of, learned, opened, outcomes, readings
from sqlalchemy import text

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.database import engine
from mpd2.clinic.shadow import schema
from mpd2.clinic.shadow.answering import add_outcomes, add_readings, override
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.erasing import ERASED, Erased, erase_before, erase_case, retention_limit
from mpd2.clinic.shadow.evidence.comparison import compare, weekly
from mpd2.clinic.shadow.evidence.reader_rates import reader_rates
from mpd2.clinic.shadow.evidence.watching import watch
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.rows import Key
from mpd2.clinic.shadow.snapshot import Snapshot, snapshot
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.clinic.shadow.worklists import worklist_of
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError

TABLES = (schema.ARRIVALS, schema.READINGS, schema.OUTCOMES, schema.OVERRIDES)
MANY, A_DAY, TOGETHER = 90, 30, 3  # cases, those of a day, and those of a group


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ShadowStore]:
    address = request.getfixturevalue("empty_database") if request.param == "postgresql" else ""
    with opened(tmp_path / "clinic", address) as made:
        yield made


@pytest.fixture
def cases(held_out: Cohort) -> Cohort:
    return held_out.rows(np.random.default_rng(3).permutation(len(held_out))[:MANY])


@pytest.fixture
def deciders(store: ShadowStore, cases: Cohort) -> Deciders:
    """Cases of three days, all of a day at the same time, so that ids alone say which is before which."""
    times = [START + timedelta(days=i // A_DAY) for i in range(MANY)]
    made = deciders_of("mpd2-plus", store)
    take_in(arrivals(cases, times), store, made, by=LOCAL)
    with store.writing() as connection:  # the benchmark has no groups
        for place, case in enumerate(cases.ids.tolist()):
            group = {"name": f"patient-{place // TOGETHER:03d}", "case": case}
            connection.execute(text('UPDATE arrivals SET "group" = :name WHERE "case" = :case'), group)
    add_readings(readings(cases, times).iloc[::2], store, made, by=LOCAL)  # some are still awaited
    add_outcomes(outcomes(cases, times), store, by=LOCAL)
    override(Key(str(cases.ids[0]), times[0]), "ai", "it is late", store, by=LOCAL)
    return made


def shown(store: ShadowStore) -> Snapshot:
    return snapshot(store, learned(), learned().manifest)


def figures(found: Snapshot, deciders: Deciders) -> list[pd.DataFrame]:
    """Everything that is said of all cases together."""
    costs, seen = found.costs(), watch(found, deciders.on(START.date()))
    alarms = pd.DataFrame([each.__dict__ for each in seen.alarms])
    tables = [compare(found, costs), compare(found, costs, "cohort"), weekly(found, costs), alarms, seen.rows]
    waiting = [worklist_of(found, reader).drop(columns="case") for reader in learned().manifest.columns]
    return [*tables, reader_rates(found, learned()), *seen.paths.values(), *waiting]


def kept_words(store: ShadowStore) -> str:
    """All text there is in any table."""
    with store.reading() as connection:
        names = [*(table.name for table in TABLES), "settings", "acknowledgements", "erasures", "bases"]
        return "\n".join(str(tuple(row)) for name in names for row in connection.execute(text(f"SELECT * FROM {name}")))


def test_one_case_is_erased_everywhere_and_no_figure_changes(
    store: ShadowStore, deciders: Deciders, cases: Cohort
) -> None:
    before = shown(store)
    case, group = str(cases.ids[0]), "patient-000"
    assert case in kept_words(store)
    assert group in kept_words(store)
    erased = erase_case(store, case, by=LOCAL)
    assert erased == Erased(1, 1, 1)
    assert case not in kept_words(store)
    assert group not in kept_words(store)
    after = shown(store)
    np.testing.assert_array_equal(after.cohort.cluster, before.cohort.cluster)
    np.testing.assert_array_equal(after.chosen, before.chosen)
    same = after.cohort.ids == before.cohort.ids
    assert (~same).sum() == 1
    assert str(after.cohort.ids[~same][0]).startswith(ERASED)
    for was, now in zip(figures(before, deciders), figures(after, deciders), strict=True):
        pd.testing.assert_frame_equal(now, was, check_exact=True)


def test_all_before_a_day_are_erased_and_no_figure_changes(
    store: ShadowStore, deciders: Deciders, cases: Cohort
) -> None:
    before = shown(store)
    assert erase_before(store, START + timedelta(days=1), by=LOCAL) == Erased(A_DAY, A_DAY // TOGETHER, A_DAY)
    after, words = shown(store), kept_words(store)
    assert not [case for case in cases.ids[:A_DAY].tolist() if repr(case) in words]
    assert not [place for place in range(A_DAY // TOGETHER) if f"patient-{place:03d}" in words]
    assert (after.cohort.ids == before.cohort.ids).sum() == MANY - A_DAY
    for was, now in zip(figures(before, deciders), figures(after, deciders), strict=True):
        pd.testing.assert_frame_equal(now, was, check_exact=True)
    assert erase_before(store, START + timedelta(days=1), by=LOCAL) == Erased(0, 0, 0)


def test_whoever_has_come_in_since_stays_with_their_group(
    store: ShadowStore, deciders: Deciders, cases: Cohort
) -> None:
    again = arrivals(cases.rows(np.arange(1)), [START + timedelta(days=5)])
    take_in(again, store, deciders, by=LOCAL)
    erased = erase_before(store, START + timedelta(days=1), by=LOCAL)
    assert erased.cases == A_DAY - 1
    assert str(cases.ids[0]) in shown(store).cohort.ids
    first = shown(store)
    assert len(np.unique(first.cohort.cluster[np.isin(first.cohort.ids, cases.ids[:1])])) == 2  # one of them in a group


def test_what_comes_late_about_an_erased_case_is_refused_as_unknown(
    store: ShadowStore, deciders: Deciders, cases: Cohort
) -> None:
    case = str(cases.ids[0])
    erase_case(store, case, by=LOCAL)
    late = pd.DataFrame([{"case": case, "truth": 1}])
    assert add_outcomes(late, store, by=LOCAL).refused[0].expected == "a case that has come in"
    reader = learned().manifest.columns[0]
    said = pd.DataFrame([{"case": case, "reader": reader, "says": 1}])
    assert add_readings(said, store, deciders, by=LOCAL).refused[0].expected == "a case that has come in"
    for name in (case, "nobody"):
        with pytest.raises(UserError, match="no case with this id is kept"):
            erase_case(store, name, by=LOCAL)


def test_another_process_that_has_read_the_rows_before_reads_them_anew(
    store: ShadowStore, deciders: Deciders, cases: Cohort, tmp_path: Path
) -> None:
    address = "" if store.is_sqlite else store.engine.url.render_as_string(hide_password=False)
    with opened(tmp_path / "clinic", address) as other:
        shown(other)
        erase_case(store, str(cases.ids[0]), by=LOCAL)
        assert shown(other).cohort.ids.tolist() == shown(store).cohort.ids.tolist()


def test_no_byte_of_an_id_is_left_in_the_folder(tmp_path: Path, cases: Cohort) -> None:
    times = [START + timedelta(minutes=i) for i in range(MANY)]
    with opened(tmp_path) as store:
        deciders = deciders_of("mpd2-plus", store)
        names = [f"person-{i:03d}-of-the-clinic" for i in range(MANY)]
        take_in(arrivals(cases, times).assign(case_id=names), store, deciders, by=LOCAL)
        told = {"case": names, "time": [time.isoformat() for time in times], "truth": cases.truth}
        add_outcomes(pd.DataFrame(told), store, by=LOCAL)
        assert any(b"-of-the-clinic" in path.read_bytes() for path in tmp_path.iterdir())
        erase_case(store, names[7], by=LOCAL)
        assert not any(names[7].encode() in path.read_bytes() for path in tmp_path.iterdir())
        assert any(names[8].encode() in path.read_bytes() for path in tmp_path.iterdir())
        erase_before(store, times[-1] + timedelta(days=1), by=LOCAL)
        assert not any(b"-of-the-clinic" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_log_that_somebody_still_reads_is_said_and_tidied_later(
    tmp_path: Path, cases: Cohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PATIENCE", 1)  # second that is waited for whoever reads
    case = str(cases.ids[0])
    with opened(tmp_path) as store, opened(tmp_path) as other:
        take_in(arrivals(cases), store, deciders_of("mpd2-plus", store), by=LOCAL)
        with other.reading() as connection:
            connection.execute(text("SELECT * FROM arrivals LIMIT 1")).all()
            with pytest.raises(UserError, match="the ids are erased, but somebody was reading"):
                erase_case(store, case, by=LOCAL)
        assert case not in shown(store).cohort.ids


def test_days_of_the_settings_say_from_when_ids_are_erased() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    assert retention_limit(59, now) == datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(UserError, match=r"\[clinic\] retention_days"):
        retention_limit(None)
