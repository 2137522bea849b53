"""Bodies of requests, however hostile: rows come out, or a refusal in words; never another error."""

from __future__ import annotations

import json
from http import HTTPStatus
from time import process_time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.studio.server.interface.answers import Refused
from mpd2.studio.server.interface.bodies import DEEPEST, MOST_BYTES, MOST_ROWS, parsed, rows_of

WORDS = st.text(max_size=20)
PLAIN = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    PLAIN | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=10,
)
ROWS = st.lists(st.dictionaries(WORDS, PLAIN | WORDS, max_size=6), min_size=1, max_size=20)


def refusal_of(body: bytes, name: str = "cases") -> Refused:
    with pytest.raises(Refused) as found:
        rows_of(body, name)
    return found.value


def nested(levels: int) -> bytes:
    return b'{"cases":[{"a":' + b"[" * levels + b"]" * levels + b"}]}"


@given(ROWS)
def test_rows_come_out_as_they_went_in(rows: list[dict[str, Any]]) -> None:
    for body in (orjson.dumps({"cases": rows}), json.dumps({"cases": rows}, indent=3).encode()):
        assert rows_of(body, "cases") == orjson.loads(orjson.dumps(rows))


@given(st.binary(max_size=200) | VALUES.map(orjson.dumps) | VALUES.map(lambda each: orjson.dumps({"cases": each})))
def test_any_other_body_is_refused_in_words_and_never_fails(body: bytes) -> None:
    try:
        rows = rows_of(body, "cases")
    except Refused as error:
        refused = error
    else:
        assert rows == orjson.loads(body)["cases"]
        return
    assert refused.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    assert refused.reason.encode()


@given(st.dictionaries(WORDS, PLAIN | WORDS, min_size=1, max_size=6), st.data(), PLAIN | WORDS)
def test_an_entry_that_is_there_twice_is_refused_by_its_name(row: dict[str, Any], data: Any, other: Any) -> None:
    twice = data.draw(st.sampled_from(sorted(row)))
    entries = [*row.items(), (twice, other)]
    inside = ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in entries)
    refused = refusal_of(f'{{"cases":[{{"a":1}},{{{inside}}}]}}'.encode("utf-8", "surrogatepass"))
    assert repr(twice) in refused.reason
    assert "twice" in refused.reason


def test_the_same_name_in_two_rows_and_in_strings_is_no_entry_twice() -> None:
    rows = [{"a": '"a":1,"a":2 \\" {[:'}, {"a": "\\"}, {"a": ":::"}]
    assert rows_of(orjson.dumps({"cases": rows}), "cases") == rows


@pytest.mark.parametrize("name", ['"cases"', '"\\u0063ases"'])
def test_a_name_written_in_another_way_is_the_same_name(name: str) -> None:
    assert "twice" in refusal_of(f'{{{name}:[{{"a":1}}],"cases":[{{"a":2}}]}}'.encode()).reason


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999", "0x10", "1_000", "01", "+1"])
def test_what_is_no_number_of_json_is_refused(number: str) -> None:
    assert "not JSON" in refusal_of(f'{{"cases":[{{"a":{number}}}]}}'.encode()).reason


@pytest.mark.parametrize("text", [b"\xff", b"\xed\xa0\x80", b'\xef\xbb\xbf{"cases":[{}]}', b'{"cases":["\\ud800"]}'])
def test_what_is_no_utf_8_is_refused(text: bytes) -> None:
    assert "not JSON" in refusal_of(text).reason


def test_nesting_is_taken_to_its_limit_and_refused_beyond_whatever_its_depth() -> None:
    assert rows_of(nested(DEEPEST - 3), "cases")
    for levels in (DEEPEST - 2, 50, 1_000, 100_000, MOST_BYTES // 2 - 20):
        start = process_time()
        assert refusal_of(nested(levels)).status == HTTPStatus.BAD_REQUEST
        assert refusal_of(b"[" * 2 * levels).status == HTTPStatus.BAD_REQUEST
        assert process_time() - start < 5


def test_a_list_of_too_many_rows_is_refused_and_one_of_as_many_as_may_be_is_not() -> None:
    assert len(rows_of(orjson.dumps({"cases": [{}] * MOST_ROWS}), "cases")) == MOST_ROWS
    refused = refusal_of(orjson.dumps({"cases": [{}] * (MOST_ROWS + 1)}))
    assert refused.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "from 1 to 1,000" in refused.reason


@pytest.mark.parametrize(
    "body",
    [
        *("[]", "{}", "null", "1", '"cases"', '{"cases":{}}', '{"cases":null}', '{"cases":[]}', '{"cases":[1]}'),
        *('{"cases":[{}],"more":1}', '{"readings":[{}]}', '{"cases":[[]]}', "", " ", "{", '{"cases":[{}]}x'),
    ],
)
def test_another_form_is_refused_with_the_one_that_is_expected(body: str) -> None:
    refused = refusal_of(body.encode())
    assert refused.status == HTTPStatus.BAD_REQUEST
    assert "expected" in refused.reason or "not JSON" in refused.reason


def test_a_body_with_as_many_entries_as_fit_is_read_in_no_time() -> None:
    entries = ",".join(f'"{at}":{at}' for at in range(60_000))
    start = process_time()
    parsed(f"{{{entries}}}".encode())
    assert "twice" in str(refusal_of(f'{{{entries},"7":1}}'.encode()))
    parsed(b'{"a":"' + b'\\"' * 400_000 + b'"}')
    assert process_time() - start < 5
