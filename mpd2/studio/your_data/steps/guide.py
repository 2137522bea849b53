"""A table of one's own in five steps, each of which can be left and come back to in either direction."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from mpd2.core.errors import UserError
from mpd2.studio.your_data import texts
from mpd2.studio.your_data.steps import build, checks, columns, files, readers
from mpd2.studio.your_data.steps.draft import Draft, current

STEP = "import_step"  # key of the session

DRAWN: dict[int, Callable[[Draft], None]] = {
    1: files.draw,
    2: columns.draw,
    3: readers.draw,
    4: checks.draw,
    5: build.draw,
}


def draw() -> None:
    """The stepper, and the step that is open."""
    draft = current()
    last, why = reachable(draft)
    step = min(int(st.session_state.get(STEP, 1)), last)
    with st.container(horizontal=True, horizontal_alignment="distribute", key="import_way"):
        _stepper(step, last, why)
    DRAWN[step](draft)


def reachable(draft: Draft) -> tuple[int, str]:
    """The last step that can be opened, and why not the one after it."""
    if "cases" not in draft.files:
        return 1, texts.NO_FILE
    if draft.lacking:
        return 2, " ".join(draft.lacking)
    try:
        draft.manifest()
    except UserError as error:
        return 3, str(error)
    return 5, ""


def go(step: int) -> None:
    """Open another step."""
    st.session_state[STEP] = step


def _stepper(step: int, last: int, why: str) -> None:
    """A button for each step, and one for the next."""
    with st.container(horizontal=True, gap="small", width="content", key="import_steps"):
        for number, title in texts.STEPS.items():
            st.button(
                f"{number} {title}",
                key=f"import_step_{number}",
                type="primary" if number == step else "secondary",
                on_click=go,
                args=(number,),
                disabled=number > last,
            )
    if step < max(texts.STEPS):
        st.button(
            "Next",
            key="import_next",
            type="primary",
            on_click=go,
            args=(step + 1,),
            disabled=step + 1 > last,
            help=texts.plain(why) or None,
            icon=":material/arrow_forward:",
            icon_position="right",
        )
