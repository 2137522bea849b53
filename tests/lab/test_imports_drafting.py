"""From proposals and answers to a manifest, as text and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from foreign_tables import READERS, clinic, drafted, in_long_form, raw
from hypothesis import given
from hypothesis import strategies as st
from places import DATA

from mpd2.core.errors import TableError, UserError
from mpd2.core.manifest import Manifest, load_manifest, parse_manifest
from mpd2.core.text import plain_words
from mpd2.lab.imports.drafting import Answers, answers_of, draft, proposals_of, reader_columns, suggest, to_toml
from mpd2.lab.imports.files import read_path
from mpd2.lab.imports.matching import Use, changed, propose

CLINIC = clinic()
PROPOSALS = propose(raw(CLINIC))


def test_a_draft_has_every_column_in_its_place() -> None:
    manifest = draft(PROPOSALS, suggest(PROPOSALS, "north_clinic.csv"))
    row = manifest.row
    assert manifest.title == "North clinic"
    assert (row.case, row.truth, row.cohort, row.date) == ("case_id", "truth", "site", "visit_date")
    assert row.split == "split"  # which will be made
    assert manifest.ai.probability == "ai_probability"
    assert manifest.groups is not None
    assert (manifest.groups.column, manifest.groups.word) == ("patient", "patient")
    assert [each.column for each in manifest.inputs] == ["age", "sex"]
    assert manifest.inputs[0].unit == "years"
    assert manifest.inputs[1].codes == {"F": 0.0, "M": 1.0}
    assert manifest.columns == READERS
    assert [reader.name for reader in manifest.readers] == ["Reader 1", "Reader 2", "Reader 3"]
    assert {reader.group for reader in manifest.readers} == {"Reader"}
    assert [entry.key for entry in manifest.cohorts] == ["north", "south"]


def test_what_was_left_as_suggested_is_told_as_an_assumption() -> None:
    suggested = suggest(PROPOSALS)
    assert len(draft(PROPOSALS, suggested).assumptions) == 2
    said = replace(suggested, false_negative=3.0, fees=dict.fromkeys(READERS, 0.2))
    assert draft(PROPOSALS, said).assumptions == ()


def test_a_persons_answers_are_in_the_manifest() -> None:
    answers = replace(
        suggest(PROPOSALS),
        positive="melanoma",
        negative="naevus",
        positives="melanomas",
        case="lesion",
        currency="EUR",
        unit=40.0,
        threshold=0.3,
        thresholds={"north": 0.2, "gone": 0.1},
        names={"reader_1": "Dr. Ünal"},
        fees={"reader_1": 0.7},
        cohort_names={"north": "Northern hospital"},
        origins={"north": "real"},
    )
    manifest = draft(PROPOSALS, answers)
    assert manifest.task.answers == {0: "naevus", 1: "melanoma", -1: ""}
    assert (manifest.task.cases, manifest.task.unit) == ("lesions", 40.0)
    assert manifest.thresholds.tolist() == [0.2, 0.3]
    assert (manifest.readers[0].name, manifest.fees.tolist()) == ("Dr. Ünal", [0.7, 0.1, 0.1])
    assert (manifest.cohorts[0].name, manifest.cohorts[0].readings) == ("Northern hospital", "real")
    assert parse_manifest(to_toml(manifest)) == manifest


def test_words_of_the_truth_are_suggested() -> None:
    proposals = propose(raw(CLINIC.assign(truth=CLINIC["truth"].map({"0": "benign tumour", "1": "cancer"}))))
    suggested = suggest(proposals)
    assert {suggested.positive, suggested.negative} == {"cancer", "benign tumour"}


def test_columns_cohorts_and_answers_that_are_no_words_get_names_that_are() -> None:
    odd = CLINIC.rename(columns={"reader_2": "***", "reader_3": "[]"}).replace({"site": {"north": "<>", "south": "~"}})
    odd["truth"] = odd["truth"].map({"0": "x" * 100, "1": "<b>"})
    proposals = changed(propose(raw(odd)), {"***": "reader", "[]": "reader"})
    manifest = draft(proposals, suggest(proposals))
    assert [reader.name for reader in manifest.readers] == ["Reader 1", "Reader 2", "Reader 3"]
    assert [entry.name for entry in manifest.cohorts] == ["Cohort 1", "Cohort 2"]
    assert {manifest.task.positive, manifest.task.negative} == {"b", "negative"}


def test_a_table_without_cohort_group_or_id_has_one_cohort_and_made_names() -> None:
    bare = CLINIC.drop(columns=["site", "patient", "case_id", "visit_date"]).assign(split="x")
    manifest = drafted(bare)
    assert manifest.row.cohort == manifest.row.date == ""
    assert manifest.groups is None
    assert [entry.name for entry in manifest.cohorts] == ["All cases"]
    assert manifest.row.case == "case_id"
    assert manifest.row.split == "split_2"  # the table has a column of that name that is none


def test_readers_of_a_second_file_are_sorted_as_people_do() -> None:
    cases, readings = in_long_form(CLINIC)
    names = {"reader_1": "reader 10", "reader_2": "reader 9", "reader_3": "Zoe"}
    proposals = propose(raw(cases), raw(readings.replace({"who": names}), "readings.csv"))
    assert reader_columns(proposals) == ("reader 9", "reader 10", "Zoe")
    manifest = draft(proposals, suggest(proposals))
    assert manifest.long is not None
    assert (manifest.long.case, manifest.long.reader, manifest.long.says) == ("case_id", "who", "answer")


def test_nothing_is_drafted_while_something_is_lacking() -> None:
    with pytest.raises(UserError, match="No column is the truth"):
        draft(changed(PROPOSALS, {"truth": Use.IGNORED}), Answers())
    crowd = CLINIC.assign(**{f"rater_{n}": CLINIC["reader_1"] for n in range(70)})
    proposals = propose(raw(crowd))
    with pytest.raises(UserError, match="readers: found 73, expected at most 60"):
        draft(proposals, suggest(proposals))


def test_a_wrong_answer_is_told_in_words() -> None:
    with pytest.raises(UserError, match="fee"):
        draft(PROPOSALS, replace(suggest(PROPOSALS), fee=-1.0))
    with pytest.raises(UserError, match="positive"):
        draft(PROPOSALS, replace(suggest(PROPOSALS), positive=""))


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(plain_words),
    st.dictionaries(st.sampled_from(["north", "south"]), st.floats(0.01, 0.99)),
    st.floats(0.001, 1e6),
)
def test_any_manifest_survives_being_written_as_text(words: str, thresholds: dict[str, float], fee: float) -> None:
    answers = replace(suggest(PROPOSALS), title=words, positive=words, names={"reader_1": words}, fee=fee, credit=words)
    manifest = draft(PROPOSALS, replace(answers, thresholds=thresholds))
    assert parse_manifest(to_toml(manifest)) == manifest


def test_the_text_leaves_out_what_goes_without_saying_and_comments_the_rest() -> None:
    text = to_toml(draft(PROPOSALS, suggest(PROPOSALS)))
    assert text.startswith("# What the rows of this table are about.")
    assert "version = 2" in text
    for needless in ("threshold", "currency", "cases", "strict", "tier", "role"):
        assert f"\n{needless} = " not in text
    assert text.count("[[readers]]") == 3


@pytest.mark.parametrize("source", ["clinic", "benchmark"])
def test_a_manifest_goes_to_proposals_and_back(source: str) -> None:
    if source == "clinic":
        table, manifest = raw(CLINIC), drafted(CLINIC)
    else:
        table, manifest = read_path(DATA / "glaucoma.csv"), load_manifest(DATA / "manifest.toml")
    proposals = proposals_of(manifest, table)
    again = draft(proposals, answers_of(manifest), manifest)
    assert again == manifest
    assert again.identity() == manifest.identity()
    assert parse_manifest(to_toml(manifest)) == manifest


def test_what_a_persons_manifest_does_not_name_is_left_out() -> None:
    manifest = drafted(CLINIC)
    proposals = proposals_of(manifest, raw(CLINIC.assign(weight="70")))
    assert proposals[-1].use == Use.IGNORED
    assert proposals[-1].reason == "not in the manifest"


def test_a_manifest_that_does_not_fit_the_files_is_told_which_columns_are_not_there() -> None:
    manifest = drafted(CLINIC)
    with pytest.raises(TableError, match="column age: found no such column") as caught:
        proposals_of(manifest, raw(CLINIC.drop(columns=["age", "reader_2"])))
    assert {problem.column for problem in caught.value.problems} == {"age", "reader_2"}
    with pytest.raises(UserError, match="no part"):
        proposals_of(manifest, raw(CLINIC), raw(CLINIC, "readings.csv"))


def test_a_manifest_of_readings_in_long_form_goes_to_proposals_and_back() -> None:
    cases, readings = in_long_form(CLINIC)
    proposals = propose(raw(cases), raw(readings, "readings.csv"))
    manifest: Manifest = draft(proposals, suggest(proposals))
    back = proposals_of(manifest, raw(cases), raw(readings, "readings.csv"))
    assert {each.column: each.use for each in back} == {each.column: each.use for each in proposals}
    assert draft(back, answers_of(manifest), manifest) == manifest
    with pytest.raises(UserError, match="expected a second file"):
        proposals_of(manifest, raw(cases))


def test_what_is_looked_for_and_what_belongs_together_are_called_as_their_columns_are() -> None:
    proposals = propose(raw(CLINIC.rename(columns={"truth": "cancer", "patient": "woman"})))
    answers = suggest(proposals)
    assert (answers.positive, answers.group_word) == ("cancer", "woman")
    assert suggest(PROPOSALS).positive == "positive"
