"""The worklist: who reads each case and why, when all members of a run decide together.

One builder for every page, the command line and every file that is downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates import Expectations
from mpd2.core.errors import UserError
from mpd2.core.policy import (
    DECIDED_BY,
    Continuations,
    Policy,
    Rule,
    best_actions,
    choose,
    deciders,
    mean_policy,
)
from mpd2.core.text import of_100
from mpd2.planning.plan import Plan
from mpd2.planning.ranked_cases import RankedCases, rank_cases
from mpd2.planning.roster_and_limits import Limits

ORDERS = {
    "costly": "Most costly first",
    "close": "Closest call first",
    "disputed": "Most disagreement first",
}
"""The ways to say which case should be looked at first."""

NO_ROOM = "Kept because there is no place for it."
FILLS = "Sent because there is a place for it."
OVERRULED = "The rule overrules the AI"


def worklist(ranked: RankedCases, plan: Plan, expected: Expectations | None = None) -> pd.DataFrame:
    """Who reads each case under a plan, and why; a row a case, in the order of the cohort.

    Columns: case_id, cohort, ai_answer, ai_probability, reader (who reads it first, else AI or rule), then_1 and so on
    (whom a method asks after that, where it does), decided_by (one of DECIDED_BY), answer (of a case that is kept, else
    empty), place (how many cases must be sent for this one to be among them; 0 where nobody can read it) and action
    (the reader's column, or ai). With what is `expected` of the cases also reason, expected_cost (of what is done with
    it) and kept_cost (if it were kept), before the last two. The truth and what readers say are not in it: nobody
    knows them on the day.
    """
    cohort, action = ranked.cohort, plan.action
    decisions = plan.decisions(cohort, ranked.continuations)
    asked = _names(cohort)[decisions.consulted]  # [N, K]
    decided_by = np.array(DECIDED_BY, object)[deciders(decisions, cohort)]
    columns: dict[str, np.ndarray | pd.Series | list[str]] = {
        "case_id": cohort.ids,
        "cohort": np.array([entry.name for entry in cohort.manifest.cohorts])[cohort.source],
        "ai_answer": _answers(cohort, cohort.ai_label),
        "ai_probability": cohort.ai_probability,
        "reader": np.where(asked[:, 0] == "", decided_by, asked[:, 0]),
        **{f"then_{step}": _unless(asked[:, step] == "", asked[:, step]) for step in range(1, asked.shape[1])},
        "decided_by": decided_by,
        "answer": _unless(action > 0, _answers(cohort, ranked.kept)),
    }
    if expected is not None:
        columns |= {
            "reason": reasons(ranked, action, expected),
            "expected_cost": expected.cost[np.arange(len(cohort)), action],
            "kept_cost": expected.cost[:, 0],
        }
    columns |= {"place": ranked.places, "action": np.array(["ai", *cohort.manifest.columns])[action]}
    return pd.DataFrame(columns)


def decisions_frame(
    policy: Policy,
    cohort: Cohort,
    rule: Rule,
    continuations: Continuations | None = None,
    expected: Expectations | None = None,
) -> pd.DataFrame:
    """The worklist without limits, with the label where it is known, votes, d and every q.

    `policy` and `continuations` are of a population, [E, N]; `votes` counts the members who would act the same alone.
    A case's place is left out: it depends on all others, which may be in another part of a large table.
    """
    mean = mean_policy(policy)
    together = None if continuations is None else continuations.together()
    ranked = rank_cases(mean, cohort, rule, np.ones(cohort.readers, bool), together)
    plan = ranked.plan(Limits())
    label = pd.Series(plan.decisions(cohort, together).label, dtype="Int64")
    shares = {f"q:{column}": mean.allocation[:, j] for j, column in enumerate(cohort.manifest.columns)}
    return (
        worklist(ranked, plan, expected)
        .drop(columns="place")
        .assign(
            label=label.mask(label == UNKNOWN),
            votes=votes(policy, rule, plan),
            defer=mean.defer,
            **shares,
        )
    )


def votes(policy: Policy, rule: Rule, plan: Plan) -> Ints:
    """How many members of a population, [E, N], would do alone what the plan does with each case, [N]."""
    return np.asarray((choose(policy, rule) == plan.action).sum(0))


def ordered(rows: pd.DataFrame, order: str) -> pd.DataFrame:
    """A worklist with the most urgent case first; equal ones by expected cost, then as they were.

    Besides its own columns it needs votes, members and margin, the log-odds by which each case is sent.
    """
    urgency = {
        "costly": lambda: rows["expected_cost"],
        "close": lambda: -rows["margin"].abs(),
        "disputed": lambda: 1 - rows["votes"] / rows["members"],
    }
    if order not in urgency:
        raise UserError(f"order of the worklist: found {order!r}, expected one of {', '.join(ORDERS)}")
    return rows.iloc[np.lexsort((-rows["expected_cost"], -urgency[order]()))].reset_index(drop=True)


# ---------------------------------------------------------------------------------- why


def reasons(ranked: RankedCases, action: Ints, expected: Expectations) -> list[str]:
    """Why each case goes where it goes, in two or three sentences, [N]; all numbers are of the model that decides."""
    readers = _weighed(ranked, action, expected)
    row = np.arange(len(action))
    there = readers.position >= 0
    wrong = np.where(there, expected.wrong[row, readers.position + 1], np.nan)
    gain = np.where(there, expected.cost[:, 0] - expected.cost[row, readers.position + 1], np.nan)
    wish = best_actions(ranked.preference)
    limited = np.select([(action == 0) & (wish > 0), (action > 0) & (wish == 0)], [f" {NO_ROOM}", f" {FILLS}"], "")
    begin = np.where((action == 0) & (ranked.kept != ranked.cohort.ai_label), f"{OVERRULED}: of", "Of")
    parts = zip(begin, expected.positive, expected.wrong[:, 0], readers.name, wrong, gain, action > 0, limited,
                strict=True)  # fmt: skip
    return [_reason(ranked.cohort.manifest.task.one, *part) for part in parts]


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The reader each case is weighed against keeping: who is asked, else the one expected to cost least."""

    position: Ints  # [N] −1 where nobody can be asked
    name: np.ndarray  # [N] str


def _weighed(ranked: RankedCases, action: Ints, expected: Expectations) -> _Weighed:
    there: Bools = np.isfinite(ranked.preference)
    cost: Floats = np.where(there, expected.cost[:, 1:], np.inf)
    best = np.where(there.any(-1), cost.argmin(-1), -1)
    position = np.where(action > 0, action - 1, best)
    return _Weighed(position, _names(ranked.cohort)[position])


def _reason(
    what: str,
    begin: str,
    positive: float,
    ai_wrong: float,
    name: str,
    wrong: float,
    gain: float,
    sent: bool,
    limited: str,
) -> str:
    first = f"{begin} 100 such cases {of_100(positive)} have {what}; the AI's answer is wrong in {of_100(ai_wrong)}"
    if not name:
        return f"{first}. No reader can be asked."
    first = f"{first}, that of {name} in {of_100(wrong)}."
    if gain > 0:
        second = f"Asking {name} is expected to save {gain:.2f} after fees"
        return f"{first} {second}{'' if sent or limited else ', yet the run keeps it'}.{limited}"
    if sent:
        return f"{first} Asking {name} is expected to cost {-gain:.2f} more than it saves.{limited}"
    return f"{first} Asking is not expected to save its fee."


def _unless(empty: Bools, words: np.ndarray) -> pd.Series:
    return pd.Series(words).mask(empty)


def _answers(cohort: Cohort, label: Ints) -> np.ndarray:
    answers = cohort.manifest.task.answers
    return np.array([answers[int(each)] for each in label], object)


def _names(cohort: Cohort) -> np.ndarray:
    """Every reader's name by position, and an empty one for NOBODY, which is the last."""
    return np.array([*(reader.name for reader in cohort.manifest.readers), ""], object)
