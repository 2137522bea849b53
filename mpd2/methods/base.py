"""The contract every method keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Continuations, Decisions, Policy
from mpd2.core.runs import Run


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


@runtime_checkable
class Decider(Protocol):
    """A method that also decides by itself: it may ask several readers, and end with a label nobody of them gave.

    The policy is then only about whom it asks first.
    """

    def decide(self, run: Run, cohort: Cohort, costs: Costs | None = None) -> Decisions:
        """Whom every member asks, in order, and the label it ends with, under the run's costs or others."""

    def continuations(self, run: Run, cohort: Cohort) -> Continuations:
        """How every case ends, for every member, if nobody is asked and if each reader is asked first."""
