"""What stands where a part of a workspace's study has not been made yet: what is missing, and how to make it."""

from __future__ import annotations

import streamlit as st

from mpd2.studio.shell import workspaces

SENTENCE = "{what} has not been made for this workspace yet. Build it on Your data, or with `{command}`."


def not_built(what: str, workspace: str) -> None:
    """Say it in a sentence; `what` begins it."""
    command = workspaces.build_command(workspace)
    st.info(SENTENCE.format(what=what, command=command), icon=":material/construction:")
