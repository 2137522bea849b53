"""The page Your data: a table of one's own brought in, a workspace opened or kept, or cases tried on a trained run."""

from __future__ import annotations

import streamlit as st

from mpd2.studio.shell import link
from mpd2.studio.shell.scenario import Scenario
from mpd2.studio.your_data import shelf, texts, trial
from mpd2.studio.your_data.steps import guide


def draw(about: Scenario) -> None:
    """The whole page."""
    way = link.one(st.segmented_control, "What do you have?", list(texts.WAYS), key="own", default="table",
                   required=True, format_func=texts.WAYS.__getitem__, label_visibility="collapsed")  # fmt: skip
    if way == "trial":
        trial.draw(about)
    elif way == "workspaces":
        shelf.draw(about)
    else:
        guide.draw()
