"""How the Clinic page is laid out: the day, the comparison and the watch on one screen, and tabs for all else."""

from __future__ import annotations

import streamlit as st

from mpd2.core.errors import UserError
from mpd2.core.text import verbatim
from mpd2.lab import activation
from mpd2.lab.jobs.folder import Workshop
from mpd2.studio.clinic import (
    comparison,
    intake,
    outcomes,
    readers,
    setting,
    start,
    store,
    texts,
    today,
    watch,
    worklists,
)
from mpd2.studio.shell import link
from mpd2.studio.shell.scenario import Scenario

DRAWN = {
    "intake": intake.draw,
    "worklists": worklists.draw,
    "outcomes": outcomes.draw,
    "compared": comparison.draw,
    "watch": watch.draw,
    "readers": readers.draw,
    "setting": setting.draw,
}


def draw(about: Scenario) -> None:
    """The whole page."""
    place = Workshop.here()
    try:
        if activation.standing(place).active is None:
            st.caption(f":material/visibility: {texts.SHADOW} {texts.SHADOW_MORE}")
            start.draw(about, place)
            return
        clinic = store.here(place, st.session_state.get(store.WROTE, 0))
        today.draw(clinic)
        tab = link.one(st.segmented_control, "Part", list(texts.TABS), key="clinic_tab", default="intake",
                       required=True, format_func=texts.TABS.__getitem__, label_visibility="collapsed")  # fmt: skip
        DRAWN[tab](clinic)
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
