"""The Retrain page: one change, a grid of changes, a search for better settings, and the runs made so far."""

from __future__ import annotations

import streamlit as st

from mpd2.core.errors import UserError
from mpd2.core.text import verbatim, without_folders
from mpd2.evaluation.metrics import label_of
from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import Job, Workshop
from mpd2.present.charts import ablations
from mpd2.studio.ablations import store as ablation_store
from mpd2.studio.parts import widgets
from mpd2.studio.retrain import form, jobs, result, runs, texts
from mpd2.studio.shell import link, results, store
from mpd2.studio.shell.scenario import Scenario

TOGGLES = "regularisation"  # the study with both regularisers on and off


def draw(about: Scenario) -> None:
    """The whole page."""
    view = link.one(st.segmented_control, "View", list(texts.VIEWS), key="lab", default="train", required=True,
                    format_func=texts.VIEWS.__getitem__, label_visibility="collapsed")  # fmt: skip
    try:
        queue.maintain(Workshop.here())
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return
    if view == "runs":
        runs.draw(about)
    elif view == "tune":
        from mpd2.studio.retrain import tune  # brings Optuna, which nobody else needs

        tune.draw(about)
    else:
        form.draw(about, grid=view == "grid")
        job = jobs.draw()
        if job is not None:
            _job(job, about)
        _regularisers(about)


def _job(job: Job, about: Scenario) -> None:
    """The chosen job: as it goes, and once it is done the effect of the change."""
    order, status = job.order, job.status
    if status.state != "done" or order.search is not None:
        st.subheader(order.title, anchor=False)
    if status.state == "failed":
        st.error("The job failed.", icon=":material/error:")
        st.text(without_folders(status.reason))
    for warning in status.warnings:
        st.caption(f":material/warning: {warning}")
    if order.search is not None:
        st.caption(texts.UNDER_TUNE)
        return
    if order.building is not None:
        st.caption(texts.UNDER_YOUR_DATA)
        return
    name = f"{store.OWN}{job.name}"
    if status.state == "done" and name in map(store.own_key, store.own_runs(about.workspace)):
        (result.draw_grid if order.kind == "grid" else result.draw)(name, about)
        st.markdown("**How it was trained**")
    jobs.live(job, about)


def _regularisers(about: Scenario) -> None:
    """The effect of GSDP and Rank-JS, from the tables of the workspace's study, where it has come so far."""
    if not results.has(about.workspace, "objective", "effects", TOGGLES):
        return
    with st.expander(texts.REGULARISERS, icon=":material/science:"):
        st.markdown(ablation_store.bought_by_regularisers(about.workspace))
        rows = ablation_store.conditions(about.workspace, TOGGLES)
        for place, metric in zip(st.columns(2), ("Top1", "EffExp"), strict=True):
            with place:
                widgets.chart(
                    ablations.levels(rows, metric),
                    table=ablation_store.of_metric(about.workspace, TOGGLES, metric),
                    key=f"toggles-{metric}",
                    alt_text=f"{label_of(metric)} with and without GSDP and Rank-JS",
                )
