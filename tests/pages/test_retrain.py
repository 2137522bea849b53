"""The Retrain page."""

from __future__ import annotations

import pytest
from places import DATA
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cache import CACHE
from mpd2.core.runs import load_run
from mpd2.core.text import verbatim
from mpd2.core.workspace import DEFAULT
from mpd2.lab.jobs import orders, queue, worker, worker_pool
from mpd2.lab.jobs.folder import PLACE, Job, Search, Status, Workshop, all_jobs
from mpd2.studio.retrain import texts
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import DEFAULT_RUN
from mpd2.training.config import STUDIO

TINY = STUDIO.but(network__width=4, training__epochs=2, training__warm_up=0)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """A place with a finished training and a finished grid in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        patch.setattr(worker, "_write_log_to", lambda path: None)
        patch.setattr(queue, "RUNNING", 0)  # nothing starts by itself
        patch.setattr(worker_pool, "keep_ready", lambda: None)
        CACHE.clear()
        yield Workshop.here()
    CACHE.clear()


def wish(title: str) -> orders.Wish:
    costs = store.manifest(DEFAULT).default_costs()
    return orders.Wish(orders.Start("studio", "MPD² (studio)", STUDIO, costs), TINY, costs, title=title)


def finished(order, place: Workshop) -> Job:
    """A job that was done, here rather than in a process of its own."""
    job = queue.submit(order, place, by=LOCAL)
    with job.held():
        assert worker.work(job, place) == 0
    return job


@pytest.fixture(scope="module")
def done(workshop) -> Job:
    return finished(orders.training(wish("tiny"), 2, DATA / "glaucoma.csv", store.cohort(DEFAULT)), workshop)


@pytest.fixture(scope="module")
def grid(workshop) -> Job:
    order = orders.grid(wish("tiny grid"), [0.3, None], 2, DATA / "glaucoma.csv", store.cohort(DEFAULT))
    return finished(order, workshop)


@pytest.fixture
def retrain(open_page, workshop) -> AppTest:
    page = open_page("retrain")
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def said(page: AppTest) -> str:
    return "\n".join(part.value for part in (*page.caption, *page.markdown, *page.subheader))


def test_it_says_what_would_be_trained_and_how_long_that_takes(retrain):
    assert "10 models, up to 150 epochs, about" in said(retrain)
    assert "Changed: nothing" in said(retrain)
    retrain.toggle(key="train:glaucoma:studio:objective__gsdp_weight:on").set_value(False).run()
    retrain.number_input(key="train:glaucoma:studio:budget__target").set_value(0.4).run()
    assert "**MPD² (studio), without GSDP, budget 40 %**" in said(retrain)
    assert "Changed: GSDP weight: 0, Budget: 0.4" in said(retrain)


def test_another_start_brings_its_own_values(retrain):
    retrain.selectbox(key="retrain_start").set_value("paper").run()
    assert retrain.number_input(key="train:glaucoma:paper:network__width").value == 128
    assert "**MPD² (paper), again**" in said(retrain)


@pytest.mark.parametrize(
    ("kind", "setting", "value", "message"),
    [
        ("text_input", "objective__rank_decay", "much", "Rank-JS decay: found 'much', expected numbers"),
        ("text_input", "objective__rank_decay", "0.5, 1.5", "Input should be less than or equal to 1"),
        ("number_input", "network__temperature_floor", 2.0, "temperature 1.25 must exceed temperature_floor 2.0"),
    ],
)
def test_a_wrong_value_is_told_and_cannot_be_trained(retrain, kind, setting, value, message):
    getattr(retrain, kind)(key=f"train:glaucoma:studio:{setting}").set_value(value).run()
    assert not retrain.exception
    assert verbatim(message) in retrain.error[0].value
    assert retrain.button(key="retrain_go").disabled
    assert retrain.number_input(key="train:glaucoma:studio:training__epochs").value == 150  # every field is still there


def test_more_than_the_server_can_bear_is_refused(open_page, workshop):
    page = open_page("retrain", lab="grid")
    page.number_input(key="grid:glaucoma:studio:seeds").set_value(40).run()
    assert verbatim("models: found 480, expected from 1 to 160") in page.error[0].value


def test_train_puts_a_job_into_the_queue_and_cancel_takes_it_out(retrain, workshop):
    press(retrain, "Train")
    assert not retrain.exception
    (job,) = [job for job in all_jobs(workshop) if job.status.state == "queued"]
    assert job.order.title == "MPD² (studio), again"
    assert "waiting" in said(retrain)
    retrain.button(key=f"cancel:{job.name}").click().run()
    assert job.status.state == "cancelled"
    retrain.button(key=f"forget:{job.name}").click().run()
    assert job not in all_jobs(workshop)


def test_the_order_is_what_stands_on_the_page_at_the_press(retrain, workshop):
    retrain.number_input(key="train:glaucoma:studio:seeds").set_value(2)  # typed, and the page not yet drawn again
    retrain.text_input(key="train:glaucoma:studio:name").set_value("as typed")
    press(retrain, "Train")
    (job,) = [job for job in all_jobs(workshop) if job.status.state == "queued"]
    assert (job.order.title, len(job.order.configs)) == ("as typed", 2)
    queue.cancel(job, workshop, by=LOCAL)


def test_a_job_that_died_leaves_its_reason_on_the_page(open_page, workshop):
    order = orders.training(wish("unlucky"), 1, DATA / "glaucoma.csv", store.cohort(DEFAULT))
    job = queue.submit(order, workshop, by=LOCAL)
    job.write(Status(state="failed", reason="its process was ended by SIGKILL, 3 times"))
    page = open_page("retrain")
    assert "failed: its process was ended by SIGKILL, 3 times" in said(page)
    assert "its process was ended by SIGKILL, 3 times" in [text.value for text in page.text]
    queue.forget(job, workshop, by=LOCAL)


def test_a_finished_run_stands_beside_the_active_one_on_val(done, retrain):
    retrain.button(key=f"show:{done.name}").click().run()
    assert not retrain.exception
    assert "Effect of the change: tiny" in said(retrain)
    assert "Measured on the **validation** cases" in said(retrain)
    assert "Against MPD² (studio), total cost" in said(retrain)
    assert "decisions changed." in said(retrain)
    table = retrain.dataframe[0].value
    assert table["Method"].tolist() == ["tiny", "MPD² (studio)", "MPD² (paper)"]
    report = load_run(store.run_folder(DEFAULT, f"own-{done.name}"))
    assert report.members == 2
    retrain.segmented_control(key="judge:result").set_value("sidebar").run()
    assert "Measured on the **test** cases" in said(retrain)


def test_the_active_run_can_be_a_retrained_one_on_every_page(done, retrain, open_page):
    retrain.button(key=f"show:{done.name}").click().run()
    retrain.button(key=f"activate:own-{done.name}").click().run()
    assert retrain.session_state["run"] == f"own-{done.name}"
    page = open_page("overview", run=f"own-{done.name}", split="val")
    assert not page.exception
    methods = next(frame.value for frame in page.dataframe if "Method" in frame.value)
    assert methods["Method"].iloc[0] == "tiny"


def test_own_runs_are_found_compared_renamed_and_deleted(done, grid, open_page, workshop):
    page = open_page("retrain", lab="runs")
    assert not page.exception
    assert page.dataframe[0].value["title"].tolist() == ["tiny grid", "tiny"]
    assert page.dataframe[0].value["start"].tolist() == ["MPD² (studio)"] * 2
    page.text_input(key="runs-search").set_value("grid").run()
    assert page.dataframe[0].value["title"].tolist() == ["tiny grid"]
    page.multiselect(key="runs-compare").set_value(["studio", f"own-{done.name}", "paper", "ai"]).run()
    assert not page.exception
    assert page.dataframe[1].value["Method"].tolist() == ["MPD² (studio)", "tiny", "MPD² (paper)", "AI only"]


def test_a_grid_is_shown_cell_by_cell_and_a_cell_can_be_kept(grid, retrain, workshop):
    retrain.button(key=f"show:{grid.name}").click().run()
    assert not retrain.exception
    assert "Effect of each cell: tiny grid" in said(retrain)
    cells = list(dict.fromkeys(grid.order.conditions))
    assert len(cells) == 8
    assert retrain.dataframe[1].value["Cell"].tolist() == cells
    retrain.selectbox(key="grid-cell").set_value(cells[3])
    retrain.button(key="grid-keep").click().run()
    kept = next(run for run in store.own_runs(DEFAULT) if run.title == f"tiny grid: {cells[3]}")
    run = load_run(workshop.runs / kept.name)
    assert [settings["objective"]["gsdp_weight"] for settings in run.settings] == [0.0, 0.0]
    retrain.selectbox(key="retrain_start").set_value(store.own_key(kept)).run()
    assert not retrain.exception


def test_a_study_is_shown_and_its_best_configuration_kept_as_a_preset(workshop, open_page):
    page = open_page("retrain", lab="tune")
    assert not page.exception
    assert texts.NO_STUDY in said(page)
    search = Search(study="tiny", trials=3)
    order = orders.tuning(wish("tiny search"), search, DATA / "glaucoma.csv", store.cohort(DEFAULT))
    finished(order, workshop)
    page.run()
    assert not page.exception
    assert "3 trials completed" in said(page)
    assert "The best within its budget is trial" in said(page)
    page.text_input(key="tune:tiny:preset").set_value("mine")
    page.button(key="tune_keep").click().run()
    assert not page.exception
    page = open_page("retrain")
    page.selectbox(key="retrain_start").set_value("preset-mine").run()
    assert "**mine (preset), again**: 10 models, up to 150 epochs" in said(page)


def test_a_study_can_be_deleted_but_not_while_a_job_works_on_it(workshop, open_page):
    for study in ("first", "second"):
        search = Search(study=study, trials=1)
        finished(orders.tuning(wish(study), search, DATA / "glaucoma.csv", store.cohort(DEFAULT)), workshop)
    again = orders.tuning(wish("more"), Search(study="first", trials=9), DATA / "glaucoma.csv", store.cohort(DEFAULT))
    waiting = queue.submit(again, workshop, by=LOCAL)
    page = open_page("retrain", lab="tune")
    page.selectbox(key="tune_shown").set_value("first").run()
    page.button(key="tune_delete").click().run()
    assert not page.exception
    assert "cancel it first" in page.toast[0].value
    assert {"first", "second"} <= set(page.selectbox(key="tune_shown").options)
    queue.cancel(waiting, workshop, by=LOCAL)
    page.run()
    page.button(key="tune_delete").click().run()
    assert not page.exception
    assert "first" not in page.selectbox(key="tune_shown").options
    assert "second" in page.selectbox(key="tune_shown").options
    page.selectbox(key="tune_shown").set_value("second").run()
    page.button(key="tune_delete").click().run()
    assert not page.exception


def test_the_best_configuration_is_trained_again_at_a_press(workshop, open_page):
    search = Search(study="tiny", trials=2)
    order = orders.tuning(wish("tiny search"), search, DATA / "glaucoma.csv", store.cohort(DEFAULT))
    finished(order, workshop)
    page = open_page("retrain", lab="tune")
    page.button(key="tune_train").click().run()
    assert not page.exception
    (job,) = [job for job in all_jobs(workshop) if job.status.state == "queued"]
    assert (job.order.title, job.order.changed_from) == ("tiny-best", "preset-tiny-best")
    assert len(job.order.configs) == 10
    queue.cancel(job, workshop, by=LOCAL)


def test_a_search_is_put_into_the_queue(workshop, open_page):
    page = open_page("retrain", lab="tune")
    page.number_input(key="tune:trials").set_value(20)
    page.button(key="tune_go").click().run()
    (job,) = [job for job in all_jobs(workshop) if job.status.state == "queued"]
    assert (job.order.search.study, job.order.search.trials) == ("studio", 20)
    queue.cancel(job, workshop, by=LOCAL)


def test_a_deleted_run_that_was_active_gives_way_to_the_usual_one(workshop, open_page):
    order = orders.training(wish("short-lived"), 1, DATA / "glaucoma.csv", store.cohort(DEFAULT))
    job = finished(order, workshop)
    page = open_page("retrain", run=f"own-{job.name}")
    assert page.session_state["run"] == f"own-{job.name}"
    page.button(key=f"show:{job.name}").click().run()
    page.text_input(key=f"title:own-{job.name}").set_value("renamed")
    page.button(key=f"rename:own-{job.name}").click().run()
    assert store.run_title(f"own-{job.name}") == "renamed"
    page.button(key=f"delete:own-{job.name}").click().run()
    assert not page.exception
    assert page.session_state["run"] == DEFAULT_RUN
    assert not (workshop.runs / job.name).exists()


def test_what_the_regularisers_buy_is_told_from_the_shipped_tables(retrain):
    assert "Without GSDP and Rank‑JS the busiest reader's share rises by" in said(retrain)
