"""What every action of every case costs, and by which costs decisions are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mpd2.core.arrays import Floats, Ints
from mpd2.core.errors import UserError

if TYPE_CHECKING:
    from mpd2.core.cohort import Cohort


@dataclass(frozen=True)
class Costs:
    """Costs of a missed positive, a false alarm and each reader's reading, all in one unit.

    Symbols: c_fn, c_fp, κ_1..κ_M. The AI's own decision has no fee (κ_0 = 0).
    """

    false_negative: float
    false_positive: float
    fees: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, value in (("miss", self.false_negative), ("false alarm", self.false_positive)):
            if not (np.isfinite(value) and value >= 0):
                raise UserError(f"cost of a {name}: found {value}, expected a number of at least 0")
        for position, fee in enumerate(self.fees):
            if not (np.isfinite(fee) and fee >= 0):
                raise UserError(f"fee of reader {position + 1}: found {fee}, expected a number of at least 0")

    def of_errors(self, label: np.ndarray, truth: np.ndarray) -> Floats:
        """Clinical cost of giving `label` where `truth` holds; the shapes broadcast.

        >>> Costs(2.0, 1.5, ()).of_errors(np.array([0, 1, 1]), np.array([1, 0, 1])).tolist()
        [2.0, 1.5, 0.0]
        """
        missed = (truth == 1) & (label == 0)
        alarmed = (truth == 0) & (label == 1)
        return self.false_negative * missed + self.false_positive * alarmed

    def cheaper_label(self, positive: Floats) -> Ints:
        """The label whose error is expected to cost less given P(positive), of any shape; positive where both are even.

        >>> Costs(2.0, 1.5, ()).cheaper_label(np.array([0.4, 0.45])).tolist()
        [0, 1]
        """
        return (self.false_negative * positive >= self.false_positive * (1 - positive)).astype(np.int64)

    def of_actions(self, cohort: Cohort) -> Floats:
        """Clinical cost plus fee of every action, [N, 1 + M]; infinite where a reader is not available."""
        readers = self.of_errors(cohort.decisions, cohort.truth[:, None]) + self.fees_for(cohort)
        readers = np.where(cohort.available, readers, np.inf)
        return np.column_stack([self.of_errors(cohort.ai_label, cohort.truth), readers])

    def fees_for(self, cohort: Cohort) -> Floats:
        """κ, [M]; refused where the cohort has another number of readers."""
        if len(self.fees) != cohort.readers:
            raise UserError(f"fees: found {len(self.fees)}, expected one for each of the {cohort.readers} readers")
        return np.array(self.fees)


@dataclass(frozen=True)
class OperatingPoint:
    """The costs by which decisions are made; what comes of them is counted by the costs of the table all the same."""

    costs: Costs
    confident: float | None = None
    """Probability of its own answer from which the AI may not be overruled with nobody asked; none: it always may."""
    rates: tuple[float, ...] = ()
    """Log-odds that a unit of expected saving is worth to each member of a run that is recosted; see `recosting`."""

    def __post_init__(self) -> None:
        if self.confident is not None and not 0.5 <= self.confident <= 1:
            raise UserError(f"a confident AI: found {self.confident}, expected a probability from 0.5 to 1")
