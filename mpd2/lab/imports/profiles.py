"""What a column holds, by its cells alone: how many differ, whether they are numbers, answers or dates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.table_file.cells import shortened
from mpd2.lab.imports.values import Column, Values, as_bits, as_dates, as_parts, is_empty
from mpd2.lab.imports.words import BITS, LOWER_FIRST, UNSURE, plain

SHOWN = 24  # characters of a first value
FIRST = 3  # values shown
MOSTLY = 0.9  # share of cells that decides what a column is; the others are named as problems later
MOST_CODES = 12  # words that can be numbered
SAMPLE = 20_000  # rows by which columns are held against the truth


@dataclass(frozen=True, eq=False)
class Profile:
    """One column of N cells."""

    name: str
    column: Column

    @cached_property
    def counts(self) -> Ints:
        """How often each distinct cell stands there, [K]."""
        return np.bincount(self.column.codes, minlength=len(self.column.texts))

    @cached_property
    def said(self) -> np.ndarray:
        """Which of the distinct cells say something, [K]."""
        return np.array([not is_empty(text) for text in self.column.texts], bool)

    @cached_property
    def filled(self) -> int:
        """Cells that say something."""
        return int(self.counts[self.said].sum())

    @cached_property
    def distinct(self) -> int:
        """Different cells that say something."""
        return int(self.said.sum())

    @property
    def complete(self) -> bool:
        """Whether every cell says something."""
        return self.filled == len(self.column)

    @cached_property
    def words(self) -> list[str]:
        """The distinct cells that say something, the most frequent first."""
        order = np.argsort(-self.counts, kind="stable")
        return [self.column.texts[position] for position in order if self.said[position]]

    @cached_property
    def unsure(self) -> list[str]:
        """Those of the frequent words that decide nothing."""
        return [word for word in self.words[: 2 * MOST_CODES] if plain(word) in UNSURE]

    @cached_property
    def answers(self) -> list[str]:
        """The words without these."""
        return [word for word in self.words if word not in self.unsure] if self.unsure else self.words

    @property
    def first_values(self) -> tuple[str, ...]:
        """The first distinct cells that say something."""
        there = (text for text, said in zip(self.column.texts, self.said, strict=True) if said)
        return tuple(shortened(text, SHOWN) for text, _ in zip(there, range(FIRST), strict=False))

    @property
    def numbers(self) -> Values:
        """The cells as numbers."""
        return self.column.numbers

    @cached_property
    def is_number(self) -> bool:
        """Whether nearly all that is said are numbers."""
        return self.filled > 0 and (~np.isnan(self.numbers.values)).sum() >= MOSTLY * self.filled

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the largest number."""
        there = self.numbers.values[~np.isnan(self.numbers.values)]
        return (float(there.min()), float(there.max())) if len(there) else (np.nan, np.nan)

    @cached_property
    def is_share(self) -> bool:
        """Whether all numbers are from 0 to 1, and more than these two."""
        low, high = self.ends
        return self.is_number and low >= 0 and high <= 1 and self.distinct > 2

    @cached_property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        there = self.numbers.values[~np.isnan(self.numbers.values)]
        return self.is_number and bool((there == np.floor(there)).all())

    def bits(self, words: Mapping[str, int] | None = None) -> Ints:
        """The cells as 0, 1 or UNKNOWN, [N]."""
        return as_bits(self.column, words).values

    @cached_property
    def is_bit(self) -> bool:
        """Whether nearly all that is said is yes or no, in whatever words, which are few."""
        if not self.answers:
            return False
        known = [word for word in self.answers[: 2 * MOST_CODES] if plain(word) in BITS or word in ("0.0", "1.0")]
        share = self.counts_of(known) / (self.filled - self.counts_of(self.unsure))
        return share >= MOSTLY and len({plain(word) for word in known}) <= 4

    def counts_of(self, words: list[str]) -> int:
        """How many cells hold one of some words."""
        positions = {text: position for position, text in enumerate(self.column.texts)}
        return int(sum(self.counts[positions[word]] for word in words))

    @cached_property
    def bit_words(self) -> dict[str, int]:
        """What two words that are not yes and no mean: the healthier of them is 0, or else the more frequent."""
        if self.is_bit or len(self.answers) != 2 or self.is_number:
            return {}
        common, rare = self.answers
        if BITS.get(plain(rare), 1) == 0 or BITS.get(plain(common), 0) == 1 or any(_denies(rare, no) for no in NOT):
            common, rare = rare, common
        return {common: 0, rare: 1}

    def meaning(self, word: str) -> int | None:
        """What one of the answers means, 0 or 1; nothing where nobody knows."""
        return self.bit_words.get(word, BITS.get(plain(word)))

    @cached_property
    def is_split(self) -> bool:
        """Whether nearly every cell names a part: train, val or test."""
        if not 2 <= self.distinct <= MOST_CODES:
            return False
        parts = as_parts(self.column)
        named = {part for part in np.unique(parts.values.astype(str)).tolist() if part}
        return len(named) > 1 and (~parts.wrong).sum() >= MOSTLY * len(self.column)

    @cached_property
    def is_date(self) -> bool:
        """Whether nearly all that is said are days."""
        if self.filled == 0 or self.is_bit or (self.is_number and not _like_days(self.words)):
            return False
        if not (as_dates(Column.of(pd.Series(self.words[:50], dtype="str"))).values != "").mean() >= MOSTLY:
            return False
        return (as_dates(self.column).values != "").sum() >= MOSTLY * self.filled

    @cached_property
    def codes(self) -> dict[str, float]:
        """A number for each word of a column of few words: in their order where it is known, else as they are spelt."""
        if self.is_number or not 2 <= self.distinct <= MOST_CODES:
            return {}
        if self.is_bit:
            return {word: float(BITS[plain(word)]) for word in self.words if plain(word) in BITS}
        words = {plain(word): word for word in self.words}
        for order in LOWER_FIRST:
            ranks = {plain(word): rank for rank, word in enumerate(order)}
            if set(words) <= set(ranks):
                return {words[word]: float(rank) for word, rank in ranks.items() if word in words}
        return {word: float(rank) for rank, word in enumerate(sorted(self.words))} if self.distinct == 2 else {}

    def repeats(self) -> str:
        """How often its values come, in words."""
        often = self.counts[self.said]
        if len(np.unique(often)) == 1:
            return f"repeats {int(often[0])} times each"
        return f"{self.filled / max(self.distinct, 1):.1f} rows each on average"


NOT = ("no", "non", "not", "kein", "keine", "sans", "sin", "senza", "sem", "ohne", "un")


def _denies(word: str, no: str) -> bool:
    return plain(word).startswith(f"{no} ")


def _like_days(words: list[str]) -> bool:
    """Whether numbers can be days written as 20240301."""
    return all(len(word) == 8 and word[:2] in ("19", "20") for word in words[:50])


def auc(values: Floats, truth: Ints) -> float:
    """How well a number sorts positives above negatives, 0 to 1; NaN where nothing can be said. [N], [N]."""
    known = np.flatnonzero(~np.isnan(values) & (truth != UNKNOWN))
    known = known[:: max(1, len(known) // SAMPLE)]
    sick = truth[known] == 1
    positives, negatives = int(sick.sum()), int((~sick).sum())
    if not positives or not negatives:
        return np.nan
    ranks = rankdata(values[known])
    return float((ranks[sick].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def likeness(bits: Ints, truth: Ints) -> float:
    """The correlation φ of two columns of answers; 0 where nothing can be said. [N], [N]."""
    both = (bits != UNKNOWN) & (truth != UNKNOWN)
    first, second = bits[both].astype(float), truth[both].astype(float)
    if len(first) < 2 or first.std() == 0 or second.std() == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
