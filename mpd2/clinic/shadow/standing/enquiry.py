"""How the enquiry about each case stands: who is asked next, and which label it has with the answers that are there.

All that is needed is kept with the case when it is decided, so that neither another run nor another setting changes
what was begun.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.costs import Costs
from mpd2.core.policy import NOBODY, best_actions
from mpd2.methods.plus.asking import CHEAPER, Enquired, Outlook, enquire


@dataclass(frozen=True)
class Terms:
    """What holds for every enquiry under one basis."""

    costs: Costs  # by which is decided whether another reader is asked
    limit: int  # readers that may be asked about a case
    fuse: bool  # whether the posterior has the last word, or the reader heard last


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is known of N cases before anybody is asked."""

    kept: Ints  # [N] the label if nobody is asked
    positive: Floats  # [N] P(positive), NaN where the run has no such thing
    worth: Floats  # [N, M] log-odds of asking each reader first against keeping, prices taken off; −∞ where one cannot
    costs: Floats  # [N, 1 + M] expected if the case is kept, and if each reader is asked first; NaN where not known
    answers: Floats  # [N, M, 2] P(reader says positive | truth 0, 1), or [N, M, 0] where the first has the last word

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def action(self) -> Ints:
        """What is done with each case, [N]: 0 keeps the AI, j asks reader j − 1."""
        return best_actions(self.worth)

    def rows(self, index: np.ndarray) -> Beliefs:
        """Those of the cases at `index`, positions or a boolean mask."""
        return Beliefs(
            self.kept[index], self.positive[index], self.worth[index], self.costs[index], self.answers[index]
        )

    def packed(self) -> list[bytes]:
        """The numbers of each case but the first two, as they are kept, [N]."""
        rows = np.concatenate([self.worth, self.costs, self.answers.reshape(len(self), -1)], axis=1)
        return [row.tobytes() for row in np.ascontiguousarray(rows, "<f8")]


def unpacked(kept: Ints, positive: Floats, packed: Iterable[bytes], readers: int) -> Beliefs:
    """The beliefs of N cases of one basis from what was kept of them."""
    rows = np.frombuffer(b"".join(packed), "<f8").reshape(len(kept), -1)
    worth, costs, answers = np.split(rows, [readers, 2 * readers + 1], axis=1)
    return Beliefs(kept, positive, worth, costs, answers.reshape(len(kept), readers, -1))


def standing(beliefs: Beliefs, words: Ints, declined: Bools, terms: Terms) -> Enquired:
    """How the enquiries stand with what was said, [N, M], UNKNOWN where nothing was, and by whom it was declined."""
    declined = declined & (words == UNKNOWN)
    first = best_actions(np.where(declined, -np.inf, beliefs.worth)) - 1  # NOBODY where the case is kept
    if beliefs.answers.shape[-1]:
        outlook = Outlook(
            prior=beliefs.positive,
            answers=beliefs.answers,
            available=np.isfinite(beliefs.worth),
            kept=np.full(len(beliefs), CHEAPER),
            fuse=terms.fuse,
        )
        found = enquire(outlook, first, words, declined, terms.costs, terms.limit)
        return Enquired(found.consulted, np.where(first == NOBODY, beliefs.kept, found.label), found.waiting)
    word = words[np.arange(len(first)), first]
    waits = (first != NOBODY) & (word == UNKNOWN)
    return Enquired(first[:, None], np.where(first == NOBODY, beliefs.kept, word), np.where(waits, first, NOBODY))
