"""A draft of a table of one's own: files that are laid out in another way are understood as they are dropped."""

from __future__ import annotations

from foreign_tables import READERS, as_csv, clinic, in_long_form

from mpd2.clinic.access.actor import LOCAL
from mpd2.studio.your_data.steps.draft import Draft, Upload
from mpd2.studio.your_data.steps.prepared import prepare

CLINIC = clinic()


def test_one_file_with_a_row_a_reading_is_cases_and_readings() -> None:
    cases, readings = in_long_form(CLINIC)
    dropped = Upload.of(as_csv(readings.merge(cases, on="case_id")), "all.csv", by=LOCAL)
    draft = Draft().with_file("cases", dropped)
    assert draft.lacking == ()
    assert draft.readings is not None
    assert len(draft.cases) == readings["case_id"].nunique()
    assert list(draft.files) == ["cases"]
    assert draft.manifest().columns == READERS
    assert len(prepare(draft).cohort) == len(draft.cases)
    assert Draft().with_file("cases", dropped).with_file("cases", None).tables is None


def test_readers_of_a_second_file_stand_beside_the_cases() -> None:
    cases = Upload.of(as_csv(CLINIC.drop(columns=list(READERS))), "cases.csv", by=LOCAL)
    second = Upload.of(as_csv(CLINIC[["case_id", *READERS]]), "readers.csv", by=LOCAL)
    draft = Draft().with_file("cases", cases).with_file("readings", second)
    assert draft.readings is None
    assert draft.manifest().columns == READERS
    assert draft.with_file("readings", None).lacking != ()
