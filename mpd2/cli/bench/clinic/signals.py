"""What is watched in the simulations: inputs, the AI, each reader, how many are positive, how many are sent.

From cases to signals, one a monitor, and from the cases learned from to monitors that share the alarms for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates import Expectations
from mpd2.core.policy import Decisions
from mpd2.evaluation.over_time.monitors import (
    A_DAY,
    FALSE_ALARMS,
    Alarm,
    Monitor,
    calibrated,
    calibrated_prevalence,
    calibrated_rate,
    calibrated_share,
    run_length,
)

Kind = Literal["value", "share", "rate", "prevalence"]
"""A number; a yes or no, as often as learned; one with an expectation of its own in every case; P(positive)."""

CALIBRATED: Mapping[Kind, Callable[..., Monitor]] = {
    "value": calibrated,
    "share": calibrated_share,
    "rate": calibrated_rate,
    "prevalence": calibrated_prevalence,
}
FEWEST = 50  # cases to compare with, below which a signal has no monitor


@dataclass(frozen=True, eq=False)
class Seen:
    """N cases, what was expected of them, and whom they were sent to."""

    cohort: Cohort  # truth and readers' words UNKNOWN where they are not known, or not yet
    positive: Floats  # [N] P(positive)
    says: Floats  # [N, M, 2] P(each reader says positive | truth 0, 1)
    asked: Bools  # [N, M]

    @staticmethod
    def of(cohort: Cohort, expected: Expectations, decisions: Decisions) -> Seen:
        """Cases by what the model that decides them expects, and what it decides."""
        sick, well = expected.positive[:, None], 1 - expected.positive[:, None]
        missed = (expected.wrong + sick - expected.says) / 2
        found = 1 - np.divide(missed, sick, out=np.zeros_like(missed), where=sick > 0)
        raised = np.divide(expected.wrong - missed, well, out=np.zeros_like(missed), where=well > 0)
        says = np.clip(np.stack([raised, found], axis=-1)[:, 1:], 0.0, 1.0)
        asked = (decisions.consulted[..., None] == np.arange(cohort.readers)).any(-2)  # [N, K, M] to [N, M]
        return Seen(cohort, expected.positive, says, asked)

    def rows(self, index: np.ndarray) -> Seen:
        """The cases at `index`, positions or a boolean mask."""
        return Seen(self.cohort.rows(index), self.positive[index], self.says[index], self.asked[index])


@dataclass(frozen=True, eq=False)
class Signal:
    """What one monitor is given."""

    name: str
    kind: Kind
    rows: Ints  # [K] positions of the cases that have it, in order
    observed: tuple[Floats, ...]  # [K] each


def signals(seen: Seen, every_word: bool = False) -> dict[str, Signal]:
    """All there is to watch, by name; of readers what they were asked, or every word of theirs that is in the table."""
    cohort, layout = seen.cohort, seen.cohort.layout
    known, every = cohort.truth != UNKNOWN, np.ones(len(cohort), bool)
    sick, well = known & (cohort.truth == 1), known & (cohort.truth == 0)
    found = [_signal("AI's log-odds", "value", every, cohort.ai_log_odds)]
    for entry in cohort.manifest.inputs:
        at = layout.position(entry.column)
        found.append(_signal(f"input: {entry.title}", "value", ~cohort.absent[:, at], cohort.state[:, at]))
    found += [
        _signal("AI: called positive", "share", every, cohort.ai_label == 1),
        _signal("AI: misses", "share", sick, cohort.ai_label == 0),
        _signal("AI: false alarms", "share", well, cohort.ai_label == 1),
        _signal("positives, before outcomes", "prevalence", every, seen.positive),
        _signal("positives, by outcomes", "rate", known, cohort.truth == 1, seen.positive),
        _signal("sent to a reader", "share", every, np.any(seen.asked, axis=1)),
    ]
    for at, reader in enumerate(cohort.manifest.readers):
        heard = (cohort.available if every_word else seen.asked)[:, at] & (cohort.decisions[:, at] != UNKNOWN)
        word, says = cohort.decisions[:, at], seen.says[:, at]
        found += [
            _signal(f"{reader.name}: misses", "rate", heard & sick, word == 0, 1 - says[:, 1]),
            _signal(f"{reader.name}: false alarms", "rate", heard & well, word == 1, says[:, 0]),
        ]
    return {signal.name: signal for signal in found}


def _signal(name: str, kind: Kind, where: Bools, *observed: Floats | Ints | Bools) -> Signal:
    return Signal(name, kind, np.flatnonzero(where), tuple(each[where].astype(float) for each in observed))


def monitors(
    learned: Seen, false_alarms: float = FALSE_ALARMS, a_day: float = A_DAY, seed: int = 0
) -> dict[str, Monitor]:
    """A monitor of every signal, by name, that compares with the cases learned from.

    Together they ring `false_alarms` times a year where nothing changes, each as often as any other: one that few cases
    concern counts fewer values between two alarms. A reader is compared by every word in the table.
    """
    rare, reference = signals(learned), signals(learned, every_word=True)
    watched = [name for name, signal in reference.items() if len(signal.rows) >= FEWEST]
    found = {}
    for name in watched:
        signal = reference[name]
        seen = max(len(rare[name].rows), 1) / len(learned.cohort)
        arl = run_length(len(watched), seen, false_alarms, a_day)
        cluster = learned.cohort.cluster[signal.rows]
        found[name] = CALIBRATED[signal.kind](*signal.observed, arl, seed, name=name, cluster=cluster)
    return found


def alarms_of(watching: Mapping[str, Monitor], seen: Seen) -> list[Alarm]:
    """Every alarm on cases in their order; its number is the position of the case."""
    found = []
    for name, signal in signals(seen).items():
        if name in watching:
            rung = watching[name].alarms(*signal.observed)
            found += [replace(alarm, number=int(signal.rows[alarm.number])) for alarm in rung]
    return sorted(found, key=lambda alarm: (alarm.number, alarm.name))
