"""The report for a meeting, one click away: of the active run on the chosen slice, made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial

import streamlit as st

import mpd2
from mpd2.present.documents.briefing import TABLES, Briefing, Stamp, brief
from mpd2.present.documents.html import to_html
from mpd2.present.documents.slides import to_slides
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

Writer = Callable[[Briefing], bytes]

FORMATS: dict[str, tuple[str, str, Writer]] = {
    "html": ("Page to read (HTML)", "text/html", to_html),
    "pptx": (
        "Slides to edit (PPTX)",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        to_slides,
    ),
}
"""Label, media type and writer, by file ending."""


def draw(about: Scenario) -> None:
    """A popover with a button for each format."""
    with st.popover("Report", icon=":material/summarize:", width="stretch"):
        st.caption(
            "The active run on the chosen slice: the result in a sentence, every method, trade-off, cohorts, readers' "
            "load and caveats. Stamped with run, slice, data and date."
        )
        for ending, (label, mime, writer) in FORMATS.items():
            st.download_button(
                label,
                data=partial(_report, about, writer),
                file_name=f"mpd2-{about.run}-{about.split}.{ending}",
                mime=mime,
                icon=":material/download:",
                key=f"report:{ending}",
                on_click="ignore",
                width="stretch",
            )


def stamp(about: Scenario) -> Stamp:
    """What a document of the run on the slice is about."""
    whole = store.cohort()
    return Stamp(
        store.run_title(about.run),
        about.describe(whole),
        len(store.cases(about)),
        whole.fingerprint,
        mpd2.__version__,
        date.today(),
    )


def _report(about: Scenario, writer: Writer) -> bytes:
    tables = {name: store.table(name, about) for name in TABLES}
    return writer(brief(store.evidence(about), tables, about.run, stamp(about)))
