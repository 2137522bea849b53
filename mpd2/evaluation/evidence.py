"""What every method did with the same cases: the input of every table and curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Continuations, Decisions, Policy, Rule
from mpd2.evaluation.metrics import Tally, tally


@dataclass(frozen=True, eq=False)
class Outcome:
    """One method on the cases of an evidence; a leading axis holds its members."""

    title: str  # as shown
    published: str | None  # its name in the paper's tables
    decisions: Decisions  # [E, N]
    policy: Policy | None = None  # [E, N]; none where a method has no single soft policy
    rule: Rule = "joint"  # by which the decisions follow from the policy
    continuations: Continuations | None = None  # [E, N]; none where whoever is asked has the last word


@dataclass(frozen=True, eq=False)
class Evidence:
    """The outcomes of several methods on one slice of cases, under one set of costs."""

    cohort: Cohort
    costs: Costs
    outcomes: Mapping[str, Outcome]  # by run name, in the order of the tables
    published: Path | None = None  # the folder of what a paper prints of them; none where no paper is about these cases

    @cached_property
    def tallies(self) -> dict[str, Tally]:
        """What each case adds to each count, for every method."""
        return {name: tally(self.cohort, outcome.decisions, self.costs) for name, outcome in self.outcomes.items()}
