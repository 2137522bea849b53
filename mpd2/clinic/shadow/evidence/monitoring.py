"""What is watched: inputs, AI, readers, deferral, load, prevalence, hard stop and cost, against cases to compare with.

Each watcher reads the same numbers off past cases and off new ones; its monitor is calibrated by the past ones. The
page and the simulations of docs/clinic/statistics.md are given the same watchers, by `watchers`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

import numpy as np

from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.clinic.shadow.standing.enquiry import Beliefs, standing
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cache import CACHE
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorModel
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.over_time.monitors import (
    FALSE_ALARMS,
    Monitor,
    calibrated,
    calibrated_prevalence,
    calibrated_rate,
    calibrated_share,
    run_length,
)

INPUT, AI, READER, DEFERRAL, LOAD, PREVALENCE, STOP, COST = (
    "input", "ai", "reader", "deferral", "load", "prevalence", "hard stop", "cost",
)  # fmt: skip
KINDS = (INPUT, AI, READER, DEFERRAL, LOAD, PREVALENCE, STOP, COST)
FEWEST = 50  # past cases with a value, below which nothing can be calibrated
FITTED = (DEFERRAL, LOAD, STOP, COST)  # kinds that are otherwise where the run and the hard stop were fitted
MISSES, FALSE = 1, 0  # the truth of which a wrong answer is a miss, and a false alarm


@dataclass(frozen=True, eq=False)
class Seen:
    """N cases in the order in which they came in, past or new."""

    cohort: Cohort
    beliefs: Beliefs
    label: Ints  # [N] UNKNOWN while a reading is awaited
    consulted: Ints  # [N, K]
    stopped: Bools  # [N]
    heard: Bools  # [N, M] whose word counts: of those whom the run asks

    @classmethod
    def of(cls, cohort: Cohort, beliefs: Beliefs, decisions: Decisions, stopped: Bools) -> Seen:
        """Cases as the run decides them."""
        asked = (decisions.consulted[..., None] == np.arange(cohort.readers)).any(-2)  # [N, K, M] to [N, M]
        return cls(cohort, beliefs, decisions.label, decisions.consulted, stopped, asked)

    def with_every_word(self) -> Seen:
        """The same, with whatever a reader says counted, also where the run does not ask."""
        return replace(self, heard=self.cohort.available)

    def rows(self, index: np.ndarray) -> Seen:
        """The cases at `index`, positions or a boolean mask."""
        return Seen(
            self.cohort.rows(index), self.beliefs.rows(index), self.label[index], self.consulted[index],
            self.stopped[index], self.heard[index],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Past:
    """Cases to compare with."""

    every: Seen
    unfitted: Seen  # those of them to which nothing was fitted

    def of(self, kind: str) -> Seen:
        """Those that one kind of watcher compares with."""
        return self.unfitted if kind in FITTED else self.every


Observed = tuple[Bools, tuple[Floats, ...]]
"""Which cases have a value, [N], and what a monitor is given of those that do."""


@dataclass(frozen=True, eq=False)
class Watcher:
    """One thing that is watched."""

    name: str
    kind: str  # one of KINDS
    label: str  # as shown
    needs_truth: bool
    observe: Callable[[Seen], Observed]
    monitor: Monitor | None  # none where past cases do not say what is usual
    why_not: str = ""  # in that case, in words
    own: int = 0  # of the clinic's cases are compared with; 0: those the run learned from

    @property
    def compared_with(self) -> str:
        """What with, in words."""
        return f"the clinic's first {self.own} cases" if self.own else "the cases learned from"

    def observe_after(self, seen: Seen) -> tuple[Ints, tuple[Floats, ...]]:
        """The positions of new cases with a value, [K], and the values; cases compared with are not new."""
        there, values = self.observe(seen)
        where = np.flatnonzero(there)
        return where[where >= self.own], tuple(each[where >= self.own] for each in values)


@dataclass(frozen=True, eq=False)
class _Plan:
    name: str
    kind: str
    label: str
    needs_truth: bool
    observe: Callable[[Seen], Observed]
    make: Callable[..., Monitor]


def watchers_of(decider: Decider) -> tuple[Watcher, ...]:
    """Everything that is watched under a run and its setting, compared with the cases the run learned from."""
    key = (watchers_of, decider.basis.digest, decider.learned.fingerprint)  # calibrated once, whoever asks
    return CACHE.get_or_make(key, lambda: watchers(decider, learned_of(decider)))


def watchers_beside(decider: Decider, seen: Seen) -> tuple[Watcher, ...]:
    """The same, compared with the clinic's own first cases where its setting says so and they are there.

    What fewer than FEWEST of them have a value of is still compared with the cases the run learned from.
    """
    first, usual = decider.setting.compare_with, watchers_of(decider)
    if first is None or len(seen.cohort) < first:
        return usual
    own = seen.rows(np.arange(first))
    plans = _plans(decider)
    return tuple(
        _calibrated_once(plan, own, len(plans), decider.day.day) if _values(plan, own) >= FEWEST else learned
        for plan, learned in zip(plans, usual, strict=True)
    )


def _values(plan: _Plan, past: Seen) -> int:
    """How many past cases have a value, of readers every word there is."""
    return int(plan.observe(past.with_every_word())[0].sum())


def _calibrated_once(plan: _Plan, own: Seen, monitors: int, a_day: int) -> Watcher:
    """Compared with a clinic's own cases; made anew only where their values have changed, as when outcomes come in."""
    there, values = plan.observe(own.with_every_word())
    digest = blake2b(plan.observe(own)[0].tobytes())
    for part in (there, *values, own.cohort.cluster):
        digest.update(np.ascontiguousarray(part).tobytes())
    key = (watchers_beside, plan.name, plan.label, monitors, a_day, digest.hexdigest())
    made = CACHE.get_or_make(key, lambda: _calibrated(plan, own, monitors, a_day, FALSE_ALARMS))
    return replace(made, observe=plan.observe, own=len(own.cohort))


def learned_of(decider: Decider) -> Past:
    """The cases a run learned from, and those it was chosen on."""
    learned = decider.learned
    return Past(
        past_of(decider, learned.rows(learned.split != "test")), past_of(decider, learned.subset(split="val"))
    )


def past_of(decider: Decider, cohort: Cohort) -> Seen:
    """Cases with truth and words as if they had come in and everybody who was asked had answered."""
    found = decider.decided(cohort)
    words = np.where(cohort.available, cohort.decisions, UNKNOWN)
    ended = standing(found.beliefs, words, np.zeros(words.shape, bool), decider.terms)
    decisions = Decisions(ended.consulted, ended.label)
    return Seen.of(decider.filled(cohort), found.beliefs, decisions, found.stops != "")


def seen_of(snapshot: Snapshot) -> Seen:
    """The arrivals as they are watched."""
    return Seen.of(snapshot.cohort, snapshot.beliefs, snapshot.decisions, snapshot.stops != "")


def watchers(decider: Decider, past: Past, false_alarms: float = FALSE_ALARMS) -> tuple[Watcher, ...]:
    """Everything that is watched, compared with past cases.

    Together they ring `false_alarms` times a year where nothing changes, at the setting's cases a day, each as often as
    any other: one that few cases concern counts fewer values between two alarms. A reader is heard where the run asks,
    and compared with every word there is of them.
    """
    plans = _plans(decider)
    return tuple(_calibrated(plan, past.of(plan.kind), len(plans), decider.day.day, false_alarms) for plan in plans)


def _calibrated(plan: _Plan, past: Seen, monitors: int, a_day: int, false_alarms: float) -> Watcher:
    seen = max(int(plan.observe(past)[0].sum()), 1) / len(past.cohort)
    there, values = plan.observe(past.with_every_word())
    made, why_not = None, ""
    try:
        if (found := _values(plan, past)) < FEWEST:
            raise UserError(f"found {found} past cases, expected at least {FEWEST}")
        arl = run_length(monitors, seen, false_alarms, a_day)
        made = plan.make(*values, arl, name=plan.name, cluster=past.cohort.cluster[there])
    except UserError as error:
        why_not = str(error)
    return Watcher(plan.name, plan.kind, plan.label, plan.needs_truth, plan.observe, made, why_not)


def _plans(decider: Decider) -> list[_Plan]:
    """What there is to watch."""
    manifest = decider.manifest
    layout, titles = manifest.layout, manifest.layout.titles
    inputs = [each.column for each in manifest.inputs if each.column in layout.measured]
    plans = [_Plan(f"{INPUT} {name}", INPUT, titles[name], False, partial(_input, name), calibrated) for name in inputs]
    plans += [
        _Plan("ai score", AI, "What the AI says", False, _score, calibrated),
        _Plan("ai positive", AI, "Called positive by the AI", False, _called, calibrated_share),
        _Plan("ai misses", AI, "Misses of the AI", True, partial(_ai_errors, MISSES), calibrated_share),
        _Plan("ai false alarms", AI, "False alarms of the AI", True, partial(_ai_errors, FALSE), calibrated_share),
        _Plan(PREVALENCE, PREVALENCE, "Positives, before outcomes", False, _positive, calibrated_prevalence),
        _Plan(f"{PREVALENCE} outcomes", PREVALENCE, "Positives, by outcomes", True, _turned_out, calibrated_rate),
        _Plan(DEFERRAL, DEFERRAL, "Share of cases sent", False, _sent, calibrated_share),
    ]
    if decider.terms.limit > 1:
        plans.append(_Plan(LOAD, LOAD, "Readings a case", False, _readings, calibrated))
    plans += [
        _Plan(f"{READER} {reader.column} {error}", READER, f"{error.capitalize()} of {reader.name}", True,
              partial(_reader_errors, j, truth, decider.errors), calibrated_rate)
        for j, reader in enumerate(manifest.readers)
        for error, truth in (("misses", MISSES), ("false alarms", FALSE))
    ]  # fmt: skip
    plans.append(_Plan(STOP, STOP, "Cases no router should decide", False, _stopped, calibrated_share))
    plans.append(_Plan(COST, COST, "Cost counted, less what was expected", True, partial(_cost, decider.point.costs),
                       calibrated))  # fmt: skip
    return plans


# ---------------------------------------------------------------------------------- what is read off cases


def _input(name: str, seen: Seen) -> Observed:
    there = ~seen.cohort.absent[:, seen.cohort.layout.position(name)]
    return there, (seen.cohort.column(name)[there],)


def _score(seen: Seen) -> Observed:
    return _every(seen), (seen.cohort.ai_log_odds,)


def _called(seen: Seen) -> Observed:
    return _every(seen), ((seen.cohort.ai_label == 1).astype(float),)


def _ai_errors(truth: int, seen: Seen) -> Observed:
    """Whether the AI is wrong in the cases of one truth."""
    there = seen.cohort.truth == truth
    return there, ((seen.cohort.ai_label[there] != truth).astype(float),)


def _reader_errors(reader: int, truth: int, errors: ErrorModel | None, seen: Seen) -> Observed:
    """Whether a reader is wrong in the cases of one truth, and how likely that was by their state."""
    said = seen.cohort.decisions[:, reader]
    there = (seen.cohort.truth == truth) & (said != UNKNOWN) & seen.heard[:, reader]
    if seen.beliefs.answers.shape[-1]:
        positive = seen.beliefs.answers[there, reader, truth]
        wrong = 1 - positive if truth == MISSES else positive
    elif errors is not None and there.any():
        cases = seen.cohort.rows(there)
        rates = errors.predict(cases)
        # The AI can make one of the two errors alone, so that either says how likely a positive is.
        positive = np.where(cases.ai_label == 0, rates.missed[:, 0], 1 - rates.alarmed[:, 0])
        wrong = rates.missed[:, 1 + reader] / positive
        if truth == FALSE:
            wrong = rates.alarmed[:, 1 + reader] / (1 - positive)
    else:
        wrong = np.full(int(there.sum()), np.nan)
    known = ~np.isnan(wrong)
    there[there] = known
    return there, ((said != truth)[there].astype(float), wrong[known])


def _sent(seen: Seen) -> Observed:
    return _every(seen), ((seen.beliefs.action > 0).astype(float),)


def _readings(seen: Seen) -> Observed:
    """How many readings each case took, up to the first in which one is still awaited.

    Of the cases after it those end first about which nobody had to be asked.
    """
    ended = np.logical_and.accumulate(seen.label != UNKNOWN)
    return ended, ((seen.consulted[ended] != NOBODY).sum(-1).astype(float),)


def _positive(seen: Seen) -> Observed:
    there = ~np.isnan(seen.beliefs.positive)
    return there, (seen.beliefs.positive[there],)


def _turned_out(seen: Seen) -> Observed:
    """Whether a case turned out positive, and how likely that was."""
    there = (seen.cohort.truth != UNKNOWN) & ~np.isnan(seen.beliefs.positive)
    return there, ((seen.cohort.truth == 1)[there].astype(float), seen.beliefs.positive[there])


def _stopped(seen: Seen) -> Observed:
    return _every(seen), (seen.stopped.astype(float),)


def _cost(costs: Costs, seen: Seen) -> Observed:
    """What each case cost more than was expected of it when it was decided."""
    expected = seen.beliefs.costs[np.arange(len(seen.label)), seen.beliefs.action]
    there = (seen.cohort.truth != UNKNOWN) & (seen.label != UNKNOWN) & np.isfinite(expected)
    fees = np.append(costs.fees, 0.0)[seen.consulted].sum(-1)
    counted = costs.of_errors(seen.label, seen.cohort.truth) + fees
    return there, ((counted - expected)[there],)


def _every(seen: Seen) -> Bools:
    return np.ones(len(seen.cohort), bool)
