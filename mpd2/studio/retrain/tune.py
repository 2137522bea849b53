"""A search for better settings: begun, watched, stopped and gone on with."""

from __future__ import annotations

from typing import Any

import optuna
import pandas as pd
import streamlit as st
from optuna.study import Study

from mpd2.clinic.access.actions import Action
from mpd2.core.cache import cached, cached_by_content
from mpd2.core.errors import UserError
from mpd2.core.text import decimal, verbatim
from mpd2.evaluation.metrics import label_of
from mpd2.lab.jobs import orders, worker_pool
from mpd2.lab.jobs.folder import ENDED, LONGEST, Search, Workshop, all_jobs
from mpd2.lab.jobs.search import keep_preset
from mpd2.lab.tuning import tables
from mpd2.lab.tuning.score import CRITERIA
from mpd2.lab.tuning.storage import connect
from mpd2.lab.tuning.study import SearchPlan, best_trial, delete_study, load_study, owner_of_study, trial_config
from mpd2.present.charts import tuning as charts
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.studio.parts import widgets
from mpd2.studio.retrain import form, jobs, texts
from mpd2.studio.shell import identity, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.training import form_fields
from mpd2.training.config import Config

SHOWN = "tune_shown"  # key of the session: the study that is looked at
LOOK = 5.0  # seconds between two looks at a study that is being worked on


def draw(about: Scenario) -> None:
    """The form, the jobs, and the results of a study so far."""
    st.caption(texts.TUNE)
    _form(about)
    jobs.draw()
    place = Workshop.here()
    try:
        names = sorted(optuna.get_all_study_names(_storage(place.studies))) if place.runs.is_dir() else []
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return
    if not names:
        st.caption(texts.NO_STUDY)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Study", names, key=SHOWN, width=320)
        owner = owner_of_study(_storage(place.studies), name)
        with st.popover("Delete", icon=":material/delete:"):
            st.caption(texts.DELETE_STUDY)
            st.button("Delete it", key="tune_delete", on_click=_delete, args=(name, place), type="primary",
                      **identity.permitted(Action.REMOVE_STUDY, owner))  # fmt: skip
    st.fragment(_study, run_every=LOOK if _is_busy(name, place) else None, key="study")(name, place, about)


def _is_busy(study: str, place: Workshop) -> bool:
    """Whether a job works on the study, or waits to."""
    return any(
        job.order.search is not None and job.order.search.study == study and job.status.state not in ENDED
        for job in all_jobs(place)
    )


def _form(about: Scenario) -> None:
    worker_pool.keep_ready()
    left, right = st.columns(2)
    with left:
        start = form.choose_start(about)
    name = right.text_input("Study", start.name, max_chars=LONGEST, key=f"tune:{start.name}:study", help=texts.STUDY)
    columns = st.columns(3)
    trials = columns[0].number_input("Trials", 2, orders.MOST_TRIALS, 80, 10, key="tune:trials", help=texts.TRIALS)
    seeds = columns[1].number_input("Models a trial", 1, 5, 1, key="tune:seeds", help=texts.TRIAL_SEEDS)
    epochs = columns[2].number_input("Epochs a trial", 2, 150, 60, 10, key="tune:epochs", help=texts.TRIAL_EPOCHS)
    try:
        config = start.config.but(training__epochs=int(epochs))
        wish = orders.Wish(start, config, start.costs)
        search = Search(study=name.strip() or start.name, trials=int(trials), seeds=int(seeds))
        order = orders.tuning(wish, search, form.table(about), store.cohort(about.workspace))
    except UserError as error:
        st.error(verbatim(form_fields.in_words(str(error))), icon=":material/error:")
        return
    if st.button("Search", type="primary", icon=":material/travel_explore:", key="tune_go", help=texts.TRAIN_HELP):
        form.submit(about, order)


def _study(name: str, place: Workshop, about: Scenario) -> None:
    try:
        study, plan_of_it = load_study(_storage(place.studies), name)
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")
        return
    trials = tables.trials_frame(study)
    done = trials[trials["state"] == "complete"]
    counts = trials["state"].value_counts()
    validated = (store.cohort(about.workspace).split == "val").sum()
    st.caption(
        f"{counts.get('complete', 0)} trials completed, {counts.get('pruned', 0)} given up early, "
        f"{counts.get('running', 0)} running. {texts.SCORE} "
        f"n = {validated} validation cases, {len(plan_of_it.seeds)} models a trial."
    )
    if done.empty:
        return
    _best(study, plan_of_it, trials, place, about)
    _charts(study, trials, place)


def _best(study: Study, its_plan: SearchPlan, trials: pd.DataFrame, place: Workshop, about: Scenario) -> None:
    """The best trial, and how to go on with it."""
    try:
        best = best_trial(study)
    except UserError as error:
        st.caption(verbatim(str(error)))
        return
    (row,) = trials[trials["trial"] == best.number].to_dict("records")
    metrics = " · ".join(f"{label_of(name)} {decimal(row[name])}" for name in ("TotalCost", *CRITERIA, "Defer"))
    st.markdown(f"**The best within its budget is trial {best.number}, score {decimal(row['Score'], 4)}:** {metrics}")
    config = trial_config(best, its_plan).but(training__epochs=Config().training.epochs)
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    field = f"tune:{study.study_name}:preset"
    left.text_input("Preset", f"{study.study_name}-best", key=field, max_chars=LONGEST)
    with right, st.container(horizontal=True):
        st.button("Keep as a preset", key="tune_keep", on_click=_keep, args=(about, config, field, place, False),
                  help=texts.PRESET, icon=":material/bookmark_add:")  # fmt: skip
        st.button("Keep and train", key="tune_train", on_click=_keep, args=(about, config, field, place, True),
                  help=texts.PRESET_TRAINED, icon=":material/model_training:")  # fmt: skip


def _charts(study: Study, trials: pd.DataFrame, place: Workshop) -> None:
    left, right = st.columns(2)
    with left:
        rows = tables.history(trials)
        _chart("history", charts.history(rows), rows, "Score of each trial and the best so far")
        shares = _importances(trials[trials["state"] == "complete"], place.studies, study.study_name)
        if len(shares):
            _chart("importances", charts.importances(shares), shares, "Share of the spread each setting explains")
        else:
            st.caption("Which settings matter can be said after a few more trials.")
    with right:
        rows = tables.front(trials)
        _chart("front", charts.front(rows, "MCC", "TotalCost"), rows, "MCC of each trial against its total cost")
        rows = tables.parallel(trials)
        _chart("parallel", charts.parallel(rows), rows, "Each trial as a line through its settings")
    with st.expander("Every trial", icon=":material/table:"):
        widgets.data_table(trials, key="tune-trials", alt_text="Every trial with its metrics and settings")


def _chart(name: str, chart: Drawing, table: pd.DataFrame, alt_text: str) -> None:
    widgets.chart(chart, table=table, key=f"tune-{name}", alt_text=alt_text)


def _keep(about: Scenario, config: Config, field: str, place: Workshop, train: bool) -> None:
    """Keep the configuration as a preset, named as the field says at the press, and, if that is wished, train it."""
    try:
        kept = keep_preset(config, st.session_state[field], place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")
        return
    st.toast(f"Kept as {kept}: start from it under One change", icon=":material/bookmark_added:")
    if train:
        start = form.kept_start(about, kept, config)
        wish = orders.Wish(start, config, start.costs, title=kept)
        form.submit(about, orders.training(wish, form.SEEDS, form.table(about), store.cohort(about.workspace)))


def _delete(name: str, place: Workshop) -> None:
    """Delete a study; what speaks against it is said."""
    if _is_busy(name, place):
        st.toast(f"A job works on {verbatim(name)}: cancel it first", icon=":material/error:")
        return
    try:
        delete_study(_storage(place.studies), name, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")
    st.session_state.pop(SHOWN, None)


@cached
def _storage(place: str) -> Any:
    return connect(place)


@cached_by_content
def _importances(completed: pd.DataFrame, place: str, name: str) -> pd.DataFrame:
    """Cached until another trial is completed: they take longer than drawing everything else."""
    study, _ = load_study(_storage(place), name)
    return tables.importances(study)
