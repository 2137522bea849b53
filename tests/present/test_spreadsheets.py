"""CSV for spreadsheets."""

import csv
import io

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from mpd2.present.documents.spreadsheets import QUOTE, RUN, to_csv

texts = st.text(alphabet=st.sampled_from("=+-@\t\r\n'a1,\"é "), max_size=6)


def rows_of(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


@given(st.lists(texts.filter(bool), min_size=1, max_size=8))
def test_no_text_can_be_taken_for_a_formula_and_none_is_lost(cells):
    _, *rows = rows_of(to_csv(pd.DataFrame({"case": cells, "n": range(len(cells))})))
    for cell, (shown, _) in zip(cells, rows, strict=True):
        assert not shown.startswith(RUN)
        assert shown == (f"{QUOTE}{cell}" if cell.startswith(RUN) else cell)


def test_numbers_below_zero_stay_numbers():
    table = pd.DataFrame({"x": [-1.5, 2.0], "n": pd.array([-3, None], dtype="Int64"), "right": [True, False]})
    assert rows_of(to_csv(table)) == [["x", "n", "right"], ["-1.5", "-3", "True"], ["2.0", "", "False"]]


def test_kinds_are_texts_too_and_what_is_missing_stays_empty():
    table = pd.DataFrame({"kind": pd.Categorical(["@x", None, "b"]), "case": ["-1", None, "=x"]})
    assert rows_of(to_csv(table)) == [["kind", "case"], [f"{QUOTE}@x", f"{QUOTE}-1"], ["", ""], ["b", f"{QUOTE}=x"]]


def test_the_name_of_a_column_is_no_formula_either():
    table = pd.DataFrame([["a", 1, "=x"]], columns=["=1+1", "n", "n"])
    assert rows_of(to_csv(table)) == [[f"{QUOTE}=1+1", "n", "n"], ["a", "1", f"{QUOTE}=x"]]


def test_no_formula_begins_where_semicolons_separate_cells():
    for cell in ("a;=1+1", 'a; "=1+1', "a;＝1+1"):
        (shown,) = rows_of(to_csv(pd.DataFrame({"case": [cell]})))[1]
        assert not any(part.strip(' "').startswith(RUN) for part in shown.split(";"))
        assert shown.replace(QUOTE, "") == cell


def test_a_table_without_columns_or_rows_is_written():
    assert to_csv(pd.DataFrame()).decode().strip() == ""
    assert rows_of(to_csv(pd.DataFrame(columns=["a", "@b"]))) == [["a", f"{QUOTE}@b"]]
