"""A run proposed for the clinic by one person and activated by another."""

from __future__ import annotations

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.errors import UserError
from mpd2.core.text import verbatim
from mpd2.lab import activation
from mpd2.lab.jobs.folder import Workshop
from mpd2.studio.retrain import texts
from mpd2.studio.shell import identity


def draw(run: str, place: Workshop) -> None:
    """Which run is active, and the buttons of the two steps."""
    with st.popover("Clinic", icon=":material/local_hospital:"):
        st.caption(texts.CLINIC)
        try:
            now = activation.standing(place)
        except UserError as error:
            st.error(verbatim(str(error)), icon=":material/error:")
            return
        st.text(now.active.in_words() if now.active else "No run is active.")
        field = f"clinic_reason:{run}"
        st.text_input("Why it should be used", key=field, max_chars=activation.LONGEST)
        st.button("Propose it", key=f"clinic_propose:{run}", on_click=_propose, args=(run, field, place),
                  **identity.permitted(Action.PROPOSE_RUN))  # fmt: skip
        if now.proposal is not None and now.proposal.run == run:
            st.text(f"Proposed by {now.proposal.proposed_by}: {now.proposal.reason}")
            st.button("Activate it", key=f"clinic_activate:{run}", on_click=_activate, args=(run, place),
                      type="primary", **identity.permitted(Action.ACTIVATE_RUN))  # fmt: skip


def _propose(run: str, field: str, place: Workshop) -> None:
    try:
        activation.propose(run, str(st.session_state[field]), place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


def _activate(run: str, place: Workshop) -> None:
    try:
        activation.activate(run, place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")
