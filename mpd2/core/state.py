"""What a router sees of a case: which numbers, in which order, and which of them are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats

Role = Literal["ai", "risk", "structure", "other"]
ROLES: tuple[Role, ...] = ("ai", "risk", "structure", "other")

PROBABILITY, UNCERTAINTY, LOG_ODDS = "prob_1", "uncertainty", "log_odds"
"""Variables that follow from the AI's answer: p_ai, 1 − max(p_ai, 1 − p_ai), and log-odds where p_ai is given."""
IS_MISSING = " is missing"  # ends the name of the variable that says whether another was measured


@dataclass(frozen=True)
class Variable:
    """One number of the state."""

    name: str  # its column in the table, or one of the names above
    title: str  # as it stands in a sentence
    role: Role
    unit: str = ""
    low: float | None = None  # usual range
    high: float | None = None
    measured: bool = True  # can be changed alone; what is not follows from those that are


@dataclass(frozen=True)
class StateLayout:
    """The variables of the state in order: probability, the AI's scores, risks, uncertainty, structure, others.

    The paper's decision-time state z_i. Positions are columns of `Cohort.state`.
    """

    variables: tuple[Variable, ...]
    scores: tuple[str, ...]  # the AI's answer as measured: logits of negative and positive, or the log-odds alone
    distances: tuple[str, ...] = ()  # how far a case is from what the AI was trained on
    qualities: tuple[str, ...] = ()  # how poor its recording is

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every variable."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def titles(self) -> dict[str, str]:
        """The name of each as shown."""
        return {variable.name: variable.title for variable in self.variables}

    @cached_property
    def measured(self) -> tuple[str, ...]:
        """Those that are measured and can be changed alone."""
        return tuple(variable.name for variable in self.variables if variable.measured)

    @cached_property
    def informative(self) -> tuple[int, ...]:
        """Positions of all that does not only repeat the AI's scores: the measured, and whether they are missing."""
        return tuple(self.positions([name for name in self.names if name not in (PROBABILITY, UNCERTAINTY)]))

    def __len__(self) -> int:
        return len(self.variables)

    def position(self, name: str) -> int:
        """The column of a variable."""
        return self.names.index(name)

    def positions(self, names: Sequence[str]) -> list[int]:
        """The columns of some variables."""
        return [self.position(name) for name in names]

    def of_role(self, role: Role) -> list[int]:
        """The columns of a role, in order; the probability has none, for it is what all others are held against."""
        return [n for n, each in enumerate(self.variables) if each.role == role and each.name != PROBABILITY]

    def log_odds(self, state: Floats) -> Floats:
        """log p_ai / (1 − p_ai) from the AI's scores, [..., S] to [...]."""
        parts = [state[..., self.position(name)] for name in self.scores]
        return parts[0] if len(parts) == 1 else parts[1] - parts[0]

    def completed(self, state: Floats) -> Floats:
        """A copy in which what follows from the AI's scores does follow from them, [..., S]."""
        new = np.array(state, float)
        probability = expit(self.log_odds(new))
        new[..., self.position(PROBABILITY)] = probability
        new[..., self.position(UNCERTAINTY)] = np.minimum(probability, 1 - probability)
        return new
