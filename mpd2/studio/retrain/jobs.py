"""The jobs, for everybody to see: how far each is, and the training of the chosen one as it goes."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.core.errors import UserError
from mpd2.core.text import verbatim, without_folders
from mpd2.lab.jobs import grid, queue
from mpd2.lab.jobs.folder import ENDED, HISTORY, Job, Order, Status, Workshop, all_jobs, damaged_jobs
from mpd2.lab.jobs.history import History, read_history
from mpd2.present.charts import training as charts
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.studio.parts import widgets
from mpd2.studio.parts.job_words import build_in_words, build_share, in_minutes
from mpd2.studio.retrain import texts
from mpd2.studio.retrain.form import CHOSEN_JOB, models
from mpd2.studio.shell import identity, store
from mpd2.studio.shell.scenario import Scenario

LOOK, DRAW = 1.0, 3.0  # seconds between two looks at the jobs, and between two drawings of the curves
SHOWN = 6  # jobs in the list

WORDS = {"queued": "waiting", "done": "done", "failed": "failed", "cancelled": "cancelled"}
ICONS = {
    "queued": ":material/schedule:",
    "running": ":material/model_training:",
    "done": ":material/check_circle:",
    "failed": ":material/error:",
    "cancelled": ":material/cancel:",
}


def draw() -> Job | None:
    """The list of jobs, and the one that is chosen; none if there is no job."""
    place = Workshop.here()
    jobs = all_jobs(place)
    st.subheader("Jobs", anchor=False, help=texts.QUEUE)
    for job in damaged_jobs(place):
        _damaged(job, place)
    if not jobs:
        st.caption(texts.NO_JOBS)
        return None
    busy = any(job.status.state not in ENDED for job in jobs)
    st.fragment(_list, run_every=LOOK if busy else None, key="jobs")(place)
    names = [job.name for job in jobs]
    chosen = st.session_state.get(CHOSEN_JOB)
    return jobs[names.index(chosen)] if chosen in names else jobs[-1]


def live(job: Job, about: Scenario) -> None:
    """The curves of a job, drawn again while it runs."""
    running = job.status.state not in ENDED
    st.fragment(_curves, run_every=DRAW if running else None, key="curves")(job, about)


def _list(place: Workshop) -> None:
    """One row a job, the newest first; the page is run anew when one of them ends."""
    try:
        queue.maintain(place)
        jobs = all_jobs(place)
        entries = [(job, job.order, job.status) for job in reversed(jobs)]
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return
    pressed = [_row(*entry, place) for entry in entries[:SHOWN]]
    if len(entries) > SHOWN:
        with st.expander(f"{len(entries) - SHOWN} older jobs"):
            pressed += [_row(*entry, place) for entry in entries[SHOWN:]]
    states = {job.name: status.state in ENDED for job, _, status in entries}
    before = st.session_state.get("retrain_states")
    st.session_state["retrain_states"] = states
    ended = before is not None and any(over and not before.get(name, over) for name, over in states.items())
    if ended or any(pressed):
        st.rerun()  # all of the page, not the list alone


def _row(job: Job, order: Order, status: Status, place: Workshop) -> bool:
    """One job; whether a button was pressed that changes the rest of the page."""
    name, how, buttons = st.columns([4, 5, 3], vertical_alignment="center")
    name.markdown(f"{ICONS[status.state]} **{order.title}**")
    with how:
        if order.building is not None:
            st.progress(build_share(status), text=verbatim(build_in_words(status)))
        elif status.state == "running":
            st.progress(min(status.epoch / order.steps, 1.0), text=_progress(order, status))
        else:
            st.caption(_ending(order, status))
    with buttons.container(horizontal=True, horizontal_alignment="right"):
        shown = st.button("Show", key=f"show:{job.name}", on_click=_choose, args=(job.name,), type="tertiary",
                          icon=":material/visibility:")  # fmt: skip
        if status.state not in ENDED:
            cancelled = st.button("Cancel", key=f"cancel:{job.name}", on_click=_tell, args=(queue.cancel, job, place),
                                  icon=":material/stop_circle:",
                                  **identity.permitted(Action.CANCEL_JOB, job.owner))  # fmt: skip
            return shown or cancelled
        removed = st.button("Remove", key=f"forget:{job.name}", on_click=_tell, args=(queue.forget, job, place),
                            type="tertiary", icon=":material/close:",
                            **identity.permitted(Action.REMOVE_JOB, job.owner,
                                                 otherwise="Take it off this list; its run stays."))  # fmt: skip
    return shown or removed


def _damaged(job: Job, place: Workshop) -> None:
    """A job that cannot be read, and a button to remove it."""
    left, right = st.columns([9, 3], vertical_alignment="center")
    left.text(without_folders(f"Damaged: {job.name}. {job.damage}"))
    with right.container(horizontal=True, horizontal_alignment="right"):
        st.button("Remove", key=f"forget:{job.name}", on_click=_tell, args=(queue.forget, job, place), type="tertiary",
                  icon=":material/close:",
                  **identity.permitted(Action.REMOVE_JOB, job.owner,
                                       otherwise="Remove its folder; a run it made stays."))  # fmt: skip


def _progress(order: Order, status: Status) -> str:
    left = "" if status.seconds_left is None else f", about {in_minutes(status.seconds_left)} left"
    if order.search is not None:
        return f"{status.epoch} of {order.steps} trials{left}{f', {status.note}' if status.note else ''}"
    if not order.configs:
        return "fitting"
    if not status.epoch:
        return "getting ready"
    return f"epoch {status.epoch} of {order.steps}{left}, {status.training} of {models(len(order.configs))} training"


def _ending(order: Order, status: Status) -> str:
    if status.state == "failed":
        return f"failed: {status.reason}"
    steps = "trials" if order.search else "epochs"
    spent = f" after {status.epoch} {steps}, {in_minutes(status.seconds)}" if status.epoch else ""
    lost = f"; {len(status.warnings)} of {models(len(order.configs))} were stopped" if status.warnings else ""
    return f"{WORDS[status.state]}{spent}{lost}"


def _choose(name: str) -> None:
    st.session_state[CHOSEN_JOB] = name


class Act(Protocol):
    """What can be done with a job."""

    def __call__(self, job: Job, place: Workshop, *, by: Actor) -> None: ...


def _tell(act: Act, job: Job, place: Workshop) -> None:
    """Do something with a job; what cannot be done is said."""
    try:
        act(job, place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


# ---------------------------------------------------------------------------------- curves


def _curves(job: Job, about: Scenario) -> None:
    readers = [reader.name for reader in store.manifest(about.workspace).readers]
    try:
        order, history = job.order, read_history(job.folder / HISTORY)
        if history is not None:
            history.check(len(order.configs), len(readers))
    except UserError as error:  # somebody took it off the list, or damaged it
        st.caption(f"There are no curves: {verbatim(str(error))}")
        return
    if history is None:
        st.caption("The curves begin with the first epoch." if order.configs else texts.NO_CURVES)
        return
    if order.kind == "grid":
        _grid_so_far(history, order)
    left, right = st.columns(2)
    with left:
        _chart("losses", charts.losses(frame := history.frame(list(charts.LOSSES))), frame,
               "Mean loss of all models and its parts over epochs")  # fmt: skip
        chosen = _chosen(history, order)
        frame = history.frame(list(charts.COST))
        _chart("validation", charts.validation(frame, chosen), frame,
               "Validation cost over epochs and the weights kept so far")  # fmt: skip
    with right:
        targets = {config.budget.target for config in order.configs}
        frame = history.frame(list(charts.DEFERRAL))
        _chart("deferral", charts.deferral(frame, targets.pop() if len(targets) == 1 else None), frame,
               "Expected and actual share of cases sent over epochs, and the budget")  # fmt: skip
        loads = history.load_frame(readers)
        _chart("load", charts.load(loads), loads, "Share of the load of each reader over epochs")
    if np.nanmax(history.log["multiplier"]) > 0:
        frame = history.frame(list(charts.MULTIPLIER))
        _chart("multiplier", charts.multiplier(frame), frame, "The budget's multiplier over epochs")
    validated = (store.cohort(about.workspace).split == "val").sum()
    st.caption(f"{texts.LIVE} n = {models(len(order.configs))}, {validated} validation cases.")


def _chart(name: str, chart: Drawing, table: pd.DataFrame, alt_text: str) -> None:
    widgets.chart(chart, table=table, key=f"training-{name}", alt_text=alt_text)


def _chosen(history: History, order: Order) -> pd.DataFrame:
    """The checkpoint each member would keep: epoch and validation cost."""
    best = history.chosen(order.configs)
    members = np.flatnonzero(best)[:: -(-len(best) // charts.MOST_THIN)]
    rows = np.searchsorted(history.epoch, best[members])
    return pd.DataFrame({"epoch": best[members], "value": history.log["val_total"][rows, members]})


def _grid_so_far(history: History, order: Order) -> None:
    rows = grid.so_far(history, order)
    st.markdown("**Every cell so far, on the validation cases**")
    widgets.data_table(rows, key="grid-so-far", columns=_GRID_COLUMNS,
                       alt_text="Every cell of the grid by its models' best weights so far")  # fmt: skip


_GRID_COLUMNS = {
    "condition": "Cell",
    "routers": "Models",
    "finished": st.column_config.NumberColumn("Finished", help="Models that have stopped training"),
    "val_total": st.column_config.NumberColumn("Total cost", format="%.3f", help="Mean of the models"),
    "val_total_sd": st.column_config.NumberColumn("± sd", format="%.3f", help="Standard deviation between models"),
    "val_hard_deferral": st.column_config.NumberColumn("Sent", format="percent", help="Share of cases sent to readers"),
    "val_soft_deferral": st.column_config.NumberColumn(
        "Sent, expected", format="percent", help="Mean probability to be sent, which the budget limits in training"
    ),
    "top1": st.column_config.NumberColumn("Busiest reader", format="percent", help="Expected share of all cases sent"),
    "effective": st.column_config.NumberColumn("Effective readers", format="%.1f", help="Of the expected load"),
}
