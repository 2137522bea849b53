"""What a column of somebody's table can be, and what one is taken for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from mpd2.core.state import Role

File = Literal["cases", "readings"]


class Use(StrEnum):
    """What a column is, in the words of the page."""

    CASE = "case id"
    TRUTH = "truth"
    COHORT = "cohort"
    SPLIT = "split"
    GROUP = "belongs together"
    DATE = "date"
    PROBABILITY = "AI, probability"
    LOGIT = "AI, log-odds"
    LOGIT_NEGATIVE = "AI, score of negative"
    LOGIT_POSITIVE = "AI, score of positive"
    READER = "reader"
    AI_INPUT = "input, of the AI"
    RISK = "input, risk"
    DISTANCE = "input, unlike training"
    QUALITY = "input, poor quality"
    STRUCTURE = "input, grows with the disease"
    OTHER = "input, other"
    READING_CASE = "reading: case"
    READING_READER = "reading: reader"
    READING_SAYS = "reading: answer"
    IGNORED = "left out"


Signal = Literal["", "distance", "quality"]
INPUTS: dict[Use, tuple[Role, Signal]] = {
    Use.AI_INPUT: ("ai", ""),
    Use.RISK: ("risk", ""),
    Use.DISTANCE: ("risk", "distance"),
    Use.QUALITY: ("risk", "quality"),
    Use.STRUCTURE: ("structure", ""),
    Use.OTHER: ("other", ""),
}
"""The role and signal of each kind of input."""
ONCE = (Use.CASE, Use.TRUTH, Use.COHORT, Use.SPLIT, Use.GROUP, Use.DATE)
AI_FORMS = ((Use.LOGIT_NEGATIVE, Use.LOGIT_POSITIVE), (Use.LOGIT,), (Use.PROBABILITY,))
OF_READINGS = (Use.READING_CASE, Use.READING_READER, Use.READING_SAYS)
USES: dict[File, tuple[Use, ...]] = {
    "cases": tuple(use for use in Use if use not in OF_READINGS),
    "readings": (*OF_READINGS, Use.IGNORED),
}
"""What a column of each file can be, in the order in which a page offers it."""


@dataclass(frozen=True)
class Proposal:
    """What one column is taken for; all of it can be changed."""

    column: str
    file: File
    use: Use
    reason: str  # in words: "between 0 and 1; its name says AI"
    first_values: tuple[str, ...] = ()
    missing: bool = False  # whether cells are empty
    low: float | None = None  # usual range, of a number
    high: float | None = None
    unit: str = ""
    title: str = ""  # as a sentence names it
    codes: Mapping[str, float] = field(default_factory=dict)  # the number of each word, if it holds words
    answers: Mapping[str, int] = field(default_factory=dict)  # 0 or 1 for words that are not yes and no
    readers: tuple[str, ...] = ()  # who is named in it, if it is the column of readers of a second file
    cohorts: tuple[str, ...] = ()  # what is named in it, if it can be the cohort
