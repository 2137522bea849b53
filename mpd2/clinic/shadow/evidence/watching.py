"""What has changed since the run learned: alarms with their dates, and whether to stop trusting it is suggested.

Nothing is stopped by itself: a page says what rang, and people decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.evidence.monitoring import COST, READER, STOP, Watcher, seen_of, watchers_beside
from mpd2.clinic.shadow.rows import Acknowledgement
from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.core.text import numbered

HIGHER = "higher"
GRAVE = {STOP, COST, "ai misses", "ai false alarms", READER}
"""What suggests a stop when it becomes higher: kinds of watchers, and the names of two."""


@dataclass(frozen=True)
class Rung:
    """An alarm, with the day on which it rang."""

    key: str  # by which it is acknowledged
    name: str  # of the watcher
    kind: str
    label: str
    side: str  # higher or lower
    day: str  # ISO date: of the case, or on which its truth became known
    arrivals: int  # how many cases had come in up to the one at which it rang
    suggests_stop: bool
    compared_with: str  # in words
    acknowledged: str = ""  # what somebody has said of it; empty: nobody has yet

    def in_words(self) -> str:
        """The alarm in a sentence."""
        return f"{self.label}: {self.side} than in {self.compared_with}, alarm on {self.day}."


@dataclass(frozen=True, eq=False)
class Watch:
    """How everything that is watched stands."""

    rows: pd.DataFrame
    """A row a watcher: name, kind, label, n (cases seen), level (evidence, as a part of what rings), alarms (a number),
    last (its day, or ""), arl (cases between alarms for nothing, on average), compared_with and why_not (in words)."""
    alarms: tuple[Rung, ...]  # in the order in which they rang
    paths: dict[str, pd.DataFrame]  # by name: time and level after each case seen

    @property
    def open(self) -> tuple[Rung, ...]:
        """Alarms that nobody has acknowledged."""
        return tuple(alarm for alarm in self.alarms if not alarm.acknowledged)

    @property
    def newest(self) -> tuple[Rung, ...]:
        """Of the alarms that nobody has acknowledged the last of each watcher and side."""
        return tuple({(alarm.name, alarm.side): alarm for alarm in self.open}.values())

    @property
    def suggestion(self) -> str:
        """Why stopping is suggested, in words; empty if it is not."""
        grave = [alarm for alarm in self.newest if alarm.suggests_stop]
        if not grave:
            return ""
        first = " ".join(alarm.in_words() for alarm in grave[:3])
        speak = numbered(len(grave), "alarm speaks", "alarms speak")
        return f"Stop suggested. {first} {speak} for it. Nothing is stopped by itself."


def watch(snapshot: Snapshot, decider: Decider, acknowledged: Sequence[Acknowledgement] = ()) -> Watch:
    """Everything that is watched, over all arrivals, against the cases the run learned from or the clinic's first."""
    seen = seen_of(snapshot)
    said = {each.alarm: each.reason for each in acknowledged}
    rows, alarms, paths = [], [], {}
    for watcher in watchers_beside(decider, seen):
        where, values = watcher.observe_after(seen)
        rung: list[Rung] = []
        level = np.zeros(len(where))
        if watcher.monitor is not None and len(where):
            level = watcher.monitor.path(*values)
            rung = [
                _rung(watcher, alarm.side, int(where[alarm.number]), snapshot, said)
                for alarm in watcher.monitor.alarms(*values)
            ]
        rows.append({
            "name": watcher.name,
            "kind": watcher.kind,
            "label": watcher.label,
            "n": len(where),
            "level": float(level[-1]) if len(level) else 0.0,
            "alarms": len(rung),
            "last": max((each.day for each in rung), default=""),
            "arl": watcher.monitor.arl if watcher.monitor is not None else np.nan,
            "compared_with": watcher.compared_with,
            "why_not": watcher.why_not,
        })  # fmt: skip
        paths[watcher.name] = pd.DataFrame({"time": snapshot.times[where], "level": level})
        alarms += rung
    alarms.sort(key=lambda each: (each.day, each.name, each.arrivals))
    return Watch(pd.DataFrame(rows), tuple(alarms), paths)


def _rung(watcher: Watcher, side: str, place: int, snapshot: Snapshot, said: dict[str, str]) -> Rung:
    at = snapshot.truth_at[place] if watcher.needs_truth else snapshot.times[place]
    day = str(max(at, snapshot.times[place]).astype("datetime64[D]"))
    key = f"{watcher.name} {side} {day}"
    grave = side == HIGHER and (watcher.kind in GRAVE or watcher.name in GRAVE)
    return Rung(key, watcher.name, watcher.kind, watcher.label, side, day, place + 1, grave, watcher.compared_with,
                said.get(key, ""))
