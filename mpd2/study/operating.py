"""Any run at any operating point: a method that weighs costs when it decides does so anew, others are recosted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from mpd2.core.arrays import Ints
from mpd2.core.cohort import Cohort
from mpd2.core.costs import OperatingPoint
from mpd2.core.error_rates import ErrorModel, ErrorRates, Expectations
from mpd2.core.policy import (
    Continuations,
    Decisions,
    Policy,
    decided_together,
    from_preferences,
    mean_policy,
    preferences,
    route,
)
from mpd2.core.runs import Run
from mpd2.methods.base import DecidesAnew
from mpd2.methods.registry import continuations_of, expectations_of, method_of, policy_of
from mpd2.planning.floors import Choice, Floor, choose_weight
from mpd2.planning.recosting import exchange_rate, in_unit_of, savings

PolicyFor = Callable[[Cohort], Policy]
"""The policy a run was made for, [E, N], for any of its cases."""


def as_fitted(run: Run, confident: float | None = None) -> OperatingPoint:
    """The point a run was made for: the cheapest under its own costs."""
    return OperatingPoint(run.costs, confident)


def at_weight(run: Run, miss: float, confident: float | None = None, rates: tuple[float, ...] = ()) -> OperatingPoint:
    """The point at which a miss has another weight, with everything else as it was."""
    return OperatingPoint(replace(run.costs, false_negative=miss), confident, rates)


def choose_point(
    run: Run,
    val: Cohort,
    floor: Floor,
    errors: ErrorModel | None,
    confident: float | None = None,
    own: PolicyFor | None = None,
) -> tuple[OperatingPoint, Choice]:
    """The operating point that keeps a floor on val, and how it was chosen; all members decide together.

    `errors` is needed by methods that are recosted; `own` gives their policy for cases where it is stored.
    """
    own = own or partial(policy_of, run)
    rates = exchange_rates(run, own, val, errors)
    choice = choose_weight(floor, val, partial(labels_by_weight, run, errors, own, rates, confident), run.costs)
    return at_weight(run, choice.weight, confident, rates), choice


def labels_by_weight(
    run: Run,
    errors: ErrorModel | None,
    own: PolicyFor,
    rates: tuple[float, ...],
    confident: float | None,
    cohort: Cohort,
) -> Callable[[float], Ints]:
    """How the cases end at any weight of a miss when all members decide together, [N]."""
    method = method_of(run, cohort)
    if isinstance(method, DecidesAnew):
        decide = method.deciding(run, cohort)
        return lambda weight: decide(at_weight(run, weight, confident)).label
    policy, continuations = _recosting(run, cohort, errors, own), continuations_of(run, cohort)

    def labels(weight: float) -> Ints:
        moved = policy(at_weight(run, weight, confident, rates))
        return decided_together(moved, cohort, run.rule, continuations).label

    return labels


def policy_at(
    run: Run, cohort: Cohort, point: OperatingPoint, errors: ErrorModel | None, own: PolicyFor | None = None
) -> Policy:
    """The policy of every member at a point, [E, N]; `own` gives the one the run was made for where it is stored."""
    method = method_of(run, cohort)
    if isinstance(method, DecidesAnew):
        return policy_of(method.at(run, point), cohort)
    return _recosting(run, cohort, errors, own or partial(policy_of, run))(point)


def continuations_at(run: Run, cohort: Cohort, point: OperatingPoint) -> Continuations | None:
    """How every case ends under every member at a point, [E, N]; none where whoever is asked has the last word."""
    method = method_of(run, cohort)
    return continuations_of(method.at(run, point) if isinstance(method, DecidesAnew) else run, cohort)


def together_at(
    run: Run, cohort: Cohort, errors: ErrorModel | None
) -> Callable[[OperatingPoint], tuple[Policy, Continuations | None]]:
    """What all members together make of the cases at any point, [N]: their policy, and how each case would end."""
    method = method_of(run, cohort)
    if isinstance(method, DecidesAnew):
        return method.together(run, cohort)
    policy, goes_on = _recosting(run, cohort, errors, partial(policy_of, run)), continuations_of(run, cohort)
    together = None if goes_on is None else goes_on.together()
    return lambda point: (mean_policy(policy(point)), together)


def expectations_at(run: Run, cohort: Cohort, point: OperatingPoint, errors: ErrorModel | None) -> Expectations | None:
    """What is expected of every case, under the costs of the point, by the model that decides it there."""
    method = method_of(run, cohort)
    return expectations_of(
        method.at(run, point) if isinstance(method, DecidesAnew) else run, cohort, point.costs, errors
    )


def decisions_at(run: Run, cohort: Cohort, point: OperatingPoint, errors: ErrorModel | None) -> Decisions:
    """What every member of a run does with every case at a point, [E, N]."""
    return route(policy_at(run, cohort, point, errors), cohort, run.rule, continuations_at(run, cohort, point))


def _recosting(
    run: Run, cohort: Cohort, errors: ErrorModel | None, own: PolicyFor
) -> Callable[[OperatingPoint], Policy]:
    """The recosted policy at any point, [E, N]; what no point changes is computed once. Without errors it stays."""
    policy, rates = own(cohort), None if errors is None else errors.predict(cohort)
    return lambda point: policy if rates is None else recosted_policy(policy, run, rates, point)


def recosted_policy(policy: Policy, run: Run, errors: ErrorRates, point: OperatingPoint) -> Policy:
    """A policy moved by what asking each reader saves more, or less, under the costs of the point, [E, N]."""
    if point.costs == run.costs:
        return policy
    wanted = in_unit_of(run.costs, point.costs)
    change = savings(errors, wanted) - savings(errors, run.costs)  # [N, M]
    preference = preferences(policy, run.rule)  # [E, N, M]
    moved = preference + np.array(point.rates)[:, None, None] * change
    return from_preferences(moved, policy.available, run.rule)


def exchange_rates(run: Run, own: PolicyFor, cohort: Cohort, errors: ErrorModel | None) -> tuple[float, ...]:
    """What a unit of expected saving is worth to each member, in log-odds; none where a method decides anew."""
    if errors is None or isinstance(method_of(run, cohort), DecidesAnew):
        return ()
    saving, preference = savings(errors.predict(cohort), run.costs), preferences(own(cohort), run.rule)
    return tuple(exchange_rate(member, saving) for member in preference)
