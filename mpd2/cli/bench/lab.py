"""How fast the lab is: from the press of a button to the first epoch on screen, whole trainings, and other visitors."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np

from mpd2.cli.bench.crowd.own_place import own_place
from mpd2.cli.bench.train import Stopwatch
from mpd2.cli.bench.ui import CHANGES, PATIENCE, Server, browsing, serving, settle
from mpd2.cli.bench.watch import clicked, opened, watch
from mpd2.cli.output import now_and_then, say
from mpd2.cli.tune import study_bar
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.lab.jobs import orders, queue
from mpd2.lab.jobs.folder import Job, Workshop, all_jobs
from mpd2.lab.tuning.storage import connect
from mpd2.lab.tuning.study import SearchPlan, SearchWorker, open_study
from mpd2.studio.shell.registry import entry
from mpd2.study.definition import ABLATIONS_RUN, Study
from mpd2.training.config import PAPER, STUDIO, Config
from mpd2.training.loop import train

if TYPE_CHECKING:  # only benchmarks and tests need a browser
    from playwright.sync_api import BrowserContext, Page

PAGE, CHOICE = CHANGES[0]  # what a visitor does meanwhile
ROUTERS, EPOCHS = 10, 150
TRIAL_EPOCHS = 60  # as `tune` has it
TIMED = 2  # epochs of the ablations that are timed, after one to warm up
READING = 20.0  # seconds a visitor looks at the form before pressing Train; a worker gets ready meanwhile
LONGEST = 3600.0  # seconds anything may take


def bench_lab(cohort: Cohort, table: Path, trials: int = 80, reruns: int = 30) -> dict[str, Any]:
    """Time the lab; plain values, ready for JSON. All routers train for all their epochs: nobody stops early."""
    say("1 of 5: from the press of Train to the first epoch on screen")
    with TemporaryDirectory() as folder, own_place(folder) as place:
        with serving() as server, browsing() as browser:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.set_default_timeout(1000 * LONGEST)
            first_epoch = _press_to_first_epoch(context.new_page(), server, place)
            say(f"2 of 5: {reruns} changes of another visitor while nothing is trained")
            visitor = _visitor(context, server)
            idle = _reruns(visitor, reruns)
            say(f"3 of 5: {ROUTERS} routers for {EPOCHS} epochs, and {reruns} changes meanwhile")
            job = queue.submit(_ten_routers(cohort, table), place, by=LOCAL)
            _wait_until(lambda: job.status.epoch >= 1)
            training = _reruns(visitor, reruns, job)
            ten = _finish(job)
        say(f"4 of 5: a study of {trials} trials")
        study = _study_seconds(cohort, f"{folder}/tuning.db", trials)
    say("5 of 5: a few epochs of all ablations")
    return {
        "press_to_first_epoch_on_screen_seconds": first_epoch,
        "ten_seeds": {"routers": ROUTERS, "epochs": EPOCHS, "seconds": ten, "routers_per_minute": 60 * ROUTERS / ten},
        "study": {"trials": trials, "epochs_at_most": TRIAL_EPOCHS, "seconds": study},
        "three_ablations": _ablations(cohort),
        "rerun_seconds_of_another_visitor": {
            "idle": idle, "training": training, "ratio_p95": training["p95"] / idle["p95"]
        },
    }  # fmt: skip


# ---------------------------------------------------------------------------------- in a browser


def _press_to_first_epoch(page: Page, server: Server, place: Workshop) -> float:
    """Seconds from the press of Train, after a look at the form, until the first epoch is seen."""
    page.goto(f"{server.address}/retrain")
    settle(page, entry("retrain").title)
    sleep(READING)
    start = perf_counter()
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_text(re.compile(r"epoch \d+ of")).first.wait_for()
    took = perf_counter() - start
    for job in all_jobs(place):
        queue.cancel(job, place, by=LOCAL)
    page.close()
    return took


def _visitor(context: BrowserContext, server: Server) -> Page:
    """Somebody else, on another page."""
    page = context.new_page()
    watch(page)
    opened(page, f"{server.address}/{PAGE}", entry(PAGE).title, PATIENCE)
    return page


def _reruns(page: Page, count: int, job: Job | None = None) -> dict[str, float]:
    """Median and 95 % of the seconds a visitor's change takes, but for the first two and those after a job's end.

    A change that gets no answer, as when the connection was lost, is counted apart, and the page opened anew.
    """
    title, lost = entry(PAGE).title, 0
    seconds: list[float] = []
    while len(seconds) < count + 2 and (job is None or job.is_held()):
        try:
            switch = page.get_by_label(CHOICE, exact=True)
            seconds.append(clicked(switch, title, PATIENCE).rest_seconds)
        except UserError:
            lost += 1
            if lost > count:
                raise
            opened(page, page.url, title, PATIENCE)
    if len(seconds) < 5:
        raise UserError(f"the training was over after {len(seconds)} changes of the other visitor; nothing to compare")
    p50, p95 = np.percentile(seconds[2:], [50, 95])
    return {"p50": float(p50), "p95": float(p95), "n": len(seconds) - 2, "without_answer": lost}


# ---------------------------------------------------------------------------------- whole trainings


def _ten_routers(cohort: Cohort, table: Path) -> Any:
    costs = cohort.manifest.default_costs()
    start = orders.Start("studio", "MPD² (studio)", STUDIO, costs)
    return orders.training(orders.Wish(start, _in_full(STUDIO, EPOCHS), costs), ROUTERS, table, cohort)


def _finish(job: Job) -> float:
    """Seconds a job took, from being asked for to its run being kept."""
    tell = now_and_then()

    def ended() -> bool:
        tell(f"epoch {job.status.epoch} of {EPOCHS}")
        return not job.is_held()

    _wait_until(ended)
    status = job.status
    if status.state != "done":
        raise UserError(f"the training {status.state}: {status.reason}")
    return (job.folder / "status.json").stat().st_mtime - job.order.created.timestamp()


def _study_seconds(cohort: Cohort, storage: str, trials: int) -> float:
    start = perf_counter()
    its_plan = SearchPlan(base=PAPER.but(training__epochs=TRIAL_EPOCHS), fingerprint=cohort.fingerprint)
    study = open_study(connect(storage), "bench", its_plan)
    with study_bar() as tell:
        SearchWorker(study, its_plan, cohort, trials).run(tell)
    return perf_counter() - start


def _ablations(cohort: Cohort) -> dict[str, Any]:
    """All conditions of the study with all seeds, as one population; its length follows from a few epochs."""
    configs = Study(cohort, Path("data")).configs(ABLATIONS_RUN) or []
    clock = Stopwatch()
    train(cohort, [_in_full(config, TIMED + 1) for config in configs], callbacks=[clock.lap])
    timing = clock.timing(len(configs), 1)
    seconds = timing.start_seconds + timing.seconds * len(configs) * EPOCHS
    return {
        "routers": len(configs),
        "epochs": EPOCHS,
        "seconds_extrapolated": seconds,
        "extrapolated_from_epochs": TIMED,
        "routers_per_minute": 60 * len(configs) / seconds,
    }


def _in_full(config: Config, epochs: int) -> Config:
    """With so many epochs, none of which is spared."""
    return config.but(training__epochs=epochs, training__patience=epochs)


def _wait_until(holds: Any) -> None:
    end = monotonic() + LONGEST
    while not holds():
        if monotonic() > end:
            raise UserError(f"waited for {LONGEST:.0f} s in vain")
        sleep(0.1)
