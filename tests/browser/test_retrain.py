"""A visitor trains in the lab, watches, and makes the result the active run; a restarted server goes on with it."""

from __future__ import annotations

import os
import re
import signal
from time import monotonic, sleep

import pytest
from playwright.sync_api import Page, expect
from visits import settled

from mpd2.cli.bench.ui import PATIENCE, serving
from mpd2.lab.jobs.folder import PLACE, Order, Workshop, all_jobs

PATIENT = 4000 * PATIENCE  # milliseconds; a worker is nice to everybody else


def fill(page: Page, label: str, value: str) -> None:
    field = page.get_by_label(label, exact=True)
    field.fill(value)
    field.press("Enter")
    settled(page)


def order_few(page: Page, epochs: int) -> None:
    """Small settings: two narrow routers."""
    fill(page, "Seeds", "2")
    page.get_by_text("More settings").click()
    fill(page, "Width", "4")
    fill(page, "Epochs", str(epochs))
    page.get_by_text("More settings").click()


@pytest.fixture
def lab(visit) -> Page:
    page = visit("retrain")
    yield page
    page.close()


def test_train_watch_compare_activate(lab):
    order_few(lab, 30)
    fill(lab, "Name", "From the browser")
    lab.get_by_role("button", name="Train", exact=True).click()
    progress = lab.get_by_text(re.compile(r"epoch \d+ of 30")).first
    expect(progress).to_be_visible(timeout=PATIENT)
    first = progress.inner_text()
    expect(lab.get_by_text(first, exact=True)).to_have_count(0, timeout=PATIENT)  # it moves
    expect(lab.get_by_text("Effect of the change: From the browser")).to_be_visible(timeout=PATIENT)
    expect(lab.get_by_text("Against MPD²+, total cost")).to_be_visible()
    lab.get_by_role("button", name="Make it the active run").click()
    expect(lab.get_by_role("button", name="Active for all pages")).to_be_visible(timeout=PATIENT)
    settled(lab)
    lab.get_by_role("link", name="Overview").click()
    expect(lab.get_by_role("heading", level=1, name="Overview", exact=True)).to_be_visible()
    expect(lab.get_by_text("From the browser, at the AI's own sensitivity")).to_be_visible(timeout=PATIENT)
    assert re.search(r"run=own-[\d-]+-from-the-browser", settled(lab).url)


def press_train(page: Page) -> Order:
    """What is ordered by a press of the button; the job is cancelled."""
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("button", name="Cancel").first).to_be_visible(timeout=PATIENT)
    order = all_jobs(Workshop.here())[-1].order
    page.get_by_role("button", name="Cancel").first.click()
    settled(page)
    return order


def test_seeds_typed_without_enter_are_those_trained(lab):
    order_few(lab, 500)
    lab.get_by_label("Seeds", exact=True).fill("3")
    assert len(press_train(lab).configs) == 3


def test_a_name_typed_without_enter_is_the_one_given(lab):
    order_few(lab, 500)
    lab.get_by_label("Name", exact=True).fill("Typed and pressed")
    assert press_train(lab).title == "Typed and pressed"


def test_every_budget_of_a_grid_is_in_full_view(visit):
    page = visit("retrain?lab=grid")
    pills = page.get_by_test_id("stButtonGroup").filter(has_text="20 %")
    edge = pills.bounding_box()
    boxes = [pill.bounding_box() for pill in pills.get_by_role("button", name=re.compile("%|none")).all()]
    page.close()
    assert len(boxes) == 7
    assert all(edge["x"] <= box["x"] and box["x"] + box["width"] <= edge["x"] + edge["width"] for box in boxes)


def test_a_cancelled_job_stops_at_once(lab):
    order_few(lab, 500)
    lab.get_by_role("button", name="Train", exact=True).click()
    lab.get_by_role("button", name="Cancel").first.click()
    expect(lab.get_by_text("cancelled", exact=False).first).to_be_visible(timeout=PATIENT)
    settled(lab)


def test_a_job_outlives_the_server_and_the_next_one_takes_up_what_died(tmp_path, context, monkeypatch):
    monkeypatch.setenv(PLACE, str(tmp_path))
    place = Workshop.here()
    with serving() as first:
        page = context.new_page()
        page.goto(f"{first.address}/retrain")
        order_few(settled(page), 60)
        page.get_by_role("button", name="Train", exact=True).click()
        wait_until(lambda: any(job.status.epoch >= 6 for job in all_jobs(place)))
        page.close()
    (job,) = all_jobs(place)
    assert job.status.state == "done" or job.is_held()  # nobody serves, and it goes on
    if job.status.state == "running":
        os.killpg(job.status.process, signal.SIGKILL)
    with serving():
        wait_until(lambda: job.status.state == "done")
    assert (place.runs / job.name).is_dir()


def wait_until(holds) -> None:
    end = monotonic() + 4 * PATIENCE
    while not holds():
        assert monotonic() < end, "waited in vain"
        sleep(0.2)
