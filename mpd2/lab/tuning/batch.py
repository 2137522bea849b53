"""Several trials trained as one population, given up one by one as they fall behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from optuna.exceptions import UpdateFinishedTrialError
from optuna.study import Study
from optuna.trial import Trial, TrialState

from mpd2.core.cohort import Cohort, learning_split
from mpd2.core.errors import Cancelled
from mpd2.core.policy import Policy
from mpd2.lab.tuning.sampler import is_rung
from mpd2.lab.tuning.score import EXCESS_WEIGHT, appraise
from mpd2.methods.registry import policy_of
from mpd2.training.config import Config

if TYPE_CHECKING:
    from mpd2.training.loop import Callback, Progress

BUDGET = "budget"  # name of the constraint: soft deferral on val minus its target, at most 0
ON_VAL = "figures"  # attribute under which a trial keeps its metrics on val


class Batch:
    """Trials in training, one row of members each: every trial's settings with every seed."""

    def __init__(self, study: Study, trials: Sequence[Trial], base: Config, seeds: Sequence[int]) -> None:
        self.study, self.trials, self.seeds = study, list(trials), seeds
        self.target = 1.0 if base.budget.target is None else base.budget.target
        self.configs = [base.but(**trial.params, seed=seed) for trial in trials for seed in seeds]
        shape = len(self.trials), len(seeds)
        self.training = np.ones(shape, bool)  # [B, K] members that trained in the epoch to come
        self.value = np.full(shape, np.nan)  # [B, K] where each member stands
        self.deferral = np.full(shape, np.nan)  # [B, K] soft, on val
        self.left = set(range(len(self.trials)))  # positions of trials nobody has given up

    def run(self, cohort: Cohort, device: str, callbacks: Sequence[Callback] = ()) -> None:
        """Train the batch and tell the study how each trial ended."""
        from mpd2.training.loop import train  # brings torch, which looking at a study does not need
        from mpd2.training.population import run_of

        costs, val = cohort.manifest.default_costs(), learning_split(cohort, "val")
        rule, target = self.configs[0].rule, self.configs[0].budget.target
        appraised = partial(appraise, val=val, costs=costs, rule=rule, target=target)
        judge = partial(self._judge, appraised)
        try:
            trained = train(cohort, self.configs, costs, device=device, callbacks=(judge, *callbacks))
        except Cancelled:
            if self.left:
                raise
            return
        metrics = appraised(policy_of(run_of(trained, cohort, costs), val))
        metrics = metrics.assign(epoch=trained.best_epoch, trial=np.array(trained.positions) // len(self.seeds))
        for position in sorted(self.left):
            self._complete(position, metrics[metrics["trial"] == position])

    def _judge(self, appraised: Callable[[Policy], pd.DataFrame], progress: Progress) -> None:
        """Report every trial in training and give up those that fall behind; with none left, the training ends.

        While it trains, a trial is judged by the score it would have now, and ten times the excess over its budget. The
        score that picks its checkpoint would not do: fees weigh in it by γ, which differs from trial to trial.
        """
        shape = self.training.shape
        sound = np.flatnonzero(np.isfinite(progress.log["score"]))  # who trains, and has not run away
        metrics = appraised(progress.policy().member(sound.tolist()))
        value = np.full(len(self.configs), np.nan)
        value[sound] = metrics["Score"] + EXCESS_WEIGHT * metrics["Violation"]
        soft = progress.log["val_soft_deferral"].reshape(shape)
        self.value = np.where(self.training, value.reshape(shape), self.value)
        self.deferral = np.where(self.training, soft, self.deferral)
        for position in sorted(self.left):
            if self.training[position].any() and self._falls_behind(position, progress):
                self.left.remove(position)
                first = position * len(self.seeds)
                progress.stop(range(first, first + len(self.seeds)))
        given_up = np.array([position not in self.left for position in range(len(self.trials))])
        self.training = progress.active.reshape(shape) & ~given_up[:, None]
        if not self.left:
            raise Cancelled

    def _falls_behind(self, position: int, progress: Progress) -> bool:
        """Report a trial after an epoch; true if it is given up, and then it has been told so."""
        trial, value = self.trials[position], float(self.value[position].mean())
        try:
            if np.isfinite(value):
                trial.report(value, progress.epoch)
                if not (is_rung(progress.epoch, progress.epochs) and trial.should_prune()):
                    return False
                trial.set_constraint(BUDGET, float(self.deferral[position].mean()) - self.target)
            self.study.tell(trial, state=TrialState.PRUNED, skip_if_finished=True)
        except UpdateFinishedTrialError:
            pass  # we were silent for so long that others took it over
        return True

    def _complete(self, position: int, metrics: pd.DataFrame) -> None:
        """Tell the mean score over the trial's seeds."""
        trial, mean = self.trials[position], metrics.drop(columns=["member", "trial"]).mean()
        try:
            trial.set_user_attr(ON_VAL, {str(name): float(value) for name, value in mean.items()})
            trial.set_constraint(BUDGET, float(mean["DeferSoft"]) - self.target)
            self.study.tell(trial, float(mean["Score"]), skip_if_finished=True)
        except UpdateFinishedTrialError:
            pass  # as above
