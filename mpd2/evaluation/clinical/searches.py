"""Cases worth looking at, found in one press: where the AI, the rule or everybody went wrong, and what cost most."""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Bools
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.manifest import Task
from mpd2.core.policy import RULE, Decisions, deciders
from mpd2.core.text import capital

CONFIDENT = 0.9  # least probability of its own answer with which the AI is confident
DEAREST = 20  # cases
SEARCHES = ("all", "confident", "overruled", "missed", "dearest")


def titles(task: Task) -> dict[str, str]:
    """Every search in a few words, by its key."""
    return {
        "all": "All cases",
        "confident": "AI confident and wrong",
        "overruled": "AI overruled unread",
        "missed": f"{capital(task.positive)} missed by all",
        "dearest": f"The {DEAREST} dearest",
    }


def meanings(task: Task) -> dict[str, str]:
    """What each finds, but for all cases."""
    return {
        "confident": f"the AI gives its own answer {CONFIDENT:.0%} or more, and is wrong",
        "overruled": "the rule decides against the AI with nobody asked",
        "missed": f"{task.one}, to which the AI, everybody who was asked and the final answer say {task.negative}",
        "dearest": "errors and fees of what was done, by the costs of the table",
    }


def searches(cohort: Cohort, decisions: Decisions, costs: Costs) -> dict[str, Bools]:
    """Which cases each search finds, [N], when `decisions`, [N], are made; what depends on an unknown truth is not."""
    probability, known = cohort.ai_probability, cohort.truth != UNKNOWN
    confident = np.maximum(probability, 1 - probability) >= CONFIDENT
    silent = np.zeros((len(cohort), 1), cohort.decisions.dtype)  # for NOBODY, the last
    heard = np.take_along_axis(np.column_stack([cohort.decisions, silent]), decisions.consulted, -1)  # [N, K]
    called = (heard == 1).any(-1) | (cohort.ai_label == 1) | (decisions.label == 1)
    return {
        "all": np.ones(len(cohort), bool),
        "confident": known & confident & (cohort.ai_label != cohort.truth),
        "overruled": deciders(decisions, cohort) == RULE,
        "missed": (cohort.truth == 1) & (decisions.label == 0) & ~called,
        "dearest": _dearest(cohort, decisions, costs),
    }


def _dearest(cohort: Cohort, decisions: Decisions, costs: Costs) -> Bools:
    """The cases whose errors and readings cost most, [N]; of equal ones the first, and none that cost nothing."""
    fees = np.append(costs.fees_for(cohort), 0.0)[decisions.consulted].sum(-1)  # NOBODY, the last, is free
    judged = (cohort.truth != UNKNOWN) & (decisions.label != UNKNOWN)
    spent = np.where(judged, costs.of_errors(decisions.label, cohort.truth) + fees, 0.0)
    found = np.zeros(len(cohort), bool)
    found[np.argsort(-spent, kind="stable")[:DEAREST]] = True
    return found & (spent > 0)
