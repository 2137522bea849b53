"""The study of a workspace as a job: stopped at any moment, another one goes on where it was."""

from __future__ import annotations

from time import monotonic

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.lab.jobs.folder import Job, Order
from mpd2.study.build import build, stage_title
from mpd2.study.processes import THREADS
from mpd2.study.reproduce import StudyProgress
from mpd2.training.devices import every_core

EVERY = 0.5  # seconds between two words about the same step


def building(job: Job, order: Order, cohort: Cohort) -> tuple[str, ...]:
    """Build a workspace until nothing is missing; what was left out, and why."""
    assert order.building is not None
    if cohort.fingerprint != order.fingerprint:
        raise UserError(f"{order.table}: has changed since the job was asked for; ask again")
    said: list[str] = []
    before, begun, told = job.status.seconds, monotonic(), 0.0
    last = ""

    def tell(standing: StudyProgress) -> None:
        nonlocal told, last
        now = monotonic()
        if standing.name == last and now - told < EVERY:
            return
        told, last = now, standing.name
        training = standing.training
        note = standing.name + (f", epoch {training.epoch} of {training.epochs}" if training else "")
        news = {
            "epoch": standing.step - 1, "steps": standing.steps, "stage": stage_title(standing.stage), "note": note,
            "seconds": before + now - begun, "seconds_left": _left(standing, now - begun),
            "training": int(training.active.sum()) if training else 0,
        }  # fmt: skip
        job.write(job.status.model_copy(update=news))

    with every_core(THREADS):  # others come first all the same, for a worker is nice
        build(order.table.parent, order.building.size, tell, said.append, cohort)
    news = {"epoch": job.status.steps, "seconds": before + monotonic() - begun, "note": "", "stage": ""}
    job.write(job.status.model_copy(update=news))
    return tuple(said)


def _left(standing: StudyProgress, spent: float) -> float:
    """Seconds left: as estimated, at the pace of what was done so far here once there is some."""
    pace = spent / standing.done if standing.done > TELLING else 1.0
    return standing.left * min(max(pace, 1 / FASTEST), FASTEST)


TELLING, FASTEST = 10.0, 8.0  # estimated seconds done that tell the pace; how far off an estimate may be
