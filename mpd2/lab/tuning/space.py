"""The search space: the paper's sixteen settings, their ranges and the hand-tuned start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution

from mpd2.core.arrays import Floats
from mpd2.training.config import Config


@dataclass(frozen=True)
class Dimension:
    """One setting that is searched. Every one of them may differ between the members of a population."""

    setting: str  # as `Config.but` names it
    symbol: str  # as the paper writes it, or a short name
    low: float
    high: float
    start: float  # in the hand-tuned configuration, the first trial
    log: bool = False
    whole: bool = False

    @property
    def distribution(self) -> BaseDistribution:
        """The range as Optuna wants it."""
        if self.whole:
            return IntDistribution(int(self.low), int(self.high))
        return FloatDistribution(self.low, self.high, log=self.log)

    @property
    def meaning(self) -> str:
        """What the setting does, in the words of the configuration."""
        section, _, field = self.setting.partition("__")
        return type(getattr(Config(), section)).model_fields[field].description or ""

    def place(self, values: np.ndarray) -> Floats:
        """Where values lie in the range, 0 at its low end and 1 at its high one.

        >>> Dimension("objective__fee_weight", "γ", 0.01, 1.0, 1.0, log=True).place(np.array([0.01, 0.1, 1.0])).tolist()
        [0.0, 0.5, 1.0]
        """
        ends = self.low, self.high, values
        low, high, at = (np.log(part) if self.log else np.asarray(part, float) for part in ends)
        return (at - low) / (high - low)


SPACE: tuple[Dimension, ...] = (
    Dimension("training__learning_rate", "lr", 3e-5, 3e-4, 1e-4, log=True),
    Dimension("training__warm_up", "warm-up", 8, 20, 15, whole=True),
    Dimension("objective__fee_weight", "γ", 0.05, 1.5, 1.0, log=True),
    Dimension("prior__sharpness", "τ_bad", 0.3, 2.0, 1.0),
    Dimension("objective__gsdp_weight", "λ_GSDP", 0.03, 1.0, 0.3),
    Dimension("objective__rank_weight", "λ_rank", 0.03, 1.0, 0.3),
    Dimension("prior__uniform_global", "u_glob", 0.05, 0.40, 0.35),
    Dimension("prior__uniform_family", "u_fam", 0.10, 0.55, 0.30),
    Dimension("prior__uniform_group", "u_grp", 0.10, 0.55, 0.30),
    Dimension("prior__family_count", "n0_fam", 10.0, 40.0, 25.0),
    Dimension("prior__group_count", "n0_grp", 15.0, 60.0, 30.0),
    Dimension("prior__global_share", "ρ_glob", 0.01, 0.10, 0.05),
    Dimension("prior__ceiling", "ceiling", 0.30, 0.38, 0.35),
    Dimension("prior__slack", "slack", 0.0, 0.06, 0.03),
    Dimension("budget__penalty", "μ", 8.0, 40.0, 25.0),
    Dimension("budget__dual_step", "η_λ", 0.02, 0.30, 0.1, log=True),
)

DISTRIBUTIONS: dict[str, BaseDistribution] = {dimension.setting: dimension.distribution for dimension in SPACE}

HAND_TUNED: Mapping[str, float] = {
    dimension.setting: int(dimension.start) if dimension.whole else dimension.start for dimension in SPACE
}
"""The configuration a study begins with."""
