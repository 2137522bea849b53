"""Cases added to a workspace later: looked at first, then added."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.errors import UserError
from mpd2.core.workspace import Workspace
from mpd2.lab.imports.files import BROWSER, ENDINGS, MEGA
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.owners import owner_of_workspace
from mpd2.lab.received import receive
from mpd2.lab.workspaces.adding import Addition, add_rows, look_at_rows
from mpd2.lab.workspaces.new_rows import rows_of_files
from mpd2.studio.shell import identity, session
from mpd2.studio.your_data import refusals, texts

TYPES = [ending.removeprefix(".") for ending in ENDINGS]


def draw(workspace: Workspace, place: Workshop) -> None:
    """A file, what adding it comes to, and the button that does it."""
    file = st.file_uploader(texts.ADD, type=TYPES, key=f"add_file:{workspace.name}", help=texts.ADD_HELP,
                            max_upload_size=(BROWSER.size or MEGA) // MEGA)  # fmt: skip
    if file is None:
        session.forget(f"add_look:{workspace.name}")
        return
    try:
        cells, addition = session.kept(
            f"add_look:{workspace.name}", file.file_id, lambda: _looked_at(workspace, file.getvalue(), file.name)
        )
    except UserError as error:
        refusals.draw(error, key=f"add_problems:{workspace.name}")
        return
    st.text(addition.in_words())
    st.caption(texts.ADDED)
    st.button("Add them", key=f"add:{workspace.name}", type="primary", on_click=_add,
              args=(workspace.name, cells, file.name, place),
              **identity.permitted(Action.ADD_CASES, owner_of_workspace(workspace.folder)))  # fmt: skip


def _looked_at(workspace: Workspace, data: bytes, name: str) -> tuple[pd.DataFrame, Addition]:
    cells = rows_of_files(workspace, receive(data, name, by=identity.actor()))
    return cells, look_at_rows(workspace, cells, name)


def _add(name: str, cells: pd.DataFrame, file: str, place: Workshop) -> None:
    try:
        addition = add_rows(name, cells, file, place, by=identity.actor())
        st.session_state["shelf_told"] = ("done", f"{name}: {addition.in_words()} {texts.ADDED}")
    except UserError as error:
        st.session_state["shelf_told"] = ("error", str(error))
