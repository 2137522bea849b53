"""Where no run is activated: what to do, and the two steps for a run that is there."""

from __future__ import annotations

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.errors import UserError
from mpd2.core.text import verbatim
from mpd2.lab import activation
from mpd2.lab.activation import Proposal
from mpd2.lab.jobs.folder import Workshop
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.studio.clinic import texts
from mpd2.studio.shell import identity, store
from mpd2.studio.shell.registry import entry
from mpd2.studio.shell.scenario import Scenario

REASON = "clinic_reason"  # key of the session


def draw(about: Scenario, place: Workshop) -> None:
    """Why there is nothing to see yet, the way to Retrain, and the run of the sidebar to propose or activate."""
    st.info(texts.NOT_READY, icon=":material/local_hospital:")
    st.markdown(texts.HOW)
    with st.container(horizontal=True):
        st.page_link(entry("retrain").path, label="Retrain", icon=entry("retrain").icon)
        st.page_link(entry("retrain").path, label="Own runs", icon=":material/list:", query_params={"lab": "runs"})
    try:
        proposal = activation.standing(place).proposal
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return
    _propose(about, place)
    if proposal is not None:
        _activate(proposal, place)


def kept_name(about: Scenario) -> str:
    """The name by which the sidebar's run is kept."""
    own = about.run.startswith(store.OWN)
    return about.run.removeprefix(store.OWN) if own else f"{about.workspace}/{about.run}"


def _propose(about: Scenario, place: Workshop) -> None:
    if not about.run or store.run(about.workspace, about.run).method in NOT_DEPLOYABLE:
        return
    st.subheader("Propose a run", anchor=False)
    st.text_input(texts.WHY, key=REASON, max_chars=activation.LONGEST)
    st.button(
        texts.PROPOSE.format(run=store.run_title(about.run)),
        key="clinic_propose",
        on_click=_proposed,
        args=(kept_name(about), place),
        icon=":material/how_to_vote:",
        **identity.permitted(Action.PROPOSE_RUN, otherwise="The active run of the sidebar"),
    )


def _activate(proposal: Proposal, place: Workshop) -> None:
    st.subheader("Activate it", anchor=False)
    st.text(f"{proposal.run}: proposed by {proposal.proposed_by} on {proposal.proposed_at:%Y-%m-%d %H:%M} UTC. "
            f"Reason: {proposal.reason}")  # fmt: skip
    st.button(
        "Activate it",
        key="clinic_activate",
        type="primary",
        on_click=_activated,
        args=(proposal.run, place),
        icon=":material/check_circle:",
        **identity.permitted(Action.ACTIVATE_RUN, otherwise=texts.ALONE),
    )


def _proposed(run: str, place: Workshop) -> None:
    try:
        activation.propose(run, str(st.session_state[REASON]), place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


def _activated(run: str, place: Workshop) -> None:
    try:
        activation.activate(run, place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")
