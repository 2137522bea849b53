"""The change plan of a recalibrated run, to download."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_figures
from mpd2.core.cache import cached, depends_on
from mpd2.core.errors import UserError
from mpd2.core.runs import CONFIG, read_description
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.recalibration import changed
from mpd2.present.documents.change_plan import to_html
from mpd2.present.words.change_plan import change_plan
from mpd2.studio.retrain import texts
from mpd2.studio.shell import identity
from mpd2.study.local.change import NOTE


def draw(run: str, place: Workshop) -> None:
    """A button for the plan, where there is one."""
    if _is_recalibrated(place.runs / run):
        st.download_button("Change plan", identity.later(partial(_plan, run, place)), f"{run}-change-plan.html",
                           "text/html", key=f"change:{run}", on_click="ignore", icon=":material/description:",
                           **identity.permitted(Action.EXPORT_FIGURES, otherwise=texts.CHANGE))  # fmt: skip


@cached
def _is_recalibrated(folder: Path) -> bool:
    depends_on(folder / CONFIG)
    try:
        return NOTE in read_description(folder).notes
    except UserError:
        return False


def _plan(run: str, place: Workshop, by: Actor) -> bytes:
    return export_figures(partial(_page, run, place), f"change plan of {run}", by=by)


def _page(run: str, place: Workshop) -> bytes:
    made = changed(run, place)
    return to_html(change_plan(made.run, made.digest, made.change, made.manifest, made.before))
