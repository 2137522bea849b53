"""Workspaces as people keep them: opened from a file, exported, copied, added to and removed."""

from __future__ import annotations

import io

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.exports import export_cases
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.text import without_folders
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.owners import owner_of_workspace
from mpd2.lab.workspaces import archive, copying, removing
from mpd2.lab.workspaces.shelf import suggested_name, workspaces
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.studio.shell import identity
from mpd2.studio.shell.scenario import Scenario
from mpd2.studio.your_data import more_cases, opening, progress, refusals, texts
from mpd2.studio.your_data.trial_texts import verbatim

TOLD = "shelf_told"  # key of the session: what was done last, as (kind, text)
REFUSED = "shelf_refused"  # key of the session: why a file could not be opened
KEY = "shelf_key"  # key of the session: the ids of a copy, as (name, table)
LARGEST = 100  # megabytes of a file


def draw(about: Scenario) -> None:
    """A file opened, then a row for each workspace there is."""
    place = Workshop.here()
    _tell()
    with st.expander(texts.OPEN_FILE, icon=":material/folder_open:"):
        _open_file(place)
    there = workspaces(place)
    st.subheader(texts.WORKSPACES, anchor=False)
    if all(workspace.shipped for workspace in there):
        st.caption(texts.NONE_YET)
    for workspace in there:
        with st.container(border=True, key=f"shelf_{workspace.name}"):
            _row(workspace, place)


def _row(workspace: Workspace, place: Workshop) -> None:
    what, buttons = st.columns([3, 2], vertical_alignment="center")
    try:
        manifest = workspace.manifest()
    except UserError as error:
        manifest = None
        what.text(without_folders(f"{workspace.name}: {error}"))
    with what:
        if manifest is not None:
            st.text(manifest.title)
            st.caption(_in_words(workspace, manifest))
    with buttons.container(horizontal=True, horizontal_alignment="right"):
        if manifest is not None:
            opening.button("Open", workspace.name, key=f"open:{workspace.name}")
            st.download_button(
                "Export", data=identity.later(lambda by: archive.exported(workspace, by=by)),
                file_name=archive.suggested_file(workspace),
                mime="application/zip", key=f"export:{workspace.name}", on_click="ignore", type="tertiary",
                icon=":material/download:",
                **identity.permitted(Action.EXPORT_WORKSPACE, otherwise=texts.EXPORT),
            )  # fmt: skip
            with st.popover("Copy", icon=":material/content_copy:", type="tertiary", key=f"copying:{workspace.name}"):
                _copy(workspace, place)
        if not workspace.shipped:
            if manifest is not None:
                with st.popover("Add cases", icon=":material/add:", type="tertiary", key=f"adding:{workspace.name}"):
                    more_cases.draw(workspace, place)
            with st.popover("Remove", icon=":material/delete:", type="tertiary", key=f"removing:{workspace.name}"):
                _remove(workspace, place)
    progress.brief(workspace, place)


def _in_words(workspace: Workspace, manifest: Manifest) -> str:
    runs = sum(1 for _ in workspace.runs.glob("*/config.json")) if workspace.runs.is_dir() else 0
    parts = [f"`{workspace.name}`", f"{len(manifest.readers)} readers", f"{len(manifest.inputs)} inputs",
             f"{runs} trained methods"]  # fmt: skip
    return ", ".join([*parts, *([texts.SHIPPED] if workspace.shipped else [])])


# ---------------------------------------------------------------------------------- open


def _open_file(place: Workshop) -> None:
    file = st.file_uploader("Workspace file", type=["zip"], key="shelf_file", max_upload_size=LARGEST,
                            help=texts.OPEN_HELP)  # fmt: skip
    name = st.text_input(texts.OWN_NAME, key="shelf_name", max_chars=40, help=texts.NAME_HELP,
                         placeholder="its own name")  # fmt: skip
    asked = identity.permitted(Action.MAKE_WORKSPACE)
    st.button(texts.KEEP, key="shelf_open", type="primary", disabled=file is None or asked["disabled"],
              help=asked["help"], on_click=_make_opened, args=(name.strip(), place))  # fmt: skip
    refused = st.session_state.get(REFUSED)
    if refused is not None:
        refusals.draw(refused, key="shelf_problems", of="The workspace's table", told=texts.NOT_OPENED)


def _make_opened(name: str, place: Workshop) -> None:
    """Keep the file's workspace and show it; what is wrong with it is said where it was asked for."""
    st.session_state.pop(REFUSED, None)
    try:
        file = io.BytesIO(st.session_state["shelf_file"].getvalue())
        made = archive.open_archive(file, place, name or None, by=identity.actor(), confined=True)
    except UserError as error:
        st.session_state[REFUSED] = error
    else:
        opening.choose(made.name)
        st.session_state[TOLD] = ("done", texts.OPENED.format(name=made.name))


# ---------------------------------------------------------------------------------- copy


def _copy(workspace: Workspace, place: Workshop) -> None:
    name = st.text_input("Name of the copy", value=suggested_name(f"{workspace.name}-copy", place), max_chars=40,
                         key=f"copy_name:{workspace.name}")  # fmt: skip
    ids = st.radio(texts.COPY, list(texts.IDS), format_func=texts.IDS.__getitem__, key=f"copy_ids:{workspace.name}")
    st.button("Copy", key=f"copy:{workspace.name}", type="primary", on_click=_make_copy,
              args=(workspace.name, name.strip(), ids, place), **identity.permitted(Action.MAKE_WORKSPACE))  # fmt: skip


def _make_copy(name: str, new: str, ids: copying.Ids, place: Workshop) -> None:
    try:
        copied = copying.copy(name, new, ids, place, by=identity.actor())
    except UserError as error:
        st.session_state[TOLD] = ("error", str(error))
        return
    st.session_state[TOLD] = ("done", copied.in_words())
    if copied.key is not None:
        st.session_state[KEY] = (new, copied.key)


# ---------------------------------------------------------------------------------- remove


def _remove(workspace: Workspace, place: Workshop) -> None:
    gone = removing.leavings(workspace, place)
    st.text(texts.REMOVE.format(what=gone.in_words()))
    st.button("Remove for good", key=f"remove:{workspace.name}", type="primary", on_click=_make_gone,
              args=(workspace.name, place),
              **identity.permitted(Action.REMOVE_WORKSPACE, owner_of_workspace(workspace.folder)))  # fmt: skip


def _make_gone(name: str, place: Workshop) -> None:
    try:
        gone = removing.remove(name, place, by=identity.actor())
    except UserError as error:
        st.session_state[TOLD] = ("error", str(error))
    else:
        st.session_state[TOLD] = ("done", f"Removed {name}: {gone.in_words()}.")


# ---------------------------------------------------------------------------------- telling


def _tell() -> None:
    """What was done last, until something else is; the ids of a copy for as long."""
    kind, text = st.session_state.get(TOLD, ("", ""))  # kept: a change of the workspace draws the page once more
    with st.container(key=TOLD):
        if kind == "error":
            st.error(verbatim(text), icon=":material/error:")
        elif kind:
            st.success(verbatim(text), icon=":material/check_circle:")
    if KEY in st.session_state:
        name, key = st.session_state[KEY]
        st.download_button(
            f"Key to the ids of {name}",
            data=identity.later(lambda by: export_cases(lambda: to_csv(key), "ids of a copy", by=by)),
            file_name=f"{name}-ids.csv", mime="text/csv",
            key="shelf_ids", icon=":material/key:", on_click="ignore",
            **identity.permitted(Action.EXPORT_CASES, otherwise=texts.KEY),
        )  # fmt: skip
