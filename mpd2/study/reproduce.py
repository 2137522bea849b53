"""The whole study at one command: makes what is missing, out of date or damaged, and nothing else."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpd2.core.errors import UserError
from mpd2.core.files import remove_drafts, replacing
from mpd2.methods.learned import Learned
from mpd2.methods.mpd2_router import Mpd2
from mpd2.study.catalogue import MAP, NAMES, TABLES, Inventory, Material, cache_of, index_path, runs_of, table_path
from mpd2.study.definition import ABLATIONS_RUN, MISSING, OUT_OF_DATE, Say, Study
from mpd2.study.experiments import Experiment, ExperimentCache
from mpd2.study.processes import processes, run_experiments
from mpd2.study.results import results
from mpd2.study.tables import read_table

if TYPE_CHECKING:
    from mpd2.training.loop import Callback, Progress

FORCED, FOLLOWS = "asked for", "its runs are made anew"
ORDINARY = (MISSING, OUT_OF_DATE, FORCED, FOLLOWS)  # reasons to make something that are no accident
RESULTS = "RESULTS.md"

# Seconds on two cores; they only decide what is shown as time left.
START, ROUTER_EPOCH, LONE_ROUTER_EPOCH, NETWORK, TABLE, LAYOUT = 2.0, 0.03, 0.06, 0.5, 1.5, 30.0


@dataclass(frozen=True)
class StudyProgress:
    """How far a study has come, in seconds as estimated."""

    step: int
    steps: int
    name: str  # of the run or table being made
    training: Progress | None  # the last epoch, while something is trained
    done: float
    left: float


Tell = Callable[[StudyProgress], None]
"""Told when a step begins and after every epoch of a training."""


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The tables asked for, in the study's order; none and `all` mean every one.

    >>> chosen(["readers", "overall"])
    ('overall', 'readers')
    """
    unknown = sorted(set(names) - {*NAMES, "all"})
    if unknown:
        raise UserError(f"table: found {', '.join(unknown)}, expected all or some of {', '.join(NAMES)}")
    return NAMES if not names or "all" in names else tuple(name for name in NAMES if name in names)


def to_make(inventory: Inventory, names: Sequence[str], force: bool = False) -> tuple[dict[str, str], dict[str, str]]:
    """The runs and the tables that have to be made, each with the reason.

    The contenders' runs are results themselves, and made even where the tables drawn up from them are there.
    """
    stale = {name: FORCED if force else inventory.table_fault(name) for name in names}
    needs = {name: set(runs_of(inventory.study, name)) for name in names}
    needed = {run for name in names for run in needs[name] if run != ABLATIONS_RUN or stale[name]}
    runs = {run: why for run, why in inventory.run_faults.items() if why and run in needed}
    stale |= {name: FOLLOWS for name in names if not stale[name] and needs[name] & set(runs)}
    return runs, {name: why for name, why in stale.items() if why}


def reproduce(study: Study, names: Sequence[str], force: bool, tell: Tell, say: Say) -> list[str]:
    """Make what the tables asked for lack, then RESULTS.md; the names of all that was made.

    Killed at any moment, the next call goes on: nothing is lost but the last few epochs of a training. With `force`
    the tables are drawn up again, from the runs there are.
    """
    with _alone(study.workshop):
        _sweep(study)
        runs, stale = to_make(Inventory(study), names, force)
        for why in (runs | stale).values():
            if why not in ORDINARY:
                say(f"{why.partition(';')[0]}: made anew")
        cache = cache_of(study)
        cache.sweep()
        experiments = cache.missing(experiments_of(study, stale))
        seconds = {name: _seconds(study, name) for name in runs} | _seconds_to_run(cache, experiments)
        pace = _Pace(seconds | {name: _seconds(study, name) for name in stale}, tell)
        for name in runs:
            with pace.step(name) as on_epoch:
                study.make(name, (on_epoch,), say)
        run_experiments(cache, experiments, pace.step)
        inventory, material, made = Inventory(study), Material(study), list(runs)
        for name in stale:
            with pace.step(name):
                if force or inventory.table_fault(name):  # runs made anew may say the same as before
                    inventory.draw_up(name, material)
                    made.append(name)
        if any(ABLATIONS_RUN in runs_of(study, name) for name in stale):
            _tell_lost_seeds(study, say)
        return made + _write_results(inventory, say)


def run_missing(cache: ExperimentCache, experiments: Sequence[Experiment], tell: Tell) -> list[Experiment]:
    """Run the experiments whose results are not cached, and nothing else; which these were."""
    with _alone(cache.study.workshop):
        cache.sweep()
        missing = cache.missing(experiments)
        run_experiments(cache, missing, _Pace(_seconds_to_run(cache, missing), tell).step)
        return missing


def experiments_of(study: Study, names: Iterable[str]) -> list[Experiment]:
    """The experiments that tables are drawn up from."""
    plans = [TABLES[name].experiments for name in names if name != MAP]
    return [one for plan in plans if plan for one in plan(study)]


def results_path(study: Study) -> Path:
    """Where RESULTS.md is: beside the data."""
    return study.data.absolute().parent / RESULTS


def _write_results(inventory: Inventory, say: Say) -> list[str]:
    """Tell the results if every table is as it should be."""
    study = inventory.study
    waiting = [name for name in TABLES if inventory.table_fault(name)]
    if waiting:
        say(f"{RESULTS} waits for {', '.join(waiting)}")
        return []
    text = results({name: read_table(study.data, name) for name in TABLES}, study.cohort.manifest)
    path = results_path(study)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return []
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return [RESULTS]


def _tell_lost_seeds(study: Study, say: Say) -> None:
    lost = sorted(set(study.seeds) - set(study.ablation_seeds()))
    if lost:
        say(f"ablations: left out seed {', '.join(map(str, lost))}, which could not be trained in every condition")


# ---------------------------------------------------------------------------------- time left


def _seconds(study: Study, name: str) -> float:
    """About how long it takes to make a run or a table."""
    if name in TABLES or name == MAP:
        return LAYOUT if name == MAP else TABLE
    configs = study.configs(name)
    if configs is not None:
        return START + ROUTER_EPOCH * len(configs) * configs[0].training.epochs
    return NETWORK * len(study.seeds) if isinstance(study.contenders[name].method, Learned) else TABLE


def _seconds_to_run(cache: ExperimentCache, experiments: Sequence[Experiment]) -> dict[str, float]:
    """About how long each experiment takes of the time of all, several of which run at once."""
    return {one.title: _seconds_alone(cache, one) / processes() for one in experiments}


def _seconds_alone(cache: ExperimentCache, one: Experiment) -> float:
    method = cache.study.contenders[one.method].method
    if isinstance(method, Mpd2):
        return START + LONE_ROUTER_EPOCH * len(cache.seeds) * method.config.but(**cache.study.changes).training.epochs
    return NETWORK * len(cache.seeds) if isinstance(method, Learned) else TABLE


class _Pace:
    """Counts the steps of a study and the seconds they take, as estimated; several may be under way at once."""

    def __init__(self, seconds: Mapping[str, float], tell: Tell) -> None:
        self.seconds, self.tell = seconds, tell
        self.step_number, self.done, self.later = 0, 0.0, sum(seconds.values())
        self.left: dict[str, float] = {}  # of the steps under way

    @contextmanager
    def step(self, name: str) -> Iterator[Callback]:
        """One step; what it spares by going on from a checkpoint or stopping early is neither done nor left."""
        seconds = self.seconds[name]
        self.step_number += 1
        self.later -= seconds
        self.left[name] = seconds
        epochs = 0

        def on_epoch(progress: Progress) -> None:
            nonlocal epochs
            epochs += 1
            self.done += seconds / progress.epochs
            self.left[name] = seconds * (1 - progress.epoch / progress.epochs)
            self._tell(name, progress)

        self._tell(name, None)
        yield on_epoch
        del self.left[name]
        if not epochs:
            self.done += seconds

    def _tell(self, name: str, progress: Progress | None) -> None:
        left = self.later + sum(self.left.values())
        self.tell(StudyProgress(self.step_number, len(self.seconds), name, progress, self.done, left))


# ---------------------------------------------------------------------------------- one at a time, and tidy


@contextmanager
def _alone(workshop: Path) -> Iterator[None]:
    """Keep a second reproduction out; the lock ends with the process, however it ends."""
    workshop.mkdir(parents=True, exist_ok=True)
    with (workshop / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(f"{workshop}: another reproduction is at work here; wait until it is done") from None
        yield


def _sweep(study: Study) -> None:
    """Remove the drafts that a killed reproduction could not."""
    runs = (*study.contenders, ABLATIONS_RUN)
    written = [index_path(study), results_path(study), *(table_path(study, name) for name in NAMES)]
    written += [study.folder(run) for run in runs] + [study.checkpoint(run) for run in runs]
    for target in written:
        remove_drafts(target)
