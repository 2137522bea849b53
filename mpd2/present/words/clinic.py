"""The Clinic page in words: the day, what would have been done against what was done, and what is watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import GAP, capital, count, decimal, interval, listed, numbered, percent, percent_interval

ALL = "all"  # the part that is every case
MOST_ALARMS = 3  # that are named in a line
PLACES = 1  # decimals of a number for a thousand people
TOO_FEW = "too few to say how sure"
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
        return f"{self.label} {self.unit}"

    @property
    def title(self) -> str:
        """What a chart of it is called."""
        return f"{capital(self.label)}{', would less was' if self.against else ''}"


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


def left_out_in_words(cases: int, ranges: Mapping[str, Sequence[float]], task: Task) -> str:
    """Who is not counted yet and what they could make of it; `ranges`: low and high, and of the difference, per 1,000.

    >>> task = Task(positive="finding", negative="none")
    >>> said = left_out_in_words(12, {"missed": (20, 31, -3, 8), "false_alarms": (90, 104, -40, -26)}, task)
    >>> said.removeprefix("12 cases with a known outcome are left out, because a reading is awaited. ")
    'With them: missed findings 20 to 31 of 1,000 (would less was −3 to +8), false alarms 90 to 104 (−40 to −26). \
The first number is with right answers, the second with wrong ones.'
    >>> left_out_in_words(0, {}, task)
    ''
    """
    if not cases:
        return ""
    (low, high, least, most), (calm, loud, fewest, many) = (ranges[name] for name in ("missed", "false_alarms"))

    def signed(value: float) -> str:
        return decimal(value, 0, signed=True)

    is_are, them = ("is", "it") if cases == 1 else ("are", "them")
    return (
        f"{numbered(cases, 'case')} with a known outcome {is_are} left out, because a reading is awaited. With {them}: "
        f"missed {task.positives} {decimal(low, 0)} to {decimal(high, 0)} of 1,000 (would less was {signed(least)} to "
        f"{signed(most)}), false alarms {decimal(calm, 0)} to {decimal(loud, 0)} ({signed(fewest)} to {signed(many)}). "
        "The first number is with right answers, the second with wrong ones."
    )


def compared_in_words(rows: pd.DataFrame, task: Task, against: str = "what was done", left_out: int = 0) -> str:
    """What it would have done against what was done, for a thousand people; `rows`: the part all of `compare`.

    `left_out`: how many more have an outcome and await a reading.
    """
    found = {row["metric"]: row for row in rows[rows["part"] == ALL].to_dict("records")}
    n = int(found["missed"]["n"]) if found else 0
    if not n and not left_out:
        return "no outcome is known yet, so nothing can be compared"
    if not n:
        return f"a reading is awaited of every case with an outcome ({count(left_out)}), so nothing can be compared yet"
    said = []
    for name, words in (("missed", f"missed {task.positives}"), ("false_alarms", "false alarms")):
        row = found[name]
        ends = interval(row["low"], row["high"], 0, signed=True) or TOO_FEW
        said.append(f"{words} {decimal(row['difference'], 0, signed=True)} ({ends}) a 1,000")
    row = found["agreement"]
    ends = percent_interval(row["low"] / 1000, row["high"] / 1000, 0) or TOO_FEW
    same = f"{percent(row['would'] / 1000, 0)} ({ends})"
    return (
        f"what it would have done against {against}: {' · '.join(said)} · same answer {same} · "
        f"{numbered(n, 'outcome')}{f', {count(left_out)} more await a reading' if left_out else ''}, {ALWAYS}"
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
class Standing:
    """How one kind of what is watched stands."""

    name: str
    alarms: tuple[tuple[str, date], ...] = ()  # what rang and since when, of those nobody has acknowledged
    waits: bool = False  # too little is known yet


def watch_in_words(kinds: Sequence[Standing]) -> str:
    """How everything that is watched stands, alarms first.

    >>> watch_in_words([
    ...     Standing("inputs"), Standing("AI", waits=True),
    ...     Standing("readers", (("errors of B: higher", date(2026, 11, 3)),)),
    ... ])
    'errors of B: higher since 3 November 2026 · inputs ok · AI: too little known yet'
    >>> watch_in_words([])
    'nothing is watched before the first case'
    """
    if not kinds:
        return "nothing is watched before the first case"
    rung = sorted((since, what) for each in kinds for what, since in each.alarms)
    loud = [f"{what} since {day_of(since)}" for since, what in rung[:MOST_ALARMS]]
    more = len(rung) - len(loud)
    quiet = [each.name for each in kinds if not each.alarms and not each.waits]
    waiting = [each.name for each in kinds if not each.alarms and each.waits]
    return " · ".join([
        *loud,
        *([numbered(more, "more alarm")] if more else []),
        *([f"{listed(quiet)} ok"] if quiet else []),
        *([f"{listed(waiting)}: too little known yet"] if waiting else []),
    ])  # fmt: skip


@dataclass(frozen=True)
class Sent:
    """Which share of n cases was sent to a reader, and which was expected."""

    share: float
    low: float
    high: float
    n: int
    expected: float

    def in_words(self) -> str:
        r"""The share with its interval.

        >>> Sent(0.36, 0.31, 0.42, 300, 0.34).in_words()
        'sent 36\xa0% of 300 (31 to 42\xa0%; 34\xa0% expected)'
        """
        ends = percent_interval(self.low, self.high, 0)
        return f"sent {percent(self.share, 0)} of {count(self.n)} ({ends}; {percent(self.expected, 0)} expected)"


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
                interval(low, high, PLACES, signed=COMPARED[name].against) or TOO_FEW
                for name, low, high in zip(known["metric"], known["low"], known["high"], strict=True)
            ],
            "n": known["n"],
        }
    ).reset_index(drop=True)
