"""The change plan of a recalibrated run on the Retrain page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cache import CACHE
from mpd2.core.workspace import DEFAULT
from mpd2.lab.jobs import queue, worker, worker_pool
from mpd2.lab.jobs.folder import PLACE, Job, Workshop
from mpd2.lab.recalibration import ask
from mpd2.studio.retrain import change, texts
from mpd2.studio.shell import store
from mpd2.study.local.cases import as_frame


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """A workshop in which nothing starts by itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        patch.setattr(worker, "_write_log_to", lambda path: None)
        patch.setattr(queue, "RUNNING", 0)
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        CACHE.clear()
        yield Workshop.here()
    CACHE.clear()


@pytest.fixture(scope="module")
def waiting(place: Workshop) -> Job:
    """A recalibration of a shipped run that waits for its turn."""
    table = store.cohort(DEFAULT)
    some = table.rows(np.arange(0, len(table), 10))
    local = as_frame(replace(some, ids=np.array([f"new {each}" for each in some.ids])))
    return ask(f"{DEFAULT}/recalibrated-score", local, "ours.csv", "Ours", place, by=LOCAL)


def labels(page) -> list[str]:
    return [each.proto.label for each in page.get("download_button")]


def test_a_recalibration_is_a_job_like_others_and_has_no_curves(waiting, open_page):
    page = open_page("retrain")
    assert not page.exception
    assert texts.NO_CURVES in [caption.value for caption in page.caption]


def test_once_it_is_done_its_change_plan_can_be_downloaded(waiting, open_page, place, tmp_path: Path):
    with waiting.held():
        assert worker.work(waiting, place) == 0
    page = open_page("retrain")
    assert not page.exception
    assert "Change plan" in labels(page)
    (tmp_path / "plan.html").write_bytes(change._plan(waiting.name, place, LOCAL))
    text = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "What changes" in text
    assert "By which protocol" in text


def test_no_other_run_has_one(place):
    assert not change._is_recalibrated(place.runs / "nobody")
    assert not change._is_recalibrated(store.run_folder(DEFAULT, "ai"))
