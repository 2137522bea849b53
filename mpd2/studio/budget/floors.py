"""Floors on the Budget page: the weight of a miss that keeps one under limits, and what trust in the AI costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from mpd2.core.arrays import Ints
from mpd2.core.cache import cached
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import apply_actions
from mpd2.evaluation.intervals import Estimate, bootstrap, observed, percentiles
from mpd2.evaluation.metrics import COUNTED, tally
from mpd2.planning.day import DaySetting
from mpd2.planning.dayplan import ALL_METRICS, difference
from mpd2.planning.floors import Choice, Floor, choose_weight
from mpd2.planning.recosting import in_unit_of
from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

EVERY = 3  # weights of the grid of which one is tried where all have to be tried one by one


@dataclass(frozen=True)
class Standing:
    """How a floor stands under a setting."""

    choice: Choice  # on val
    alarms: float  # false alarms that a miss weighs as much as
    without: float  # as many without limits
    rate: Estimate  # on the slice
    above: Estimate  # the floor, on the same resampled cases where it is the AI's own rate


def settled(about: Scenario, setting: DaySetting) -> DaySetting:
    """The same with the weight of a miss that keeps the floor under its limits; where there are none, the point's."""
    choice = chosen(about, setting)
    return replace(setting, weight=None if choice is None else choice.weight)


def chosen(about: Scenario, setting: DaySetting) -> Choice | None:
    """How the weight was chosen on val under the same roster, costs and share sent; none without floor or limits."""
    if about.floor is None or not setting.is_limited:
        return None
    val = replace(about, split=budget_store.VAL, cohorts=())
    return _chosen(val, about.floor, replace(setting, weight=None))


def standing(about: Scenario, setting: DaySetting) -> Standing | None:
    """How the floor stands on val and on the slice under a setting that is limited; none without floor or limits."""
    choice = chosen(about, setting)
    if choice is None:
        return None
    judged = budget_store.measure(about, setting)
    rate, column = judged.metrics[choice.floor.rate], ALL_METRICS.index(choice.floor.rate)
    weighs = (_alarms(budget_store.routed_costs(about, setting)), _alarms(store.point(about.run, about).costs))
    if choice.floor.level is not None:
        level = choice.floor.level
        return Standing(choice, *weighs, rate, Estimate(rate.value - level, rate.low - level, rate.high - level))
    cohort = judged.day.ranked.cohort
    ai = tally(cohort, apply_actions(np.zeros(len(cohort), np.int64), cohort), setting.costs)
    of_ai = COUNTED.index(choice.floor.rate)
    low, high = percentiles(judged.samples[:, column] - bootstrap(ai, store.weights(about))[:, of_ai])
    return Standing(choice, *weighs, rate, Estimate(rate.value - float(observed(ai)[of_ai]), float(low), float(high)))


@st.spinner("Counting …")
def price_of_trust(about: Scenario, setting: DaySetting, prevalence: float | None) -> dict[str, Estimate]:
    """What every metric is more because no confident AI is overruled unread, on the same resampled cases."""
    free = replace(about, confident=None)
    without = budget_store.measure(free, settled(free, setting), prevalence)
    return difference(without, budget_store.measure(about, setting, prevalence))


def _alarms(costs: Costs) -> float:
    return costs.false_negative / costs.false_positive if costs.false_positive else float("inf")


@cached
@st.spinner("Choosing what a miss must weigh …")
def _chosen(val: Scenario, floor: Floor, setting: DaySetting) -> Choice:
    """The weight of a miss under which the day of all val cases keeps the floor."""
    own, cases = store.run(val.workspace, val.run).costs, store.cases(val)

    def deciding(rated: Cohort) -> Callable[[float], Ints]:
        rows = np.isin(cases.ids, rated.ids)
        return lambda weight: budget_store.day(val, replace(setting, weight=weight)).decisions.label[rows]

    costs = in_unit_of(own, setting.costs) if setting.for_costs else own
    return choose_weight(floor, cases, deciding, costs, EVERY if floor.sure else 1)
