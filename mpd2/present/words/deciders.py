"""Who decides how many cases, in words: the AI by its own word, the rule against it, or a reader."""

from __future__ import annotations

from mpd2.core.arrays import Floats
from mpd2.core.policy import DECIDERS
from mpd2.core.text import count, listed


def in_words(cases: Floats) -> str:
    """How many cases each decides, in a sentence; `cases`: as of `core.policy.decided_cases`, [3].

    >>> import numpy as np
    >>> in_words(np.array([512.0, 103.0, 284.0]))
    "Of 899 cases, 512 are decided by the AI's own word, 103 by the rule against the AI and 284 by a reader."
    >>> in_words(np.array([1.0, 0.0, 0.0]))
    "Of 1 case, 1 is decided by the AI's own word."
    """
    numbers = [round(number) for number in cases.tolist()]
    total = sum(numbers)
    parts = [f"{count(number)} by {who}" for number, who in zip(numbers, DECIDERS, strict=True) if number]
    if not parts:
        return "There are no cases."
    first, _, rest = parts[0].partition(" by ")
    parts[0] = f"{first} {'is' if first == '1' else 'are'} decided by {rest}"
    return f"Of {count(total)} {'case' if total == 1 else 'cases'}, {listed(parts)}."
