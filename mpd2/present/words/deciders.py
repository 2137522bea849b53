"""Who decides how many cases, in words: the AI by its own word, the rule against it, or a reader."""

from __future__ import annotations

from mpd2.core.arrays import Floats
from mpd2.core.policy import DECIDERS
from mpd2.core.text import count, sentence


def in_words(cases: Floats) -> str:
    """How many cases each decides, in a sentence; `cases`: as of `core.policy.decided_cases`, [3].

    >>> import numpy as np
    >>> in_words(np.array([512.0, 103.0, 284.0]))
    "The AI's own word decides 512 cases, the rule against the AI 103, a reader 284."
    >>> in_words(np.array([0.0, 1.0, 0.0])), in_words(np.zeros(3))
    ('The rule against the AI decides 1 case.', 'There are no cases.')
    """
    deciding = [(who, round(number)) for who, number in zip(DECIDERS, cases.tolist(), strict=True) if round(number)]
    if not deciding:
        return "There are no cases."
    (first, most), *rest = deciding
    parts = [f"{first} decides {count(most)} {'case' if most == 1 else 'cases'}"]
    return sentence(", ".join([*parts, *(f"{who} {count(number)}" for who, number in rest)]))
