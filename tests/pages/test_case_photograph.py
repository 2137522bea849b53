"""Case shows a case's photograph with what was measured on it, where its workspace has photographs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from imaging_studio import NAME, PATIENT, photograph_workspace, tiny_pipeline
from streamlit.testing.v1 import AppTest

from mpd2.core.cache import CACHE
from mpd2.lab.jobs import worker_pool
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.studio.case import photograph
from mpd2.studio.parts import case_pictures

OpenPage = Callable[..., AppTest]
CASE = "e007"  # a test case with a large cup


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[Workshop]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        CACHE.clear()
        photograph_workspace(Workshop.here())
        yield Workshop.here()
    CACHE.clear()


@pytest.fixture
def page(open_page: OpenPage, place: Workshop) -> AppTest:
    return open_page("case", workspace=NAME, run="mpd2-plus", case=CASE)


def shown(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def pictures(app: AppTest) -> list[str]:
    """Where each picture on the page comes from."""
    return [image.url for element in app.get("image") for image in element.proto.imgs]


def heat_maps(app: AppTest) -> list[Any]:
    return [toggle for toggle in app.toggle if toggle.key.startswith("heat_map")]


def test_the_photograph_is_the_first_tab_with_its_outlines_in_words(page: AppTest) -> None:
    assert not page.exception
    assert page.tabs[0].label == photograph.TAB
    told = shown(page)
    assert "Vertical CDR 0.7" in told
    assert "The rim is thinnest at" in told
    assert pictures(page)[0].startswith("data:image/svg+xml")


def test_the_nearest_labelled_cases_are_pictures_without_metadata(page: AppTest, place: Workshop) -> None:
    assert photograph.NEAREST in shown(page)
    assert len(pictures(page)) == 6
    kept = list((place.thumbnails / NAME).iterdir())
    assert len(kept) >= 5
    assert not any(PATIENT.encode() in path.read_bytes() for path in kept)
    page.session_state["case_tab"] = "Similar cases"
    page = page.run()
    assert not page.exception
    assert len(pictures(page)) == 5
    assert "training cases nearest" in shown(page)


@pytest.mark.parametrize("switch", ["ruler", "rim", "quality"])
def test_each_switch_shows_something(page: AppTest, switch: str) -> None:
    bare = page.button_group(key=f"{photograph.SHOWN}:True").set_value([]).run()
    before = pictures(bare)[0]
    after = bare.button_group(key=f"{photograph.SHOWN}:True").set_value([switch]).run()
    assert not after.exception
    assert pictures(after)[0] != before


def test_the_disc_can_be_looked_at_closely(page: AppTest) -> None:
    before = pictures(page)[0]
    page = page.button_group(key=photograph.VIEW).set_value("disc").run()
    assert not page.exception
    assert pictures(page)[0] != before


def test_a_photograph_that_is_gone_or_broken_is_said_in_words(page: AppTest, place: Workshop) -> None:
    file = place.workspaces / NAME / "photographs" / "007.jpg"
    kept = file.read_bytes()
    try:
        file.unlink()
        assert "cannot be shown: its file is not in the attached folder" in shown(page.run())
        file.write_bytes(kept[:300])
        page = page.run()
        assert not page.exception
        assert "cannot be shown" in shown(page)
    finally:
        file.write_bytes(kept)


def test_without_networks_there_is_no_heat_map_and_with_them_it_is_off(page: AppTest, place: Workshop) -> None:
    assert not heat_maps(page)
    tiny_pipeline(place.workspaces / NAME / "imaging")
    page = page.run()
    assert [toggle.value for toggle in heat_maps(page)] == [False]
    page = heat_maps(page)[0].set_value(True).run()
    assert not page.exception
    assert "With the disc covered in grey" in shown(page)


def test_the_map_asks_for_one_small_picture_at_a_time(place: Workshop) -> None:
    assert case_pictures.has_pictures(NAME)
    assert case_pictures.small_uri(NAME, CASE).startswith("data:image/jpeg;base64,")
    assert len(case_pictures.small_uri(NAME, CASE)) < 30_000
    assert case_pictures.small_uri(NAME, "../../secret") == ""


def test_a_table_without_photographs_has_no_such_tab(open_page: OpenPage) -> None:
    page = open_page("case")
    assert photograph.TAB not in [tab.label for tab in page.tabs]
    assert not case_pictures.has_pictures("glaucoma")
