"""A study: what makes its trials comparable, and a worker's part in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from os import getpid
from socket import gethostname
from time import sleep
from typing import TYPE_CHECKING, Any

import optuna
from optuna.exceptions import DuplicatedStudyError
from optuna.storages import RDBStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState
from pydantic import Field

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Record
from mpd2.lab.tuning.batch import Batch
from mpd2.lab.tuning.sampler import AddressedTpe, hyperband
from mpd2.lab.tuning.space import DISTRIBUTIONS, HAND_TUNED
from mpd2.lab.tuning.watch import Vigil, Watcher, alive, give_back
from mpd2.training.config import Config

if TYPE_CHECKING:
    from mpd2.training.loop import Callback, Progress

PLAN = "plan"  # name under which a study keeps its plan
OWNER = "owner"  # user attribute of a study: whose it is
WORKER = "worker"  # name under which a trial keeps who had it: host and process
SET_UP = 10.0  # seconds another worker may need to set a study up
ENDED = (TrialState.COMPLETE, TrialState.PRUNED)
COUNTED = (*ENDED, TrialState.RUNNING)


class SearchPlan(Record):
    """What all trials of a study share; it is kept with the study, and a worker with another one is refused."""

    base: Config  # every setting that is not searched
    seeds: tuple[int, ...] = Field((42,), min_length=1, description="the routers of a trial; its score is their mean")
    seed: int = Field(0, ge=0, description="stream of the proposals")
    fingerprint: str  # of the table


@dataclass(frozen=True)
class SearchProgress:
    """How far a study has come, as one worker sees it."""

    ended: int  # trials that had ended when this worker's batch began, of all workers
    trials: int  # trials the study is to have
    best: float | None  # score of the best one that keeps its budget
    training: Progress | None  # of this worker's batch, after its last epoch


Tell = Callable[[SearchProgress], None]
"""Told when a batch begins, after each of its epochs, and at the end; raise `Cancelled` to stop there."""


def open_study(storage: RDBStorage, name: str, plan: SearchPlan, owner: str = "") -> Study:
    """The study of this name, made if it is not there, with the hand-tuned configuration waiting as its first trial."""
    sampler, pruner = AddressedTpe(plan.seed), hyperband(plan.base.training.epochs)
    try:
        study = optuna.create_study(
            storage=storage, study_name=name, sampler=sampler, pruner=pruner, direction="minimize"
        )
    except DuplicatedStudyError:
        study = optuna.load_study(storage=storage, study_name=name, sampler=sampler, pruner=pruner)
        _check_plan(study, plan)
    else:
        study.enqueue_trial(dict(HAND_TUNED))
        study.set_user_attr(PLAN, plan.model_dump(mode="json"))
        study.set_user_attr(OWNER, owner)
    return study


def load_study(storage: RDBStorage, name: str) -> tuple[Study, SearchPlan]:
    """A study to look at, with its plan."""
    try:
        study = optuna.load_study(storage=storage, study_name=name)
    except KeyError:
        raise _no_such(storage, name) from None
    return study, SearchPlan.model_validate(_plan_of(study))


def owner_of_study(storage: RDBStorage, name: str) -> str:
    """Whose a study is; nobody's where that is not written."""
    try:
        return str(optuna.load_study(storage=storage, study_name=name).user_attrs.get(OWNER, ""))
    except KeyError:
        return ""


def delete_study(storage: RDBStorage, name: str, *, by: Actor) -> None:
    """Remove a study with all its trials; whoever still works on it fails."""
    authorise(by, Action.REMOVE_STUDY, owner_of_study(storage, name), study=name)
    try:
        optuna.delete_study(storage=storage, study_name=name)
    except KeyError:
        raise _no_such(storage, name) from None


def best_trial(study: Study) -> FrozenTrial:
    """The trial with the lowest score among those that keep their budget."""
    try:
        return study.best_trial
    except ValueError:
        raise UserError(f"study {study.study_name}: no trial has been completed within its budget yet") from None


def within_budget(trial: FrozenTrial) -> bool:
    """Whether a trial was completed and keeps its budget."""
    return trial.state == TrialState.COMPLETE and all(excess <= 0 for excess in trial.constraints.values())


def trial_config(trial: FrozenTrial, plan: SearchPlan) -> Config:
    """The configuration of a trial, without the seeds of the study."""
    return plan.base.but(**trial.params)


@dataclass
class SearchWorker:
    """One process at work on a study; others may work on it at the same time."""

    study: Study
    plan: SearchPlan
    cohort: Cohort
    trials: int  # trials the study is to have
    batch: int = 10  # trials trained together
    device: str = "auto"
    vigil: Vigil = field(default_factory=Vigil)

    def run(self, tell: Tell) -> None:
        """Work until the study has its trials; those of a worker that died are given back and tried again."""
        watcher = Watcher(self.vigil)
        while (standing := self._standing()).ended < self.trials:
            tell(standing)
            for trial in watcher.dead(self._trials(TrialState.RUNNING)):
                give_back(self.study, trial)
            trials = self._ask()
            if trials:
                self._train(trials, lambda progress: tell(replace(standing, training=progress)))
            else:  # the rest is with other workers; whoever falls silent is replaced
                sleep(self.vigil.every)
        tell(standing)

    def _train(self, trials: Sequence[Trial], on_epoch: Callback) -> None:
        batch = Batch(self.study, trials, self.plan.base, self.plan.seeds)
        try:
            with alive(trials, self.vigil):
                batch.run(self.cohort, self.device, [on_epoch])
        except BaseException:  # interrupted or failed: nobody shall wait for these
            for trial in trials:
                give_back(self.study, trial)
            raise

    def _ask(self) -> list[Trial]:
        """As many trials as are wanted and not with others."""
        wanted = min(self.batch, self.trials - len(self._trials(*COUNTED)))
        asked: list[Trial] = []
        try:
            for _ in range(wanted):
                asked.append(self.study.ask(DISTRIBUTIONS))
                asked[-1].set_user_attr(WORKER, f"{gethostname()}:{getpid()}")
                if self._too_many(asked[-1]):
                    self.study.tell(asked.pop(), state=TrialState.FAIL)
                    break
        except BaseException:
            for trial in asked:
                give_back(self.study, trial)
            raise
        return asked

    def _too_many(self, trial: Trial) -> bool:
        """Whether workers who asked at the same moment have taken all that was left."""
        return sum(other.number < trial.number for other in self._trials(*COUNTED)) >= self.trials

    def _trials(self, *states: TrialState) -> list[FrozenTrial]:
        return self.study.get_trials(deepcopy=False, states=states)

    def _standing(self) -> SearchProgress:
        ended = self._trials(*ENDED)
        best = self.study.best_value if any(map(within_budget, ended)) else None
        return SearchProgress(len(ended), self.trials, best, None)


def _no_such(storage: RDBStorage, name: str) -> UserError:
    names = ", ".join(sorted(optuna.get_all_study_names(storage))) or "none"
    return UserError(f"study: found none called {name!r}, expected one of those there: {names}")


def _check_plan(study: Study, plan: SearchPlan) -> None:
    """Refuse a plan other than the study's own: their trials would not compare."""
    kept, ours = _plan_of(study), plan.model_dump(mode="json")
    different = [key for key in ours if kept.get(key) != ours[key]]
    if different:
        raise UserError(
            f"study {study.study_name}: was begun with another {' and '.join(different)}; go on with the same, "
            "or give the new study another name with --study"
        )


def _plan_of(study: Study) -> dict[str, Any]:
    """A study's plan; the worker that made the study may be about to write it down."""
    waited = 0.0
    while PLAN not in study.user_attrs:
        if waited > SET_UP:
            raise UserError(f"study {study.study_name}: has no plan; it is of another program, or was never set up")
        sleep(0.1)
        waited += 0.1
    plan: dict[str, Any] = study.user_attrs[PLAN]
    return plan
