"""The setting somebody has come to on the Budget page, the one before it, and the one kept to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from mpd2.core.errors import UserError
from mpd2.planning.day import NAMES, DaySetting, from_query
from mpd2.studio.shell import store

COURSE, KEPT, REFUSED = "budget_course", "budget_kept", "budget_refused"
"""Keys of the session."""


@dataclass(frozen=True)
class SliderState:
    """Where one is, where one was, and whether the hand is still on the slider."""

    now: DaySetting
    before: DaySetting
    moving: bool = False
    turn: int = 0  # counts settled changes, so that tables people edit can start afresh

    def to(self, setting: DaySetting, moving: bool) -> SliderState:
        """One step on; a drag is one step however many settings it passes."""
        before = self.before if self.moving else self.now
        return SliderState(setting, before, moving, self.turn + (not moving))


def usual() -> DaySetting:
    """The manifest's costs and no limits."""
    return DaySetting(store.cohort().manifest.default_costs())


def course() -> SliderState:
    """Where this visit is; at first where the link says."""
    if COURSE not in st.session_state:
        st.session_state[COURSE] = _from_link()
    known: SliderState = st.session_state[COURSE]
    return known


def now() -> DaySetting:
    """The setting in force."""
    return course().now


def change(setting: DaySetting, moving: bool = False) -> None:
    """Go on to another setting; the link follows once the hand is off the slider."""
    here = course()
    if setting != here.now or moving != here.moving:
        st.session_state[COURSE] = here.to(setting, moving)
    st.session_state.pop(REFUSED, None)


def attempt(make: Callable[[DaySetting], DaySetting]) -> None:
    """Go on to what is made of the setting in force; what cannot be is refused with the reason."""
    try:
        change(make(now()))
    except UserError as error:
        st.session_state[REFUSED] = str(error)


def keep() -> None:
    """Keep the setting in force as A."""
    st.session_state[KEPT] = now()


def kept() -> DaySetting | None:
    """The setting kept as A."""
    known: DaySetting | None = st.session_state.get(KEPT)
    return known


def refused() -> str | None:
    """Why the last wish, or the link, could not be followed."""
    known: str | None = st.session_state.get(REFUSED)
    return known


def write_link() -> None:
    """Let the address say what is in force."""
    said = now().to_query(store.cohort().manifest)
    for name in NAMES:
        if name in said and st.query_params.get(name) != said[name]:
            st.query_params[name] = said[name]
        elif name not in said and name in st.query_params:
            del st.query_params[name]


def _from_link() -> SliderState:
    try:
        setting = from_query(st.query_params.to_dict(), store.cohort().manifest)
    except UserError as error:
        st.session_state[REFUSED] = f"The link could not be followed. {error}"
        setting = usual()
    return SliderState(setting, setting)
