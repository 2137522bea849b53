"""How far the building of a workspace is: the first answer as soon as there is one, the rest while one looks or not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.cache import cached, depends_on
from mpd2.core.errors import UserError
from mpd2.core.runs import CONFIG
from mpd2.core.text import count, decimal, interval, percent
from mpd2.core.text import verbatim as escaped
from mpd2.core.workspace import Workspace
from mpd2.evaluation import tables
from mpd2.lab.jobs import orders, queue
from mpd2.lab.jobs.folder import ENDED, Job, Workshop, all_jobs
from mpd2.lab.owners import owner_of_workspace
from mpd2.lab.workspaces import shelf
from mpd2.studio.parts.job_words import build_in_words, build_share, in_minutes
from mpd2.studio.shell import identity, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.studio.your_data import opening, texts
from mpd2.studio.your_data.trial_texts import verbatim
from mpd2.study.build import QUICK, BuildSize

LOOK = 1.0  # seconds between two looks
SMALL = BuildSize(seeds=2, until="map")
SEEN = "import_seen"  # key of the session: how a workspace stood when the page was last drawn
SHOWN = {"TotalCost": "Cost a case", "Sens": "Found", "Spec": "Left in peace", "Defer": "Sent to readers"}


def start(name: str, place: Workshop, *, small: bool = False) -> None:
    """Order the building of a workspace, or of what it lacks."""
    workspace = shelf.find_own(name, place)
    before = job_of(name, place)
    size = SMALL if small else before.order.building.size if before and before.order.building else None
    queue.submit(orders.building(workspace, size), place, by=identity.actor())


def job_of(name: str, place: Workshop) -> Job | None:
    """The last job that builds a workspace."""
    jobs = [job for job in all_jobs(place) if job.order.building and job.order.building.workspace == name]
    return jobs[-1] if jobs else None


def is_ready(workspace: Workspace) -> bool:
    """Whether there is a first answer."""
    return (workspace.runs / QUICK[-1] / CONFIG).is_file()


def draw(name: str, place: Workshop) -> None:
    """All of it, with the button that opens the workspace."""
    workspace = shelf.find(name, place)
    ready, job = is_ready(workspace), job_of(name, place)
    busy = job is not None and job.status.state not in ENDED
    st.session_state[SEEN] = (ready, busy)
    if ready:
        with st.container(horizontal=True, vertical_alignment="center"):
            opening.button("Open", name, key="import_open", primary=True)
            st.markdown(texts.READY)
        _first_answer(name)
    st.fragment(_watch, run_every=LOOK if busy else None, key="import_building")(name, place)


def brief(workspace: Workspace, place: Workshop) -> None:
    """The same in a line of the list of workspaces; shipped ones are built already."""
    if workspace.shipped:
        return
    job = job_of(workspace.name, place)
    busy = job is not None and job.status.state not in ENDED
    st.fragment(_line, run_every=LOOK if busy else None, key=f"building:{workspace.name}")(workspace.name, place)


# ---------------------------------------------------------------------------------- looking


def _watch(name: str, place: Workshop) -> None:
    """Two bars, and the page anew as soon as there is more to see."""
    workspace = shelf.find(name, place)
    ready, state = is_ready(workspace), _line(name, place)
    if (ready, state not in ENDED and state != "") != st.session_state.get(SEEN):
        st.rerun()


def _line(name: str, place: Workshop) -> str:
    """How far it is, and what can be done about it; the state of its last job, empty if there is none."""
    try:
        queue.maintain(place)
        job = job_of(name, place)
        status = job.status if job else None
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return ""
    what, buttons = st.columns([4, 1], vertical_alignment="center")
    with what:
        if status is None:
            st.caption(texts.NOT_BUILT_YET)
        elif status.state in ("queued", "running"):
            before = _before(place) if status.state == "queued" else ""
            st.progress(build_share(status), text=escaped(build_in_words(status, before)))
        else:
            st.caption(escaped(build_in_words(status)))
    with buttons.container(horizontal=True, horizontal_alignment="right"):
        if job is not None and status is not None and status.state not in ENDED:
            st.button("Cancel", key=f"build_cancel:{name}", on_click=_cancel, args=(job, place), type="tertiary",
                      icon=":material/stop_circle:", **identity.permitted(Action.CANCEL_JOB, job.owner))  # fmt: skip
        else:
            label = "Build" if status is None else "Build again" if status.state == "done" else "Go on"
            st.button(label, key=f"build:{name}", on_click=_start, args=(name, place), type="tertiary",
                      icon=":material/play_arrow:",
                      **identity.permitted(Action.BUILD_WORKSPACE, owner_of_workspace(place.workspaces / name),
                                           otherwise=texts.BUILD_HELP))  # fmt: skip
    return status.state if status else ""


def _before(place: Workshop) -> str:
    """The job that keeps others waiting, and how long it still takes; empty if none does."""
    busy = next((job for job in all_jobs(place) if job.status.state == "running"), None)
    if busy is None:
        return ""
    left = busy.status.seconds_left
    return f"“{busy.order.title}”" + ("" if left is None else f", which needs about {in_minutes(left)} more")


def _cancel(job: Job, place: Workshop) -> None:
    try:
        queue.cancel(job, place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


def _start(name: str, place: Workshop) -> None:
    try:
        start(name, place)
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


# ---------------------------------------------------------------------------------- the first answer


def _first_answer(name: str) -> None:
    """The AI, the recalibrated AI and MPD²+ on the test cases."""
    try:
        rows = first_answer(name)
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return
    st.dataframe(rows, hide_index=True, key="import_answer", alt="The first methods on the test cases")
    st.caption(texts.FIRST_ANSWER.format(n=count(len(store.cases(Scenario(workspace=name))))))


@cached
def first_answer(workspace: str) -> pd.DataFrame:
    """A row for each of the first methods, on the test cases, at the lowest cost: numbers with their 95 % intervals."""
    for run in QUICK:
        depends_on(store.run_folder(workspace, run) / CONFIG)
    scenario = Scenario(workspace=workspace).as_fitted()
    there = tuple(run for run in QUICK if run in store.run_names(workspace))
    found = tables.overall(store.compared(there, scenario), store.weights(scenario)).set_index(["method", "metric"])
    rows = []
    for run in there:
        cells = {"Method": store.run_title(run)}
        for metric, title in SHOWN.items():
            value, low, high = (float(found[end][run, metric]) for end in ("value", "low", "high"))
            cells[title] = _with_interval(value, low, high, shares=metric != "TotalCost")
        rows.append(cells)
    return pd.DataFrame(rows)


def _with_interval(value: float, low: float, high: float, *, shares: bool) -> str:
    if np.isnan(value):
        return "not known"
    if shares:
        return f"{percent(value, 0)} ({100 * low:.0f} to {100 * high:.0f})"
    return f"{decimal(value)} ({interval(low, high)})"
