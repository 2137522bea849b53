"""A run that is replaced under the feet of a page, in place or under the same name, is seen by every page at once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from places import DATA
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cache import CACHE
from mpd2.core.files import replacing_folder
from mpd2.core.runs import annotate
from mpd2.lab.jobs import own_runs
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.uploads import example_table
from mpd2.studio.shell.registry import PAGES

NAME, FIRST, SECOND = "mine", "mao", "studio"
LINK = {"run": f"own-{NAME}", "split": "val", "cohorts": "chaksu"}
PARTS = {
    "retrain": {"lab": "runs"},
    "about": {"part": "card"},
    "robustness": {"robustness_topic": "promise"},
    "your_data": {"own": "trial"},
}
BY_CHANCE = r'(deferred_file_id|uuid): "\w+"|T_[0-9a-f]{5}'  # of downloads and of styled tables
STUDY = {page.key for page in PAGES if page.about == "study"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    monkeypatch.setenv(PLACE, str(tmp_path))
    CACHE.clear()
    yield Workshop.here()
    CACHE.clear()


def write(method: str, folder: Path) -> None:
    """A shipped run as somebody's own, always under the same title."""
    with replacing_folder(folder) as draft:
        shutil.copytree(DATA / "runs" / method, draft, dirs_exist_ok=True)
        annotate(draft, title=NAME)


def in_place(place: Workshop) -> None:
    """What `train --force` does."""
    write(SECOND, place.runs / NAME)


def deleted_and_made_again(place: Workshop) -> None:
    own_runs.delete(NAME, place, by=LOCAL)
    write(SECOND, place.runs / NAME)


def visit(open_page: Callable[..., AppTest], key: str) -> AppTest:
    """A page as a visitor looks at it, with a table of their own where it takes one."""
    page = open_page(key, **LINK, **PARTS.get(key, {}))
    if key == "your_data":
        example = example_table(DATA / "glaucoma.csv").encode()
        page.file_uploader(key="own_table").upload("mine.csv", example, "text/csv").run()
    return page


def shown(page: AppTest) -> list[str]:
    """Everything on the page, in order: words, tables and charts, but for names that are drawn by chance."""
    assert not page.exception
    return [re.sub(BY_CHANCE, "", str(element.proto)) for element in page.main]


@pytest.mark.parametrize("replace", [in_place, deleted_and_made_again])
@pytest.mark.parametrize("key", [page.key for page in PAGES])
def test_every_page_shows_the_run_that_is_there_now(open_page, place, key, replace):
    write(FIRST, place.runs / NAME)
    page = visit(open_page, key)
    before = shown(page.run())
    replace(place)
    after = shown(page.run())
    CACHE.clear()
    assert after == shown(page.run()), "as if nothing had been cached"
    assert (after == before) == (key in STUDY)
