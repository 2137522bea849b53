"""Rows that come in together are recorded in one go: each by its own entry, on disk before any of them is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from records import ADMIN, READER, checked
from shadows import arrivals, deciders_of, learned, opened, readings
from sqlalchemy import event

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.authorise import authorise, recorded_together
from mpd2.clinic.installation import Installation
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.search import Search
from mpd2.clinic.settings import SETTINGS, RecordOptions
from mpd2.clinic.shadow.answering import add_readings
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError

EVERY = 10  # entries between two signatures


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordLog]:
    """The record of this installation."""
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[record]\nfolder = "record"\ncheckpoint_every = {EVERY}\n', encoding="utf-8")
    monkeypatch.setenv(SETTINGS, str(settings))
    found = Installation.here().record
    assert isinstance(found, RecordLog)
    yield found
    found.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ShadowStore]:
    with opened(tmp_path / "shadow") as made:
        yield made


@pytest.fixture(scope="module")
def cases() -> Cohort:
    return learned().subset(split="test").rows(slice(0, 25))


def test_a_table_is_one_transaction_of_the_record_and_an_entry_a_row(
    record: RecordLog, store: ShadowStore, cases: Cohort, tmp_path: Path
) -> None:
    written = list[object]()
    event.listen(record.storage.engine, "commit", written.append)
    take_in(arrivals(cases), store, deciders_of("studio", store), by=ADMIN)
    assert len(written) == 1
    entries = record.search(Search(), limit=100)
    assert [entry.action for entry in entries] == [str(Action.ROUTE_CASE)] * len(cases)
    assert [each.says["number"] for each in record.checkpoints.places()[0].lines] == [1, 10, 20]
    assert checked(RecordOptions(checkpoint_every=EVERY), tmp_path / "record").whole


def test_what_is_refused_is_recorded_beside_what_is_not(record: RecordLog, store: ShadowStore, cases: Cohort) -> None:
    deciders = deciders_of("studio", store)
    take_in(arrivals(cases), store, deciders, by=ADMIN)
    words = readings(cases).head(3)
    taken = add_readings(words, store, deciders, by=READER)  # who answers for nobody here
    assert (len(taken.accepted), len(taken.refused)) == (0, 3)
    assert [entry.granted for entry in record.search(Search(), limit=3)] == [False] * 3


def test_where_the_record_cannot_be_written_nothing_is_kept(
    record: RecordLog, store: ShadowStore, cases: Cohort
) -> None:
    with record.storage.writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.number > 20 BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(UserError, match="record"):
        take_in(arrivals(cases), store, deciders_of("studio", store), by=ADMIN)
    assert store.version() == 0
    assert record.length() == 0  # not even of those that would have gone in


def test_an_error_leaves_nothing_out_of_the_record_that_was_authorised_before(record: RecordLog) -> None:
    def go_wrong() -> None:
        with recorded_together():
            authorise(ADMIN, Action.SEE_CASE, case="a")
            raise KeyError

    with pytest.raises(KeyError):
        go_wrong()
    assert record.length() == 1
