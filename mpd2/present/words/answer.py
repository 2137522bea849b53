"""The answer in a sentence and in five numbers: what a run does to cost, against the AI alone and the best other."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import BETTER
from mpd2.methods import NOT_DEPLOYABLE
from mpd2.present.charts.kit.style import METRIC_NAMES
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables

LABELS = {
    "TotalCost": "Total cost",
    "ClinicalCost": "Clinical cost",
    "Sens": "Sensitivity",
    "Defer": "Deferred",
    "Top1": "Busiest reader",
}
"""The key numbers, in their order."""

GAP = "\N{NO-BREAK SPACE}"

SHARES = frozenset({"Sens", "Spec", "Defer", "Top1"})  # told in per cent
DIRECTION = {"Top1": -1} | {name: BETTER[name] for name in ("TotalCost", "ClinicalCost", "Sens")}
"""1 where more is better, -1 where less is; a share of cases deferred is neither good nor bad by itself."""

ERRORS = {
    "Spec": ("specificity", "there are fewer false alarms", "there are more false alarms"),
    "Sens": ("sensitivity", "fewer glaucomas are missed", "more glaucomas are missed"),
}
"""A rate, and what it means if it rises and if it falls."""

BETTER_WORD, WORSE_WORD, CHANCE_WORD = "better", "worse", "within chance"


@dataclass(frozen=True)
class Difference:
    """How far a run is from another one, in words."""

    against: str  # title of the other
    change: str
    span: str
    sense: str  # one of the three words, or empty where more is neither better nor worse


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
    numbers: tuple[KeyNumber, ...]
    rival: str  # the cheapest other method, as shown


def answer(figures: StudyTables, run: str) -> Answer:
    """Everything told about a run in words."""
    rival = figures.titles[best_other(figures, run)]
    return Answer(headline(figures, run), errors(figures, run), tuple(key_numbers(figures, run)), rival)


def headline(figures: StudyTables, run: str) -> str:
    """One sentence: what sending cases to readers does to clinical and to total cost, and whether it pays."""
    sent = level(figures, run, "Defer").value
    n = f"n = {figures.tables['overall']['n'].max()}"
    if not sent > 0:
        cost = level(figures, run, "ClinicalCost")
        told = f"{figure('ClinicalCost', cost.value)} (95{GAP}% interval {span('ClinicalCost', cost)}, {n})"
        return f"No case is sent to a reader: the AI decides alone, at a clinical cost of {told}."
    clinical, total = (difference(figures, run, AI, metric) for metric in ("ClinicalCost", "TotalCost"))
    sending = "With the answers in hand, which no clinic has, sending" if run in NOT_DEPLOYABLE else "Sending"
    does = _if_sure(clinical, "cuts clinical cost", "raises clinical cost", "does not clearly change clinical cost,")
    pays = _if_sure(total, "it pays", "it does not pay", "too close to call")
    return (
        f"{sending} {figure('Defer', sent)} of cases to a reader {does} {_moved(figures, run, 'ClinicalCost')} "
        f"(difference {change('ClinicalCost', clinical)}, 95{GAP}% interval "
        f"{span('ClinicalCost', clinical, signed=True)}, {n}). With the readers' fees, total cost goes "
        f"{_moved(figures, run, 'TotalCost')} ({change('TotalCost', total)}, "
        f"{span('TotalCost', total, signed=True)}): {pays}."
    )


def errors(figures: StudyTables, run: str) -> str:
    """Which kind of error becomes rarer or more frequent beyond chance; empty if neither does."""
    parts, senses = [], set()
    for metric, (name, up, down) in ERRORS.items() if run != AI else ():
        sure = _if_sure(difference(figures, run, AI, metric), down, up, "")
        senses |= {sure == up} if sure else set()
        parts += [f"{sure} ({name} {_moved(figures, run, metric)})"] if sure else []
    joint = " but " if len(senses) > 1 else " and "
    return f"Against the AI alone {joint.join(parts)}." if parts else ""


def best_other(figures: StudyTables, run: str) -> str:
    """The deployable method with the lowest total cost but for the run itself."""
    total = figures.of("overall", metric="TotalCost")
    return min((name for name in total if name not in {run, *NOT_DEPLOYABLE}), key=lambda name: total[name].value)


def key_numbers(figures: StudyTables, run: str) -> list[KeyNumber]:
    """The five numbers of a run."""
    others = dict.fromkeys(name for name in (AI, best_other(figures, run)) if name != run)
    numbers = []
    for metric, label in LABELS.items():
        told = level(figures, run, metric)
        apart = {figures.titles[other]: difference(figures, run, other, metric) for other in others}
        differences = [
            Difference(title, change(metric, more), span(metric, more, signed=True), _sense(metric, more))
            for title, more in apart.items()
            if not np.isnan(more.value)
        ]
        numbers.append(KeyNumber(metric, label, figure(metric, told.value), span(metric, told), tuple(differences)))
    return numbers


def level(figures: StudyTables, run: str, metric: str) -> Estimate:
    """A figure of a run over the whole slice."""
    return figures.of("collapse" if metric == "Top1" else "overall", metric=metric)[run]


def difference(figures: StudyTables, run: str, other: str, metric: str) -> Estimate:
    """What a run has more than another, on the same resamples; only the busiest reader's share is not paired."""
    if metric == "Top1":
        return level(figures, run, metric) - level(figures, other, metric)
    return -figures.of("paired", reference=run, metric=metric)[other]


# ---------------------------------------------------------------------------------- in words


def in_words(finding: str) -> str:
    """What a finding says, without the short names of metrics and budgets.

    >>> in_words("Without both: Top1 -0.1, HHI +0.2; AL25 loses F1")
    "Without both: busiest reader's share −0.1, concentration (HHI) +0.2; budget 25 % loses F1"
    """
    text = re.sub(r"\b\w+\b", lambda word: METRIC_NAMES.get(word[0], word[0]), finding)
    text = re.sub(r"\bAL(\d+)\b", r"budget \1 %", text)
    text = re.sub(r"(?<=\d)%", f"{GAP}%", text)
    return re.sub(r"-(?=\d)", "−", text)


def figure(metric: str, value: float) -> str:
    """A value as shown.

    >>> figure("TotalCost", 0.1784), figure("Defer", 0.3891), figure("Top1", float("nan"))
    ('0.178', '38.9\xa0%', '–')
    """
    if np.isnan(value):
        return "–"
    return f"{_digits(metric, value)}{f'{GAP}%' if metric in SHARES else ''}"


def change(metric: str, more: Estimate) -> str:
    """A difference as shown; shares differ by points.

    >>> change("TotalCost", Estimate(-0.194, -0.21, -0.17)), change("Sens", Estimate(0.021, 0.0, 0.04))
    ('−0.194', '+2.1 points')
    """
    return f"{_digits(metric, more.value, signed=True)}{' points' if metric in SHARES else ''}"


def span(metric: str, told: Estimate, signed: bool = False) -> str:
    """The interval of a figure or, signed, of a difference.

    >>> span("TotalCost", Estimate(0.178, 0.163, 0.193)), span("Sens", Estimate(-0.02, -0.04, 0.0), signed=True)
    ('0.163 to 0.193', '−4.0 to 0.0')
    """
    if np.isnan(told.low):
        return ""
    ends = " to ".join(_digits(metric, end, signed) for end in (told.low, told.high))
    return ends if signed or metric not in SHARES else f"{ends}{GAP}%"


def _digits(metric: str, value: float, signed: bool = False) -> str:
    """Three decimals of a cost, one of a per cent, with a true minus and no sign of zero."""
    scale, places = (100, 1) if metric in SHARES else (1, 3)
    rounded = round(scale * value, places) + 0.0
    sign = "+" if signed and rounded > 0 else ""
    return f"{sign}{rounded:.{places}f}".replace("-", "−")


def _moved(figures: StudyTables, run: str, metric: str) -> str:
    ends = (figure(metric, level(figures, name, metric).value) for name in (AI, run))
    return "from {} to {}".format(*ends)


def _if_sure(more: Estimate, below: str, above: str, unsure: str) -> str:
    """The word for an interval that is all below 0, all above, or neither."""
    return below if more.high < 0 else above if more.low > 0 else unsure


def _sense(metric: str, more: Estimate) -> str:
    if metric not in DIRECTION:
        return ""
    below, above = (WORSE_WORD, BETTER_WORD) if DIRECTION[metric] > 0 else (BETTER_WORD, WORSE_WORD)
    return _if_sure(more, below, above, CHANCE_WORD)
