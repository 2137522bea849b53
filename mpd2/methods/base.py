"""The contract every method keeps, and what some can do besides.

Whoever needs more than a policy asks whether a method can do it (`isinstance`), never which method it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates import Expectations
from mpd2.core.policy import Continuations, Decisions, Policy
from mpd2.core.runs import Run
from mpd2.core.state import StateLayout
from mpd2.methods.plus.asking import Outlook

COHORT = "cohort"  # an input besides those of the state

Ground = Literal["sending", "positive", "asking"]
"""What a decision rests on: the log-odds of sending, the log-odds of positive, what asking is expected to save."""


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
class Relabels(Protocol):
    """A method that may end a case with another label than whoever it asked last, or the AI, gave."""

    def continuations(self, run: Run, cohort: Cohort) -> Continuations:
        """How every case ends, for every member, if nobody is asked and if each reader is asked first."""


@runtime_checkable
class AsksOn(Relabels, Protocol):
    """A method that goes on after the first answer and may ask several readers.

    The policy is then only about whom it asks first.
    """

    def steps(self, run: Run, case: Cohort, costs: Costs) -> pd.DataFrame:
        """How one case is decided, all members together, a row a step; columns as `plus.asking.CHAIN`."""

    def most_readers(self, run: Run) -> int:
        """How many readers may be asked about a case."""


@runtime_checkable
class Enquires(AsksOn, Protocol):
    """A method whose next question can be told when answers come in one at a time, days after the case."""

    def outlook(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Outlook]:
        """What all members together believe of every case before anybody is asked, at any point, [N]."""


@runtime_checkable
class DecidesAnew(Protocol):
    """A method that weighs costs only when it decides, so that other weights need no training."""

    def at(self, run: Run, point: OperatingPoint) -> Run:
        """The same run deciding at an operating point."""

    def deciding(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Decisions]:
        """What all members together do with the cases at any point, [N]; what no point changes is computed once."""

    def together(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], tuple[Policy, Continuations]]:
        """The policy by which they do so, and how every case would end otherwise, [N]."""


@runtime_checkable
class ExpectsCosts(Protocol):
    """A method whose own model says how likely a case is positive, who errs and what asking is expected to cost."""

    def expectations(self, run: Run, cohort: Cohort, costs: Costs) -> Expectations:
        """What is expected of every case, all members together."""


@runtime_checkable
class HasPosterior(Protocol):
    """A method with a P(positive) of its own, by which it labels what it keeps."""

    def positive(self, run: Run, cohort: Cohort) -> Floats:
        """P(positive | state) by every member, [E, N]."""


@runtime_checkable
class ModelsReaders(Protocol):
    """A method with a model of what each reader says."""

    def answers(self, run: Run, cohort: Cohort) -> Floats:
        """P(each reader says positive | truth 0, 1) by all members together, [N, M, 2]."""


@runtime_checkable
class NeedsInputs(Protocol):
    """A method that not every table can be given to."""

    def applies(self, layout: StateLayout) -> bool:
        """Whether a case has what it looks at."""


@runtime_checkable
class SeesInputs(Protocol):
    """A method that does not do the same with every case, and is quick to ask about thousands of changed ones."""

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """What it looks at: names of the state, and COHORT where it matters which cohort a case is of."""


@runtime_checkable
class Explains(SeesInputs, Protocol):
    """A method that does not decide by the log-odds of sending, but by numbers of its own."""

    def grounds(self, run: Run, cohort: Cohort) -> dict[Ground, Floats]:
        """These numbers, [N] each, all members together; none about asking where no reader is available."""
