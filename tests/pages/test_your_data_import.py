"""A table of one's own, brought in by the page Your data."""

import io

import pandas as pd
import pytest
from raw_clinic import READERS, clinic, csv

from mpd2.core.manifest import parse_manifest
from mpd2.core.manifest_text import to_toml
from mpd2.lab.jobs import queue, worker_pool
from mpd2.lab.jobs.folder import PLACE, Workshop, all_jobs
from mpd2.lab.workspaces import shelf
from mpd2.studio.your_data.steps import cohorts, columns, readers
from mpd2.studio.your_data.steps.draft import DRAFT


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A workshop in which jobs are asked for and nobody works."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    monkeypatch.setattr(queue, "_start", lambda job, place: None)
    monkeypatch.setattr(worker_pool, "keep_ready", lambda: None)
    return Workshop.here()


@pytest.fixture
def page(open_page):
    return open_page("your_data")


def drop(page, data, name="clinic.csv", file="cases"):
    return page.file_uploader(key=f"import_{file}").upload(name, data, "text/csv").run()


def go(page, step):
    page.button(key=f"import_step_{step}").click().run()
    assert not page.exception
    return page


def draft(page):
    return page.session_state[DRAFT]


def edit(page, change):
    """The draft as an editor leaves it after somebody changed a cell."""
    page.session_state[DRAFT] = change(draft(page))
    return page.run()


def uses(page):
    return {each.column: str(each.use) for each in draft(page).proposals}


def said(page):
    """Everything that could be read as Markdown."""
    kinds = (page.markdown, page.caption, page.error, page.info, page.warning, page.success)
    return [element.value for kind in kinds for element in kind] + [button.label for button in page.button]


def plain(page):
    return "\n".join(text.value for text in page.text)


def test_it_opens_with_five_steps_of_which_only_the_first_can_be_opened(page):
    assert not page.exception
    steps = [page.button(key=f"import_step_{number}") for number in range(1, 6)]
    assert [button.label[2:] for button in steps] == [
        "Files", "Columns", "Readers and costs", "Checks and splits", "Build",
    ]  # fmt: skip
    assert [button.disabled for button in steps] == [False, True, True, True, True]
    assert page.button(key="import_next").disabled


def test_a_table_with_its_own_names_is_kept_in_six_clicks(page, place):
    drop(page, csv(clinic()))
    for _ in range(4):
        page.button(key="import_next").click().run()
        assert not page.exception
    assert not place.workspaces.exists()  # nothing is written before somebody says so
    page.button(key="import_save").click().run()
    assert not page.exception
    (made,) = shelf.own_workspaces(place)
    cohort = made.cohort()
    assert made.name == "clinic"
    assert len(cohort) == 240
    assert [reader.column for reader in cohort.manifest.readers] == list(READERS)
    assert cohort.manifest.groups.column == "patient"
    parts = pd.DataFrame({"split": cohort.split, "patient": cohort.cluster})
    assert parts.groupby("patient")["split"].nunique().max() == 1
    (job,) = all_jobs(place)
    assert (job.order.kind, job.order.building.workspace) == ("build", "clinic")
    assert job.order.building.size.until == "resplits"
    assert any("waiting for its turn" in bar.text for bar in page.get("progress"))


def test_every_column_is_shown_with_what_it_is_and_why(page):
    go(drop(page, csv(clinic())), 2)
    rows = page.dataframe[0].value.set_index("column")
    assert rows["use"].to_dict() == {
        "scan": "case id", "patient": "belongs together", "acquired": "date", "biopsy": "truth",
        "ai_score": "AI, probability", "age": "input, other", **dict.fromkeys(READERS, "reader"),
    }  # fmt: skip
    assert (rows["why"] != "").all()
    assert rows.loc["age", "high"] == 120


def test_what_is_missing_or_said_twice_stands_beside_the_columns_and_holds_the_next_step(page):
    go(drop(page, csv(clinic())), 2)
    edit(page, lambda draft: columns.apply(draft, "cases", {3: {"use": "left out"}}))
    assert "No column is the truth" in page.warning[0].value
    assert page.button(key="import_next").disabled
    assert page.button(key="import_step_3").disabled
    edit(page, lambda draft: columns.apply(draft, "cases", {3: {"use": "truth"}, 6: {"use": "truth"}}))
    assert "Only one column can be “truth”" in page.warning[0].value
    edit(page, lambda draft: columns.apply(draft, "cases", {6: {"use": "reader"}}))
    assert not page.warning
    assert not page.button(key="import_next").disabled


def test_going_back_and_forth_loses_nothing(page):
    go(drop(page, csv(clinic())), 2)
    edit(page, lambda draft: columns.apply(draft, "cases", {5: {"high": 110.0}, 8: {"use": "left out"}}))
    go(page, 3)
    page.text_input(key="import_positive_0").set_value("melanoma").run()
    page.number_input(key="import_false_negative_0").set_value(8.0).run()
    edit(page, lambda draft: readers.apply(draft, {0: {"name": "Ann Adams", "fee": 0.3}}))
    go(page, 4)
    page.radio(key="import_way_0").set_value("date").run()
    page.slider(key="import_shares_0").set_value((60, 80)).run()
    go(page, 5)
    page.text_input(key="import_title_0").set_value("Skin clinic").run()
    for step in (1, 2, 3, 4, 5, 3, 1, 5):
        go(page, step)
    rows = go(page, 2).dataframe[0].value.set_index("column")
    assert (rows.loc["age", "high"], rows.loc["resident", "use"]) == (110, "left out")
    go(page, 3)
    assert page.text_input(key="import_positive_0").value == "melanoma"
    assert page.number_input(key="import_false_negative_0").value == 8
    assert page.dataframe[0].value[["name", "fee"]].iloc[0].tolist() == ["Ann Adams", 0.3]
    go(page, 4)
    assert page.radio(key="import_way_0").value == "date"
    assert page.slider(key="import_shares_0").value == (60, 80)
    go(page, 5)
    assert page.text_input(key="import_title_0").value == "Skin clinic"
    assert "melanoma" in plain(page)
    assert "ecg" not in plain(page)


def test_cohorts_have_names_origins_and_thresholds_of_their_own(page):
    table = clinic().assign(site=["North", "South"] * 120)
    go(drop(page, csv(table)), 3)
    page.selectbox(key="import_origin_0").set_value("real").run()
    assert not page.exception
    edit(page, lambda draft: cohorts.apply(draft, {1: {"name": "South wing", "threshold": 0.3}}))
    go(go(page, 1), 3)
    rows = page.dataframe[1].value
    assert rows["name"].tolist() == ["North", "South wing"]
    assert page.selectbox(key="import_origin_0").value == "real"
    manifest = draft(page).manifest()
    assert [entry.readings for entry in manifest.cohorts] == ["real", "real"]
    assert manifest.ai.thresholds == {"South": 0.3}
    edit(page, lambda draft: cohorts.apply(draft, {1: {"threshold": None}}))
    assert draft(page).manifest().ai.thresholds == {}


def test_an_emptied_field_goes_back_to_what_was_suggested(page):
    go(drop(page, csv(clinic())), 3)
    page.text_input(key="import_case_0").set_value("biopsy image").run()
    page.text_input(key="import_case_0").set_value("  ").run()
    assert not page.exception
    assert draft(page).answers.case == "case"


def test_a_better_file_keeps_what_was_said_of_its_columns(page):
    go(drop(page, csv(clinic())), 2)
    edit(page, lambda draft: columns.apply(draft, "cases", {8: {"use": "left out"}, 5: {"low": 20.0}}))
    go(page, 1).button(key="import_cases_away").click().run()
    assert page.button(key="import_next").disabled
    drop(page, csv(clinic().drop(columns="acquired")))
    assert uses(page)["resident"] == "left out"
    assert next(each for each in draft(page).proposals if each.column == "age").low == 20


def test_wrong_rows_are_named_with_column_found_and_expected(page):
    table = clinic()
    table.loc[[4, 9], "biopsy"] = "perhaps"
    table.loc[6, "scan"] = table.loc[5, "scan"]
    go(drop(page, csv(table)), 4)
    problems = page.dataframe[0].value.set_index("column")
    assert problems.loc["biopsy", ["row", "found", "further rows"]].astype(str).tolist() == ["6", "perhaps", "11"]
    assert problems.loc["scan", "row"] == 8
    assert "row" in page.error[0].value
    assert go(page, 5).button(key="import_save").disabled


def test_what_is_odd_and_what_can_be_known_is_said(page):
    table = clinic()
    table["resident"] = table["biopsy"]
    go(drop(page, csv(table)), 4)
    assert "every answer agrees with the truth" in plain(page)
    assert "sensitivity is known to ±" in plain(page).replace("\N{NO-BREAK SPACE}", " ")
    assert page.success[0].value == "No row is wrong."


def test_too_few_rows_cannot_be_kept(page, place):
    go(drop(page, csv(clinic(60))), 4)
    assert "at least 150 are needed" in plain(page)
    assert go(page, 5).button(key="import_save").disabled
    assert not place.workspaces.exists()


def test_a_split_by_date_learns_from_the_oldest(page):
    go(drop(page, csv(clinic())), 4)
    page.radio(key="import_way_0").set_value("date").run()
    assert not page.exception
    go(page, 5).button(key="import_save").click().run()
    (made,) = shelf.own_workspaces(Workshop.here())
    table = pd.read_csv(made.table)
    latest = table.groupby("split")["acquired"].max()
    assert latest["train"] < latest["val"] < latest["test"]


def test_readings_in_a_file_of_their_own_become_readers(page, place):
    table = clinic()
    long = table.melt(id_vars="scan", value_vars=READERS, var_name="reader", value_name="opinion")
    long = long[long["opinion"] != ""]
    drop(page, csv(table.drop(columns=list(READERS))))
    drop(page, csv(long), "readings.csv", "readings")
    go(page, 2)
    assert page.dataframe[1].value["use"].tolist() == ["reading: case", "reading: reader", "reading: answer"]
    go(page, 5).button(key="import_save").click().run()
    (made,) = shelf.own_workspaces(place)
    assert {reader.column for reader in made.cohort().manifest.readers} == set(READERS)


def test_the_sheet_of_a_workbook_can_be_chosen(page):
    book = io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        clinic(200).to_excel(writer, sheet_name="clinic", index=False)
        pd.DataFrame({"note": ["hello"]}).to_excel(writer, sheet_name="notes", index=False)
    drop(page, book.getvalue(), "clinic.xlsx")
    assert not page.exception
    sheet = page.selectbox(key="import_cases_sheet")
    assert (sheet.value, sheet.options) == ("clinic", ["clinic", "notes"])
    sheet.set_value("notes").run()
    assert not page.exception
    assert "1 rows" in plain(page) or "notes" in draft(page).cases.sheet


def test_a_manifest_is_shown_changed_elsewhere_and_taken_back(page):
    go(drop(page, csv(clinic())), 5)
    manifest = parse_manifest(page.code[0].value)
    assert manifest == draft(page).manifest()
    readers = [each.model_dump() | {"fee": 0.7} for each in manifest.readers]
    mine = manifest.but(title="From my editor", readers=readers, task={"positive": "tumour", "negative": "none"})
    page.file_uploader(key="import_manifest_0").upload("manifest.toml", to_toml(mine).encode(), "text/plain").run()
    assert not page.exception
    assert "Every step now shows" in page.success[0].value
    assert page.text_input(key="import_title_1").value == "From my editor"
    go(page, 3)
    assert page.text_input(key="import_positive_1").value == "tumour"
    assert page.dataframe[0].value["fee"].tolist() == [0.7] * 3
    assert draft(page).manifest() == mine


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"version = 9", "version"),
        (b'version = 2\ntitle = "![x](http://x.test)"', "task"),
    ],
)
def test_a_manifest_that_does_not_fit_changes_nothing(page, data, reason):
    go(drop(page, csv(clinic())), 5)
    before = draft(page)
    page.file_uploader(key="import_manifest_0").upload("manifest.toml", data, "text/plain").run()
    assert not page.exception
    assert reason in page.error[0].value
    assert draft(page) is before


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "empty.csv", "an empty file"),
        (b"once upon a time", "story.csv", "a header and no rows"),
        (b"\xd0\xcf\x11\xe0old", "old.xls", "save it as .xlsx"),
        (b"PK\x03\x04 no zip", "book.xlsx", "expected an Excel workbook"),
    ],
)
def test_what_is_no_table_is_refused_in_words(page, data, name, reason):
    drop(page, data, name)
    assert not page.exception
    assert reason in page.error[0].value
    assert page.button(key="import_next").disabled


def test_hostile_cells_and_names_appear_only_as_text(page):
    attack = "<img src=x onerror=alert(1)> ![x](http://x.test/x.png) =1+1"
    table = clinic().rename(columns={"dr_adams": f"dr {attack}", "patient": f"patient {attack}"})
    table.loc[3, "biopsy"] = attack
    table.loc[5, "age"] = attack
    drop(page, csv(table), "![x](http://x.test).csv")
    for step in (2, 3, 4, 5):
        go(page, step)
        risky = [text for text in said(page) if "<img" in text or "![x]" in text]
        assert all(text.count("`") >= 2 for text in risky), risky
    assert any(attack in str(cell) for cell in go(page, 2).dataframe[0].value["column"])


def test_the_name_of_a_workspace_must_be_free_and_plain(page, place):
    go(drop(page, csv(clinic())), 5)
    page.text_input(key="import_name_0").set_value("No Spaces!").run()
    page.button(key="import_save").click().run()
    assert "expected up to 40 of a to z" in page.error[0].value
    assert not shelf.own_workspaces(place)
    page.text_input(key="import_name_0").set_value("glaucoma").run()
    page.button(key="import_save").click().run()
    assert "is taken" in page.error[0].value
    page.text_input(key="import_name_0").set_value("my-clinic").run()
    page.button(key="import_save").click().run()
    assert [made.name for made in shelf.own_workspaces(place)] == ["my-clinic"]


def test_another_table_can_be_brought_after_the_first(page, place):
    go(drop(page, csv(clinic())), 5).button(key="import_save").click().run()
    page.button(key="import_again").click().run()
    assert not page.exception
    assert page.button(key="import_step_2").disabled
    go(drop(page, csv(clinic(200))), 5).button(key="import_save").click().run()
    assert [made.name for made in shelf.own_workspaces(place)] == ["clinic", "clinic-2"]


def test_readings_alone_say_that_the_cases_are_missing(page):
    page = drop(page, csv(clinic()), file="readings")
    assert [note.value for note in page.info] == [
        "These are readings. The cases are still missing: drop their file on the left."
    ]
    assert not drop(page, csv(clinic())).info


def test_what_is_wrong_can_be_left_out_and_taken_back(page, place):
    table = clinic()
    table.loc[3, "biopsy"], table.loc[5, "age"] = "", "abc"
    go(drop(page, csv(table)), 4)
    assert any("Some rows cannot be used yet" in error.value for error in page.error)
    button = page.button(key="import_leave_out")
    assert button.label == "Go on with 1 row left out and 1 cell left empty"
    button.click().run()
    assert not page.exception
    assert not page.error
    assert "As you wished: 1 row left out and 1 cell left empty." in plain(page)
    page.button(key="import_take_back").click().run()
    assert any("Some rows cannot be used yet" in error.value for error in page.error)
    page.button(key="import_leave_out").click().run()
    go(page, 5).button(key="import_save").click().run()
    (made,) = shelf.own_workspaces(place)
    assert len(made.cohort()) == 239


def test_who_has_not_said_what_is_looked_for_is_asked(page):
    go(drop(page, csv(clinic())), 3)
    assert any("name what you look for" in caption.value for caption in page.caption)
    edit(page, lambda before: before.with_answers(positive="cancer"))
    assert not any("name what you look for" in caption.value for caption in page.caption)
