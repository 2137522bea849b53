"""What stands where a part of a workspace's study has not been made yet: what is missing, and how to make it."""

from __future__ import annotations

import streamlit as st

from mpd2.studio.shell import workspaces

SENTENCE = "{what} has not been made for this workspace yet. {how}"


def not_built(what: str, workspace: str, until: str = "") -> None:
    """Say it in a sentence; `what` begins it, and `until` names a stage that is only made when asked for."""
    how = workspaces.how_to_build(workspace, until)
    st.info(SENTENCE.format(what=what, how=how), icon=":material/construction:")
