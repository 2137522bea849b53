"""How a study proposes: multivariate TPE with random numbers by address, and Hyperband to give up early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.pruners import HyperbandPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from mpd2.core.rng import Stream, stream
from mpd2.lab.tuning.space import SPACE

START_UP = 10  # finished trials before the estimator is trusted, as in the paper
REDUCTION = 3  # of the trials in a rung, one in so many goes on
LEAST_EPOCHS = next(int(dimension.low) for dimension in SPACE if dimension.setting == "training__warm_up")


class AddressedTpe(BaseSampler):
    """Multivariate TPE whose draws depend on the seed, the trial's number and the trials before it, on nothing else.

    A study that was stopped needs no generator state to go on, and workers who share a study never draw the same.
    Trials still running count as bad ones, so that those asked for together differ. Which trials keep the budget is
    read from the constraint each of them carries.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._begin(seed)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Begin the trial's own stream."""
        self._begin(int(stream(self._seed, Stream.SEARCH, trial.number).integers(2**32)))

    def _begin(self, seed: int) -> None:
        self._tpe = TPESampler(seed=seed, multivariate=True, n_startup_trials=START_UP, constant_liar=True)
        self._random = RandomSampler(seed=seed)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """What is drawn jointly."""
        return self._tpe.infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The joint draw."""
        return self._tpe.sample_relative(study, trial, search_space)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A draw of one setting alone: before there is anything to learn from, TPE too would draw at random."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """What TPE wants to note of a trial that ended."""
        self._tpe.after_trial(study, trial, state, values)


def hyperband(epochs: int) -> HyperbandPruner:
    """Rungs from the shortest warm-up, before which no checkpoint is kept, to all epochs."""
    return HyperbandPruner(min_resource=min(LEAST_EPOCHS, epochs), max_resource=epochs, reduction_factor=REDUCTION)


def is_rung(epoch: int, epochs: int) -> bool:
    """Whether a bracket of Hyperband gives up trials after this epoch; asking it after others would be in vain.

    A trial that is done is not given up.

    >>> [epoch for epoch in range(1, 73) if is_rung(epoch, 72)]
    [8, 24]
    """
    rung = min(LEAST_EPOCHS, epochs)
    while rung < epoch:
        rung *= REDUCTION
    return rung == epoch < epochs
