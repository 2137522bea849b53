"""What is watched: inputs, AI, readers, deferral, load, prevalence, hard stop and cost, against the cases learned from.

Each watcher reads the same numbers off past cases and off new ones; its monitor is calibrated by the past ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.clinic.shadow.standing.enquiry import Beliefs, standing
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cache import CACHE
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorModel
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY
from mpd2.evaluation.over_time.monitors import (
    Monitor,
    calibrated,
    calibrated_prevalence,
    calibrated_rate,
    rate_steps,
    run_length,
)

INPUT, AI, READER, DEFERRAL, LOAD, PREVALENCE, STOP, COST = (
    "input", "ai", "reader", "deferral", "load", "prevalence", "hard stop", "cost",
)  # fmt: skip
KINDS = (INPUT, AI, READER, DEFERRAL, LOAD, PREVALENCE, STOP, COST)
LEAST_SEEN = 1e-3  # share of cases that a monitor is taken to see at least
RAREST, FAR = 1e-6, 50.0  # probability that counts as 0, and log-odds beyond all
FEWEST = 30  # past cases with a value, below which nothing can be calibrated


@dataclass(frozen=True, eq=False)
class Seen:
    """N cases in the order in which they came in, past or new."""

    cohort: Cohort
    beliefs: Beliefs
    label: Ints  # [N] UNKNOWN while a reading is awaited
    consulted: Ints  # [N, K]
    stopped: Bools  # [N]


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


@dataclass(frozen=True, eq=False)
class _Plan:
    name: str
    kind: str
    label: str
    needs_truth: bool
    observe: Callable[[Seen], Observed]
    make: Callable[..., Monitor]


def watchers_of(decider: Decider) -> tuple[Watcher, ...]:
    """Everything that is watched under a run and its setting, calibrated so that all share the alarms for nothing."""
    key = (watchers_of, decider.basis.digest, decider.learned.fingerprint)  # calibrated once, whoever asks
    return CACHE.get_or_make(key, lambda: _watchers_of(decider))


def _watchers_of(decider: Decider) -> tuple[Watcher, ...]:
    val = decider.learned.subset(split="val")
    past, whole = _past(decider, val), decider.learned.subset(split="train")
    usual = _past(decider, whole)
    plans = _plans(decider, past)
    return tuple(_calibrated(plan, usual if plan.kind == INPUT else past, len(plans), decider) for plan in plans)


def seen_of(snapshot: Snapshot) -> Seen:
    """The arrivals as they are watched."""
    return Seen(
        snapshot.cohort, snapshot.beliefs, snapshot.decisions.label, snapshot.decisions.consulted, snapshot.stops != ""
    )


def _past(decider: Decider, cohort: Cohort) -> Seen:
    """Cases that were learned from, as if they had come in and everybody had answered."""
    found = decider.decided(cohort)
    words = np.where(cohort.available, cohort.decisions, UNKNOWN)
    ended = standing(found.beliefs, words, np.zeros(words.shape, bool), decider.terms)
    return Seen(decider.filled(cohort), found.beliefs, ended.label, ended.consulted, found.stops != "")


def _calibrated(plan: _Plan, past: Seen, monitors: int, decider: Decider) -> Watcher:
    there, values = plan.observe(past)
    made, why_not = None, ""
    try:
        if there.sum() < FEWEST:
            raise UserError(f"found {int(there.sum())} past cases, expected at least {FEWEST}")
        arl = run_length(monitors, max(float(there.mean()), LEAST_SEEN), a_day=decider.day.day)
        made = plan.make(*values, arl, name=plan.name, cluster=past.cohort.cluster[there])
    except UserError as error:
        why_not = str(error)
    return Watcher(plan.name, plan.kind, plan.label, plan.needs_truth, plan.observe, made, why_not)


def _plans(decider: Decider, past: Seen) -> list[_Plan]:
    """What there is to watch."""
    manifest = decider.manifest
    layout, titles = manifest.layout, manifest.layout.titles
    inputs = [each.column for each in manifest.inputs if each.column in layout.measured]
    plans = [
        _Plan(f"{INPUT} {name}", INPUT, titles[name], False, partial(_input, name), calibrated) for name in inputs
    ]
    plans.append(_Plan("ai score", AI, "What the AI says", False, _score, calibrated))
    plans.append(_Plan("ai errors", AI, "Errors of the AI", True, _ai_errors, _rate))
    plans += [
        _Plan(f"{READER} {reader.column}", READER, f"Errors of {reader.name}", True,
              partial(_reader_errors, j, decider.errors), _rate)
        for j, reader in enumerate(manifest.readers)
    ]  # fmt: skip
    share = float((past.beliefs.action > 0).mean())
    plans.append(_Plan(DEFERRAL, DEFERRAL, "Share of cases sent", False, partial(_sent, share), _rate))
    if decider.terms.limit > 1:
        plans.append(_Plan(LOAD, LOAD, "Readings a case", False, _readings, calibrated))
    plans.append(_Plan(PREVALENCE, PREVALENCE, f"Share of {manifest.task.positives}", False, _positive,
                       calibrated_prevalence))  # fmt: skip
    stopped = float(past.stopped.mean())
    plans.append(_Plan(STOP, STOP, "Cases no router should decide", False, partial(_stopped, stopped), _rate))
    plans.append(_Plan(COST, COST, "Cost counted, less what was expected", True, partial(_cost, decider.point.costs),
                       calibrated))  # fmt: skip
    return plans


def _rate(happened: Floats, expected: Floats, arl: float, *, name: str, cluster: Ints) -> Monitor:
    """A monitor of a rate whose expectation is first brought to the level of past cases, by the same log-odds in all.

    A model that was a little off from the start would ring for that, and not for a change.
    """
    cases = len(happened)
    level = (happened.sum() + 0.5) / (cases + 1)  # never quite 0 or 1
    odds = logit(expected.clip(RAREST, 1 - RAREST))
    shift = float(brentq(lambda by: float(expit(odds + by).mean() - level), -FAR, FAR))

    def moved(expected: Floats) -> Floats:
        return expit(logit(expected.clip(RAREST, 1 - RAREST)) + shift)

    made = calibrated_rate(happened, moved(expected), arl, name=name, cluster=cluster)
    return replace(made, steps=lambda happened, expected: rate_steps(happened, moved(expected)))


# ---------------------------------------------------------------------------------- what is read off cases


def _input(name: str, seen: Seen) -> Observed:
    there = ~seen.cohort.absent[:, seen.cohort.layout.position(name)]
    return there, (seen.cohort.column(name)[there],)


def _score(seen: Seen) -> Observed:
    return np.ones(len(seen.cohort), bool), (seen.cohort.ai_log_odds,)


def _ai_errors(seen: Seen) -> Observed:
    positive, label = seen.beliefs.positive, seen.cohort.ai_label
    there = (seen.cohort.truth != UNKNOWN) & ~np.isnan(positive)
    wrong = np.where(label == 1, 1 - positive, positive)
    return there, ((label != seen.cohort.truth)[there].astype(float), wrong[there])


def _reader_errors(reader: int, errors: ErrorModel | None, seen: Seen) -> Observed:
    """Whether a reader was wrong where the truth is known, and how likely that was given truth and state."""
    truth, said = seen.cohort.truth, seen.cohort.decisions[:, reader]
    there = (truth != UNKNOWN) & (said != UNKNOWN) & seen.cohort.available[:, reader]
    if seen.beliefs.answers.shape[-1]:
        says = seen.beliefs.answers[there, reader]  # [R, 2]
        wrong = np.where(truth[there] == 1, 1 - says[:, 1], says[:, 0])
    elif errors is not None and there.any():
        cases = seen.cohort.rows(there)
        rates = errors.predict(cases)
        # The AI can make one of the two errors alone, so that either says how likely a positive is.
        positive = np.where(cases.ai_label == 0, rates.missed[:, 0], 1 - rates.alarmed[:, 0])
        wrong = np.where(truth[there] == 1, rates.missed[:, 1 + reader] / positive,
                         rates.alarmed[:, 1 + reader] / (1 - positive))  # fmt: skip
    else:
        wrong = np.full(int(there.sum()), np.nan)
    known = ~np.isnan(wrong)
    there[there] = known
    return there, ((said != truth)[there].astype(float), wrong[known])


def _sent(share: float, seen: Seen) -> Observed:
    sent = (seen.beliefs.action > 0).astype(float)
    return np.ones(len(sent), bool), (sent, np.full(len(sent), share))


def _readings(seen: Seen) -> Observed:
    """How many readings each case took, up to the first in which one is still awaited.

    Of the cases after it those end first about which nobody had to be asked.
    """
    ended = np.logical_and.accumulate(seen.label != UNKNOWN)
    return ended, ((seen.consulted[ended] != NOBODY).sum(-1).astype(float),)


def _positive(seen: Seen) -> Observed:
    there = ~np.isnan(seen.beliefs.positive)
    return there, (seen.beliefs.positive[there],)


def _stopped(share: float, seen: Seen) -> Observed:
    return np.ones(len(seen.stopped), bool), (seen.stopped.astype(float), np.full(len(seen.stopped), share))


def _cost(costs: Costs, seen: Seen) -> Observed:
    """What each case cost more than was expected of it when it was decided."""
    expected = seen.beliefs.costs[np.arange(len(seen.label)), seen.beliefs.action]
    there = (seen.cohort.truth != UNKNOWN) & (seen.label != UNKNOWN) & np.isfinite(expected)
    fees = np.append(costs.fees, 0.0)[seen.consulted].sum(-1)
    counted = costs.of_errors(seen.label, seen.cohort.truth) + fees
    return there, ((counted - expected)[there],)
