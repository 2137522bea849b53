"""The methods, all under one contract: `fit` makes a run, `policy` applies it to cases."""

from __future__ import annotations

from mpd2.cohort import Cohort
from mpd2.errors import UserError
from mpd2.methods.base import Method
from mpd2.methods.router import Mpd2
from mpd2.policy import Decisions, Policy, route
from mpd2.runs import Run

METHODS: dict[str, Method] = {method.key: method for method in (Mpd2(),)}


def policy_of(run: Run, cohort: Cohort) -> Policy:
    """The policy of every member of a run for the cases of `cohort`, [E, N]."""
    if run.method not in METHODS:
        raise UserError(f"method: found {run.method!r}, expected one of {', '.join(METHODS)}")
    run.check_readers(cohort)
    return METHODS[run.method].policy(run, cohort).rounded()


def decisions_of(run: Run, cohort: Cohort) -> Decisions:
    """What every member of a run does with every case, by the run's own rule."""
    return route(policy_of(run, cohort), cohort, run.rule)
