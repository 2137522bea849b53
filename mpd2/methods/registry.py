"""Every method by its key, and what a run of any of them does with cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorModel, Expectations, expectations
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Decisions, Policy, route
from mpd2.core.runs import FILLS, Run
from mpd2.core.state import StateLayout
from mpd2.methods.base import ExpectsCosts, HasPosterior, KeepsSettings, Method, NeedsInputs, Relabels
from mpd2.methods.hemmer import Hemmer
from mpd2.methods.keswani import Keswani
from mpd2.methods.mao import Mao
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.narasimhan import Narasimhan
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated, RecalibratedScore
from mpd2.methods.simple import AiOnly, AlwaysDefer, BestReader, Oracle, RandomReader, Threshold
from mpd2.methods.verma import Verma

_ALL: tuple[Method, ...] = (
    Mpd2(),
    Plus(),
    AiOnly(),
    RecalibratedScore(),
    Recalibrated(),
    Mao(),
    Mao(cost_aware=False),
    Narasimhan(),
    Narasimhan(cost_aware=False),
    Verma(),
    Verma(cost_aware=False),
    Hemmer(),
    Hemmer(cost_aware=False),
    Keswani(),
    Keswani(cost_aware=False),
    BestReader(),
    RandomReader(),
    Threshold("uncertainty", "Uncertainty threshold", ("uncertainty",)),
    Threshold("quality-ood", "Quality and OOD threshold", ("quality", "distance")),
    AlwaysDefer(),
    Oracle(),
)

METHODS: dict[str, Method] = {method.key: method for method in _ALL}

NOT_DEPLOYABLE = frozenset({Oracle.key})
"""Methods that need the answers and so can only bound the others."""


def policy_of(run: Run, cohort: Cohort) -> Policy:
    """The policy of every member of a run for the cases of `cohort`, [E, N]."""
    return method_of(run, cohort).policy(run, _filled(run, cohort)).rounded()


def continuations_of(run: Run, cohort: Cohort) -> Continuations | None:
    """How every case ends under every member, [E, N]; none where whoever is asked has the last word."""
    method = method_of(run, cohort)
    return method.continuations(run, _filled(run, cohort)) if isinstance(method, Relabels) else None


def decisions_of(run: Run, cohort: Cohort) -> Decisions:
    """What every member of a run does with every case, by the run's own rule."""
    return route(policy_of(run, cohort), cohort, run.rule, continuations_of(run, cohort))


def expectations_of(run: Run, cohort: Cohort, costs: Costs, errors: ErrorModel | None) -> Expectations | None:
    """What is expected of every case by the model that decides it: the method's own, else the run's error rates.

    Where a method knows how likely positive is but has no model of readers, how these err is from the error rates.
    None where these are needed and the run keeps none.
    """
    method, cohort = method_of(run, cohort), _filled(run, cohort)
    if isinstance(method, ExpectsCosts):
        return method.expectations(run, cohort, costs)
    if errors is None:
        return None
    if isinstance(method, HasPosterior):
        return _by_posterior(method.positive(run, cohort).mean(0), errors, cohort, costs)
    return expectations(errors.predict(cohort), cohort, costs)


def applicable(layout: StateLayout) -> list[str]:
    """The keys of the methods that a table with this state can be given to."""
    return [key for key, method in METHODS.items() if not isinstance(method, NeedsInputs) or method.applies(layout)]


def _filled(run: Run, cohort: Cohort) -> Cohort:
    """The cases with what the run puts in place of an input that was not measured."""
    fills = run.notes.get(FILLS)
    return cohort if fills is None else cohort.filled_with(fills)


def method_of(run: Run, cohort: Cohort | None = None) -> Method:
    """The method that made a run; refused for a cohort with other readers."""
    if run.method not in METHODS:
        raise UserError(f"method: found {run.method!r}, expected one of {', '.join(METHODS)}")
    if cohort is not None:
        run.check_readers(cohort)
    return METHODS[run.method]


def refit(run: Run, cohort: Cohort) -> Run:
    """The method of a run with its settings, seeds and costs, fitted to other cases."""
    method = method_of(run, cohort)
    again = method.as_made(run) if isinstance(method, KeepsSettings) else method
    return again.fit(cohort, run.costs, [int(member["seed"]) for member in run.settings])


def _by_posterior(positive: Floats, errors: ErrorModel, cohort: Cohort, costs: Costs) -> Expectations:
    """What is expected where positive has these probabilities, [N]: a kept case has the cheaper error's label."""
    expected = expectations(errors.predict(cohort, positive), cohort, costs)
    kept = np.minimum(costs.false_negative * positive, costs.false_positive * (1 - positive))
    return replace(expected, cost=np.column_stack([kept, expected.cost[:, 1:]]))
