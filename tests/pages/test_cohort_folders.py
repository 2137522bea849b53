"""From the folders of public cohorts to every page: the whole way, in small."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from imaging_cohorts import write_all
from imaging_models import save_classifier, save_segmenter
from streamlit.testing.v1 import AppTest
from tiny_study import quick

from mpd2.cli import main
from mpd2.imaging.pipeline import make_pipeline
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.workspaces.shelf import find
from mpd2.studio.case import photograph
from mpd2.studio.shell.registry import PAGES, PageEntry
from mpd2.study.definition import CONTENDERS, Study

OpenPage = Callable[..., AppTest]
RUNS = ("mpd2-plus", "ai")


@pytest.fixture(scope="module", autouse=True)
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A workspace of three miniature cohorts, measured by drawn weights, with two runs."""
    place = tmp_path_factory.mktemp("folders")
    classifier, segmenter = save_classifier(place / "c", size=64), save_segmenter(place / "s", seed=10, size=64)
    pipeline = make_pipeline(place / "pipeline", classifier, segmenter)
    folders = [word for key, folder in write_all(place / "cohorts").items() for word in (f"--{key}", str(folder))]
    more = ["--out", "made", "--models", str(pipeline), "--encoders", "classifier", "segmenter", "--yes"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(place / "workshop"))
        assert main(["build", *folders, *more]) == 0
        workspace = find("made", Workshop.here())
        hardly = {run: quick(CONTENDERS[run]) for run in RUNS}
        study = Study(workspace.cohort(), workspace.folder, (42,), contenders=hardly)
        for run in RUNS:
            study.make(run, say=lambda _: None)
        yield


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.key)
def test_every_page_opens_on_it(entry: PageEntry, open_page: OpenPage) -> None:
    app = open_page(entry.key, workspace="made", run="mpd2-plus")
    assert not app.exception
    assert not app.error
    assert (app.title[0].value, app.header[0].value) == (entry.title, entry.question)


def test_a_case_shows_its_photograph(open_page: OpenPage) -> None:
    app = open_page("case", workspace="made", run="mpd2-plus")
    assert not app.exception
    assert app.tabs[0].label == photograph.TAB
    pictures = [image.url for element in app.get("image") for image in element.proto.imgs]
    assert pictures[0].startswith("data:image/svg+xml")
