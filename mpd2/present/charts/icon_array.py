"""A picture of everybody screened: one mark a person, what became of them, and who was read by a reader.

Drawn by hand like the small curves: two thousand marks of a charting library would keep a page waiting. On a page the
picture holds no text, whose colour would have to follow the theme; `before_and_after` is whole in itself, for files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import count, listed, numbered
from mpd2.evaluation.clinical.per_thousand import OUTCOMES
from mpd2.present.charts.kit.style import ALARM, CATEGORIES, ON_LIGHT, OTHER, READER

COLUMNS, ROWS = 50, 20
PITCH = 8  # from one person to the next, in pixels of the drawing
WIDTH, HEIGHT = COLUMNS * PITCH, ROWS * PITCH
READ = "reader"  # who decided those that lie on the readers' ground
GROUND = 0.2  # opacity of the ground under those a reader has read
EDGES = {(-1, 0): (0, 0, "v"), (1, 0): (1, 0, "v"), (0, -1): (0, 0, "h"), (0, 1): (0, 1, "h")}
"""Where the line between a person and the neighbour there begins, and which way it goes."""


class Look(NamedTuple):
    """How people of one outcome are drawn, and what they are called."""

    colour: str
    sign: str  # the letter nearest to its shape, for legends in text
    one: str
    many: str
    path: str  # from the middle of its place
    stroke: float = 0.0  # width of a line; a filled shape has none

    def called(self, people: int) -> str:
        """So many of them.

        >>> looks(Task(positive="finding", negative="none"))["missed"].called(10)
        '10 findings missed'
        """
        return numbered(people, self.one, self.many)


def looks(task: Task) -> dict[str, Look]:
    """The outcomes in the order they stand from left to right."""
    one, many = task.positive, task.positives
    return {
        "found": Look(CATEGORIES[0], "●", f"{one} found", f"{many} found", "h.01", 5.2),
        "missed": Look(ALARM.colour, "✕", f"{one} missed", f"{many} missed", "m-2.6-2.6l5.2 5.2m0-5.2l-5.2 5.2", 2.0),
        "alarm": Look(CATEGORIES[3], "▲", "false alarm", "false alarms", "m0-2.9l3 5.4h-6z"),
        "cleared": Look(OTHER.colour, "·", "rightly cleared", "rightly cleared", "h.01", 2.2),
    }


def icon_array(people: pd.DataFrame, task: Task) -> str:
    """An SVG of 1,000 people, 50 by 20, column by column; `people`: outcome, who, people, which add up to them."""
    return _svg(WIDTH, HEIGHT, _marks(people, task), in_words(people, task))


def in_words(people: pd.DataFrame, task: Task) -> str:
    """What the picture shows, with its numbers.

    >>> people = pd.DataFrame({"outcome": ["missed", "alarm"], "who": ["ai", "reader"], "people": [10, 1]})
    >>> in_words(people, Task(positive="finding", negative="none"))
    '11 people: 0 findings found, 10 findings missed, 1 false alarm and 0 rightly cleared; 1 read by a reader.'
    """
    totals = people.groupby("outcome")["people"].sum()
    parts = [look.called(int(totals.get(outcome, 0))) for outcome, look in looks(task).items()]
    read = int(people[people["who"] == READ]["people"].sum())
    return f"{count(int(totals.sum()))} {task.people}: {listed(parts)}; {count(read)} read by a reader."


def before_and_after(arrays: Sequence[tuple[str, pd.DataFrame]], title: str, task: Task, ink: str = ON_LIGHT) -> str:
    """Several pictures side by side, each under its name and numbers, below a title and above a legend: an SVG."""
    gap, top, beneath = 32, 62, 26
    width = len(arrays) * (WIDTH + gap) - gap
    parts = [_text(0, 16, title, ink, 15, bold=True)]
    for place, (name, people) in enumerate(arrays):
        left = place * (WIDTH + gap)
        totals = people.groupby("outcome")["people"].sum()
        errors = ", ".join(looks(task)[outcome].called(int(totals[outcome])) for outcome in ("missed", "alarm"))
        read = count(int(people[people["who"] == READ]["people"].sum()))
        parts += [
            _text(left, 38, name, ink, 13, bold=True),
            _text(left, 54, f"{errors}, {read} read by a reader", ink, 12),
            f'<g transform="translate({left} {top})">{_marks(people, task)}</g>',
        ]
    parts.append(_legend(top + HEIGHT + beneath - 8, task, ink))
    words = " ".join(f"{name}: {in_words(people, task)}" for name, people in arrays)
    return _svg(width, top + HEIGHT + beneath, "".join(parts), f"{title} {words}")


def _marks(people: pd.DataFrame, task: Task) -> str:
    """The readers' ground, and on it every person."""
    outcomes = list(_in_order(people))
    drawn = _ground({_place(position) for position, (_, who) in enumerate(outcomes) if who == READ})
    for outcome, look in looks(task).items():
        places = [_place(place) for place, (kind, _) in enumerate(outcomes) if kind == outcome]
        if places:
            drawn += _path(outcome, [(x * PITCH + PITCH // 2, y * PITCH + PITCH // 2) for x, y in places], look)
    return drawn


def _in_order(people: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Outcome and decider of everybody, from left to right; those read lie side by side over two outcomes."""
    counts = {(row["outcome"], row["who"]): int(row["people"]) for row in people.to_dict("records")}
    deciders = list(dict.fromkeys(people["who"]))
    for place, outcome in enumerate(OUTCOMES):
        for who in deciders if place % 2 == 0 else reversed(deciders):
            for _ in range(counts.get((outcome, who), 0)):
                yield outcome, who


def _place(position: int) -> tuple[int, int]:
    """Column and row of a person."""
    return position // ROWS, position % ROWS


def _ground(read: set[tuple[int, int]]) -> str:
    """A tint under those who were read, and a line around them, which can be seen on any page."""
    tint = "".join(f"M{x * PITCH} {y * PITCH}h{PITCH}v{PITCH}h-{PITCH}z" for x, y in sorted(read))
    edges = [
        f"M{(x + right) * PITCH} {(y + below) * PITCH}{stroke}{PITCH}"
        for x, y in sorted(read)
        for (dx, dy), (right, below, stroke) in EDGES.items()
        if (x + dx, y + dy) not in read
    ]
    return _tinted("read", tint, "".join(edges)) if read else ""


def _tinted(name: str, tint: str, edge: str) -> str:
    return (
        f'<path class="{name}" d="{tint}" fill="{READER.colour}" fill-opacity="{GROUND}"/>'
        f'<path d="{edge}" fill="none" stroke="{READER.colour}"/>'
    )


def _path(name: str, middles: Sequence[tuple[float, float]], look: Look) -> str:
    """All people of one outcome as one path."""
    data = "".join(f"M{x:g} {y:g}{look.path}" for x, y in middles)
    paint = (
        f'fill="none" stroke="{look.colour}" stroke-width="{look.stroke}" stroke-linecap="round"'
        if look.stroke
        else f'fill="{look.colour}"'
    )
    return f'<path class="{name}" d="{data}" {paint}/>'


def _legend(y: float, task: Task, ink: str) -> str:
    """What each mark stands for, in a row."""
    drawn, x = "", 4.0
    for outcome, look in looks(task).items():
        drawn += _path(f"key-{outcome}", [(x, y)], look) + _text(x + 9, y + 4, look.one, ink, 12)
        x += 25 + 6.4 * len(look.one)
    ground = f"M{x - 4:g} {y - 5:g}h14v10h-14z"
    return drawn + _tinted("key-read", ground, ground) + _text(x + 15, y + 4, "read by a reader", ink, 12)


def _text(x: float, y: float, words: str, ink: str, size: int, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{ink}" font-family="Inter, sans-serif" font-size="{size}"{weight}>'
        f"{escape(words)}</text>"
    )


def _svg(width: int, height: int, inside: str, words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width + 2} {height + 2}" width="{width + 2}" '
        f'height="{height + 2}" role="img"><title>{escape(words)}</title>{inside}</svg>'
    )
