"""The building of a workspace, as the page Your data shows it."""

import pytest
from raw_clinic import clinic, csv

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.manifest_text import to_toml
from mpd2.lab.jobs import orders, queue, worker_pool
from mpd2.lab.jobs.folder import PLACE, Workshop, all_jobs
from mpd2.lab.workspaces import shelf
from mpd2.studio.your_data.progress import SMALL, start
from mpd2.studio.your_data.steps import guide
from mpd2.studio.your_data.steps.build import SAVED
from mpd2.studio.your_data.steps.draft import DRAFT, Draft, Upload
from mpd2.studio.your_data.steps.prepared import prepare
from mpd2.study.build import QUICK, BuildSize, build


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A workshop in which jobs are asked for and nobody works."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        patch.setattr(queue, "_start", lambda job, place: None)
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        yield Workshop.here()


@pytest.fixture(scope="module")
def draft():
    return Draft().with_file("cases", Upload.of(csv(clinic()), "clinic.csv", by=LOCAL))


@pytest.fixture(scope="module")
def answered(workshop, draft):
    """A workspace with its first answer."""
    found = prepare(draft)
    made = shelf.create("answered", found.data, to_toml(found.table.manifest), workshop, by=LOCAL)
    build(made.folder, BuildSize(seeds=1, methods=QUICK, until="quick"), lambda progress: None, lambda text: None)
    return made


@pytest.fixture
def job(workshop, answered):
    job = queue.submit(orders.building(answered, SMALL), workshop, by=LOCAL)
    yield job
    for each in all_jobs(workshop):
        queue.cancel(each, workshop, by=LOCAL)
        queue.forget(each, workshop, by=LOCAL)


def opened(open_page, draft, name="answered"):
    """The page as it stands after “Save and build”."""
    page = open_page("your_data")
    page.session_state[DRAFT] = draft
    page.session_state[guide.STEP] = 5
    page.session_state[SAVED] = (name, draft)
    page.run()
    assert not page.exception
    return page


def bars(page):
    return [bar.text for bar in page.get("progress")]


def test_the_first_answer_is_shown_with_the_button_that_opens_it(open_page, draft, job):
    page = opened(open_page, draft)
    rows = page.dataframe[0].value
    assert rows["Method"].tolist() == ["AI only", "Recalibrated AI, one score", "Recalibrated AI", "MPD²+"]
    assert rows["Found"].str.fullmatch(r"\d+.% \(\d+ to \d+\)").all()
    page.button(key="import_open").click().run()
    assert not page.exception
    assert page.session_state["workspace"] == "answered"


def test_before_there_is_an_answer_there_is_nothing_to_open(open_page, draft, workshop):
    found = prepare(draft)
    shelf.create("waiting", found.data, to_toml(found.table.manifest), workshop, by=LOCAL)
    page = opened(open_page, draft, "waiting")
    assert "import_open" not in {button.key for button in page.button}
    assert any(caption.value == "not built yet" for caption in page.caption)


def test_progress_is_told_in_words(open_page, draft, job):
    assert bars(opened(open_page, draft)) == ["waiting for its turn"]
    news = {"state": "running", "epoch": 5, "steps": 20, "stage": "the tables", "note": "overall", "seconds_left": 90.0}
    with job.held():
        job.write(job.status.model_copy(update=news))
        page = opened(open_page, draft)
    assert bars(page) == [r"the tables\: overall \(5 of 20\), about 90 s left"]


def test_a_build_that_waits_says_for_what(open_page, draft, job, workshop):
    found = prepare(draft)
    shelf.create("second", found.data, to_toml(found.table.manifest), workshop, by=LOCAL)
    start("second", workshop)
    with job.held():
        job.write(job.status.model_copy(update={"state": "running", "steps": 9, "seconds_left": 300.0}))
        page = opened(open_page, draft, "second")
    (line,) = bars(page)
    assert line.replace("\\", "") == "waiting for its turn, after “Build answered”, which needs about 5 min more"


def test_a_build_is_cancelled_and_gone_on_with(open_page, draft, job, workshop):
    page = opened(open_page, draft)
    page.button(key="build_cancel:answered").click().run()
    assert not page.exception
    assert job.status.state == "cancelled"
    assert any("what was made is kept" in caption.value for caption in page.caption)
    page.button(key="build:answered").click().run()
    assert not page.exception
    assert [each.status.state for each in all_jobs(workshop)] == ["cancelled", "queued"]
    assert all_jobs(workshop)[-1].order.building.size == SMALL


def test_why_a_build_failed_is_said_as_text(open_page, draft, job):
    with job.held():
        job.write(job.status.model_copy(update={"state": "failed", "reason": "![x](http://x.test) no space"}))
    page = opened(open_page, draft)
    (line,) = [caption.value for caption in page.caption if "failed" in caption.value]
    assert "![x]" not in line
    assert "no space" in line


def test_a_change_after_saving_offers_to_save_again(open_page, draft, job):
    page = opened(open_page, draft)
    page.session_state[DRAFT] = draft.with_answers(title="Another title")
    page.run()
    assert not page.exception
    assert page.button(key="import_save")


def test_the_list_of_workspaces_says_how_far_each_is(open_page, job):
    page = open_page("your_data", own="workspaces")
    assert not page.exception
    assert "waiting for its turn" in bars(page)
    assert "build_cancel:answered" in {button.key for button in page.button}


def test_retrain_lists_a_build_among_the_jobs(open_page, job):
    page = open_page("retrain")
    assert not page.exception
    assert "waiting for its turn" in bars(page)
    assert any("Your data" in caption.value for caption in page.caption)
