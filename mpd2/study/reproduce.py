"""The whole study at one command: makes what is missing, out of date or damaged, and nothing else."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpd2.core.errors import Interrupted, UserError
from mpd2.core.files import ROOT, remove_drafts, replacing
from mpd2.core.workspace import SHIPPED, shipped_workspaces
from mpd2.methods.base import Method
from mpd2.methods.learned import Learned
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated
from mpd2.study.analyses.own_results import own_results
from mpd2.study.catalogue import (
    MAP,
    NAMES,
    TABLES,
    Inventory,
    Material,
    cache_of,
    index_path,
    lacking,
    runs_of,
    table_path,
    tables_of,
)
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

# Seconds on two cores with MEASURED cases to learn from; they only decide what is shown as time left.
START, ROUTER_EPOCH, LONE_ROUTER_EPOCH, MODEL, RULE, TABLE, LAYOUT = 2.0, 0.03, 0.045, 0.5, 0.3, 1.5, 30.0
MEASURED = 1411


@dataclass(frozen=True)
class StudyProgress:
    """How far a study has come, in seconds as estimated."""

    step: int
    steps: int
    name: str  # of the run or table being made
    training: Progress | None  # the last epoch, while something is trained
    done: float
    left: float
    stage: str = ""


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


@dataclass(frozen=True)
class Stage:
    """A part of a study that is made before the next is begun."""

    name: str
    runs: tuple[str, ...] = ()  # made whether or not a table asks for them
    tables: tuple[str, ...] = ()


def reproduce(study: Study, names: Sequence[str], force: bool, tell: Tell, say: Say) -> list[str]:
    """Make what the tables asked for lack, then RESULTS.md; the names of all that was made.

    Killed at any moment, the next call goes on: nothing is lost but the last few epochs of a training. With `force`
    the tables are drawn up again, from the runs there are. A table that a study cannot have is left out.
    """
    return make_stages(study, [Stage("study", tables=tuple(names))], tell, say, force)[0]


def make_stages(
    study: Study, stages: Sequence[Stage], tell: Tell, say: Say, force: bool = False, lenient: bool = False
) -> tuple[list[str], Study]:
    """Make what each stage lacks, one after the other, then RESULTS.md; all that was made, and the study it is of.

    `lenient`: a method that cannot be fitted, or a table that cannot be drawn up, is left out with its reason, and the
    rest is made, a study without that method; otherwise it is an error.
    """
    with _alone(study.workshop):
        _sweep(study)
        cache_of(study).sweep()
        works = _works(study, stages, force)
        for left_out, why in ((name, lacking(study, name)) for stage in stages for name in stage.tables):
            if why:
                say(f"{left_out}: left out: {why}")
        for why in (why for work in works for why in (work.runs | work.tables).values()):
            if why not in ORDINARY:
                say(f"{why.partition(';')[0]}: made anew")
        pace = _Pace({name: seconds for work in works for name, seconds in work.seconds(study).items()}, tell)
        maker = _Maker(study, pace, say, force, lenient)
        made = [name for work in works for name in maker.make(work)]
        return made + _write_results(Inventory(maker.study), say, maker.failed), maker.study


@dataclass(frozen=True)
class _Work:
    """What one stage has to make, each with the reason."""

    stage: str
    runs: dict[str, str]
    experiments: tuple[Experiment, ...]
    tables: dict[str, str]

    def seconds(self, study: Study) -> dict[str, float]:
        """About how long each step takes."""
        seconds = {name: seconds_of(study, name) for name in self.runs}
        seconds |= _seconds_to_run(cache_of(study), self.experiments)
        return seconds | {name: seconds_of(study, name) for name in self.tables}


def _works(study: Study, stages: Sequence[Stage], force: bool) -> list[_Work]:
    """The work of each stage; what an earlier one makes is not made again."""
    inventory, cache, works = Inventory(study), cache_of(study), list[_Work]()
    for stage in stages:
        earlier = {name for work in works for name in (*work.runs, *work.experiments)}
        possible = [name for name in stage.tables if not lacking(study, name)]
        needed, tables = to_make(inventory, possible, force)
        named = {run: why for run in stage.runs if (why := inventory.run_faults[run])}
        runs = {run: why for run, why in (named | needed).items() if run not in earlier}
        experiments = [one for one in cache.missing(experiments_of(study, tables)) if one not in earlier]
        works.append(_Work(stage.name, runs, tuple(experiments), tables))
    return works


class _Maker:
    """Makes the work of one stage after another."""

    def __init__(self, study: Study, pace: _Pace, say: Say, force: bool, lenient: bool) -> None:
        self.study, self.pace, self.say, self.force, self.lenient = study, pace, say, force, lenient
        self.material: Material | None = None
        self.failed: set[str] = set()

    def make(self, work: _Work) -> list[str]:
        """Make what a stage lacks; the names of what was made."""
        self.pace.stage = work.stage
        return self._runs(work) + self._tables(work)

    def _runs(self, work: _Work) -> list[str]:
        made = []
        for name in work.runs:
            with self.pace.step(name) as on_epoch, self._spared(name):
                self.study.make(name, (on_epoch,), self.say)
                made.append(name)
        lost = self.failed & set(self.study.contenders)
        if lost:
            kept = {name: each for name, each in self.study.contenders.items() if name not in lost}
            if not kept:
                raise UserError("none of the methods could be fitted; the reasons are above")
            self.study = replace(self.study, contenders=kept)
        return made

    def _tables(self, work: _Work) -> list[str]:
        if not work.tables:
            return []
        with self._spared(*(name for name in work.tables if name != MAP and TABLES[name].experiments)):
            experiments = [one for one in work.experiments if one.method in self.study.contenders]
            run_experiments(cache_of(self.study), experiments, self.pace.step)
        inventory, made = Inventory(self.study), list[str]()
        self.material = self.material or Material(self.study)
        for name in work.tables:
            with self.pace.step(name), self._spared(name):
                if self._is_due(inventory, name):
                    inventory.draw_up(name, self.material)
                    made.append(name)
        if any(ABLATIONS_RUN in runs_of(self.study, name) for name in made):
            _tell_lost_seeds(self.study, self.say)
        return made

    def _is_due(self, inventory: Inventory, name: str) -> bool:
        """Whether a table can be drawn up, and has to be: runs made anew may say the same as before."""
        spoilt = self.failed & {name, *runs_of(self.study, name)}
        return not spoilt and not lacking(self.study, name) and bool(self.force or inventory.table_fault(name))

    @contextmanager
    def _spared(self, *names: str) -> Iterator[None]:
        """Where that is wished, what cannot be made is left out with the reason."""
        try:
            yield
        except UserError as error:
            if not self.lenient or isinstance(error, Interrupted):
                raise
            self.failed |= set(names)
            self.say(f"{', '.join(names)}: left out: {error}")


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
    return list(dict.fromkeys(one for plan in plans if plan for one in plan(study)))


def results_path(study: Study) -> Path:
    """Where RESULTS.md is: with the study, but at the top for one that comes with the product."""
    return (ROOT if study.data.absolute().parent == SHIPPED else study.data) / RESULTS


def results_text(study: Study) -> str:
    """RESULTS.md: of a study alone, or of every study that comes with the product, as far as their tables are there."""
    if results_path(study).parent != ROOT:
        return part_of_results(study)
    studies = [Study(each.cohort(), each.folder) for each in shipped_workspaces()]
    whole = [one for one in studies if all(table_path(one, name).is_file() for name in tables_of(one))]
    return "\n".join(map(part_of_results, whole))


def part_of_results(study: Study) -> str:
    """What the tables of one study say: beside a paper, where one is about it."""
    frames = {name: read_table(study.data, name) for name in TABLES if table_path(study, name).is_file()}
    if study.published:
        return results(frames, study.cohort.manifest)
    return own_results(frames, study.cohort, f"{study.data.parent.name}/{study.data.name}/tables")


def _write_results(inventory: Inventory, say: Say, failed: Collection[str] = ()) -> list[str]:
    """Tell the results if every table is as it should be, but for those that could not be drawn up."""
    study = inventory.study
    waiting = [name for name in tables_of(study) if inventory.table_fault(name) and name not in failed]
    if waiting:
        say(f"{RESULTS} waits for {', '.join(waiting)}")
        return []
    text, path = results_text(study), results_path(study)
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


def seconds_of(study: Study, name: str) -> float:
    """About how long it takes to make a run or a table."""
    larger = _larger(study)
    if name in TABLES or name == MAP:
        return (LAYOUT if name == MAP else TABLE) * larger
    configs = study.configs(name)
    if configs is not None:
        return START + ROUTER_EPOCH * len(configs) * configs[0].training.epochs * larger
    return _fitting(study.contenders[name].method, len(study.seeds)) * larger


def _larger(study: Study) -> float:
    """How many times as many cases there are to learn from as when the times were measured."""
    return int((study.cohort.split == "train").sum()) / MEASURED


def _seconds_to_run(cache: ExperimentCache, experiments: Sequence[Experiment]) -> dict[str, float]:
    """About how long each experiment takes of the time of all, several of which run at once."""
    return {one.title: seconds_alone(cache.study, one.method) / processes() for one in experiments}


def seconds_alone(study: Study, name: str) -> float:
    """About how long an experiment with a method takes on one core."""
    method, seeds = study.contenders[name].method, len(study.plan.seeds)
    if isinstance(method, Mpd2):
        epochs = method.config.but(**study.changes).training.epochs
        return START + LONE_ROUTER_EPOCH * seeds * epochs * _larger(study)
    return _fitting(method, seeds) * _larger(study)


def _fitting(method: Method, seeds: int) -> float:
    return MODEL * seeds if isinstance(method, Learned | Plus | Recalibrated) else RULE


class _Pace:
    """Counts the steps of a study and the seconds they take, as estimated; several may be under way at once."""

    def __init__(self, seconds: Mapping[str, float], tell: Tell) -> None:
        self.seconds, self.tell = seconds, tell
        self.step_number, self.done, self.later, self.stage = 0, 0.0, sum(seconds.values()), ""
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
        standing = StudyProgress(self.step_number, len(self.seconds), name, progress, self.done, left, self.stage)
        self.tell(standing)


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
