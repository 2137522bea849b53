"""What leaves the installation as a file, and what is written about a case: asked for here, made elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise

Made = TypeVar("Made", bytes, str)


def export_figures(make: Callable[[], Made], what: str, *, by: Actor) -> Made:
    """A file with numbers about many cases, in which no case can be told from another."""
    authorise(by, Action.EXPORT_FIGURES, what=what)
    return make()


def export_cases(make: Callable[[], Made], what: str, case: str | None = None, *, by: Actor, **about: Any) -> Made:
    """A file in which cases stand by their ids: a worklist, a case's sheet, decisions, a table with a row a case."""
    authorise(by, Action.EXPORT_CASES, case=case, what=what, **about)
    return make()


def keep_note(case: str, text: str, *, by: Actor) -> str:
    """A note on a case, which is kept by whoever asks; of what it says the record holds the length alone."""
    authorise(by, Action.NOTE, case=case, characters=len(text))
    return text
