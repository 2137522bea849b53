"""The setting in force on the Budget page, the one before it, and the one kept as A to compare; all in the link."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from mpd2.core.errors import UserError
from mpd2.planning.day import NAMES, DaySetting, from_query
from mpd2.studio.shell import session, store
from mpd2.studio.shell.scenario import Scenario

SLIDER, KEPT, REFUSED = "budget_state", "budget_kept", "budget_refused"
"""Keys of the session."""
PLAN = "plan"  # under which a report finds the setting
A = "a"  # in the link: the setting kept, as a query of its own
OF_A_TABLE = (SLIDER, KEPT, REFUSED, *NAMES, A)  # names readers and costs of one workspace


@dataclass(frozen=True)
class SliderState:
    """The current and the previous setting, and whether the slider is being dragged."""

    now: DaySetting
    before: DaySetting
    moving: bool = False
    turn: int = 0  # counts settled changes, so that tables people edit can start afresh

    @property
    def resting(self) -> DaySetting:
        """Where the slider last was at rest."""
        return self.before if self.moving else self.now

    def to(self, setting: DaySetting, moving: bool) -> SliderState:
        """One step on; a drag is one step however many settings it passes."""
        before = self.before if self.moving else self.now
        return SliderState(setting, before, moving, self.turn + (not moving))


def usual(about: Scenario) -> DaySetting:
    """The manifest's costs and no limits."""
    return DaySetting(store.manifest(about.workspace).default_costs())


def follow_link(about: Scenario, cases: int) -> None:
    """At first take what the link says, about a slice of so many cases; from then on let the link say what is so."""
    if SLIDER not in st.session_state:
        _read_link(about, cases)
    _write_link(about)


def slider() -> SliderState:
    """Where this visit is."""
    here: SliderState = st.session_state[SLIDER]
    return here


def now() -> DaySetting:
    """The setting in force."""
    return slider().now


def change(setting: DaySetting, moving: bool = False) -> None:
    """Go on to another setting; the link follows once the slider is released."""
    here = slider()
    if setting != here.now or moving != here.moving:
        _go(here.to(setting, moving))
    st.session_state.pop(REFUSED, None)


def settle(settled: Callable[[DaySetting], DaySetting]) -> None:
    """Let what follows from a setting follow from it, once the slider is at rest."""
    here = slider()
    if not here.moving:
        _go(replace(here, now=settled(here.now), before=settled(here.before)))


def attempt(make: Callable[[DaySetting], DaySetting]) -> None:
    """Go on to what is made of the setting in force; what is impossible is refused with the reason."""
    try:
        change(make(now()))
    except UserError as error:
        st.session_state[REFUSED] = str(error)


def keep(setting: DaySetting | None) -> None:
    """Keep a setting as A, or none."""
    st.session_state[KEPT] = setting


def kept() -> DaySetting | None:
    """The setting kept as A."""
    setting: DaySetting | None = st.session_state.get(KEPT)
    return setting


def refused() -> str | None:
    """Why the last wish, or the link, could not be followed."""
    reason: str | None = st.session_state.get(REFUSED)
    return reason


def _read_link(about: Scenario, cases: int) -> None:
    manifest, link = store.manifest(about.workspace), st.query_params.to_dict()
    setting = usual(about)
    try:
        setting = from_query(link, manifest, cases)
        if A in link:
            keep(from_query(dict(parse_qsl(link[A])), manifest, cases))
    except UserError as error:
        st.session_state[REFUSED] = f"The link could not be followed. {error}"
    _go(SliderState(setting, setting))


def _go(here: SliderState) -> None:
    st.session_state[SLIDER] = here
    session.along()[PLAN] = here.now


def _write_link(about: Scenario) -> None:
    manifest, first = store.manifest(about.workspace), kept()
    query = now().to_query(manifest)
    if first is not None:
        query[A] = urlencode(first.to_query(manifest))
    for name in (*NAMES, A):
        if name in query and st.query_params.get(name) != query[name]:
            st.query_params[name] = query[name]
        elif name not in query and name in st.query_params:
            del st.query_params[name]
