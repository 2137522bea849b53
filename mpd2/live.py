"""Live budgets: a trained run moved to any rate of deferral, beside routers trained for a budget."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from mpd2.arrays import Floats
from mpd2.errors import UserError
from mpd2.evidence import Evidence, Outcome
from mpd2.findings import Estimate, Figures
from mpd2.intervals import bootstrap
from mpd2.limits import Limits
from mpd2.metrics import METRICS, tally
from mpd2.planning import reroute
from mpd2.policy import Decisions
from mpd2.tables import estimates

RATES = tuple(round(step / 40, 3) for step in range(1, 40))  # of hard deferral
SHOWN = ("Defer", "ClinicalCost", "ExpertCost", "TotalCost", "F1", "MCC")
PUBLISHED_RATE = 0.437  # of the paper's best single run


def live_budgets(evidence: Evidence, savings: Mapping[str, Floats], weights: Floats) -> pd.DataFrame:
    """What each run costs when a budget moves it, member by member: the policy's own rule, and the order savings give.

    `savings` are the expected ones of asking each reader, [N, M], by run; runs without them are left out. Columns:
    method, title, deferral (the share asked for), metric (SHOWN), value, sd (over members), low, high, n.
    """
    parts = []
    for name, saving in savings.items():
        outcome = evidence.outcomes[name]
        for rate in RATES:
            counted = tally(evidence.cohort, _moved(outcome, evidence, saving, rate), evidence.costs)
            figures = pd.DataFrame(estimates(partial(bootstrap, counted), weights)).assign(metric=METRICS)
            figures.insert(0, "method", name)
            figures.insert(1, "title", outcome.title)
            figures.insert(2, "deferral", rate)
            parts.append(figures[figures["metric"].isin(SHOWN)].assign(n=len(evidence.cohort)))
    columns = ["method", "title", "deferral", "metric", "value", "sd", "low", "high", "n"]
    return pd.concat(parts, ignore_index=True)[columns]


def _moved(outcome: Outcome, evidence: Evidence, saving: Floats, rate: float) -> Decisions:
    """What every member does under a budget, [E, N]."""
    if outcome.policy is None:
        raise UserError(f"{outcome.title}: found no soft policy, which a budget could move")
    made = [
        reroute(outcome.policy.member(member), evidence.cohort, outcome.rule, Limits(budget=rate), saving=saving)
        for member in range(len(outcome.policy.defer))
    ]
    decided = [plan.decisions(evidence.cohort) for plan in made]
    return Decisions(np.stack([one.consulted for one in decided]), np.stack([one.label for one in decided]))


def live_rows(figures: Figures) -> list[list[str]]:
    """Clinical and total cost of every router trained for a budget, if there are any, beside runs moved to its rate."""
    trained = _trained(figures) if "budget" in figures.tables else {"DeferHard": {}}
    runs = list(dict.fromkeys(figures.tables["live"]["method"]))
    heads = ["trained for", "deferred", "clinical", *(f"clinical, {figures.titles[run]} live" for run in runs)]
    heads += ["total", *(f"total, {figures.titles[run]} live" for run in runs)]
    body = []
    for name, rate in trained["DeferHard"].items():
        row = [rate.title, f"{rate.value:.3f}"]
        for metric in ("ClinicalCost", "TotalCost"):
            row.append(f"{trained[metric][name].value:.3f}")
            row += [f"{_at(figures, run, metric, rate.value):.3f}" for run in runs]
        body.append(row)
    return [heads, *body]


def live_words(figures: Figures) -> str:
    """Whether training for a budget adds anything to moving a run to it."""
    trained = _trained(figures)
    rates = {name: told.value for name, told in trained["DeferHard"].items()}
    told = []
    for run in dict.fromkeys(figures.tables["live"]["method"]):
        ahead = {
            metric: sum(_at(figures, run, metric, rate) <= trained[metric][name].value for name, rate in rates.items())
            for metric in ("ClinicalCost", "TotalCost")
        }
        at = _at(figures, run, "ClinicalCost", PUBLISHED_RATE)
        told.append(
            f"{figures.titles[run]}, moved to the rates of the {len(rates)} routers trained for a budget, has no "
            f"higher clinical cost than {ahead['ClinicalCost']} of them and no higher total cost than "
            f"{ahead['TotalCost']}; at the paper's rate of {PUBLISHED_RATE:.1%} its clinical cost is {at:.3f}, against "
            f"{_trained_at(trained, PUBLISHED_RATE):.3f} of routers trained for it (interpolated)."
        )
    return " ".join(told)


def _at(figures: Figures, run: str, metric: str, rate: float) -> float:
    """A run's figure at any rate, between those of the table."""
    rows = figures.tables["live"]
    rows = rows[(rows["method"] == run) & (rows["metric"] == metric)]
    return float(np.interp(rate, rows["deferral"], rows["value"]))


def _trained(figures: Figures) -> dict[str, dict[str, Estimate]]:
    return {metric: figures.of("budget", metric=metric) for metric in ("DeferHard", "ClinicalCost", "TotalCost")}


def _trained_at(trained: Mapping[str, Mapping[str, Estimate]], rate: float) -> float:
    pairs = sorted((told.value, trained["ClinicalCost"][name].value) for name, told in trained["DeferHard"].items())
    rates, costs = np.array(pairs).T
    return float(np.interp(rate, rates, costs))
