"""A study of tuning as a job: begun, stopped and gone on with; its best configuration becomes a preset."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import FrameType

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.cohort import Cohort
from mpd2.core.errors import Cancelled, UserError
from mpd2.core.files import replacing
from mpd2.lab.jobs.folder import Job, Order, Workshop
from mpd2.lab.owners import NOBODY
from mpd2.training.config import Config, parse_config

BATCH = 10  # trials trained together


def search(job: Job, order: Order, place: Workshop, cohort: Cohort) -> tuple[str, ...]:
    """Work on a study until it has its trials; nothing to warn of."""
    from mpd2.lab.tuning.storage import connect  # only who searches waits for Optuna
    from mpd2.lab.tuning.study import SearchPlan, SearchProgress, SearchWorker, open_study

    assert order.search is not None
    if cohort.fingerprint != order.fingerprint:
        raise UserError(f"{order.table}: has changed since the job was asked for; ask again")
    base = order.configs[0]
    seeds = tuple(range(base.seed, base.seed + order.search.seeds))
    plan = SearchPlan(base=base, seeds=seeds, fingerprint=cohort.fingerprint)
    study = open_study(connect(place.studies), order.search.study, plan, order.owner)
    begun, before = monotonic(), -1

    def tell(standing: SearchProgress) -> None:
        nonlocal before
        before = standing.ended if before < 0 else before
        spent, ended = monotonic() - begun, standing.ended - before
        left = spent / ended * (standing.trials - standing.ended) if ended else None
        notes = [] if standing.best is None else [f"best score {standing.best:.4f}"]
        if standing.training is not None:
            notes.append(f"epoch {standing.training.epoch} of {standing.training.epochs} of a batch")
        news = {"epoch": standing.ended, "seconds": spent, "seconds_left": left, "note": ", ".join(notes)}
        job.write(job.status.model_copy(update=news))

    with _stopped_gently():
        SearchWorker(study, plan, cohort, order.search.trials, BATCH, order.device).run(tell)
    return ()


def keep_preset(config: Config, name: str, place: Workshop, *, by: Actor) -> str:
    """Keep a configuration as a file that trainings can start from; its name. One that is there only admins replace."""
    words = re.sub(r"[^\w-]+", "-", name).strip("-")
    there = bool(words) and (place.runs / f"{words}.json").exists()
    authorise(by, Action.KEEP_PRESET, NOBODY if there else None, preset=words)
    if not words:
        raise UserError(f"preset: found the name {name!r}, expected at least one letter or digit")
    with replacing(place.runs / f"{words}.json") as draft:
        draft.write_text(json.dumps(config.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")
    return words


def kept_presets(place: Workshop) -> dict[str, Config]:
    """The configurations kept beside own runs, by name; a file that is none is passed over."""
    files = sorted(place.runs.glob("*.json")) if place.runs.is_dir() else []
    return {path.stem: config for path in files if (config := _read_preset(path)) is not None}


def _read_preset(path: Path) -> Config | None:
    try:
        return parse_config(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, UserError):
        return None


@contextmanager
def _stopped_gently() -> Iterator[None]:
    """Give unfinished trials back to the study before ending."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Cancelled

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
