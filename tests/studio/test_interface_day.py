"""A day of a clinic by programs alone: cases, worklists, readings and outcomes, as the OpenAPI document says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from places import ROOT
from programs import TOKENS, activated, installed, new_cases, program, said

from mpd2.clinic.access.actions import Role
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import Shadow

DOCUMENTED = (ROOT / "docs" / "clinic" / "interface.md").read_text(encoding="utf-8")
READER = "chaksu_expert_2"
KINDS = ("cases", "readings", "outcomes")


@pytest.fixture(autouse=True)
def clinic(tmp_path: Path) -> Iterator[Path]:
    """A clinic with an active run, one of whose readers has a token."""
    with installed(tmp_path, f'[clinic.readers]\n"token:reader" = "{READER}"\n') as folder:
        activated()
        yield folder


def sent(kind: str, *rows: dict[str, Any], role: Role = Role.CLINICIAN) -> Any:
    return program(role).post(f"/{kind}", json={kind: rows})


def statuses(answer: Any) -> list[str]:
    return [row["status"] for row in answer.json()["rows"]]


def waiting(reader: str, role: Role = Role.CLINICIAN, **more: str) -> list[dict[str, Any]]:
    answer = program(role).get("/worklist", params={"reader": reader, **more})
    assert answer.status_code == 200
    assert answer.json()["waiting"] == len(answer.json()["cases"])
    found: list[dict[str, Any]] = answer.json()["cases"]
    return found


def everybody() -> tuple[str, ...]:
    return Shadow.here(Workshop.here()).manifest.columns


def at(case: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"case": case["case"], "time": case["time"], **more}


def valid(name: str, content: Any) -> bool:
    """Whether something is as a schema of the document says."""
    made = program(Role.VIEWER).get("/openapi.json").json()
    Draft202012Validator({**made, "$ref": f"#/components/schemas/{name}"}).validate(content)
    return True


def test_a_case_waits_for_its_reader_until_everybody_who_is_asked_has_answered() -> None:
    cases = new_cases(60)
    assert sent("cases", *cases).status_code == 200
    lists = {reader: waiting(reader) for reader in everybody()}
    first = [case["case"] for each in lists.values() for case in each]
    assert 0 < len(first) == len(set(first)) < 60
    asked = 0
    while any(lists.values()):
        rows = [
            at(case, reader=reader, says=asked % 2, confidence=0.7, at="2024-11-17T09:00:00Z")
            for reader, each in lists.items()
            for case in each
        ]
        assert set(statuses(sent("readings", *rows))) == {"accepted"}
        assert set(statuses(sent("readings", *rows))) == {"repeated"}
        lists, asked = {reader: waiting(reader) for reader in everybody()}, asked + 1
        assert asked <= len(everybody())
    kept = Shadow.here(Workshop.here()).snapshot()
    assert (kept.decisions.label >= 0).all()


def test_outcomes_are_kept_once_and_the_newest_holds() -> None:
    case = new_cases(1)[0]
    sent("cases", case)
    first, second = (at(case, truth=truth, done=0, at=f"2024-12-0{truth + 1}T09:00:00Z") for truth in (0, 1))
    assert statuses(sent("outcomes", second, first, second)) == ["accepted", "accepted", "repeated"]
    assert statuses(sent("outcomes", first | {"truth": 1})) == ["refused"]
    kept = Shadow.here(Workshop.here()).snapshot()
    assert kept.cohort.truth.tolist() == [1]
    assert kept.done.tolist() == [0]


def test_rows_about_one_case_by_several_readers_are_told_apart() -> None:
    case = new_cases(1)[0]
    sent("cases", case)
    rows = [at(case, reader=reader, says=1, at="2024-11-17T09:00:00Z") for reader in everybody()[:4]]
    assert statuses(sent("readings", rows[1])) == ["accepted"]
    assert statuses(sent("readings", *rows, rows[0])) == ["accepted", "repeated", "accepted", "accepted", "repeated"]


@pytest.mark.parametrize("kind", ["readings", "outcomes"])
def test_what_is_said_of_a_case_before_it_has_come_in_is_refused_and_accepted_afterwards(kind: str) -> None:
    case = new_cases(1)[0]
    row = at(case, **({"reader": READER, "says": 1} if kind == "readings" else {"truth": 1}))
    early = sent(kind, row)
    assert early.status_code == 422
    assert "expected a case that has come in" in early.text
    sent("cases", case)
    assert [sent(kind, row).json()["rows"][0]["status"] for _ in range(2)] == ["accepted", "repeated"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"reader": "nobody"}, "expected one of"),
        ({"says": 2}, "expected 0 or 1"),
        ({"says": None}, "says"),
        ({"says": 1, "declined": 1}, "declined"),
        ({"confidence": 1.5}, "a number from 0 to 1"),
        ({"at": "yesterday"}, "a time with its offset"),
        ({"time": "2027-01-01T00:00:00Z"}, "a case that has come in"),
        ({"truth": 1}, "an entry nobody knows"),
    ],
)
def test_a_reading_that_cannot_be_is_refused_with_the_reason(change: dict[str, Any], expected: str) -> None:
    case = new_cases(1)[0]
    sent("cases", case)
    answer = sent("readings", at(case, reader=READER, says=1) | change)
    assert answer.status_code == 422
    assert expected in " ".join(answer.json()["rows"][0]["reasons"])


def test_a_reader_declines_and_the_case_goes_on_to_another_or_ends() -> None:
    cases = new_cases(60)
    sent("cases", *cases)
    reader = max(everybody(), key=lambda each: len(waiting(each)))
    rows = [at(case, reader=reader, declined=1) for case in waiting(reader)]
    assert rows
    assert sent("readings", *rows).status_code == 200
    assert waiting(reader) == []


def test_a_readers_token_answers_for_that_reader_and_sees_that_worklist_alone() -> None:
    case = new_cases(1)[0]
    sent("cases", case)
    row = at(case, reader=READER, says=1)
    assert statuses(sent("readings", row | {"reader": "refuge_expert_1"}, row, role=Role.READER)) == [
        "refused",
        "accepted",
    ]
    assert program(Role.READER).get("/worklist", params={"reader": READER}).status_code == 200
    other = program(Role.READER).get("/worklist", params={"reader": "refuge_expert_1"})
    assert other.status_code == 403
    assert "worklist of refuge_expert_1" in said(other)


def test_a_worklist_can_be_of_one_day() -> None:
    sent("cases", *new_cases(60))
    reader = max(everybody(), key=lambda each: len(waiting(each)))
    assert waiting(reader, day="2024-11-16") == waiting(reader)
    assert waiting(reader, day="2024-11-15") == []


@pytest.mark.parametrize(
    "question",
    ["", "reader=", "reader=nobody", "reader=ai", f"reader={READER}&reader={READER}", f"reader={READER}&page=2"]
    + [f"reader={READER}&day={day}" for day in ("", "today", "2024-02-30", "2024-11-16T00:00:00Z", "9" * 100)],
)
def test_a_question_that_cannot_be_answered_is_refused_with_what_is_expected(question: str) -> None:
    answer = program(Role.ADMIN).get(f"/worklist?{question}")
    assert answer.status_code == 400
    assert "expected" in said(answer)


def test_everything_that_is_sent_and_answered_is_as_the_document_says() -> None:
    case = new_cases(1)[0]
    reading = at(case, reader=READER, says=1, confidence=0.5, at="2024-11-17T09:00:00Z")
    outcome = at(case, truth=None, done=1)
    assert valid("Case", case)
    assert valid("Reading", reading)
    assert valid("Outcome", outcome)
    for kind, row in zip(KINDS, (case, reading, outcome), strict=True):
        answer = sent(kind, row, {"x": 1})
        assert answer.status_code == 207
        assert valid("Results", answer.json())
    sent("cases", *new_cases(40, 1))
    for reader in everybody():
        assert valid("Worklist", program(Role.ADMIN).get("/worklist", params={"reader": reader}).json())
    assert valid("Problem", program().get("/worklist").json())


def test_the_examples_of_the_documentation_are_accepted() -> None:
    bodies = [json.loads(body) for body in re.findall(r"--json '(\{.*?\})'", DOCUMENTED, re.DOTALL)]
    assert [next(iter(body)) for body in bodies] == list(KINDS)
    for kind, body in zip(KINDS, bodies, strict=True):
        answer = program(Role.CLINICIAN).post(f"/{kind}", json=body)
        assert (answer.status_code, statuses(answer)) == (200, ["accepted"])
    question = re.search(r"/api/v1(/worklist\?\S+)'", DOCUMENTED)
    assert question
    assert program(Role.CLINICIAN).get(question[1]).status_code == 200


def test_the_observation_of_the_documentation_becomes_the_case_of_the_documentation() -> None:
    observation = next(
        each
        for each in map(json.loads, re.findall(r"```json\n(.*?)```", DOCUMENTED, re.DOTALL))
        if "resourceType" in each
    )
    case = {
        "case": observation["identifier"][0]["value"],
        "time": observation["effectiveDateTime"],
        "cohort": observation["device"]["identifier"]["value"],
        **{each["code"]["coding"][0]["code"]: each["valueQuantity"]["value"] for each in observation["component"]},
    }
    assert valid("Case", case)
    body = re.search(r"--json '(\{\"cases\".*?\})'", DOCUMENTED, re.DOTALL)
    assert body
    told = json.loads(body[1])["cases"][0]
    assert {name: value for name, value in told.items() if name != "time"} == {
        name: value for name, value in case.items() if name != "time"
    }
    assert statuses(sent("cases", told, case)) == ["accepted", "repeated"]  # the same time, with another offset


def test_every_status_of_the_documentation_is_in_the_document() -> None:
    told = set(re.findall(r"^\| (\d{3}) \|", DOCUMENTED, re.MULTILINE)) | {"200", "207", "422"}
    made = program(Role.VIEWER).get("/openapi.json").json()
    assert told - {"405"} == {
        status for item in made["paths"].values() for one in item.values() for status in one["responses"]
    }


def test_the_record_holds_no_token(clinic: Path) -> None:
    sent("cases", *new_cases(2))
    everything = b"".join(path.read_bytes() for path in clinic.rglob("*") if path.is_file())
    assert not [role for role, token in TOKENS.items() if token.encode() in everything]
