"""How a workspace becomes the one that every page is about."""

from __future__ import annotations

import streamlit as st

from mpd2.studio.shell.registry import entry

WORKSPACE = "workspace"  # key of the session, and a name in the link


def choose(name: str) -> None:
    """Let every page be about a workspace from the next rerun on; to be called before the sidebar is drawn."""
    st.session_state[WORKSPACE] = name


def button(label: str, name: str, *, key: str, primary: bool = False) -> None:
    """A button that opens a workspace on the first page."""
    pressed = st.button(label, key=key, icon=":material/visibility:", on_click=choose, args=(name,),
                        type="primary" if primary else "secondary")  # fmt: skip
    if pressed:
        st.switch_page(entry("overview").path)
