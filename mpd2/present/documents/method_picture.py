"""The picture of the method with a run's numbers in it: how many cases end with whom, who is asked, what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from mpd2.core.files import ROOT
from mpd2.core.manifest import Manifest
from mpd2.core.policy import AI, READER, RULE, deciders
from mpd2.core.text import capital, count
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.metrics import COUNTS, load_of
from mpd2.present.charts.kit.style import AI as AI_MARK
from mpd2.present.charts.kit.style import ON_LIGHT
from mpd2.present.charts.kit.style import READER as READER_MARK

PICTURE = ROOT / "assets" / "method.svg"
SAYS = re.compile(r'(?P<begin><text[^>]*data-says="(?P<key>\w+)"[^>]*>)(?P<words>[^<]*)')  # what a table puts in words
LONGEST = {"case": 13, "answers": 27, "risks": 28, "others": 27}  # letters that have a place
SNUG, INSIDE = 21, 174  # letters from which words are fitted to their box, and how wide they are then
OUTCOMES = re.compile(r'<g id="outcomes">.*</g>(?=\s*</svg>)', re.DOTALL)  # what the numbers take the place of
DEEP, GREY, WHITE = "#0f7452", "#7f8b88", "#ffffff"  # the router's green where white is read on it, arrows, letters
NAMED = 3  # readers with a box of their own, the busiest
LEFT, WIDE, TOP, BOTTOM, GAP = 700, 190, 14, 320, 10
ASK, WHOM = 105, 205  # height of the two questions from which arrows start
END, LAST = 940, 150  # where the final answer stands, and how wide it is


@dataclass(frozen=True)
class Box:
    """One way a case can go."""

    name: str
    number: str
    colour: str
    ink: str
    start: int  # height of the question it follows from


def with_numbers(evidence: Evidence, active: str, stamp: str) -> str:
    """The picture as an SVG, numbers as means over the run's models, with what it is about below it."""
    missed, alarms = (evidence.tallies[active].counts.mean(0)[COUNTS.index(name)] for name in ("FN", "FP"))
    last = [f"{_whole(missed)} missed", f"{_whole(alarms)} false alarms"]
    drawn = _outcomes(boxes(evidence, active), last)
    foot = f'<text x="10" y="338" font-size="10" fill="{ON_LIGHT}" text-anchor="start">{escape(stamp)}</text>'
    return OUTCOMES.sub(lambda _: drawn + foot, picture(evidence.cohort.manifest))


def picture(manifest: Manifest) -> str:
    """The picture without numbers, as an SVG, in the words of a table; words too long for their box stay general."""
    task, inputs = manifest.task, _titles(manifest)
    says = {
        "case": capital(task.case),
        "answers": f"{task.positive} or {task.negative}",
        "risks": ", ".join(inputs.get("risk", [])),
        "others": ", ".join([*inputs.get("structure", []), *inputs.get("other", [])]) or "none in this table",
    }

    def said(match: re.Match[str]) -> str:
        own = says[match["key"]]
        if not 0 < len(own) <= LONGEST[match["key"]]:
            return match[0]
        fitted = f' textLength="{INSIDE}" lengthAdjust="spacingAndGlyphs">' if len(own) > SNUG else ">"
        return match["begin"].removesuffix(">") + fitted + escape(own)

    return SAYS.sub(said, PICTURE.read_text(encoding="utf-8"))


def _titles(manifest: Manifest) -> dict[str, list[str]]:
    """The titles of the inputs of every role there is."""
    titles: dict[str, list[str]] = {}
    for each in manifest.inputs:
        titles.setdefault(each.role, []).append(each.title or each.column)
    return titles


def boxes(evidence: Evidence, active: str) -> list[Box]:
    """Every way with its number: kept with the AI, overruled unread, and the busiest readers with their readings."""
    cohort, decisions = evidence.cohort, evidence.outcomes[active].decisions
    n, by = len(cohort), deciders(decisions, cohort)
    kept, overruled, sent = ((by == who).sum(-1).mean() for who in (AI, RULE, READER))
    found = [Box("Keep the AI’s word", f"{_whole(kept)} of {count(n)} cases", AI_MARK.colour, ON_LIGHT, ASK)]
    if overruled:
        found.append(Box("Overrule it, nobody asked", f"{_whole(overruled)} cases", DEEP, WHITE, ASK))
    load = load_of(decisions, cohort.readers).mean(0)
    order = [place for place in np.argsort(-load, kind="stable") if load[place] > 0]
    found += [_reader(f"Ask {cohort.manifest.readers[place].name}", load[place]) for place in order[:NAMED]]
    if others := order[NAMED:]:
        found.append(_reader(f"Ask {len(others)} other{'s' * (len(others) > 1)}", load[others].sum()))
    if not order:
        found.append(Box("Ask a reader", f"{_whole(sent)} cases", READER_MARK.colour, WHITE, WHOM))
    return found


def _reader(name: str, readings: float) -> Box:
    return Box(name, f"{_whole(readings)} readings", READER_MARK.colour, WHITE, WHOM)


def _outcomes(ways: Sequence[Box], last: Sequence[str]) -> str:
    """Boxes one below the other between the two questions and the final answer, with arrows."""
    height = min(56, (BOTTOM - TOP + GAP) / len(ways) - GAP)
    middle = (TOP + BOTTOM) / 2
    arrows, drawn = [], []
    for place, way in enumerate(ways):
        top = TOP + place * (height + GAP)
        at = top + height / 2
        arrows += [f"M630 {way.start} H665 V{at:g} H694", f"M{LEFT + WIDE} {at:g} H915 V{middle:g} H934"]
        drawn.append(_box(LEFT, top, WIDE, height, way.colour, way.ink, [way.name, way.number]))
    drawn.append(_box(END, middle - 55, LAST, 110, DEEP, WHITE, ["Final answer", *last]))
    lines = "".join(f'<path d="{path}" marker-end="url(#tip)"/>' for path in arrows)
    return f'<g fill="none" stroke="{GREY}" stroke-width="1.6">{lines}</g>{"".join(drawn)}'


def _box(x: float, y: float, width: float, height: float, colour: str, ink: str, lines: Sequence[str]) -> str:
    first = y + height / 2 - 9 * (len(lines) - 1) + 5
    texts = "".join(
        f'<text x="{x + width / 2:g}" y="{first + 18 * place:g}" fill="{ink}" font-weight="{400 if place else 700}">'
        f"{escape(line)}</text>"
        for place, line in enumerate(lines)
    )
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="{colour}"/>{texts}'


def _whole(number: float) -> str:
    return count(round(number))
