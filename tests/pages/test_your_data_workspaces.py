"""Workspaces on the page Your data: opened, exported, copied, added to and removed."""

import pytest
from raw_clinic import clinic, csv

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.manifest_text import to_toml
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.workspaces import archive, shelf
from mpd2.studio.your_data.steps.draft import Draft, Upload
from mpd2.studio.your_data.steps.prepared import prepare


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(PLACE, str(tmp_path))
    return Workshop.here()


@pytest.fixture
def mine(place):
    """A workspace of one's own, made from a clinic's table, that nothing was trained on."""
    found = prepare(Draft().with_file("cases", Upload.of(csv(clinic()), "clinic.csv", by=LOCAL)))
    return shelf.create("mine", found.data, to_toml(found.table.manifest), place, by=LOCAL)


def opened(open_page, **query):
    page = open_page("your_data", own="workspaces", **query)
    assert not page.exception
    return page


def press(page, key):
    page.button(key=key).click().run()
    assert not page.exception
    return page


def told(page):
    return page.success[0].value if page.success else page.error[0].value


def test_every_workspace_is_listed_and_only_people_s_own_can_be_removed(open_page, mine):
    page = opened(open_page)
    buttons = {button.key for button in page.button}
    assert {"open:glaucoma", "open:mine", "remove:mine", "copy:mine", "copy:glaucoma"} <= buttons
    assert "remove:glaucoma" not in buttons
    assert {"export:glaucoma", "export:mine"} <= {button.key for button in page.get("download_button")}
    assert any("Clinic" in text.value for text in page.text)


def test_open_makes_it_the_workspace_of_every_page(open_page, mine):
    page = press(opened(open_page, run=None, point=None), "open:mine")
    assert page.session_state["workspace"] == "mine"


def test_removing_says_what_goes_and_leaves_nothing(open_page, mine, place):
    page = opened(open_page)
    assert any("Removed for good: its table, manifest" in text.value for text in page.text)
    press(page, "remove:mine")
    assert "Removed mine" in told(page)
    assert not shelf.own_workspaces(place)
    assert not mine.folder.exists()


def test_an_exported_file_is_opened_under_another_name(open_page, mine, place):
    data = archive.exported(mine, by=LOCAL)
    page = opened(open_page)
    page.file_uploader(key="shelf_file").upload("mine.workspace.zip", data, "application/zip").run()
    press(page, "shelf_open")
    assert "is taken" in told(page)
    page.text_input(key="shelf_name").set_value("given").run()
    press(page, "shelf_open")
    assert "given is kept here" in told(page)
    assert {each.name for each in shelf.own_workspaces(place)} == {"mine", "given"}
    assert page.session_state["workspace"] == "given"


@pytest.mark.parametrize("data", [b"no zip at all", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_workspace_is_refused_and_nothing_is_kept(open_page, place, data):
    page = opened(open_page)
    page.file_uploader(key="shelf_file").upload("x.zip", data, "application/zip").run()
    press(page, "shelf_open")
    assert "nothing was kept" in page.error[0].value
    assert not shelf.own_workspaces(place)


def test_a_copy_with_random_ids_comes_with_their_key(open_page, mine, place):
    page = opened(open_page)
    page.text_input(key="copy_name:mine").set_value("to-give").run()
    page.radio(key="copy_ids:mine").set_value("random").run()
    press(page, "copy:mine")
    assert "each id is a random one" in told(page)
    copied = shelf.find("to-give", place).cohort()
    assert not set(copied.ids) & set(mine.cohort().ids)
    assert "shelf_ids" in {button.key for button in page.get("download_button")}


def test_cases_added_later_keep_the_splits_of_those_there(open_page, mine, place):
    before = dict(zip(mine.cohort().ids, mine.cohort().split, strict=True))
    later = clinic(300).iloc[240:].drop(columns="resident")
    page = opened(open_page)
    page.file_uploader(key="add_file:mine").upload("later.csv", csv(later), "text/csv").run()
    assert not page.exception
    assert any("60 rows more" in text.value for text in page.text)
    assert len(mine.cohort()) == 240  # looked at only
    press(page, "add:mine")
    assert "60 rows more" in told(page)
    after = dict(zip(mine.cohort().ids, mine.cohort().split, strict=True))
    assert len(after) == 300
    assert before.items() <= after.items()


def test_added_cases_that_are_there_already_are_named_by_their_row(open_page, mine):
    page = opened(open_page)
    page.file_uploader(key="add_file:mine").upload("later.csv", csv(clinic().iloc[:20]), "text/csv").run()
    assert not page.exception
    assert "an id that no row of the workspace has" in page.error[0].value
    assert len(mine.cohort()) == 240


def test_a_damaged_workspace_is_shown_and_can_be_removed(open_page, mine, place):
    mine.manifest_path.write_text("title = ![x](http://x.test)")
    page = opened(open_page)
    assert any(text.value.startswith("mine: ") for text in page.text)
    press(page, "remove:mine")
    assert not mine.folder.exists()


def test_a_hostile_title_neither_loads_nor_marks_anything(open_page, mine):
    text = mine.manifest_path.read_text().replace('title = "Clinic"', 'title = "![x](http://x.test) **b**"')
    mine.manifest_path.write_text(text)
    page = opened(open_page)
    assert any("x.test" in text.value for text in page.text)
    shown = [element.value for kind in (page.markdown, page.caption, page.text) for element in kind]
    assert not any("![x]" in text or "**b**" in text for text in shown)
