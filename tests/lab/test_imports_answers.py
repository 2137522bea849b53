"""Answers as people leave them: somebody is unsure, a truth was forgotten, a column says the truth again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from foreign_tables import READERS, clinic, in_long_form, normalised, raw

from mpd2.core.errors import TableError
from mpd2.lab.imports.drafting import answer_words, draft, suggest
from mpd2.lab.imports.matching import Proposal, Use, lacking, propose
from mpd2.lab.imports.normalise import normalise

CLINIC = clinic()
SAID = {key: {"0": "negative", "1": "positive"} for key in ("truth", *READERS)}


def proposal(column: str, frame: pd.DataFrame) -> Proposal:
    return next(each for each in propose(raw(frame)) if each.column == column)


def unsure(word: str, frame: pd.DataFrame = CLINIC, every: int = 4) -> pd.DataFrame:
    """Every so many readings are of somebody who is unsure."""
    return frame.assign(**{reader: frame[reader].where(np.arange(len(frame)) % every > 0, word) for reader in READERS})


@pytest.mark.parametrize("word", ["unsure", "Indeterminate", "nicht beurteilbar", "Indéterminé"])
@pytest.mark.parametrize("words", [{}, SAID, {key: {"0": "nevus", "1": "melanoma"} for key in SAID}])
def test_a_reader_who_is_often_unsure_is_a_reader_and_gave_no_answer(word: str, words: dict[str, object]) -> None:
    frame = unsure(word, CLINIC.replace(words))
    found = proposal("reader_1", frame)
    assert found.use == Use.READER
    assert f" or {word} or empty; its name says reader" in found.reason
    kept = normalised(frame)
    assert (kept.frame["reader_1"].iloc[::4] == "").all()
    assert kept.frame["reader_1"].iloc[1::4].tolist() == CLINIC["reader_1"].iloc[1::4].tolist()
    assert any(note.startswith("reader_1: ") and f"{word} is read as no answer" in note for note in kept.notes)


def test_unsure_readings_in_long_form_are_left_out_and_told_of() -> None:
    cases, readings = in_long_form(unsure("unklar"))
    proposals = propose(raw(cases), raw(readings, "readings.csv"))
    assert lacking(proposals) == ()
    manifest = draft(proposals, suggest(proposals))
    kept = normalise(raw(cases), raw(readings, "readings.csv"), manifest, answer_words(proposals))
    assert (kept.frame["reader_2"].iloc[::4] == "").all()
    assert "answer: unklar is read as no answer." in kept.notes


def test_a_measurement_that_is_sometimes_unclear_may_be_missing() -> None:
    cough = np.array(["no", "yes", "unclear"])[np.random.default_rng(0).integers(0, 3, len(CLINIC))]
    frame = CLINIC.assign(cough=cough)
    found = proposal("cough", frame)
    assert (found.use, found.missing) == (Use.OTHER, True)
    assert set(normalised(frame).frame["cough"]) == {"no", "yes", ""}


def test_a_truth_that_is_unsure_is_named_as_it_stands() -> None:
    frame = CLINIC.replace(SAID)
    frame.loc[7, "truth"] = "uncertain"
    with pytest.raises(TableError, match="row 9, column truth: found uncertain, expected 0 or 1"):
        normalised(frame)


def test_a_truth_without_a_name_is_known_though_a_cell_was_forgotten() -> None:
    frame = CLINIC.replace(SAID).rename(columns={"truth": "PSG OSA ≥15/h"})
    frame.loc[40, "PSG OSA ≥15/h"] = ""
    found = proposal("PSG OSA ≥15/h", frame)
    assert found.use == Use.TRUTH
    assert "nearly complete" in found.reason
    assert found.reason.endswith("are positive")
    frame.loc[:40, "PSG OSA ≥15/h"] = ""
    assert proposal("PSG OSA ≥15/h", frame).use != Use.TRUTH


def test_a_column_that_says_the_truth_again_is_no_reader() -> None:
    frame = CLINIC.assign(excised_malignant=CLINIC["truth"].map({"0": "no", "1": "yes"}))
    found = proposal("excised_malignant", frame)
    assert found.use == Use.IGNORED
    assert found.reason == "only no and yes, and the same as the truth in every row"
    assert proposal("expert_9", CLINIC.assign(expert_9=CLINIC["truth"])).use == Use.READER  # step 4 asks about leakage


def test_a_site_of_the_body_is_no_cohort_where_another_column_is() -> None:
    sites = np.array(["torso", "head/neck", "lower extremity", "palms/soles"])[np.arange(len(CLINIC)) % 4]
    frame = CLINIC.rename(columns={"site": "dermoscope"}).assign(anatom_site=sites)
    found = {each.column: each.use for each in propose(raw(frame[["case_id", "anatom_site", *frame.columns[1:-1]]]))}
    assert (found["dermoscope"], found["anatom_site"]) == (Use.COHORT, Use.IGNORED)


@pytest.mark.parametrize("nothing", ["--", "---", "n.a.", "k.A."])
def test_a_dash_or_an_abbreviation_in_a_measurement_is_a_gap(nothing: str) -> None:
    frame = CLINIC.copy()
    frame.loc[5, "age"] = nothing
    assert proposal("age", frame).missing
    assert normalised(frame).frame["age"].iloc[5] == ""
