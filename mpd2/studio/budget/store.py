"""What the Budget page reads: worklists, plans and curves, cached for everybody by run, slice and setting.

A slider that is dragged asks for ten of these at every step, so a lookup must cost no more than a few microseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools
from mpd2.core.cache import cached
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates import ErrorRates, Expectations
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.core.policy import Continuations, Policy, mean_policy
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, Programme
from mpd2.evaluation.intervals import Estimate, observed
from mpd2.evaluation.metrics import COUNTED
from mpd2.planning import dayplan
from mpd2.planning.budget_sweep import STEPS, BudgetSweep, can_sweep, sweep_budgets
from mpd2.planning.day import CASES_A_DAY, DaySetting
from mpd2.planning.dayplan import DayPlan, Judged
from mpd2.planning.ranked_cases import FINE, RankedCases, cheapest, for_costs, most_urgent, operating_curve, rank_cases
from mpd2.planning.recosting import in_unit_of, savings
from mpd2.planning.roster_and_limits import Limits
from mpd2.planning.worklist import worklist as planned
from mpd2.present.charts import budget as charts
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.words import budget as words
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.operating import together_at

VAL = "val"
SPARKS, SPARK_POINTS = ("Sens", "Spec", "Defer", "TotalCost"), 26


@dataclass(frozen=True)
class Optimum:
    """The budget of least total cost, and on which cases it was found."""

    budget: float
    value: float
    split: str
    n: int


@cached
def errors(about: Scenario) -> ErrorRates:
    """How likely everybody is to err on each case of the slice."""
    return store.error_model(about.workspace, about.run).predict(store.cases(about))


@cached
def ranked(about: Scenario, away: tuple[str, ...], routed: Costs) -> RankedCases:
    """The worklist of the slice with those who are there, routed for these costs."""
    run, cases = store.run(about.workspace, about.run), store.cases(about)
    present = Limits(away=away).present(cases.manifest)
    outcome = store.outcome(about.run, about)
    if outcome.policy is None:
        raise UserError(f"run {about.run}: it keeps no policy; make the run anew")
    at = store.point(about.run, about)
    if outcome.continuations is None:
        saving = savings(errors(about), at.costs)
        own = rank_cases(mean_policy(outcome.policy), cases, run.rule, present, saving=saving)
        return own if routed == at.costs else for_costs(own, errors(about), at.costs, routed)
    if present.all() and routed == at.costs:
        return rank_cases(mean_policy(outcome.policy), cases, run.rule, present, outcome.continuations.together())
    # What a method asks next depends on who is there and on the costs: it decides anew.
    policy, continuations = _anew(about.as_fitted(), away)(replace(at, costs=routed))
    return rank_cases(policy, cases.with_available(present), run.rule, present, continuations)


@cached
def _anew(about: Scenario, away: tuple[str, ...]) -> Callable[[OperatingPoint], tuple[Policy, Continuations | None]]:
    cases = store.cases(about)
    there = cases.with_available(Limits(away=away).present(cases.manifest))
    return together_at(store.run(about.workspace, about.run), there, store.error_model(about.workspace, about.run))


@cached
def size(about: Scenario) -> int:
    """How many cases the slice has."""
    return len(store.cases(about))


@cached
def own_share(about: Scenario) -> float:
    """The share of cases the run sends by default: everybody there, no limits, its own costs."""
    return day(about, DaySetting(store.run(about.workspace, about.run).costs)).share


def routed_costs(about: Scenario, setting: DaySetting) -> Costs:
    """The costs that cases are routed for, in the run's unit: those of the operating point unless asked otherwise."""
    if setting.for_costs:
        costs = in_unit_of(store.run(about.workspace, about.run).costs, setting.costs)
    else:
        costs = store.point(about.run, about).costs
    return costs if setting.weight is None else replace(costs, false_negative=setting.weight)


def weighed_costs(about: Scenario, setting: DaySetting) -> Costs:
    """The costs by which a case is told to be worth a reading: those it is decided by, or the user's own."""
    usual = store.manifest(about.workspace).default_costs()
    return routed_costs(about, replace(setting, for_costs=False)) if setting.costs == usual else setting.costs


def ranked_for(about: Scenario, setting: DaySetting) -> RankedCases:
    """The worklist a setting is about."""
    return ranked(about, setting.limits.away, routed_costs(about, setting))


def urgent(about: Scenario, setting: DaySetting) -> Bools:
    """Which cases may use the reserve, [N]."""
    cases = setting.scaled_to(size(about)).urgent
    return most_urgent(expected(about, setting.limits.away, weighed_costs(about, setting)), cases)


@cached
def expected(about: Scenario, away: tuple[str, ...], costs: Costs) -> Expectations:
    """What is expected of each case of the slice, with those who are there, by the model that decides it."""
    cases = store.cases(about)
    there = cases.with_available(Limits(away=away).present(cases.manifest))
    return store.expectations(about.run, about, there, costs)


def worklist(about: Scenario, setting: DaySetting) -> pd.DataFrame:
    """Who reads each case under a setting, and why."""
    made = day(about, setting)
    rows = planned(made.ranked, made.plan, expected(about, setting.limits.away, weighed_costs(about, setting)))
    return rows.assign(urgent=urgent(about, setting))


@cached
def day(about: Scenario, setting: DaySetting) -> DayPlan:
    """Who reads what under a setting, its numbers of cases scaled from a day to the slice."""
    chosen = urgent(about, setting) if setting.limits.reserve else None
    return dayplan.make_day(ranked_for(about, setting), setting.scaled_to(size(about)), chosen)


def measure(about: Scenario, setting: DaySetting, prevalence: float | None = None) -> Judged:
    """All metrics of a setting, with intervals; people at another prevalence, if one is given."""
    return _measure(about, setting, prevalence)


@cached
def _measure(about: Scenario, setting: DaySetting, prevalence: float | None) -> Judged:
    return dayplan.measure(day(about, setting), store.weights(about), prevalence)


def while_dragged(about: Scenario, setting: DaySetting) -> Mapping[str, Estimate]:
    """The numbers of one step of the slider; from the sweep, if there is one."""
    limits = setting.limits
    if limits.budget is None or not can_sweep(limits):
        return measure(about, setting).metrics
    return _sweep(about, _kind(setting), None).metrics.at(round(STEPS * limits.budget))


def sweep_texts(about: Scenario, start: DaySetting, told: Programme = AS_COUNTED) -> dict[str, str] | None:
    """The texts of `words.budget` at every step of a slider that is dragged from a setting, told in a programme.

    None under capacities: every budget would be an assignment of its own, seconds for all of them.
    """
    if not can_sweep(start.limits):
        return None
    values = _values_along(about, _kind(start), told.prevalence, told.minutes)
    return {"values": values, "changes": _changes_along(about, start, told.prevalence)}


def asks_on(about: Scenario, setting: DaySetting) -> bool:
    """Whether a case may have several readings."""
    continuations = ranked_for(about, setting).continuations
    return continuations is not None and continuations.consulted.shape[-1] > 1


def curve(about: Scenario, setting: DaySetting) -> pd.DataFrame:
    """Cost at every budget, without capacities."""
    return _curve(about, _kind(setting))


def backdrop(about: Scenario, setting: DaySetting) -> Drawing:
    """The curve as drawn, with what does not move: the optimum, and routers trained for a budget."""
    return _backdrop(about, _kind(setting))


def optimum(about: Scenario, setting: DaySetting) -> Optimum | None:
    """The cheapest budget on the val cases of the same cohorts, not on those it is judged by; none without any."""
    try:
        return _optimum(replace(about, split=VAL), _kind(setting))
    except EmptyCohort:
        return None


def hindsight(about: Scenario, setting: DaySetting) -> Optimum:
    """The cheapest budget on the slice itself, known only afterwards."""
    return _optimum(about, _kind(setting))


@cached
def cohorts(about: Scenario, before: DaySetting, after: DaySetting) -> pd.DataFrame:
    """What a change of setting does to each cohort."""
    cases = store.cases(about)
    return dayplan.by_cohort(measure(about, before).day, measure(about, after).day, cases, store.weights(about))


@cached
def small_curves(about: Scenario) -> dict[str, list[float]]:
    """What SPARKS come to as more cases are sent, from none to all, at the run's own costs."""
    usual = DaySetting(store.run(about.workspace, about.run).costs)
    own = ranked_for(about, usual)
    days = [dayplan.make_day(own, usual.with_budget(share)) for share in np.linspace(0, 1, SPARK_POINTS)]
    counted = np.array([observed(each.tally) for each in days])  # [P, metrics]
    busiest = [each.load.max() / each.readings if each.readings else np.nan for each in days]
    return {name: counted[:, COUNTED.index(name)].tolist() for name in SPARKS} | {"Top1": busiest}


def members(about: Scenario) -> int:
    """How many models decide together."""
    return store.run(about.workspace, about.run).members


def _kind(setting: DaySetting) -> DaySetting:
    """What a curve depends on: roster, costs and the kind of budget, but neither capacities nor a number of cases."""
    limits = setting.limits
    kind = Limits(budget=1.0, soft=limits.soft, by_cohort=limits.by_cohort, away=limits.away)
    return replace(setting, limits=kind, urgent=0, day=CASES_A_DAY)


@cached
def _sweep(about: Scenario, kind: DaySetting, prevalence: float | None) -> BudgetSweep:
    return sweep_budgets(ranked_for(about, kind), kind, store.weights(about), prevalence)


@cached
def _values_along(about: Scenario, kind: DaySetting, prevalence: float | None, minutes: float) -> str:
    return words.values_along(_sweep(about, kind, prevalence), asks_on(about, kind), minutes)


@cached
def _changes_along(about: Scenario, start: DaySetting, prevalence: float | None) -> str:
    return words.changes_along(_sweep(about, _kind(start), prevalence), measure(about, start, prevalence))


@cached
def _curve(about: Scenario, kind: DaySetting) -> pd.DataFrame:
    return operating_curve(ranked_for(about, kind), kind.limits, kind.costs, store.weights(about))


@cached
def _optimum(about: Scenario, kind: DaySetting) -> Optimum:
    cases = ranked_for(about, kind)
    best = cheapest(operating_curve(cases, kind.limits, kind.costs, points=FINE))
    return Optimum(float(best["budget"]), float(best["value"]), about.split, len(cases.cohort))


@cached
def _backdrop(about: Scenario, kind: DaySetting) -> Drawing:
    rows, best = _curve(about, kind), optimum(about, kind)
    place = None
    if best is not None:
        total = rows[rows["metric"] == "TotalCost"]
        share = float(np.interp(best.budget, total["budget"], total["sent"] / total["n"]))
        place = (share, f"optimum of the {best.split} cases")
    return charts.cost_curve(rows, place, trained_for_budgets(about, kind))


@cached
def longest_list(about: Scenario, away: tuple[str, ...], routed: Costs) -> int:
    """The readings of the busiest reader if every case is sent and nobody is ever full."""
    order = ranked(about, away, routed).order
    first = order.argmax(-1)[np.isfinite(order).any(-1)]
    return int(np.bincount(first, minlength=1).max())


def has_trained(about: Scenario, setting: DaySetting) -> bool:
    """Whether routers trained for a budget were judged on these cases by these costs."""
    here = about.is_as_published and results.has(about.workspace, "budget")
    return here and setting.costs == store.manifest(about.workspace).default_costs()


def trained_for_budgets(about: Scenario, setting: DaySetting) -> pd.DataFrame | None:
    """The study's routers that were trained for a budget; none where they were judged on other cases or costs.

    Columns: method, title, deferral (hard), metric, value, low, high.
    """
    if not has_trained(about, setting):
        return None
    rows = results.stored(about.workspace, "budget")
    deferral = rows[rows["metric"] == "DeferHard"].set_index("method")["value"]
    shown = rows[rows["metric"].isin(["TotalCost", "ClinicalCost"])]
    columns = ["method", "title", "deferral", "metric", "value", "low", "high"]
    return shown.assign(deferral=shown["method"].map(deferral).astype(np.float64))[columns].reset_index(drop=True)
