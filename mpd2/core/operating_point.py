"""By what a run decides: how much a miss weighs against a false alarm and a reading."""

from __future__ import annotations

from dataclasses import dataclass

from mpd2.core.costs import Costs
from mpd2.core.errors import UserError


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
