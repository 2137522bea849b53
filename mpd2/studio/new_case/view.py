"""The parts of the New case page: a photograph that is dropped, or numbers entered by hand, and what would be done."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.errors import UserError
from mpd2.core.text import verbatim, without_folders
from mpd2.imaging.photograph import ENDINGS
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.studio.case import tabs
from mpd2.studio.new_case import by_hand, from_photograph, store, texts
from mpd2.studio.new_case.values import takes_photographs
from mpd2.studio.shell import identity, link
from mpd2.studio.shell import store as shell_store
from mpd2.studio.shell.scenario import Scenario

WAY, UPLOAD = "way", "new_case_upload"  # keys of the session; the first is a name in the URL too


def draw(about: Scenario) -> None:
    """The whole page."""
    run, manifest = shell_store.run(about.workspace, about.run), shell_store.manifest(about.workspace)
    if run.method in NOT_DEPLOYABLE:
        title = shell_store.run_title(about.run)
        st.info(tabs.BY_THE_ANSWERS.format(title=title), icon=":material/info:")
        return
    identity.once(Action.ROUTE_CASE, f"a new case by {about.run}")
    if not takes_photographs(manifest):
        by_hand.draw(about)
        return
    try:
        folder = store.pipeline_folder(about.workspace)
    except UserError as error:
        _say_what_is_missing(str(error), manifest.task.case)
        by_hand.draw(about)
        return
    _photograph_or_hand(about, folder, manifest.task.case)


def _say_what_is_missing(how: str, case: str) -> None:
    st.info(texts.NO_MODELS.format(case=case), icon=":material/download:")
    with st.expander("How to install them"):
        st.code(without_folders(how), language=None, wrap_lines=True)


def _photograph_or_hand(about: Scenario, folder: Path, case: str) -> None:
    """The choice between the two, a place to drop a photograph, and what follows."""
    choice, place = st.columns([2, 3], gap="medium", vertical_alignment="center")
    with choice:
        way = link.one(
            st.segmented_control, "Enter it", list(texts.WAYS), key=WAY, default="photograph", required=True,
            format_func=texts.WAYS.__getitem__, label_visibility="collapsed", help=texts.UPLOAD,
        )  # fmt: skip
    if way == "hand":
        store.forget()
        by_hand.draw(about)
        return
    with place:
        endings = [ending.removeprefix(".") for ending in ENDINGS]
        upload = st.file_uploader(f"One {case}", endings, key=UPLOAD, label_visibility="collapsed")
    if upload is None:
        store.forget()
        st.info(texts.DROP_ONE.format(case=case), icon=":material/add_photo_alternate:")
        st.caption(texts.UPLOAD)
        return
    try:
        taken = store.taken(upload, folder)
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/broken_image:")
        return
    from_photograph.routed(about, taken, folder, upload.file_id)
