"""Cases sent by programs: kept once each and decided as anywhere else, whatever comes beside them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import activated, installed, kept_arrivals, new_cases, program

from mpd2.clinic.access.actions import Action, Role
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.record.reading import found
from mpd2.clinic.record.search import Search
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.rows import Key
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.studio.server.interface.bodies import FARTHEST, MOST_BYTES, MOST_ROWS
from mpd2.studio.server.interface.desk import MOST_OF_ONE

ANY = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
GOOD = new_cases(1)[0]
DAMAGE = st.dictionaries(st.sampled_from(sorted(GOOD)) | st.text(max_size=8), ANY, max_size=3)


@pytest.fixture(autouse=True)
def clinic(tmp_path: Path) -> Iterator[Path]:
    """A clinic with an active run."""
    with installed(tmp_path, "[record]\n") as folder:
        activated()
        yield folder


def sent(rows: list[dict[str, Any]], role: Role = Role.CLINICIAN) -> Any:
    return program(role).post("/cases", json={"cases": rows})


def decided() -> dict[Key, tuple[Any, ...]]:
    """What is kept of every arrival that does not depend on who wrote it when."""
    kept = kept_arrivals()
    assert len({(row.case, row.time) for row in kept}) == len(kept)
    return {
        Key(row.case, row.time): (row.inputs, row.available, row.action, row.kept, row.stop, row.reason) for row in kept
    }


def statuses(answer: Any) -> list[str]:
    return [row["status"] for row in answer.json()["rows"]]


def test_a_case_is_kept_decided_and_in_the_record() -> None:
    answer = sent(new_cases(3))
    assert (answer.status_code, statuses(answer)) == (200, ["accepted"] * 3)
    assert len(decided()) == 3
    entries = found(Search(action=Action.ROUTE_CASE), limit=1_000, by=LOCAL)
    assert [(entry.actor, entry.role, entry.granted) for entry in entries] == [
        ("token:clinician", "clinician", True)
    ] * 3


def test_it_is_decided_as_the_same_case_is_anywhere_else(tmp_path: Path) -> None:
    rows = new_cases(40)
    sent(rows)
    through = decided()
    with installed(tmp_path / "elsewhere"):
        activated()
        shadow = Shadow.here(Workshop.here())
        assert len(take_in(pd.DataFrame(rows).astype(str), shadow.store, shadow.deciders, by=LOCAL).accepted) == 40
        assert decided() == through


def test_rows_are_refused_one_by_one_with_their_reasons() -> None:
    good = new_cases(6)
    bad = [good[1] | {"vCDR": 7}, good[2] | {"name": "Ada"}, good[3] | {"y_true": 1}, {}]
    answer = sent([good[0], *bad[:2], good[4], *bad[2:], good[0], good[0] | {"aCDR": 0.99}])
    assert answer.status_code == 207
    told = "accepted refused refused accepted refused refused repeated refused"
    assert statuses(answer) == told.split()
    assert {name: answer.json()[name] for name in ("accepted", "repeated", "refused")} == {
        "accepted": 2, "repeated": 1, "refused": 5
    }  # fmt: skip
    reasons = [" ".join(row.get("reasons", [])) for row in answer.json()["rows"]]
    assert "vCDR: found 7, expected a number from 0 to 1" in reasons[1]
    assert "name: found an entry nobody knows" in reasons[2]
    assert "y_true" in reasons[4]
    assert "case: found nothing" in reasons[5]
    assert "other content" in reasons[7]
    assert len(decided()) == 2


def test_what_is_dated_in_the_future_is_refused_with_the_servers_time() -> None:
    answer = sent([GOOD, GOOD | {"time": "2124-11-16T12:00:00Z"}])
    assert statuses(answer) == ["accepted", "refused"]
    assert "expected a time that has come: here it is 20" in answer.json()["rows"][1]["reasons"][0]


def test_rows_about_one_case_are_as_many_as_there_can_be_readers() -> None:
    answer = sent([GOOD] * (MOST_OF_ONE + 5))
    assert Counter(statuses(answer)) == {"accepted": 1, "repeated": MOST_OF_ONE - 1, "refused": 5}
    assert "another request" in " ".join(answer.json()["rows"][-1]["reasons"])


def test_if_every_row_is_refused_the_status_says_so_and_nothing_is_kept() -> None:
    answer = sent([GOOD | {"vCDR": 7}, {}])
    assert (answer.status_code, statuses(answer)) == (422, ["refused", "refused"])
    assert decided() == {}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(DAMAGE, min_size=1, max_size=6), st.integers(0, 10**4))
def test_hostile_rows_are_each_kept_or_refused_and_a_good_one_among_them_is_kept(
    damage: list[dict[str, Any]], first: int
) -> None:
    good = new_cases(len(damage) + 1, first * 10)
    rows = [row | change for row, change in zip(good, damage, strict=False)]
    answer = sent([*rows, good[-1]])
    assert answer.status_code in (200, 207)
    assert len(statuses(answer)) == len(rows) + 1
    assert statuses(answer)[-1] in ("accepted", "repeated")
    for row in answer.json()["rows"]:
        assert (row["status"] == "refused") is bool(row.get("reasons"))
        assert all("found " in reason or "more reasons" in reason for reason in row.get("reasons", []))
    again = sent([*rows, good[-1]])
    assert "accepted" not in statuses(again)
    assert [each == "refused" for each in statuses(again)] == [each == "refused" for each in statuses(answer)]


def test_any_order_any_parts_and_any_repetition_leave_the_same(tmp_path: Path) -> None:
    rows = new_cases(60)
    sent(rows)
    at_once = decided()
    shuffled = random.Random(0)
    for trial in range(2):
        with installed(tmp_path / f"other-{trial}"):
            activated()
            some = rows + shuffled.sample(rows, 30)
            shuffled.shuffle(some)
            while some:
                size = shuffled.randint(1, 20)
                assert sent(some[:size]).status_code == 200
                some = some[size:]
            assert decided() == at_once


def test_twenty_programs_at_once_lose_nothing_and_keep_nothing_twice() -> None:
    shared, own = new_cases(20), [new_cases(10, 1000 + 10 * each) for each in range(20)]
    conflicting = [shared[0] | {"case": "fought-for", "vCDR": round(0.1 + each / 50, 2)} for each in range(20)]

    def work(each: int) -> list[Any]:
        order = random.Random(each).sample(shared, len(shared))
        return [sent(order[:10] + own[each]), sent([*order[10:], conflicting[each]])]

    with ThreadPoolExecutor(20) as pool:
        answers = [answer for both in pool.map(work, range(20)) for answer in both]
    assert Counter(answer.status_code for answer in answers) == {200: 21, 207: 19}
    told = Counter(status for answer in answers for status in statuses(answer))
    assert told == {"accepted": 20 + 200 + 1, "repeated": 19 * 20, "refused": 19}
    assert len(decided()) == 221
    entries = found(Search(action=Action.ROUTE_CASE), limit=1_000, by=LOCAL)
    assert len(entries) == 221


def test_limits_of_a_request_are_its_bytes_and_its_rows() -> None:
    assert sent(new_cases(MOST_ROWS)).status_code == 200
    assert sent(new_cases(MOST_ROWS + 1)).status_code == 413
    body = b'{"cases":[{"case":"' + b"x" * MOST_BYTES + b'"}]}'
    for content in (body, iter([body])):  # with its length told, and without
        answer = program(Role.ADMIN).post("/cases", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 413
        assert "1,000,000 bytes" in answer.json()["detail"]
    assert len(decided()) == MOST_ROWS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("content-type", kind) for kind in ("text/plain", "application/x-www-form-urlencoded", "")],
        ("content-type", "application/json; charset=latin-1"),
        *[("content-encoding", kind) for kind in ("gzip", "deflate", "br", "identity, gzip")],
    ],
)
def test_only_plain_json_is_taken_which_no_form_of_another_host_can_send(name: str, value: str) -> None:
    headers = {"content-type": "application/json", name: value}
    answer = program(Role.ADMIN).post("/cases", content=b'{"cases":[{}]}', headers=headers)
    assert answer.status_code == 415
    assert "expected" in answer.json()["detail"]


@pytest.mark.parametrize("told", ["-1", "abc", "1e3", "9" * 400, str(FARTHEST + 1)])
def test_a_length_that_is_none_or_too_much_is_refused_unread(told: str) -> None:
    headers = {"content-type": "application/json", "content-length": told}
    assert program(Role.ADMIN).post("/cases", content=b"{}", headers=headers).status_code == 413


def test_a_run_that_was_changed_since_is_not_used(clinic: Path) -> None:
    (clinic / "clinic" / "activation.json").write_text("{}}")
    answer = sent(new_cases(1))
    assert answer.status_code == 503
    assert "cannot be read" in answer.json()["detail"]
    assert str(clinic) not in answer.text
