"""The part of About that fills reporting checklists from the active run on the chosen slice."""

from __future__ import annotations

from functools import partial
from urllib.parse import parse_qsl, urlencode

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_figures
from mpd2.core.text import verbatim
from mpd2.present.documents.checklist_items import CHECKLISTS, STATES
from mpd2.present.documents.checklists import tally, to_html
from mpd2.studio.about import store as own
from mpd2.studio.about import texts
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity, link, report_button
from mpd2.studio.shell.registry import entry
from mpd2.studio.shell.scenario import Scenario

OWN = ("part", "checklist", "states")  # names in the link that belong to this page


@st.fragment
def draw(about: Scenario) -> None:
    """One checklist, item by item."""
    with st.container(horizontal=True, vertical_alignment="center"):
        key = link.one(st.segmented_control, "Checklist", list(CHECKLISTS), key="checklist", default="tripod",
                       required=True, format_func=lambda key: CHECKLISTS[key][0],
                       label_visibility="collapsed")  # fmt: skip
        states = link.many(st.pills, "State", STATES, key="states", selection_mode="multi",
                           label_visibility="collapsed")  # fmt: skip
    every = own.checklist(key, about)
    st.markdown(f"{CHECKLISTS[key][0]}: {tally(every)}")
    st.caption(texts.CHECKLISTS)
    rows = every[every["State"].isin(states)] if states else every
    st.table(_on_page(rows).set_index("Item"), border="horizontal")
    widgets.download(every, f"checklist-{key}")
    st.download_button(
        "HTML",
        data=identity.later(partial(_exported, key, every, str(report_button.stamp(about)))),
        file_name=f"{key}-{about.run}-{about.split}.html",
        mime="text/html",
        icon=":material/download:",
        key=f"checklist-{key}:html",
        on_click="ignore",
        type="tertiary",
        help="The whole checklist as a page to print",
    )


def _on_page(rows: pd.DataFrame) -> pd.DataFrame:
    """The items in five columns, each with a link to its page."""
    answers, missing = (rows[name].map(verbatim) for name in ("Answer", "What is missing"))
    lacking = missing.map(lambda text: f"*Missing:* {text}" if text else "")
    return pd.DataFrame(
        {
            "Item": rows["Item"],
            "What is asked": "**" + rows["Topic"] + ".** " + rows["What is asked"],
            "State": rows["State"],
            "Answer": (answers + " " + lacking).str.strip(),
            "Where": rows["Where"].map(_link),
        }
    )


def _link(place: str) -> str:
    """A link to a page that opens there with the run, the slice and the operating point that are in force here."""
    if not place:
        return ""
    key, _, query = place.partition("?")
    around = [(name, word) for name in st.query_params if name not in OWN for word in st.query_params.get_all(name)]
    return f"[{entry(key).title}]({key}?{urlencode([*around, *parse_qsl(query)])})"


def _exported(key: str, rows: pd.DataFrame, stamp: str, by: Actor) -> bytes:
    return export_figures(partial(to_html, key, rows, stamp), key, by=by)
