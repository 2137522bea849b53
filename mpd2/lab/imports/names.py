"""What the name of a column tells beyond a single word of it."""

from __future__ import annotations

from mpd2.lab.imports.words import NAMES, name_words, says


def claims(name: str) -> int:
    """How clearly a name says that it is the AI's probability."""
    if says(name, "spread") or says(name, "quality") or says(name, "distance"):
        return 0
    if says(name, "reader") or says(name, "structure"):
        return 0
    claim = 2 * bool(says(name, "probability")) + 2 * bool(says(name, "ai"))
    return claim - bool({"mean", "median", "ensemble", "quality"} & set(name_words(name)))


def ai_words(name: str) -> str:
    """The words by which a name says that it is the AI's."""
    return " ".join(filter(None, (says(name, "ai"), says(name, "probability")))).replace("ai", "AI")


def other_name(name: str) -> bool:
    """Whether a name says that a number is neither an answer nor the AI's."""
    kinds = ("quality", "poor", "distance", "risk", "structure", "person", "spread")
    return any(says(name, kind) for kind in kinds)


def side(name: str) -> int | None:
    """Whose score a name says it is: 0, 1 or nobody's."""
    words = name_words(name)
    if set(words) & set(NAMES["negative"]):
        return 0
    return 1 if set(words) & set(NAMES["positive"]) else None


def sideless(name: str) -> tuple[str, ...]:
    """The words of a name but those that say whose score it is."""
    sides = {*NAMES["negative"], *NAMES["positive"]}
    return tuple(word for word in name_words(name) if word not in sides)


def stem(name: str) -> str:
    """A name without the number or the single letter at its end.

    >>> stem("grader_2"), stem("Reader B"), stem("R1")
    ('grader', 'reader', 'r')
    """
    words = name_words(name)
    return " ".join(words[:-1] if len(words) > 1 and (words[-1].isdigit() or len(words[-1]) == 1) else words)
