"""A decision in the words of a clinic: what the AI says, what speaks for or against it, and what a reader would add."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.manifest import Task
from mpd2.core.policy import AI, NOBODY, READER, Decisions, deciders
from mpd2.core.text import chance, decimal, listed, of_100, percent
from mpd2.training.anatomy import structural_risk

SURE, FAIR = 0.9, 0.7  # least probability the AI gives its own answer
NEAR, FAR = 1 / 3, 2 / 3  # ranks among the training cases


def doubtful_segmentation(case: Cohort, train: Cohort) -> bool:
    """Whether the ratios that are drawn fit together worse than in 99 % of the training cases."""
    usual, own = _area_to_extent(train), _area_to_extent(case)[0]
    usual = usual[~np.isnan(usual)]
    if not len(usual) or np.isnan(own):
        return False
    low, high = np.quantile(usual, [0.005, 0.995])
    return not low <= own <= high


def story(case: Cohort, reason: str, train: Cohort, anatomy: Floats) -> str:
    """One case in a few sentences; `reason` is that of `planning.worklist`, in the words of the model that decides.

    `anatomy` is `training.anatomy.fit_anatomy`, of which only tables with inputs of structure tell anything.
    """
    return " ".join(filter(None, [_answer(case, anatomy), _recording(case, train), reason]))


def headline(case: Cohort, actions: pd.DataFrame, decisions: Decisions) -> str:
    """What is done with a case, [1], in a few words; `actions` is its `explain.actions_frame`."""
    chosen = actions[actions["chosen"]].iloc[0]
    if decisions.deferred[0]:
        return f"Ask {chosen['who']}"
    label = int(decisions.label[0])
    return f"Keep it: {case.manifest.task.answers[label]}" + (
        "" if label == case.ai_label[0] else ", against the AI's answer"
    )


def who_decided(case: Cohort, decisions: Decisions, positive: float, costs: Costs) -> str:
    """Whose word the final answer of a case, [1], is; `positive` is P(positive) by the model that decides.

    The rule labels a case nobody is asked about by the error that is expected to cost less.
    """
    who, ai = deciders(decisions, case)[0], chance(float(case.ai_probability[0]))
    task = case.manifest.task
    if who == READER:
        names = [case.manifest.readers[reader].name for reader in decisions.consulted[0] if reader != NOBODY]
        return f"{'A reader decides' if len(names) == 1 else 'Readers decide'}: {listed(names)}."
    if who == AI:
        return f"The AI's own word decides, with nobody asked: its probability of {task.one} is {ai}."
    threshold = chance(costs.false_positive / (costs.false_positive + costs.false_negative))
    return (
        f"The recalibrated rule decides against the AI, with nobody asked: it puts the probability of {task.one} "
        f"at {chance(positive)}, the AI at {ai}, and the rule says {task.positive} from {threshold} on."
    )


def why_this_reader(actions: pd.DataFrame, task: Task) -> str:
    """Why whoever is asked and not the next in line, and what that reader is expected to say; empty for a kept case."""
    chosen, others = actions[actions["chosen"]].iloc[0], actions[actions["runner_up"]]
    if chosen["action"] == "ai":
        return ""
    name, said = chosen["who"], _expected_answer(chosen, task)
    if others.empty:
        return f"Why {name}: no other reader can be asked. {said}"
    other = others.iloc[0]
    costs = [f"{row['who']} {decimal(row['expected_cost'], 2)}, of it {decimal(row['fee'], 2)} as fee, wrong in "
             f"{of_100(row['wrong'])} of 100 such cases" for row in (chosen, other)]  # fmt: skip
    dearer = chosen["expected_cost"] > other["expected_cost"]
    shares = f"{percent(chosen['share'], 0)} of its decision against {percent(other['share'], 0)}"
    still = f" The run prefers {name} all the same, with {shares}." if dearer else ""
    return f"Why {name} and not {other['who']}: expected cost if asked first: {costs[0]}; {costs[1]}.{still} {said}"


def agreement(votes: int, members: int) -> str:
    """How many models of a run would do the same alone.

    >>> agreement(10, 10), agreement(7, 10), agreement(1, 1)
    ('all 10 models agree', '7 of 10 models agree', 'one model decides')
    """
    if members == 1:
        return "one model decides"
    return f"all {members} models agree" if votes == members else f"{votes} of {members} models agree"


def _expected_answer(reader: pd.Series, task: Task) -> str:
    """What a reader is likely to say, and what that would make of the case."""
    found, missed = (of_100(reader[name]) for name in ("if_positive", "if_negative"))
    return (
        f"Of 100 such cases {reader['who']} says {task.positive} of {of_100(reader['says'])}; {found} in 100 of those "
        f"have {task.one}, and {missed} in 100 of the others."
    )


def _answer(case: Cohort, anatomy: Floats) -> str:
    task, label, probability = case.manifest.task, int(case.ai_label[0]), float(case.ai_probability[0])
    confidence = probability if label else 1 - probability
    manner = "and is sure" if confidence >= SURE else "and is fairly sure" if confidence >= FAIR else "but wavers"
    said = f"The AI says {task.answers[label]} {manner} (probability of {task.one} {chance(probability)})"
    measured = [place for place in case.layout.of_role("structure") if case.layout.variables[place].measured]
    names = [case.layout.variables[place].title for place in measured if not case.absent[0, place]]
    if not names:
        return f"{said}."
    structural = float(structural_risk(case, anatomy)[0])
    manner = "agree" if (structural >= 0.5) == bool(label) else "speak against it"
    return f"{said}; {listed(names)} {manner} ({chance(structural)} from them alone)."


def _recording(case: Cohort, train: Cohort) -> str:
    """How unlike training a case is and how poor its recording, where the table tells."""
    layout, what = case.layout, case.manifest.task.case
    parts = []
    if layout.distances:
        distance = _rank(case, train, layout.distances[0])
        how = "close to" if distance <= NEAR else "far from" if distance >= FAR else "some way from"
        parts.append(f"{how} what the AI was trained on, farther than {percent(distance, 0)} of the training cases")
    quality = _rank(case, train, layout.qualities[0]) if layout.qualities else 0.0
    if quality >= FAR:
        parts.append(f"poorer than {percent(quality, 0)} of {'them' if parts else 'the training cases'}")
    return f"The {what} is {', and '.join(parts)}." if parts else ""


def _area_to_extent(cohort: Cohort) -> Floats:
    """Area ratio over height ratio times width ratio, [N]; NaN where a width is not known."""
    drawing = cohort.manifest.drawing
    if drawing is None or drawing.area is None:
        return np.full(len(cohort), np.nan)
    extent = cohort.column(drawing.vertical) * cohort.drawn[:, 0]
    return np.divide(cohort.column(drawing.area), extent, out=np.full(len(cohort), np.nan), where=extent > 0)


def _rank(case: Cohort, train: Cohort, name: str) -> float:
    return float(np.mean(train.column(name) < case.column(name)[0]))
