"""The Clinic page in words: the day, what would have been done against what was done, and what is watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import GAP, capital, count, decimal, interval, listed, numbered, percent, percent_interval

ALL = "all"  # the part that is every case
PLACES = 1  # decimals of a number for a thousand people
ALWAYS = f"95{GAP}% intervals that hold however often one looks"


@dataclass(frozen=True)
class Compared:
    """A number of the comparison, as it is called."""

    label: str
    unit: str
    against: bool = True  # whether there is such a number of what was done

    @property
    def axis(self) -> str:
        """What stands on an axis."""
        return f"{self.label} {self.unit}{', would less was' if self.against else ''}"


COMPARED: Mapping[str, Compared] = {
    "missed": Compared("missed", "of 1,000"),
    "false_alarms": Compared("false alarms", "of 1,000"),
    "cost": Compared("cost", "for 1,000"),
    "agreement": Compared("same answer", "of 1,000", against=False),
    "sent": Compared("sent to a reader", "of 1,000", against=False),
    "load": Compared("readings", "for 1,000", against=False),
}
"""The numbers of `clinic.shadow.comparison`, in the order in which they are told; all for a thousand people."""


def day_in_words(counts: Mapping[str, int], reasons: Sequence[str] = ()) -> str:
    """How the day stands; `counts`: in, sent, unread, stopped.

    >>> day_in_words({"in": 300, "sent": 108, "unread": 41, "stopped": 3}, ["record again"])
    '300 in · 108 sent to a reader · 41 unread · 3 stopped (record again)'
    >>> day_in_words({"in": 0, "sent": 0, "unread": 0, "stopped": 0})
    'nobody in yet'
    """
    if not counts["in"]:
        return "nobody in yet"
    why = f" ({listed(sorted(reasons))})" if reasons and counts["stopped"] else ""
    return (
        f"{count(counts['in'])} in · {count(counts['sent'])} sent to a reader · {count(counts['unread'])} unread · "
        f"{count(counts['stopped'])} stopped{why}"
    )


def compared_in_words(rows: pd.DataFrame, task: Task, against: str = "what was done") -> str:
    """What it would have done against what was done, for a thousand people; `rows`: the part all of `compare`."""
    found = rows[rows["part"] == ALL].set_index("metric")
    n = int(found["n"].max()) if len(found) else 0
    if not n:
        return "no outcome is known yet, so nothing can be compared"
    said = []
    for name, words in (("missed", f"missed {task.positives}"), ("false_alarms", "false alarms")):
        row = found.loc[name]
        ends = interval(row["low"], row["high"], 0, signed=True)
        said.append(f"{words} {decimal(row['difference'], 0, signed=True)} ({ends}) a 1,000")
    row = found.loc["agreement"]
    same = f"{percent(row['would'] / 1000, 0)} ({percent_interval(row['low'] / 1000, row['high'] / 1000, 0)})"
    return (
        f"what it would have done against {against}: {' · '.join(said)} · same answer {same} · "
        f"{numbered(n, 'outcome')}, {ALWAYS}"
    )


def since_in_words(first: date) -> str:
    """Since when.

    >>> since_in_words(date(2026, 10, 1))
    'Since 1 October 2026'
    """
    return f"Since {day_of(first)}"


def day_of(day: date) -> str:
    """A day in words.

    >>> day_of(date(2026, 11, 3))
    '3 November 2026'
    """
    return f"{day.day} {day:%B %Y}"


@dataclass(frozen=True)
class Watched:
    """How one monitor stands."""

    name: str
    since: date | None = None  # the day of the alarm that nobody has acknowledged
    waits: bool = False  # too little is known yet


def watch_in_words(monitors: Sequence[Watched]) -> str:
    """How every monitor stands, those with an alarm first.

    >>> watch_in_words([Watched("inputs"), Watched("Reader B", date(2026, 11, 3)), Watched("AI", waits=True)])
    'Reader B drifting since 3 November 2026 · inputs ok · AI: too little known yet'
    >>> watch_in_words([])
    'nothing is watched before the first case'
    """
    if not monitors:
        return "nothing is watched before the first case"
    loud = [f"{each.name} drifting since {day_of(each.since)}" for each in monitors if each.since]
    quiet = [each.name for each in monitors if not each.since and not each.waits]
    waiting = [each.name for each in monitors if not each.since and each.waits]
    return " · ".join([
        *loud,
        *([f"{listed(quiet)} ok"] if quiet else []),
        *([f"{listed(waiting)}: too little known yet"] if waiting else []),
    ])  # fmt: skip


def compared_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The comparison as text: part, what, would, done, difference, interval (of the difference, or of would), n."""
    order = list(COMPARED)
    known = rows[rows["metric"].isin(order)]
    known = known.sort_values("metric", key=lambda names: names.map(order.index), kind="stable")
    parts = {part: place for place, part in enumerate(rows["part"].drop_duplicates())}
    known = known.sort_values("part", key=lambda names: names.map(parts), kind="stable")
    return pd.DataFrame(
        {
            "part": known["part"],
            "what": [capital(f"{COMPARED[name].label} {COMPARED[name].unit}") for name in known["metric"]],
            "would": [decimal(value, PLACES) for value in known["would"]],
            "done": [decimal(value, PLACES) for value in known["done"]],
            "difference": [decimal(value, PLACES, signed=True) for value in known["difference"]],
            "interval": [
                interval(low, high, PLACES, signed=COMPARED[name].against)
                for name, low, high in zip(known["metric"], known["low"], known["high"], strict=True)
            ],
            "n": known["n"],
        }
    ).reset_index(drop=True)
