"""The answer in a sentence and in five numbers: what a run does to cost, against the AI alone and the best other."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mpd2.core.manifest import Task
from mpd2.core.text import GAP, decimal, interval, typeset
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import METRICS
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables

LABELS = {
    "Sens": "Sensitivity",
    "Spec": "Specificity",
    "Defer": "Cases sent",
    "TotalCost": "Total cost",
    "Top1": "Busiest reader",
}
"""The key numbers, in their order."""

BETTER_WORD, WORSE_WORD, CHANCE_WORD = "better", "worse", "within chance"


@dataclass(frozen=True)
class Difference:
    """How far a run is from another one, in words."""

    against: str  # title of the other
    change: str
    span: str
    sense: str  # one of the three words, or empty where more is neither better nor worse

    def __str__(self) -> str:
        sense = f", {self.sense}" if self.sense else ""
        return f"{self.change} against {self.against} (95{GAP}% interval {self.span}){sense}"


@dataclass(frozen=True)
class KeyNumber:
    """One number of a run with its interval and its differences; an empty span means there is no interval."""

    metric: str
    label: str
    value: str
    span: str
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Answer:
    """Whether a run is worth it."""

    headline: str
    errors: str
    rival: str
    numbers: tuple[KeyNumber, ...]


def answer(study: StudyTables, run: str) -> Answer:
    """Whether a run is worth it, in sentences and numbers."""
    return Answer(headline(study, run), errors(study, run), rival(study, run), tuple(key_numbers(study, run)))


def headline(study: StudyTables, run: str) -> str:
    """One sentence: what sending cases to readers does to total cost; `errors` tells at what price in misses."""
    sent = level(study, run, "Defer").value
    n = f"n = {study.tables['overall']['n'].max()}"
    if not sent > 0:
        cost = level(study, run, "TotalCost")
        ends = f"95{GAP}% interval {interval(cost.low, cost.high)}"
        return f"No case is sent to a reader, at a total cost of {decimal(cost.value)} per case ({ends}, {n})."
    total = difference(study, run, AI, "TotalCost")
    sending = "With the answers in hand, which no clinic has, sending" if run in NOT_DEPLOYABLE else "Sending"
    does = _if_sure(total, "lowers total cost", "raises total cost", "does not clearly change total cost,")
    before, after = (decimal(level(study, who, "TotalCost").value) for who in (AI, run))
    return (
        f"{sending} {METRICS['Defer'].shown(sent)} of cases to a reader {does} from {before} to {after} per "
        f"case, fees included ({_with_interval(total)}, {n})."
    )


def rival(study: StudyTables, run: str) -> str:
    """How the cheapest other method that can be deployed compares."""
    other = best_other(study, run)
    gap = -difference(study, run, other, "TotalCost")
    cheaper = _if_sure(gap, "is cheaper still", "costs more", "does not clearly differ")
    return f"The cheapest other method, {study.titles[other]}, {cheaper} ({_with_interval(gap)})."


def errors(study: StudyTables, run: str) -> str:
    """Which kind of error becomes rarer or more frequent beyond chance; empty if neither does."""
    parts, senses = [], set()
    for metric, (name, up, down) in _error_words(study.manifest.task).items() if run != AI else ():
        sure = _if_sure(difference(study, run, AI, metric), down, up, "")
        senses |= {sure == up} if sure else set()
        before, after = (METRICS[metric].shown(level(study, who, metric).value) for who in (AI, run))
        parts += [f"{sure} ({name} {before} → {after})"] if sure else []
    joint = " but " if len(senses) > 1 else " and "
    return f"Compared with the AI alone, {joint.join(parts)}." if parts else ""


def _error_words(task: Task) -> dict[str, tuple[str, str, str]]:
    """A rate, and what it means if it rises and if it falls."""
    return {
        "Spec": ("specificity", "there are fewer false alarms", "there are more false alarms"),
        "Sens": ("sensitivity", f"fewer {task.positives} are missed", f"more {task.positives} are missed"),
    }


def best_other(study: StudyTables, run: str) -> str:
    """The deployable method with the lowest total cost but for the run itself."""
    total = study.of("overall", metric="TotalCost")
    return min((name for name in total if name not in {run, *NOT_DEPLOYABLE}), key=lambda name: total[name].value)


def key_numbers(study: StudyTables, run: str) -> list[KeyNumber]:
    """The five numbers of a run."""
    others = dict.fromkeys(name for name in (AI, best_other(study, run)) if name != run)
    numbers = []
    for name, label in LABELS.items():
        metric, own = METRICS[name], level(study, run, name)
        apart = {study.titles[other]: difference(study, run, other, name) for other in others}
        differences = tuple(
            Difference(
                title, metric.change(more.value), metric.interval(more.low, more.high, signed=True), sense(name, more)
            )
            for title, more in apart.items()
            if not np.isnan(more.value)
        )
        ends = metric.interval(own.low, own.high)
        numbers.append(KeyNumber(name, label, metric.shown(own.value), ends, differences))
    return numbers


def level(study: StudyTables, run: str, metric: str) -> Estimate:
    """A metric of a run over the whole slice."""
    return study.of("collapse" if metric == "Top1" else "overall", metric=metric)[run]


def difference(study: StudyTables, run: str, other: str, metric: str) -> Estimate:
    """What a run has more than another, on the same resamples; only the busiest reader's share is not paired."""
    if metric == "Top1":
        return level(study, run, metric) - level(study, other, metric)
    return -study.of("paired", reference=run, metric=metric)[other]


# ---------------------------------------------------------------------------------- in words


def in_words(finding: str) -> str:
    r"""What a finding says, without the short names of metrics and budgets.

    >>> in_words("Without both: Top1 -0.1, HHI +0.2; AL25 loses F1")
    "Without both: busiest reader's share −0.1, concentration (HHI) +0.2; budget 25\xa0% loses F1"
    """
    text = re.sub(r"\b\w+\b", lambda word: METRICS[word[0]].label if word[0] in METRICS else word[0], finding)
    return typeset(re.sub(r"\bAL(\d+)\b", r"budget \1%", text))


def _with_interval(apart: Estimate) -> str:
    """A difference in cost and its interval."""
    ends = interval(apart.low, apart.high, signed=True)
    return f"difference {decimal(apart.value, signed=True)}, 95{GAP}% interval {ends}"


def _if_sure(more: Estimate, below: str, above: str, unsure: str) -> str:
    """The word for an interval that is all below 0, all above, or neither."""
    return below if more.high < 0 else above if more.low > 0 else unsure


def sense(metric: str, more: Estimate) -> str:
    """Whether a difference is for the better, beyond chance; empty where the metric is no merit."""
    merit = METRICS[metric].merit
    if not merit:
        return ""
    return _if_sure(more if merit > 0 else -more, WORSE_WORD, BETTER_WORD, CHANCE_WORD)
