"""A briefing of routers that send cases by lot, of any cohort."""

from __future__ import annotations

from datetime import date

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.policy import Policy, mean_policy, route
from mpd2.evaluation import curves, tables
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, Programme, cells, per_thousand
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.planning.day import NO_LIMITS, DaySetting
from mpd2.planning.dayplan import make_day
from mpd2.planning.floors import Floor
from mpd2.planning.ranked_cases import rank_cases
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.documents.board import People, PlanOfDay, plan_of_day, terms
from mpd2.present.documents.briefing import Briefing, Stamp, brief
from mpd2.present.words.people import ALONE, numbers, sentences

STAMP = Stamp(
    "Router", "test cases of all cohorts", 54, "0123456789abcdef", "1.2.3", date(2026, 3, 4), "at the AI's sensitivity"
)


def outcome(cohort: Cohort, title: str, defer: float, seed: int) -> Outcome:
    """Two members that send about a share `defer` of cases to readers by lot."""
    rng = np.random.default_rng(seed)
    allocation = rng.random((2, len(cohort), cohort.readers)) * cohort.available
    chances = (rng.random((2, len(cohort))) < defer).astype(float)
    policy = Policy(chances, allocation / allocation.sum(-1, keepdims=True), cohort.available)
    return Outcome(title, None, route(policy, cohort, "staged"), policy, "staged")


def thousand(
    evidence: Evidence, active: str, weights: Floats, programme: Programme = AS_COUNTED, currency: str = ""
) -> People:
    """The AI alone, and the run."""
    both = {ALONE: "ai", f"With {evidence.outcomes[active].title}": active}
    rows = per_thousand(evidence, programme, weights)
    arrays = [(name, cells(evidence.cohort, evidence.outcomes[run].decisions, programme)) for name, run in both.items()]
    said, notes = sentences(rows, active, evidence.cohort.manifest.task, Floor()), (terms(programme, currency),)
    return People(numbers(rows, active, evidence.cohort.manifest.task, currency), tuple(arrays), said, notes)


def planned(cohort: Cohort, outcome: Outcome, limits: Limits = NO_LIMITS) -> PlanOfDay:
    """A day of 300 cases."""
    assert outcome.policy is not None
    setting = DaySetting(cohort.manifest.default_costs(), limits, day=300)
    ranked = rank_cases(mean_policy(outcome.policy), cohort, "staged", np.ones(cohort.readers, bool))
    return plan_of_day(make_day(ranked, setting.scaled_to(len(cohort))), setting, 0.5, 2)


def briefing_of(
    cohort: Cohort,
    active: str = "mine",
    title: str = "Router",
    stamp: Stamp = STAMP,
    programme: Programme = AS_COUNTED,
    currency: str = "",
    limits: Limits = NO_LIMITS,
) -> Briefing:
    """The briefing of a router beside the AI and another."""
    outcomes = {
        "mine": outcome(cohort, title, 0.5, 1),
        "ai": outcome(cohort, "AI only", 0.0, 2),
        "other": outcome(cohort, "Another", 0.8, 3),
    }
    evidence = Evidence(cohort, cohort.manifest.default_costs(), outcomes)
    weights = resample_weights(cohort, resamples=40)
    drawn_up = {name: getattr(tables, name)(evidence, weights) for name in ("overall", "cohorts", "collapse")}
    drawn_up["paired"] = tables.paired(evidence, active, weights)
    drawn_up["tradeoff"] = curves.tradeoff(evidence, weights)
    people = thousand(evidence, active, weights, programme, currency)
    return brief(evidence, drawn_up, active, stamp, people, planned(cohort, outcomes[active], limits))
