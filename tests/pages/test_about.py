"""The About page."""

import re
from urllib.parse import parse_qsl

import pytest

import mpd2
from mpd2.core.text import verbatim
from mpd2.core.workspace import DEFAULT
from mpd2.present.documents.checklist_items import CHECKLISTS, DONE, PUBLISHED, SINGLE
from mpd2.studio.about import store as store_of_about
from mpd2.studio.about.view import PARTS
from mpd2.studio.shell import glossary, store
from mpd2.studio.shell.registry import PAGES
from mpd2.studio.shell.scenario import DEFAULT_RUN


@pytest.fixture
def about(open_page):
    return open_page("about", split="val")


@pytest.fixture
def part(open_page):
    """A part of the page by its key."""
    return lambda key, **query: open_page("about", part=key, **query)


def written(page) -> str:
    """Everything a visitor can read."""
    kinds = (page.markdown, page.caption, page.title, page.header, page.subheader)
    texts = [element.value for kind in kinds for element in kind]
    return "\n".join([*texts, *(table.value.to_csv() for table in page.table)])


def test_it_opens_under_its_question(about):
    assert not about.exception
    assert about.title[0].value == "About"
    assert about.header[0].value == "How does it work, and what may it be used for?"


def test_the_picture_of_the_method_is_told_in_words_too(about):
    (picture,) = about.get("image")
    assert "share for each available reader" in str(picture.proto)


def test_every_word_of_the_glossary_is_there(part):
    shown = part("glossary").table[0].value["Meaning"].to_dict()
    assert shown == glossary.glossary(store.manifest(DEFAULT))


@pytest.mark.parametrize("word", ["Sent", "Kept", "Asked", "Missed", "False alarm", "Reader"])
def test_the_words_of_the_clinic_have_one_meaning_each(part, word):
    shown = part("glossary").table[0].value["Meaning"]
    assert shown.index.is_unique
    assert shown[word].endswith(".")


def test_version_and_table_are_named(part):
    assert f"MPD² Studio {mpd2.__version__} on table {store.cohort(DEFAULT).fingerprint}" in written(part("numbers"))


def test_every_cohort_is_credited_and_its_readings_named(part):
    sources, card = written(part("sources")), written(part("card"))
    for entry in store.manifest(DEFAULT).cohorts:
        assert verbatim(entry.credit) in sources
        assert f"{entry.name} {entry.readings}" in card


def test_the_model_card_is_that_of_the_active_run(part):
    card = part("card", run="ai").table[0].value["Active run"]
    assert card["Run"] == "AI only"
    assert f"by the {store.run(DEFAULT, 'ai').rule} rule" in card["Chooses among"]


@pytest.mark.parametrize("key", PARTS)
def test_it_leads_nobody_elsewhere(part, key):
    page = part(key)
    assert not page.exception
    assert page.session_state["part"] == key
    assert not re.search(r"https?://", written(page))


def test_an_unknown_run_in_the_link_is_left_out(open_page):
    page = open_page("about", run="nobody's")
    assert not page.exception
    assert page.session_state["run"] == DEFAULT_RUN


@pytest.mark.parametrize("table", ["overall", "readers", "budget"])
def test_every_number_of_the_paper_stands_beside_ours(part, table):
    page = part("reproduction", **{"paper-table": table})
    assert not page.exception
    shown = page.dataframe[0].value
    rows = store_of_about.reproduction(DEFAULT)
    rows = rows[rows["table"] == table]
    assert len(shown) == len(rows)
    assert shown["Ours less the paper's"].tolist() == rows["difference"].tolist()
    assert str(len(store_of_about.reproduction(DEFAULT))) in page.markdown[0].value


def test_cells_are_chosen_by_their_reason_and_the_link_keeps_the_choice(part):
    page = part("reproduction", **{"paper-reasons-overall": ["one run"]})
    assert set(page.dataframe[0].value["Reason"]) == {"one run"}
    assert set(page.dataframe[0].value["Who"]) == {"MPD² (paper)"}


def test_the_paper_is_met_at_its_own_operating_point_whatever_is_chosen_around(part):
    everywhere = part("reproduction").dataframe[0].value
    elsewhere = part("reproduction", run="ai", split="val", cohorts=["origa"]).dataframe[0].value
    assert everywhere.equals(elsewhere)


PLACES = sorted({item.place for _, items in CHECKLISTS.values() for item in items if item.place})


@pytest.mark.parametrize("place", PLACES)
def test_what_a_checklist_points_to_opens(open_page, place):
    key, _, query = place.partition("?")
    assert key in {page.key for page in PAGES}
    wanted = dict(parse_qsl(query))
    page = open_page(key, **wanted)
    assert not page.exception
    assert {name: page.session_state[name] for name in wanted} == wanted


@pytest.mark.parametrize("key", CHECKLISTS)
def test_a_checklist_is_filled_from_the_active_run_on_the_slice(part, key):
    page = part("checklists", checklist=key, run="ai", split="val")
    assert not page.exception
    shown = page.table[0].value
    assert len(shown) == sum(item.only in ("", PUBLISHED, SINGLE) for item in CHECKLISTS[key][1])
    assert any("AI only" in answer for answer in shown["Answer"])
    assert any(f"{(store.cohort(DEFAULT).split == 'val').sum()} cases" in answer for answer in shown["Answer"])


def test_links_of_a_checklist_keep_what_is_chosen_around_and_leave_this_pages_own_choices(part):
    page = part("checklists", run="ai", split="val", states=[DONE])
    assert set(page.table[0].value["State"]) == {DONE}
    links = [re.fullmatch(r"\[.+\]\((\w+)\?(.*)\)", cell) for cell in page.table[0].value["Where"]]
    queries = [dict(parse_qsl(link[2])) for link in links]
    assert all((query["run"], query["split"]) == ("ai", "val") for query in queries)
    assert not any({"states", "checklist"} & set(query) for query in queries)
    assert ("about", "data") in {(link[1], query.get("part")) for link, query in zip(links, queries, strict=True)}
