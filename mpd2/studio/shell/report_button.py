"""The report for a meeting, one click away: of the active run on the chosen slice, made when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

import mpd2
from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_figures
from mpd2.evaluation.clinical.per_thousand import prevalence_of
from mpd2.present.documents.board import People, plan_of_day, terms
from mpd2.present.documents.briefing import TABLES, Briefing, Stamp, brief
from mpd2.present.documents.html import to_html
from mpd2.present.documents.slides import to_slides
from mpd2.present.words import people as words
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget
from mpd2.studio.budget.floors import settled
from mpd2.studio.overview import store as overview
from mpd2.studio.parts import programme
from mpd2.studio.parts.programme import Told
from mpd2.studio.shell import identity, results, session, store
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
            "For a meeting: a thousand before and after, what that takes, who decides, the plan of Budget, "
            "every method, cohorts, readers' load and limitations. Stamped with run, slice, operating point and date."
        )
        for ending, (label, mime, writer) in FORMATS.items():
            st.download_button(
                label,
                data=identity.later(partial(_exported, about, session.along(), writer)),
                file_name=f"{file_name(about)}.{ending}",
                mime=mime,
                icon=":material/download:",
                key=f"report:{ending}",
                on_click="ignore",
                width="stretch",
                **identity.permitted(Action.EXPORT_FIGURES),
            )


def file_name(about: Scenario) -> str:
    """Run, slice and operating point as the name of a file, without an ending.

    >>> file_name(Scenario("paper", "test", ("north", "south"), floor=None))
    'mpd2-paper-test-north-south-cheapest'
    """
    floor = "cheapest" if about.floor is None else str(about.floor)
    parts = [about.run, about.split, *(about.cohorts or ("all",)), floor]
    parts += [] if about.confident is None else [f"confident-{about.confident:g}"]
    return re.sub(r"[^\w.-]+", "-", f"mpd2-{'-'.join(parts)}")


def stamp(about: Scenario) -> Stamp:
    """What a document of the run on the slice is about."""
    whole = store.cohort(about.workspace)
    return Stamp(
        store.run_title(about.run),
        about.describe(whole),
        len(store.cases(about)),
        whole.fingerprint,
        mpd2.__version__,
        date.today(),
        about.point_in_words(),
    )


def _exported(about: Scenario, along: Mapping[str, Any], writer: Writer, by: Actor) -> bytes:
    return export_figures(partial(_report, about, along, writer), file_name(about), by=by)


def _report(about: Scenario, along: Mapping[str, Any], writer: Writer) -> bytes:
    """The report, made at the click; `along`: what pages of the visit left for it until then."""
    setting = settled(about, along.get(state.PLAN, state.usual(about)))
    told = along.get(programme.TOLD, programme.UNASKED)
    plan = plan_of_day(budget.day(about, setting), setting, budget.own_share(about), budget.members(about))
    tables = {name: results.table(name, about) for name in TABLES}
    return writer(brief(store.evidence(about), tables, about.run, stamp(about), _people(about, told), plan))


def _people(about: Scenario, told: Told) -> People:
    """A thousand people with the AI alone and with the run, in the user's own programme."""
    rows, year, task = overview.people(about, told.programme), "", store.manifest(about.workspace).task
    if told.year:
        year = words.in_a_year(overview.people(about, told.programme, told.year), about.run, task, told.currency)
    shown = dict.fromkeys((AI, about.run))
    names = [words.ALONE if name == AI else f"With {store.run_title(name)}" for name in shown]
    arrays = zip(names, (overview.cells(name, about, told.programme) for name in shown), strict=True)
    changed = words.changed_prevalence(told.programme.prevalence, prevalence_of(store.cases(about)))
    return People(
        words.numbers(rows, about.run, task, told.currency),
        tuple(arrays),
        words.sentences(rows, about.run, task, about.floor, store.choice(about.run, about)),
        tuple(filter(None, (changed, terms(told.programme, told.currency), year))),
    )
