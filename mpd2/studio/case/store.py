"""What the Case page reads, each part cached by run and case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates, expected_costs
from mpd2.core.errors import UserError
from mpd2.core.memo import cached
from mpd2.core.policy import Policy
from mpd2.core.runs import Run
from mpd2.evaluation import explain
from mpd2.methods import policy_of
from mpd2.methods.plus.method import Plus, expected_of
from mpd2.planning import worklist
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.training.anatomy import fit_anatomy

NEIGHBOURS = 5


@dataclass(frozen=True, eq=False)
class Facts:
    """One case and what the active run does with it."""

    run: Run
    title: str  # of the run
    case: Cohort  # one row
    policy: Policy  # [E, 1]
    actions: pd.DataFrame  # as `explain.actions_frame`

    @property
    def id(self) -> str:
        """The case's id."""
        return str(self.case.ids[0])

    @property
    def chosen(self) -> pd.Series:
        """The action taken."""
        return self.actions[self.actions["chosen"]].iloc[0]

    @property
    def routers(self) -> str:
        """What a member of the run is called."""
        return "routers" if explain.has_router(self.run) else "trained versions"


@cached
def train() -> Cohort:
    """The training cases."""
    return store.cohort().subset(split="train")


@cached
def anatomy() -> Floats:
    """Glaucoma from the cup-to-disc ratios alone, learned from the training cases, [3]."""
    return fit_anatomy(train())


@cached
def listing(about: Scenario) -> pd.DataFrame:
    """The worklist of the slice, in the table's order."""
    facts = store.evidence(about)
    expected = _expected(about.run, facts.cohort, store.error_model(about.run).predict(facts.cohort), facts.costs)
    continuations = facts.outcomes[about.run].continuations
    return worklist.worklist(_policy(about), facts.cohort, store.run(about.run).rule, expected, continuations)


def facts(about: Scenario, case_id: str) -> Facts:
    """One case of the slice, as the run's stored policy decides it."""
    cases, policy = store.evidence(about).cohort, _policy(about)
    row = np.flatnonzero(cases.ids == case_id)
    own = Policy(policy.defer[:, row], policy.allocation[:, row], policy.available[row])
    return of_case(about.run, cases.rows(row), own)


def of_case(run_name: str, case: Cohort, policy: Policy | None = None) -> Facts:
    """Any one case, real or not; its policy is worked out unless given."""
    run = store.run(run_name)
    policy = policy_of(run, case) if policy is None else policy
    costs = store.cohort().manifest.default_costs()
    errors = store.error_model(run_name).predict(case)
    actions = explain.actions_frame(policy, case, run.rule, errors, costs)
    actions = actions.assign(expected_cost=_expected(run_name, case, errors, costs)[0])
    return Facts(run, store.run_title(run_name), case, policy, actions)


@cached
@st.spinner("Taking the decision apart …")
def attribution(run_name: str, case_id: str) -> tuple[pd.DataFrame, float, float]:
    """What each input adds, the mean log-odds of the background and those of the case."""
    case = _case(case_id)
    found = explain.attribute(store.run(run_name), case, train())
    return explain.attribution_frame(found, case), float(found.base.mean()), float(found.logit.mean())


@cached
def flips(run_name: str, case_id: str) -> pd.DataFrame:
    """The smallest changes that turn the decision."""
    return explain.flips(store.run(run_name), _case(case_id), train())


@cached
def stand_ins(run_name: str, case_id: str) -> list[str]:
    """Who is asked, then who if that one is away, and so on."""
    names = ["AI", *(reader.name for reader in store.cohort().manifest.readers)]
    return [names[action] for action in explain.stand_ins(store.run(run_name), _case(case_id))]


@cached
def similar(run_name: str, case_id: str) -> pd.DataFrame:
    """The training cases most like this one."""
    return explain.similar_cases(store.run(run_name), _case(case_id), train(), NEIGHBOURS)


def _expected(run_name: str, cohort: Cohort, errors: ErrorRates, costs: Costs) -> Floats:
    """What every action is expected to cost, [N, 1 + M]: by the run's own posterior where it goes on from there."""
    expected, run = expected_costs(errors, costs), store.run(run_name)
    if run.method != Plus.key:
        return expected
    own = expected_of(run, cohort)
    return np.where(np.isfinite(own), own, expected)


def _case(case_id: str) -> Cohort:
    return store.cohort().rows(store.cohort().ids == case_id)


def _policy(about: Scenario) -> Policy:
    policy = store.evidence(about).outcomes[about.run].policy
    if policy is None:
        raise UserError(f"run {about.run}: it keeps no policy; make the run anew")
    return policy
