"""The Your data page."""

import pytest

from mpd2.lab.own_table import example_table
from mpd2.studio.shell import store

EXAMPLE = example_table(store.DATA / "glaucoma.csv")


@pytest.fixture
def page(open_page):
    return open_page("your_data")


def upload(page, text, name="mine.csv"):
    data = text if isinstance(text, bytes) else text.encode()
    return page.file_uploader(key="own_table").upload(name, data, "text/csv").run()


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
    assert page.metric[0].value == "60"
    assert any("than in training" in text.value for text in page.markdown)
    metrics, decisions = page.dataframe[2].value, page.dataframe[3].value
    assert {"total cost", "sensitivity"} <= set(metrics["metric"])
    assert len(decisions) == 60
    assert decisions["votes"].between(1, 10).all()


def test_another_input_and_another_cohort_can_be_looked_at(page):
    upload(page, EXAMPLE)
    page.selectbox(key="own_against").set_value("origa").run()
    page.selectbox(key="own_input").set_value("vCDR").run()
    assert not page.exception
    seen = len(store.cohort().subset(split="train", cohorts=["origa"]))
    assert any(note.value.endswith(f"Grey: {seen} training cases.") for note in page.caption)


def test_without_a_truth_it_routes_and_says_that_it_cannot_judge(page):
    upload(page, without("y_true"))
    assert not page.exception
    assert "cannot be counted" in page.info[0].value
    assert len(page.dataframe[2].value) == 60


def test_another_run_decides_anew(page):
    upload(page, EXAMPLE)
    page.selectbox(key="run").set_value("ai").run()
    assert not page.exception
    assert set(page.dataframe[-1].value["reader"]) == {"AI"}


def test_a_run_that_needs_the_answers_is_refused_in_words(page):
    upload(page, without("y_true"))
    page.selectbox(key="run").set_value("oracle").run()
    assert not page.exception
    assert page.error
    assert "truth" in page.text[0].value


def test_a_missing_column_is_named(page):
    upload(page, without("vCDR"))
    assert not page.exception
    problems = page.dataframe[1].value
    assert problems["column"].tolist() == ["vCDR"]
    assert problems["found"].tolist() == ["no such column"]
    assert not page.metric


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
    assert page.error
    assert page.dataframe[1].value["found"].tolist() == [found]


def test_hostile_cells_appear_only_as_text(page):
    attack = '"<img src=x onerror=alert(1)> ![x](http://x.test/x.png) =1+1"'
    upload(page, EXAMPLE.replace("r1,", f"{attack},", 1))
    assert not page.exception
    assert page.dataframe[-1].value["case_id"].iloc[0] == attack.strip('"')
    rendered = [element.value for kind in (page.markdown, page.caption, page.error, page.info) for element in kind]
    assert not any("<img" in text or "![x]" in text for text in rendered)


def test_cases_of_an_own_clinic_are_routed(page):
    upload(page, EXAMPLE.replace(",origa,", ",our clinic,"))
    assert not page.exception
    assert page.metric[0].value == "60"
    assert len(page.dataframe[-1].value) == 60


def test_nothing_is_left_once_the_table_is_taken_away(page):
    upload(page, EXAMPLE)
    assert "own_cases" in page.session_state
    page.file_uploader(key="own_table").set_value(None).run()
    assert not page.exception
    assert "own_cases" not in page.session_state
    assert "own_trial" not in page.session_state
    assert not page.metric
