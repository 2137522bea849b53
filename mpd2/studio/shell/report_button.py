"""The report for a meeting, one click away: of the active run on the chosen slice, made when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import partial

import streamlit as st

import mpd2
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, cells, per_thousand, prevalence_of
from mpd2.planning.day import DaySetting
from mpd2.present.documents.board import People, plan_of_day
from mpd2.present.documents.briefing import TABLES, Briefing, Stamp, brief
from mpd2.present.documents.html import to_html
from mpd2.present.documents.slides import to_slides
from mpd2.present.words.people import changed_prevalence, sentences
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

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
            "For a meeting: a thousand people before and after, what that takes, who decides, the plan of Budget, "
            "every method, cohorts, readers' load and limitations. Stamped with run, slice, operating point and date."
        )
        for ending, (label, mime, writer) in FORMATS.items():
            st.download_button(
                label,
                data=partial(_report, about, state.current(), writer),
                file_name=f"{file_name(about)}.{ending}",
                mime=mime,
                icon=":material/download:",
                key=f"report:{ending}",
                on_click="ignore",
                width="stretch",
            )


def file_name(about: Scenario) -> str:
    """Run, slice and operating point as the name of a file, without an ending.

    >>> file_name(Scenario("mpd2-plus", "test", ("refuge", "origa")))
    'mpd2-mpd2-plus-test-refuge-origa-cheapest'
    """
    floor = "cheapest" if about.floor is None else str(about.floor)
    parts = [about.run, about.split, *(about.cohorts or ("all",)), floor]
    parts += [] if about.confident is None else [f"confident-{about.confident:g}"]
    return re.sub(r"[^\w.-]+", "-", f"mpd2-{'-'.join(parts)}")


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
        about.point_in_words(),
    )


def _report(about: Scenario, setting: DaySetting, writer: Writer) -> bytes:
    tables = {name: store.table(name, about) for name in TABLES}
    plan = plan_of_day(budget.day(about, setting), setting, budget.own_share(about), budget.members(about))
    return writer(brief(store.evidence(about), tables, about.run, stamp(about), _people(about), plan))


def _people(about: Scenario) -> People:
    """A thousand people with the AI alone and with the run."""
    both = store.compared(tuple(dict.fromkeys((AI, about.run))), about)
    programme = AS_COUNTED
    rows = per_thousand(both, programme, store.weights(about))
    arrays = [("AI alone", both.outcomes[AI]), (f"With {both.outcomes[about.run].title}", both.outcomes[about.run])]
    return People(
        rows,
        tuple((name, cells(both.cohort, outcome.decisions, programme)) for name, outcome in arrays),
        sentences(rows, about.run, about.floor, store.choice(about.run, about)),
        programme,
        changed_prevalence(programme.prevalence, prevalence_of(both.cohort)),
    )
