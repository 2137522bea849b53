"""Live budgets: a trained run moved to any rate of deferral, beside routers trained for a budget."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.core.policy import Decisions
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import Estimate, bootstrap, estimates
from mpd2.evaluation.metrics import COUNTED, tally
from mpd2.planning.plan import reroute
from mpd2.planning.roster_and_limits import Limits
from mpd2.study.tables import StudyTables

RATES = tuple(round(step / 40, 3) for step in range(1, 40))  # of hard deferral
SHOWN = ("Defer", "ClinicalCost", "ExpertCost", "TotalCost", "F1", "MCC")
READ = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)  # rates at which the table is read
COSTS = {"ClinicalCost": "clinical", "TotalCost": "total"}
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
            rows = pd.DataFrame(estimates(partial(bootstrap, counted), weights)).assign(metric=COUNTED)
            rows.insert(0, "method", name)
            rows.insert(1, "title", outcome.title)
            rows.insert(2, "deferral", rate)
            parts.append(rows[rows["metric"].isin(SHOWN)].assign(n=len(evidence.cohort)))
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


def live_rows(tables: StudyTables) -> list[list[str]]:
    """Clinical and total cost of each run at some rates of deferral."""
    runs = dict(zip(tables["live"]["method"], tables["live"]["title"], strict=True))
    body = [
        [title, words, *(f"{_at(tables, run, metric, rate):.3f}" for rate in READ)]
        for run, title in runs.items()
        for metric, words in COSTS.items()
    ]
    return [["run", "cost", *(f"{rate:.0%} sent" for rate in READ)], *body]


def live_words(tables: StudyTables) -> str:
    """Whether training for a budget adds anything to moving a run to it."""
    trained = {metric: tables.of("budget", metric=metric) for metric in ("DeferHard", *COSTS)}
    rates = {name: rate.value for name, rate in trained["DeferHard"].items()}
    parts = []
    for run in dict.fromkeys(tables["live"]["method"]):
        live = {metric: {name: _at(tables, run, metric, rate) for name, rate in rates.items()} for metric in COSTS}
        ahead = {m: sum(cost <= trained[m][name].value for name, cost in live[m].items()) for m in COSTS}
        each = ", ".join(
            f"{trained['DeferHard'][name].title} at {rate:.1%} {live['ClinicalCost'][name]:.3f} against "
            f"{trained['ClinicalCost'][name].value:.3f}"
            for name, rate in rates.items()
        )
        parts.append(
            f"{tables.titles[run]}, moved to the rates of the {len(rates)} routers trained for a budget, has no "
            f"higher clinical cost than {ahead['ClinicalCost']} of them and no higher total cost than "
            f"{ahead['TotalCost']} (clinical cost, live against trained: {each}). At the paper's rate of "
            f"{PUBLISHED_RATE:.1%} its clinical cost is {_at(tables, run, 'ClinicalCost', PUBLISHED_RATE):.3f}, "
            f"against {_trained_at(trained, PUBLISHED_RATE):.3f} of routers trained for it (interpolated)."
        )
    return " ".join(parts)


def _at(tables: StudyTables, run: str, metric: str, rate: float) -> float:
    """A run's metric at any rate, between those of the table."""
    rows = tables["live"]
    rows = rows[(rows["method"] == run) & (rows["metric"] == metric)]
    return float(np.interp(rate, rows["deferral"], rows["value"]))


def _trained_at(trained: Mapping[str, Mapping[str, Estimate]], rate: float) -> float:
    pairs = sorted((rate.value, trained["ClinicalCost"][name].value) for name, rate in trained["DeferHard"].items())
    rates, costs = np.array(pairs).T
    return float(np.interp(rate, rates, costs))
