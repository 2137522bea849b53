"""What each column of a table is taken for, and why."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from foreign_tables import READERS, as_csv, clinic, in_long_form, raw
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from mpd2.core.errors import UserError
from mpd2.lab.imports.files import read_path, read_table
from mpd2.lab.imports.matching import Proposal, Use, changed, lacking, propose

CLINIC = clinic()


def uses(*proposals: Proposal, file: str = "cases") -> dict[str, Use]:
    return {each.column: each.use for each in proposals if each.file == file}


def reason(column: str, frame: pd.DataFrame) -> str:
    return next(each.reason for each in propose(raw(frame)) if each.column == column)


def proposed(frame: pd.DataFrame) -> dict[str, Use]:
    return uses(*propose(raw(frame)))


def test_the_benchmark_is_understood_without_its_manifest() -> None:
    found = uses(*propose(read_path(DATA / "glaucoma.csv")))
    experts = [f"refuge_expert_{n}" for n in range(1, 8)] + [f"chaksu_expert_{n}" for n in range(1, 6)]
    assert found == {
        "case_id": Use.CASE,
        "cohort": Use.COHORT,
        "split": Use.SPLIT,
        "y_true": Use.TRUTH,
        **dict.fromkeys(experts, Use.READER),
        "logit_0": Use.LOGIT_NEGATIVE,
        "logit_1": Use.LOGIT_POSITIVE,
        "vim_risk_z": Use.DISTANCE,
        "quality_risk": Use.QUALITY,
        **dict.fromkeys(["vCDR", "hCDR", "aCDR"], Use.STRUCTURE),
    }


def test_the_age_of_a_patient_is_an_input_and_not_what_rows_belong_to() -> None:
    ages = [str(20 + number % 40) for number in range(len(CLINIC))]
    alone = CLINIC.drop(columns=[name for name, use in proposed(CLINIC).items() if use == Use.GROUP])
    found = proposed(alone.assign(patient_age=ages))
    assert found["patient_age"] == Use.OTHER
    assert Use.GROUP not in found.values()


def ecg(exams: int = 40) -> pd.DataFrame:
    """Rows in the form of the ECG table, with its columns."""
    random = np.random.default_rng(1)
    findings = ["1dAVb", "RBBB", "LBBB", "SB", "AF", "ST"]
    rows = [(f"ecg{exam:03d}", finding) for exam in range(exams) for finding in findings]
    truth = (random.random(len(rows)) < 0.1).astype(int)
    probability = np.clip(0.8 * truth + 0.2 * random.random(len(rows)), 0, 1)
    frame = pd.DataFrame({"case_id": [f"{exam}-{finding}" for exam, finding in rows]})
    frame["exam"], frame["finding"] = zip(*rows, strict=True)
    frame["split"] = [("train", "val", "test")[int(exam[3:]) % 3] for exam, _ in rows]
    frame["truth"] = truth.astype(str)
    frame["age"] = [str(30 + int(exam[3:]) % 50) for exam, _ in rows]
    frame["sex"] = ["FM"[int(exam[3:]) % 2] for exam, _ in rows]
    for name, values in (
        ("ai_probability", probability),
        ("ensemble_mean", probability * 0.9),
        ("ensemble_sd", probability / 10),
    ):
        frame[name] = [f"{value:.6g}" for value in values]
    for reader in PANELS:
        frame[reader] = np.where(random.random(len(rows)) < 0.03, 1 - truth, truth).astype(str)
    return frame.astype(object)


PANELS = ("cardiologist1", "cardiologist2", "cardiology_residents", "emergency_residents", "medical_students")


def test_the_ecg_table_is_understood_without_a_manifest() -> None:
    proposals = propose(raw(ecg()))
    assert uses(*proposals) == {
        "case_id": Use.CASE,
        "exam": Use.GROUP,
        "finding": Use.COHORT,
        "split": Use.SPLIT,
        "truth": Use.TRUTH,
        "age": Use.OTHER,
        "sex": Use.OTHER,
        "ai_probability": Use.PROBABILITY,
        "ensemble_mean": Use.AI_INPUT,
        "ensemble_sd": Use.AI_INPUT,
        **dict.fromkeys(PANELS, Use.READER),
    }
    reasons = {each.column: each.reason for each in proposals}
    assert reasons["exam"].endswith("repeats 6 times each")
    assert reasons["finding"] == "name; 6 values"
    assert reasons["ai_probability"] == "between 0 and 1; its name says AI probability"
    assert reasons["cardiologist1"] == "only 0 and 1; its name says cardiologist"
    assert reasons["truth"].startswith("name; ")
    assert reasons["truth"].endswith("% are 1")
    assert next(each.codes for each in proposals if each.column == "sex") == {"F": 0.0, "M": 1.0}
    assert lacking(proposals) == ()


def test_a_clinics_table_is_understood() -> None:
    assert proposed(CLINIC) == {
        "case_id": Use.CASE,
        "patient": Use.GROUP,
        "site": Use.COHORT,
        "visit_date": Use.DATE,
        "truth": Use.TRUTH,
        "ai_probability": Use.PROBABILITY,
        "age": Use.OTHER,
        "sex": Use.OTHER,
        **dict.fromkeys(READERS, Use.READER),
    }


WORDS = {
    "German": {
        "case_id": "Fallnummer", "patient": "Patient", "site": "Klinik", "visit_date": "Aufnahmedatum",
        "truth": "Diagnose", "ai_probability": "KI_Wahrscheinlichkeit", "age": "Alter", "sex": "Geschlecht",
        "reader_1": "Augenarzt 1", "reader_2": "Oberärztin", "reader_3": "Radiologe",
    },
    "French": {
        "case_id": "Identifiant", "patient": "Sujet", "site": "Hôpital", "visit_date": "Date examen",
        "truth": "Diagnostic", "ai_probability": "Probabilité IA", "age": "Âge", "sex": "Sexe",
        "reader_1": "Lecteur 1", "reader_2": "Médecin 2", "reader_3": "Radiologue",
    },
    "Spanish": {
        "case_id": "id_caso", "patient": "Paciente", "site": "Centro", "visit_date": "Fecha",
        "truth": "Diagnóstico", "ai_probability": "probabilidad_ia", "age": "Edad", "sex": "Sexo",
        "reader_1": "Médico 1", "reader_2": "Lector 2", "reader_3": "Residente",
    },
    "Italian": {
        "case_id": "Codice caso", "patient": "Paziente", "site": "Ospedale", "visit_date": "Data",
        "truth": "Diagnosi", "ai_probability": "Probabilità IA", "age": "Età", "sex": "Sesso",
        "reader_1": "Lettore 1", "reader_2": "Medico 2", "reader_3": "Specializzando",
    },
    "Portuguese": {
        "case_id": "ID do caso", "patient": "Paciente", "site": "Clínica", "visit_date": "Data do exame",
        "truth": "Verdade", "ai_probability": "Probabilidade da IA", "age": "Idade", "sex": "Sexo",
        "reader_1": "Leitor 1", "reader_2": "Médica 2", "reader_3": "Especialista",
    },
}  # fmt: skip


@pytest.mark.parametrize("language", WORDS)
def test_names_are_understood_in_five_further_languages(language: str) -> None:
    names = WORDS[language]
    found = proposed(CLINIC.rename(columns=names))
    assert found == {names[column]: use for column, use in proposed(CLINIC).items()}


@pytest.mark.parametrize(
    ("no", "yes"),
    [
        ("0", "1"), ("no", "yes"), ("No", "YES"), ("nein", "ja"), ("non", "oui"), ("no", "sí"), ("não", "sim"),
        ("FALSE", "TRUE"), ("negative", "positive"), ("négatif", "positif"), ("negativ", "positiv"), ("N", "Y"),
        ("absent", "present"), ("0.0", "1.0"), ("healthy", "sick"), ("falso", "vero"), ("-", "+"),
    ],
)  # fmt: skip
def test_yes_and_no_are_understood_in_many_words(no: str, yes: str) -> None:
    words = {"0": no, "1": yes}
    frame = CLINIC.replace(dict.fromkeys(("truth", *READERS), words))
    assert proposed(frame) == proposed(CLINIC)
    if no not in ("-",):
        assert reason("reader_1", frame) == f"only {' and '.join(sorted((no, yes)))} or empty; its name says reader"


def test_the_words_of_the_truth_tell_which_is_positive() -> None:
    words = {"0": "no glaucoma", "1": "glaucoma"}
    frame = CLINIC.replace(dict.fromkeys(("truth", *READERS), words))
    proposals = propose(raw(frame))
    assert uses(*proposals) == proposed(CLINIC)
    assert next(each.answers for each in proposals if each.column == "truth") == {"no glaucoma": 0, "glaucoma": 1}
    often = CLINIC.assign(truth=np.where(np.arange(len(CLINIC)) % 4 > 0, "pneumonia", "healthy"))
    found = next(each for each in propose(raw(often)) if each.column == "truth")
    assert found.answers == {"healthy": 0, "pneumonia": 1}  # however rare the healthy are


def test_readings_in_long_form_are_matched_to_their_cases() -> None:
    cases, readings = in_long_form(CLINIC)
    renamed = readings.rename(columns={"case_id": "Bild", "who": "Leser", "answer": "Befund"})
    renamed["Dauer"] = "12"
    proposals = propose(raw(cases), raw(renamed, "readings.csv"))
    assert uses(*proposals, file="readings") == {
        "Bild": Use.READING_CASE,
        "Leser": Use.READING_READER,
        "Befund": Use.READING_SAYS,
        "Dauer": Use.IGNORED,
    }
    assert uses(*proposals)["case_id"] == Use.CASE
    assert next(each.readers for each in proposals if each.column == "Leser") != ()
    assert lacking(proposals) == ()


def test_two_readers_in_long_form_are_not_mistaken_for_two_answers() -> None:
    cases, readings = in_long_form(CLINIC, READERS[:2])
    proposals = propose(raw(cases.drop(columns=READERS[2])), raw(readings, "readings.csv"))
    assert uses(*proposals, file="readings") == {
        "case_id": Use.READING_CASE,
        "who": Use.READING_READER,
        "answer": Use.READING_SAYS,
    }


def test_readers_without_a_telling_name_are_known_by_what_they_say() -> None:
    frame = CLINIC.rename(columns=dict(zip(READERS, ("Anna", "Ben", "Eve"), strict=True)))
    assert {proposed(frame)[name] for name in ("Anna", "Ben", "Eve")} == {Use.READER}
    assert "mostly as the truth" in reason("Anna", frame)


def test_a_binary_measurement_is_not_taken_for_a_reader() -> None:
    random = np.random.default_rng(0)
    frame = CLINIC.assign(smoker=random.integers(0, 2, len(CLINIC)), flag=random.integers(0, 2, len(CLINIC)))
    found = proposed(frame)
    assert (found["smoker"], found["flag"]) == (Use.OTHER, Use.OTHER)


def test_the_ai_may_give_log_odds_two_scores_or_a_probability_in_per_cent() -> None:
    chance = CLINIC["ai_probability"].astype(float).clip(0.001, 0.999)
    odds = np.log(chance / (1 - chance))
    without = CLINIC.drop(columns="ai_probability")
    assert proposed(without.assign(ai_logit=odds.round(3)))["ai_logit"] == Use.LOGIT
    two = proposed(without.assign(logit_neg=(-odds / 2).round(3), logit_pos=(odds / 2).round(3)))
    assert (two["logit_neg"], two["logit_pos"]) == (Use.LOGIT_NEGATIVE, Use.LOGIT_POSITIVE)
    assert proposed(without.assign(ai_score=(100 * chance).round(1)))["ai_score"] == Use.PROBABILITY
    both = proposed(without.assign(prob_0=(1 - chance).round(4), prob_1=chance.round(4)))
    assert (both["prob_0"], both["prob_1"]) == (Use.IGNORED, Use.PROBABILITY)


def test_a_probability_without_a_name_is_known_by_how_it_follows_the_truth() -> None:
    frame = CLINIC.rename(columns={"ai_probability": "x17"})
    assert proposed(frame)["x17"] == Use.PROBABILITY
    assert "AUC" in reason("x17", frame)


def test_the_ais_decision_beside_its_probability_is_left_out() -> None:
    frame = CLINIC.assign(ai_decision=(CLINIC["ai_probability"].astype(float) > 0.5).astype(int))
    assert proposed(frame)["ai_decision"] == Use.IGNORED


def test_columns_that_tell_nothing_or_too_much_are_left_out() -> None:
    frame = CLINIC.assign(
        version="1.2",
        blank="",
        remark=[f"seen {n} times by somebody" for n in range(len(CLINIC))],
        last_name="Doe",
        date_of_birth="1960-01-01",
        number=range(len(CLINIC)),
    )
    found = proposed(frame)
    assert {found[name] for name in ("version", "blank", "remark", "last_name", "date_of_birth", "number")} == {
        Use.IGNORED
    }
    assert "identify a person" in reason("last_name", frame)
    assert reason("blank", frame) == "empty"
    assert reason("version", frame) == "the same in every row: 1.2"


def test_whether_a_high_quality_is_good_is_not_guessed() -> None:
    numbers = np.linspace(0, 3, len(CLINIC)).round(3)
    found = proposed(CLINIC.assign(image_quality=numbers, blur=numbers, quality_risk=numbers / 4, ood_score=numbers))
    assert found["image_quality"] == Use.RISK
    assert found["blur"] == found["quality_risk"] == Use.QUALITY
    assert found["ood_score"] == Use.DISTANCE


def test_case_ids_of_which_some_come_twice_are_still_case_ids() -> None:
    frame = CLINIC.copy()
    frame.loc[5, "case_id"] = frame.loc[4, "case_id"]
    assert proposed(frame)["case_id"] == Use.CASE
    assert reason("case_id", frame) == "name; but 1 of its values come again"


def test_words_in_a_known_order_become_numbers_in_that_order() -> None:
    frame = CLINIC.assign(severity=np.array(["high", "low", "medium"])[np.arange(len(CLINIC)) % 3])
    found = next(each for each in propose(raw(frame)) if each.column == "severity")
    assert found.use == Use.OTHER
    assert found.codes == {"low": 0.0, "medium": 1.0, "high": 2.0}


def test_what_is_lacking_is_said_in_sentences() -> None:
    proposals = propose(raw(CLINIC[["case_id", "age", "site"]]))
    assert [want.split(":")[0] for want in lacking(proposals)] == [
        "No column is the truth",
        "No column is the AI's answer",
        "No column is a reader",
    ]
    twice = changed(propose(raw(CLINIC)), {"age": Use.PROBABILITY, "sex": "truth"})
    assert lacking(twice) == (
        "Only one column can be “truth”: choose among truth and sex.",
        "Only one column can be “AI, probability”: choose among ai_probability and age.",
    )


def test_a_person_may_change_any_of_it() -> None:
    proposals = changed(propose(raw(CLINIC)), {"age": "left out", "reader_3": Use.OTHER, "sex": Use.OTHER})
    found = uses(*proposals)
    assert (found["age"], found["reader_3"]) == (Use.IGNORED, Use.OTHER)
    assert {each.reason for each in proposals if each.column in ("age", "reader_3")} == {"chosen by hand"}
    assert "chosen by hand" not in {each.reason for each in proposals if each.column == "sex"}  # it was that before
    with pytest.raises(UserError, match="found nobody, expected some of"):
        changed(proposals, {"nobody": "reader"})
    with pytest.raises(UserError, match="column age: found 'friend', expected one of case id"):
        changed(proposals, {"age": "friend"})


@settings(max_examples=25)
@given(
    st.permutations(list(CLINIC)),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-16", "latin-1"]),
    st.booleans(),
    st.sampled_from([("0", "1"), ("nein", "ja"), ("non", "oui"), ("FALSE", "TRUE")]),
)
def test_what_a_column_is_does_not_depend_on_order_separator_encoding_or_words(
    order: list[str], separator: str, encoding: str, commas: bool, words: tuple[str, str]
) -> None:
    meaning = dict(zip(("0", "1"), words, strict=True))
    frame = CLINIC.replace(dict.fromkeys(("truth", *READERS), meaning))[order]
    if commas and separator != ",":
        frame = frame.assign(ai_probability=[cell.replace(".", ",") for cell in frame["ai_probability"]])
    table = read_table(as_csv(frame, separator, encoding), "t.csv")
    assert uses(*propose(table)) == proposed(CLINIC)


def test_first_values_are_shown_and_long_ones_cut() -> None:
    frame = CLINIC.assign(note=["x" * 100] * len(CLINIC))
    shown = {each.column: each.first_values for each in propose(raw(frame))}
    assert shown["case_id"] == ("c00000", "c00001", "c00002")
    assert shown["note"] == ("x" * 24 + "…",)


def test_a_constant_column_does_not_hide_the_only_truth() -> None:
    frame = CLINIC.rename(columns={"truth": "cancer"}).assign(constant=1)
    assert proposed(frame)["cancer"] == Use.TRUTH


def test_the_ais_number_on_both_sides_of_zero_is_its_score_and_a_blur_beside_it_is_not() -> None:
    random = np.random.default_rng(0)
    truth = np.arange(400) % 4 == 0
    frame = pd.DataFrame({
        "lesion": [f"L{n}" for n in range(400)],
        "biopsy": np.where(truth, "yes", "no"),
        "AI CNN score": np.where(truth, 1.5, -1.5) + random.normal(size=400),
        "AI Blur": random.random(400),
        "Dr Adams": np.where(random.random(400) < 0.9, truth, ~truth).astype(int),
    })  # fmt: skip
    found = proposed(frame)
    assert found["AI CNN score"] == Use.LOGIT
    assert found["AI Blur"] == Use.QUALITY


def reading(truth: np.ndarray, seed: int, error: float = 0.1) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(len(truth)) < error, 1 - truth, truth)


def test_tables_of_four_other_fields_are_understood() -> None:
    random, n = np.random.default_rng(0), 300
    truth = (random.random(n) < 0.25).astype(int)
    chance = (1 / (1 + np.exp(1 - 2 * truth - random.normal(size=n)))).round(4)
    radiographs = pd.DataFrame(
        {
            "Image Index": [f"{number:08d}_000.png" for number in range(n)],
            "Patient ID": random.integers(1, 150, n),
            "Airspace opacity": truth,
            "DenseNet121": chance,
            **{f"Rad{reader}": reading(truth, reader) for reader in (1, 2, 3)},
        }
    )
    assert list(proposed(radiographs).values()) == [Use.CASE, Use.GROUP, Use.TRUTH, Use.PROBABILITY, *[Use.READER] * 3]
    sleep = pd.DataFrame(
        {
            "Nacht": [f"N{number // 30:02d}" for number in range(n)],
            "Arousal (Konsens)": np.where(truth, "ja", "nein"),
            "Algorithmus": (100 * chance).round(1),
            **{f"Scorer {name}": np.where(reading(truth, seed), "ja", "nein") for seed, name in enumerate("AB")},
            "Artefakt": random.random(n).round(2),
        }
    )
    assert list(proposed(sleep).values()) == [
        Use.GROUP, Use.TRUTH, Use.PROBABILITY, Use.READER, Use.READER, Use.QUALITY,
    ]  # fmt: skip
    biopsies = pd.DataFrame(
        {
            "Núm. historia": 1000 + np.arange(n) // 2,
            "Resultado biopsia": np.where(truth, "Positivo", "Negativo"),
            "Puntuación IA": chance,
            "Dra. López": np.where(reading(truth, 1), "Sí", "No"),
            "Dr. Ruiz": np.where(reading(truth, 2), "Sí", "No"),
        }
    )
    assert list(proposed(biopsies).values()) == [Use.GROUP, Use.TRUTH, Use.PROBABILITY, Use.READER, Use.READER]
    skin = pd.DataFrame({"lesion_id": [f"L{number}" for number in range(n)]})
    skin["histology"] = np.where(truth, "melanoma", "nevus")
    skin["cnn_malignancy"], skin["clinic"] = chance, np.where(random.random(n) < 0.5, "Wien", "Sydney")
    there = np.argsort(random.random((n, 20)), axis=1) < 3  # three of twenty read each case
    for reader in range(20):
        words = np.where(reading(truth, reader, 0.2), "melanoma", "nevus")
        skin[f"D{reader + 1:02d}"] = np.where(there[:, reader], words, "")
    found = proposed(skin)
    assert [found[name] for name in ("lesion_id", "histology", "cnn_malignancy", "clinic")] == [
        Use.CASE, Use.TRUTH, Use.PROBABILITY, Use.COHORT,
    ]  # fmt: skip
    assert {found[f"D{reader + 1:02d}"] for reader in range(20)} == {Use.READER}


def test_of_two_complete_columns_of_answers_the_truth_is_the_one_the_ai_tells_apart() -> None:
    random = np.random.default_rng(3)
    truth = random.random(400) < 0.2
    frame = pd.DataFrame(
        {
            "encounter_id": np.arange(400) + 70_000,
            "sepsis3": truth,
            "note_missing": random.random(400) < 0.1,
            "model_prob": np.clip(0.3 + 0.4 * truth + random.normal(0, 0.15, 400), 0.01, 0.99),
            **{f"nurse_{n}": np.where(random.random(400) < 0.85, truth, ~truth).astype(int) for n in (1, 2)},
        }
    )
    found = proposed(frame)
    assert (found["sepsis3"], found["model_prob"], found["nurse_1"]) == (Use.TRUTH, Use.PROBABILITY, Use.READER)
    assert found["note_missing"] == Use.OTHER
    assert "the AI's number tells apart" in reason("sepsis3", frame)
    assert Use.TRUTH not in proposed(frame.assign(model_prob=random.random(400))).values()


def test_a_probability_in_whole_per_cent_is_the_ais() -> None:
    name = next(column for column, use in proposed(CLINIC).items() if use == Use.PROBABILITY)
    per_cent = (100 * CLINIC[name].astype(float)).round().astype(int)
    frame = CLINIC.drop(columns=name).assign(**{"CADx score (%)": per_cent})
    assert proposed(frame)["CADx score (%)"] == Use.PROBABILITY
    assert "per cent" in reason("CADx score (%)", frame)
