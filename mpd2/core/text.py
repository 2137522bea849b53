"""Numbers and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: Sequence[str]) -> str:
    """Words in a sentence.

    >>> listed(["Mao", "Verma", "Hemmer"])
    'Mao, Verma and Hemmer'
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def sentence(text: str) -> str:
    """With a capital and a full stop.

    >>> sentence("beyond chance")
    'Beyond chance.'
    """
    return f"{text[:1].upper()}{text[1:]}."
