"""The Your data page."""

import io

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import DATA

from mpd2.core.workspace import DEFAULT
from mpd2.lab.uploads import example_table
from mpd2.studio.shell import store

EXAMPLE = example_table(DATA / "glaucoma.csv")


@pytest.fixture
def page(open_page):
    return open_page("your_data", own="trial")


def upload(page, text, name="mine.csv"):
    data = text if isinstance(text, bytes) else text.encode()
    return page.file_uploader(key="own_table").upload(name, data, "text/csv").run()


def look_at(page, topic):
    return page.segmented_control(key="own_topic").set_value(topic).run()


def without(column):
    """The example without a column."""
    rows = [line.split(",") for line in EXAMPLE.splitlines()]
    place = rows[0].index(column)
    return "\n".join(",".join(row[:place] + row[place + 1 :]) for row in rows)


def test_it_opens_with_a_template_an_example_and_the_columns(page):
    assert not page.exception
    assert {"Template", "Example"} <= {button.label for button in page.get("download_button")}
    assert "refuge, chaksu, origa" in page.dataframe[0].value["What it holds"].str.cat()


def test_the_example_is_routed_compared_and_judged(page):
    upload(page, EXAMPLE)
    assert not page.exception
    assert "Of 60 cases 60 have a known diagnosis" in page.markdown[0].value
    assert any("than in training" in text.value for text in page.markdown)
    metrics = look_at(page, "accuracy").dataframe[0].value
    assert {"total cost", "sensitivity"} <= set(metrics["metric"])
    decisions = look_at(page, "decisions").dataframe[0].value
    assert not page.exception
    assert len(decisions) == 60
    assert decisions["votes"].between(1, 10).all()


def test_another_input_and_another_cohort_can_be_looked_at(page):
    upload(page, EXAMPLE)
    page.selectbox(key="own_against").set_value("origa").run()
    page.selectbox(key="own_input").set_value("vCDR").run()
    assert not page.exception
    seen = len(store.cohort(DEFAULT).subset(split="train", cohorts=["origa"]))
    assert any(note.value.endswith(f"Grey: {seen} training cases.") for note in page.caption)


def test_without_a_truth_it_routes_and_says_that_it_cannot_judge(page):
    upload(page, without("y_true"))
    assert not page.exception
    assert "cannot be counted" in look_at(page, "accuracy").info[0].value
    assert len(look_at(page, "decisions").dataframe[0].value) == 60


def test_another_run_decides_anew(page):
    upload(page, EXAMPLE)
    page.selectbox(key="run").set_value("ai").run()
    look_at(page, "decisions")
    assert not page.exception
    assert set(page.dataframe[-1].value["reader"]) == {"AI"}


def test_a_run_that_needs_the_answers_is_refused_in_words(page):
    upload(page, without("y_true"))
    page.selectbox(key="run").set_value("oracle").run()
    assert not page.exception
    assert "truth" in page.error[0].value


def test_a_missing_column_is_named(page):
    upload(page, without("vCDR"))
    assert not page.exception
    assert page.error[0].value.startswith(
        "This table cannot be used yet; no case was routed. ` Your table, column vCDR: found no such column,"
    )
    problems = page.dataframe[0].value
    assert problems["column"].tolist() == ["vCDR"]
    assert problems["found"].tolist() == ["no such column"]
    assert not any("would be sent to a reader." in text.value for text in page.markdown)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "an empty file"),
        (EXAMPLE.splitlines()[0].encode(), "a header and no rows"),
        (EXAMPLE.replace("r1,", "é,", 1).encode("latin-1"), "bytes that are not UTF-8 text"),
        (b"once upon a time\nthere was a text", "none of the column names"),
    ],
)
def test_what_is_no_table_is_refused_in_words(page, data, found):
    upload(page, data)
    assert not page.exception
    assert found in page.error[0].value
    assert page.dataframe[0].value["found"].tolist() == [found]


def test_hostile_cells_appear_only_as_text(page):
    attack = '"<img src=x onerror=alert(1)> ![x](http://x.test/x.png) =1+1"'
    upload(page, EXAMPLE.replace("r1,", f"{attack},", 1))
    look_at(page, "decisions")
    assert not page.exception
    assert page.dataframe[-1].value["case_id"].iloc[0] == attack.strip('"')
    rendered = [element.value for kind in (page.markdown, page.caption, page.error, page.info) for element in kind]
    assert not any("<img" in text or "![x]" in text for text in rendered)


def test_an_error_quotes_a_hostile_cell_as_text_and_nothing_of_an_upload_is_logged(page, capfd, caplog):
    lines = EXAMPLE.splitlines()
    cells = dict(zip(lines[0].split(","), lines[1].split(","), strict=True)) | {"vCDR": "![x](http://x.test/) SECRET"}
    upload(page, f"{lines[0]}\n{','.join(cells.values())}")
    assert not page.exception
    assert (
        "` Your table, row 2, column vCDR: found ![x](http://x.test/) SECRET, expected a number" in page.error[0].value
    )
    assert "SECRET" not in caplog.text + "".join(capfd.readouterr())


def test_parquet_with_broken_text_is_refused_in_words(page):
    table = pa.Table.from_pandas(pd.read_csv(io.StringIO(EXAMPLE)), preserve_index=False)
    broken = pa.array([b"caf\xe9"] * len(table), pa.binary())
    broken = pa.Array.from_buffers(pa.string(), len(table), broken.buffers())
    pq.write_table(table.set_column(0, "case_id", broken), file := io.BytesIO())
    upload(page, file.getvalue(), "mine.parquet")
    assert not page.exception
    assert page.dataframe[0].value["found"].tolist() == ["bytes that are not UTF-8 text"]


def test_a_table_with_semicolons_and_decimal_commas_is_read(page):
    upload(page, EXAMPLE.replace(",", ";").replace(".", ","))
    assert not page.exception
    assert "Of 60 cases 60 have a known diagnosis" in page.markdown[0].value


def test_cases_of_an_own_clinic_are_routed(page):
    upload(page, EXAMPLE.replace(",origa,", ",our clinic,"))
    assert not page.exception
    assert "Of 60 cases 60 have a known diagnosis" in page.markdown[0].value
    assert len(look_at(page, "decisions").dataframe[-1].value) == 60


def test_nothing_is_left_once_the_table_is_taken_away(page):
    upload(page, EXAMPLE)
    assert "own_cases" in page.session_state
    page.file_uploader(key="own_table").set_value(None).run()
    assert not page.exception
    assert "own_cases" not in page.session_state
    assert "own_trial" not in page.session_state
    assert not any("would be sent to a reader." in text.value for text in page.markdown)
