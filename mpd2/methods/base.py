"""The contract every method keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mpd2.cohort import Cohort
from mpd2.costs import Costs
from mpd2.policy import Policy
from mpd2.runs import Run


class Method(Protocol):
    """Something that learns whom to ask.

    `fit` reads the train and val splits of the cohort, never test, and returns one member a seed. `policy` works on
    any cohort with the same readers, also without truth or readers' words, and never gives an absent reader mass.
    """

    @property
    def key(self) -> str:
        """Short name, as on the command line and in files."""

    @property
    def name(self) -> str:
        """Name as shown."""

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Learn from a cohort under the given costs."""

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """The soft policy of every member, [E, N] and [E, N, M]."""
