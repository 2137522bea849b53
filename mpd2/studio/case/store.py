"""What the Case page reads, each part cached by run and case.

The worklist and everything that is expected of a case are those of the Budget page without limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.arrays import Bools, Floats
from mpd2.core.cache import cached, unchanging
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import Expectations
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Decisions, Policy, mean_policy
from mpd2.core.runs import Run
from mpd2.core.state import StateLayout
from mpd2.evaluation import explain
from mpd2.evaluation.clinical.searches import searches
from mpd2.methods.base import AsksOn, DecidesAnew, ExpectsCosts, Explains, Ground, HasPosterior, SeesInputs
from mpd2.methods.registry import NOT_DEPLOYABLE, method_of
from mpd2.planning import worklist
from mpd2.planning.day import DaySetting
from mpd2.planning.ranked_cases import rank_cases
from mpd2.planning.roster_and_limits import Limits
from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import session, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.training.anatomy import fit_anatomy

NEIGHBOURS = 5
LISTED_CASE, ANY_CASE = "listed_case", "any_case"  # keys of the session
RULE = "rule"  # the decider who has no action of its own
RIGHT, WRONG, NOT_KNOWN = "right", "wrong", "not known"


@dataclass(frozen=True, eq=False)
class Facts:
    """One case, what the active run does with it at the operating point, and why."""

    run: Run  # as it decides at the point
    title: str  # of the run
    workspace: str
    case: Cohort  # one row
    policy: Policy  # [E, 1]
    expected: Expectations  # of the one case
    costs: Costs  # by which it is decided
    actions: pd.DataFrame  # as `explain.actions_frame`
    decisions: Decisions  # [1] who is asked, and the final answer
    reason: str

    @property
    def id(self) -> str:
        """The case's id."""
        return str(self.case.ids[0])

    @property
    def train(self) -> Cohort:
        """The training cases of its workspace."""
        return store.train(self.workspace)

    @cached_property
    def chosen(self) -> pd.Series:
        """The action taken."""
        return self.actions[self.actions["chosen"]].iloc[0]

    @property
    def sent(self) -> bool:
        """Whether a reader is asked."""
        return bool(self.decisions.deferred[0])

    @property
    def positive(self) -> float:
        """P(positive) by the model that decides."""
        return float(self.expected.positive[0])

    @property
    def members(self) -> int:
        """How many models decide together."""
        return len(self.policy.defer)

    @property
    def asks_on(self) -> AsksOn | None:
        """The method, if it goes on asking after the first answer."""
        method = method_of(self.run)
        return method if isinstance(method, AsksOn) else None

    def steps_by(self, method: AsksOn) -> pd.DataFrame:
        """From what is known at first to the end of asking, by the method of the run."""
        return method.steps(self.run, self.case, self.costs)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the method looks at of a case; nothing if it does the same with every case."""
        return inputs_of(self.run, self.case.layout)

    @property
    def own_model(self) -> bool:
        """Whether what is expected comes from the method itself, not from error rates beside it."""
        return isinstance(method_of(self.run), ExpectsCosts)

    @property
    def own_posterior(self) -> bool:
        """Whether P(positive) alone comes from the method itself, and readers' errors from the rates beside it."""
        return isinstance(method_of(self.run), HasPosterior)

    @property
    def deployable(self) -> bool:
        """Whether the run decides by what is known on the day, so that it can be asked about a changed case."""
        return self.run.method not in NOT_DEPLOYABLE


def inputs_of(run: Run, layout: StateLayout) -> tuple[str, ...]:
    """What the method of a run looks at of a case; nothing if it does the same with every case."""
    method = method_of(run)
    return method.inputs(layout) if isinstance(method, SeesInputs) else ()


@cached
def anatomy(workspace: str) -> Floats:
    """How likely positive by structure alone, learned from the training cases, [K + 1]."""
    return fit_anatomy(store.train(workspace))


@cached
def listing(about: Scenario) -> pd.DataFrame:
    """The worklist of the slice without limits, in the table's order.

    Besides the columns of `worklist`: votes, members, defer (d), margin (log-odds by which a case is sent) and final
    (whether the final answer is right).
    """
    usual = DaySetting(store.manifest(about.workspace).default_costs())
    day = budget_store.day(about, usual)
    policy = _policy(about)
    truth = day.ranked.cohort.truth
    final = np.where(day.decisions.label == truth, RIGHT, WRONG)
    return budget_store.worklist(about, usual).assign(
        votes=worklist.votes(policy, store.run(about.workspace, about.run).rule, day.plan),
        members=len(policy.defer),
        defer=day.ranked.defer,
        margin=day.ranked.order.max(-1),
        final=np.where((truth == UNKNOWN) | (day.decisions.label == UNKNOWN), NOT_KNOWN, final),
    )


@cached
def in_order(about: Scenario, search: str, who: tuple[str, ...], final: str | None, order: str) -> pd.DataFrame:
    """The worklist of what a search finds, of these deciders (none: of all) and final answer, in an order."""
    rows = listing(about)[found(about)[search]]
    if who:
        decided = rows["action"].mask(rows["decided_by"] == RULE, RULE)
        rows = rows[decided.isin(who)]
    return worklist.ordered(rows if final is None else rows[rows["final"] == final], order)


@cached
def found(about: Scenario) -> dict[str, Bools]:
    """Which cases of the slice each preset search finds, [N], in the table's order."""
    usual = store.manifest(about.workspace).default_costs()
    return searches(store.cases(about), budget_store.day(about, DaySetting(usual)).decisions, usual)


def deciding(about: Scenario) -> Run:
    """The active run as it decides at the operating point; one that is recosted is as it was made."""
    run = store.run(about.workspace, about.run)
    method = method_of(run)
    return method.at(run, store.point(about.run, about)) if isinstance(method, DecidesAnew) else run


def facts(about: Scenario, case_id: str) -> Facts:
    """One case of the slice, as the run's stored policy decides it."""
    outcome, cases, policy = store.outcome(about.run, about), store.cases(about), _policy(about)
    row = np.flatnonzero(cases.ids == case_id)
    own = Policy(policy.defer[:, row], policy.allocation[:, row], policy.available[row])
    goes_on = None if outcome.continuations is None else outcome.continuations.rows(row)
    expected = budget_store.expected(about, (), store.point(about.run, about).costs)
    return _facts(about, cases.rows(row), own, goes_on, expected.rows(row))


@cached
def steps(about: Scenario, case_id: str, method: AsksOn) -> pd.DataFrame:
    """From what is known at first of a case to the end of asking, by the method of the run."""
    return facts(about, case_id).steps_by(method)


def kept_facts(about: Scenario, case_id: str) -> Facts:
    """The same as `facts`, kept for this visit until the case is another."""
    return _kept(LISTED_CASE, about, case_id, partial(facts, about, case_id))


def kept_of_case(about: Scenario, case: Cohort) -> Facts:
    """The same as `of_case`, kept for this visit until the case is another."""
    told = blake2b(digest_size=16)
    for part in (case.state, case.available, case.source):
        told.update(part.tobytes())
    return _kept(ANY_CASE, about, told.digest(), partial(of_case, about, case))


def _kept(key: str, about: Scenario, which: str | bytes, find: Callable[[], Facts]) -> Facts:
    def make() -> Facts:
        made = find()
        unchanging(made.actions)
        return made

    made_from = (about, which, store.run(about.workspace, about.run), store.cohort(about.workspace))
    return session.kept(key, made_from, make)


def of_case(about: Scenario, case: Cohort) -> Facts:
    """Any one case, real or not; the run is asked anew."""
    return _facts(about, case, *_applied(about)(case), store.expectations(about.run, about, case))


def place(about: Scenario, case_id: str) -> tuple[int, int]:
    """How many cases must be sent for this one to be among them, 0 if it never is, and how many the slice has."""
    rows = listing(about)
    return int(rows.loc[rows["case_id"] == case_id, "place"].iloc[0]), len(rows)


@dataclass(frozen=True, eq=False)
class Reason:
    """A number a case is decided by, taken apart."""

    parts: pd.DataFrame  # as `explain.attribution_frame`
    base: float  # mean of the background
    total: float  # of the case
    orders: int  # of knowing the inputs that were drawn; 0 where every set of them was looked at


@cached
@st.spinner("Taking the decision apart …")
def reasons(about: Scenario, case_id: str) -> dict[Ground, Reason]:
    """What each input adds to every number the case is decided by; none where nothing is to be decided."""
    run, case = deciding(about), _case(about, case_id)
    method, inputs = method_of(run), inputs_of(run, case.layout)
    own = partial(method.grounds, run) if isinstance(method, Explains) else None
    grounds = own or explain.sending(_applied(about), run.rule)
    found = explain.attribute(grounds, inputs, case, store.train(about.workspace)) if inputs else {}
    return {
        ground: Reason(
            explain.attribution_frame(part, case), float(part.base.mean()), float(part.total.mean()), part.orders
        )
        for ground, part in found.items()
    }


@cached
@st.spinner("Looking for changes that would turn the decision …")
def flips(about: Scenario, case_id: str) -> pd.DataFrame:
    """The smallest changes of one input that change what is done."""
    rule, train = store.run(about.workspace, about.run).rule, store.train(about.workspace)
    return explain.flips(_applied(about), rule, _case(about, case_id), train)


@cached
def stand_ins(about: Scenario, case_id: str) -> list[str]:
    """Who is asked, then who if that one is away, and so on."""
    names = ["AI", *(reader.name for reader in store.manifest(about.workspace).readers)]
    order = explain.stand_ins(_applied(about), store.run(about.workspace, about.run).rule, _case(about, case_id))
    return [names[action] for action in order]


@cached
def similar(about: Scenario, case_id: str) -> pd.DataFrame:
    """The training cases most like this one."""
    rule = store.run(about.workspace, about.run).rule
    return explain.similar_cases(_applied(about), rule, _case(about, case_id), store.train(about.workspace), NEIGHBOURS)


def _applied(about: Scenario) -> explain.Applied:
    """The active run at the operating point, to be asked about any cases."""
    return partial(store.applied, about.run, about)


def _facts(
    about: Scenario, case: Cohort, policy: Policy, continuations: Continuations | None, expected: Expectations
) -> Facts:
    run, costs = deciding(about), store.point(about.run, about).costs
    together = None if continuations is None else continuations.together()
    ranked = rank_cases(mean_policy(policy), case, run.rule, np.ones(case.readers, bool), together)
    plan = ranked.plan(Limits())
    return Facts(
        run=run,
        title=store.run_title(about.run),
        workspace=about.workspace,
        case=case,
        policy=policy,
        expected=expected,
        costs=costs,
        actions=explain.actions_frame(policy, case, run.rule, expected, costs, int(ranked.kept[0])),
        decisions=plan.decisions(case, together),
        reason=worklist.reasons(ranked, plan.action, expected)[0],
    )


def _case(about: Scenario, case_id: str) -> Cohort:
    whole = store.cohort(about.workspace)
    return whole.rows(whole.ids == case_id)


def _policy(about: Scenario) -> Policy:
    policy = store.outcome(about.run, about).policy
    if policy is None:
        raise UserError(f"run {about.run}: it keeps no policy; make the run anew")
    return policy
