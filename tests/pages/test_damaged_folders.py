"""Damaged and hostile folders of runs and jobs: said where they are listed, and no page suffers from them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hostile import DAMAGED_DESCRIPTIONS, DAMAGED_FILES, DEEP, LONG, hostile_runs, own_copy
from places import DATA
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cache import CACHE
from mpd2.core.text import verbatim
from mpd2.core.workspace import DEFAULT, Workspace
from mpd2.lab.jobs import orders, queue, worker_pool
from mpd2.lab.jobs.folder import HISTORY, ORDER, PLACE, STATUS, Workshop, all_jobs, damaged_jobs
from mpd2.studio.shell import store
from mpd2.studio.shell.registry import PAGES
from mpd2.studio.shell.scenario import DEFAULT_RUN
from mpd2.training.config import STUDIO

DAMAGED_JOBS = {
    "no-status": (STATUS, b""),
    "listed-status": (STATUS, b"[]"),
    "nan-seconds": (STATUS, b'{"seconds": NaN}'),
    "long-epoch": (STATUS, b'{"epoch": ' + LONG.encode() + b"}"),
    "everybody": (STATUS, b'{"state": "running", "process": 0}'),
    "deep-order": (ORDER, DEEP.encode()),
    "other-order": (ORDER, b'{"kind": "bake"}'),
    "not-text": (ORDER, b"\xff"),
}
"""Which file of a job is damaged, by the name of the job, and what it holds."""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Iterator[Workshop]:
    """A workshop with a sound run, a sound job, and one of each kind of damage."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("hostile")))
        patch.setattr(queue, "RUNNING", 0)  # nothing starts by itself
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        CACHE.clear()
        workshop = Workshop.here()
        own_copy(workshop.runs / "sound")
        hostile_runs(workshop.runs)
        for name, (file, content) in DAMAGED_JOBS.items():
            job = queue.submit(order(name), workshop, by=LOCAL)
            (job.folder / file).write_bytes(content)
        (queue.submit(order("curves"), workshop, by=LOCAL).folder / HISTORY).write_bytes(b'{"epoch": "last"}\n')
        yield workshop
    CACHE.clear()


def order(title: str):
    costs = store.manifest(DEFAULT).default_costs()
    wish = orders.Wish(orders.Start("studio", "MPD² (studio)", STUDIO, costs), STUDIO, costs, title=title)
    return orders.training(wish, 1, DATA / "glaucoma.csv", store.cohort(DEFAULT))


def texts(page: AppTest) -> str:
    return "\n".join(element.value for element in (*page.text, *page.caption, *page.warning))


@pytest.mark.parametrize("key", [page.key for page in PAGES])
def test_no_page_suffers(open_page, place, key):
    page = open_page(key)
    assert not page.exception
    assert not page.error
    named = page.sidebar.selectbox(key="run").options
    assert "sound" in named
    assert not set(named) & set(DAMAGED_DESCRIPTIONS)


@pytest.mark.parametrize("name", DAMAGED_FILES)
def test_a_run_with_a_damaged_file_gives_way_to_the_default_one(open_page, place, name):
    page = open_page("about", run=f"own-{name}")
    assert not page.exception
    assert page.session_state["run"] == DEFAULT_RUN
    (warning,) = page.warning
    said = warning.value.replace("\\", "")
    assert f"The run “{name}” is damaged" in said
    assert DAMAGED_FILES[name][1] in said


def test_where_the_default_run_is_damaged_the_reason_takes_the_place_of_the_page(open_page, tmp_path, monkeypatch):
    for name in ("studio", "ai"):
        own_copy(tmp_path / name, name)
    (tmp_path / "studio" / "weights.safetensors").unlink()
    monkeypatch.setattr(Workspace, "runs", property(lambda _: tmp_path))
    CACHE.clear()
    page = open_page("about")
    assert not page.exception
    assert "MPD² (studio) is damaged" in page.error[0].value
    assert "weights.safetensors is missing" in page.error[0].value
    assert not page.title
    page.selectbox(key="run").set_value("ai").run()
    assert not page.error
    assert page.title[0].value == "About"
    CACHE.clear()


def test_own_runs_lists_what_is_damaged_with_the_reason_and_deletes_it(open_page, place):
    page = open_page("retrain", lab="runs")
    assert not page.exception
    listed = dict(element.value.split(": ", 1) for element in page.text)
    for name, (_, reason) in (DAMAGED_DESCRIPTIONS | DAMAGED_FILES).items():
        assert reason in listed[name], name
    assert "1 of 1 runs" in texts(page)
    for name in ("deep", "a-folder", "twice"):
        page.button(key=f"delete:own-{name}").click().run()
        assert not page.exception
        assert not (place.runs / name).exists()
        assert not any(element.value.startswith(f"{name}: ") for element in page.text)


@pytest.mark.parametrize("link", [{"lab": "runs"}, {"lab": "train"}, {"run": "own-gone"}], ids=str)
def test_no_message_says_where_on_the_server_something_is(open_page, place, link):
    page = open_page("retrain", **link)
    said = [
        str(element.value) for kind in ("text", "caption", "warning", "error", "markdown") for element in page.get(kind)
    ]
    assert any("run" in text for text in said)
    assert not [text for text in said if str(place.runs.parent) in text.replace("\\", "")]


def test_damaged_jobs_are_listed_with_the_reason_and_removed_and_the_queue_goes_on(open_page, place):
    assert [job.order.title for job in all_jobs(place)] == ["curves"]
    page = open_page("retrain")
    assert not page.exception
    assert f"There are no curves: {verbatim('history.jsonl: not the history of a training')}" in texts(page)
    damaged = damaged_jobs(place)
    assert len(damaged) == len(DAMAGED_JOBS)
    for job in damaged:
        assert f"Damaged: {job.name}. " in texts(page)
        page.button(key=f"forget:{job.name}").click().run()
        assert not page.exception
    assert not damaged_jobs(place)
    assert len(all_jobs(place)) == 1
