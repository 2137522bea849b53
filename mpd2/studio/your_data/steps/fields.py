"""Fields whose value is kept in the draft the moment it is changed, so that no step forgets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from mpd2.studio.your_data.steps.draft import current, keep


def answer(widget: Callable[..., Any], label: str, name: str, **settings: Any) -> None:
    """A field for one answer, by its name in `Answers`; empty, it shows what is taken instead."""
    draft = current()
    key = f"import_{name}_{draft.generation}"
    suggested = getattr(draft.without_answer(name).answers, name)
    settings.setdefault("placeholder", str(suggested or ""))
    widget(label, value=getattr(draft.answers, name), key=key, on_change=_keep, args=(name, key), **settings)


def _keep(name: str, key: str) -> None:
    """What was typed; an emptied field goes back to what was suggested."""
    said = st.session_state[key]
    said = said.strip() if isinstance(said, str) else said
    keep(current().with_answers(**{name: said}) if said else current().without_answer(name))
