"""Cases tried on a trained run: an upload, then a sentence and a tab for each of three questions.

What an upload says is shown as text only: never as Markdown, where a cell could load a picture or pose as a link, and
never in a log.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_cases
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import TableError, UserError
from mpd2.core.table_file import problems_frame, write_template
from mpd2.core.text import capital, count
from mpd2.evaluation import readers, shift
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import label_of
from mpd2.lab import uploads
from mpd2.lab.uploads import Trial
from mpd2.present.charts import readers as reader_charts
from mpd2.present.charts import shift as charts
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity, session, store, workspaces
from mpd2.studio.shell.scenario import Scenario
from mpd2.studio.your_data import trial_texts as texts

UPLOAD, CASES, TRIAL = "own_table", "own_cases", "own_trial"
LONGEST = 200  # characters of a list of rows that are shown


def draw(about: Scenario) -> None:
    """The whole page."""
    trial = _trial(about)
    if trial is None:
        return
    st.markdown(_summary(trial))
    topic = st.segmented_control(
        "Topic", list(texts.TOPICS), default="shift", required=True, key="own_topic",
        format_func=texts.TOPICS.__getitem__, label_visibility="collapsed",
    )  # fmt: skip
    shown: dict[str, Callable[[Trial], None]] = {
        "shift": partial(compare, about),
        "accuracy": judge,
        "decisions": decide,
    }
    shown[topic](trial)


def _trial(about: Scenario) -> Trial | None:
    """What the active run does with the uploaded cases; nothing, and the reason, if there are none to use."""
    upload = _upload(about)
    if upload is None:
        session.forget(CASES, TRIAL)
        return None
    manifest, by = store.manifest(about.workspace), identity.actor()
    try:
        cases = session.kept(
            CASES, upload.file_id, partial(uploads.read_own, upload.getvalue(), upload.name, manifest, by=by)
        )
        run, title = store.run(about.workspace, about.run), store.run_title(about.run)
        return session.kept(TRIAL, (upload.file_id, run, title), partial(uploads.try_out, run, title, cases, by=by))
    except TableError as error:
        _refuse(error.problems[0].sentence("Your table"), len(error.problems))
        problems = problems_frame(error.problems)
        shortened = problems.assign(**{"further rows": problems["further rows"].str.slice(0, LONGEST)})
        widgets.data_table(
            shortened,
            key="own_problems",
            alt_text="Every problem: row, column, found, expected",
            columns=texts.PROBLEM_COLUMNS,
        )
    except UserError as error:
        _refuse(str(error))
    _explain(about)
    return None


def _upload(about: Scenario) -> UploadedFile | None:
    """The uploaded file; how to make one is explained until there is."""
    if st.session_state.get(UPLOAD) is None:
        st.markdown(texts.INTRO)
    upload = st.file_uploader(
        "Your table",
        type=["csv", "parquet"],
        max_upload_size=uploads.MAX_BYTES // 2**20,
        key=UPLOAD,
        help=texts.UPLOAD,
    )
    if upload is None:
        st.caption(f":material/lock: {texts.PRIVACY}")
        _explain(about)
    return upload


def _refuse(problem: str, problems: int = 1) -> None:
    """Say what is wrong in an alert, which screen readers read aloud."""
    more = texts.MORE_PROBLEMS.format(problems=count(problems)) if problems > 1 else ""
    st.error(f"{texts.REFUSED} {texts.verbatim(problem)} {more}", icon=":material/error:")


def _explain(about: Scenario) -> None:
    """What a table must hold, with an empty one and an example for download."""
    manifest, table = store.manifest(about.workspace), workspaces.find(about.workspace).table
    st.subheader("What the table must hold", anchor=False)
    files = {
        "Template": (lambda: _guarded(write_template(manifest)), Action.EXPORT_FIGURES, texts.TEMPLATE),
        "Example": (identity.later(partial(_example, table)), Action.EXPORT_CASES, texts.EXAMPLE),
    }
    with st.container(horizontal=True):
        for label, (data, action, explained) in files.items():
            name = f"{label.lower()}.csv"
            st.download_button(
                label, data, name, "text/csv", key=name, on_click="ignore", icon=":material/download:",
                **identity.permitted(action, otherwise=explained),
            )  # fmt: skip
    columns = texts.columns_frame(manifest)
    st.dataframe(
        columns,
        hide_index=True,
        key="own_columns",
        alt="Every column, whether it is needed, and what it holds",
        height="content",
    )


def _guarded(table: str) -> bytes:
    """A table for download that a spreadsheet opens without running anything in it, whoever wrote the workspace."""
    return to_csv(pd.read_csv(io.StringIO(table)).convert_dtypes())


def _example(table: Path, by: Actor) -> bytes:
    return export_cases(lambda: _guarded(uploads.example_table(table)), "example", by=by)


def _summary(trial: Trial) -> str:
    cases = trial.cohort
    return texts.SUMMARY.format(
        share=uploads.sent_share(trial),
        cases=count(len(cases)),
        diagnosed=count(int((cases.truth != UNKNOWN).sum())),
        readable=count(int(cases.available.any(-1).sum())),
    )


def compare(about: Scenario, trial: Trial) -> None:
    """How the uploaded cases differ from the training cases."""
    manifest = store.manifest(about.workspace)
    names = {entry.key: entry.name for entry in manifest.cohorts}
    left, right = st.columns(2, gap="large")
    with left:
        cohort = st.selectbox(
            "Compare with",
            [None, *names],
            format_func=lambda key: names.get(key, "all training cases"),
            key="own_against",
        )
    titles = {name: capital(title) for name, title in trial.cohort.layout.titles.items()}
    seen = store.cohort(about.workspace).subset(split="train", cohorts=[cohort] if cohort else None)
    moved = shift.shift(trial.cohort, seen)
    ranked = moved.sort_values("distance", ascending=False)["input"].tolist()
    with right:
        chosen = st.selectbox("Input", ranked, format_func=titles.__getitem__, key="own_input")
    _comparison_charts(trial.cohort, seen, moved, chosen)
    st.markdown("\n".join(f"- {sentence}" for sentence in shift.sentences(moved)))
    with st.expander("The numbers", icon=":material/table:"):
        st.caption(texts.DISTANCE)
        widgets.data_table(
            moved.drop(columns="input"),
            key="own_shift_table",
            alt_text="How far each input is from training",
            columns=texts.SHIFT_COLUMNS,
        )


def _comparison_charts(cases: Cohort, seen: Cohort, moved: pd.DataFrame, chosen: str) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        widgets.chart(
            charts.differences(moved),
            table=moved,
            key="own_shift",
            note=texts.SHIFT,
            alt_text="How far the mean of each input is from that of the training cases",
        )
    with right:
        title = capital(cases.layout.titles[chosen])
        bins = shift.distributions(cases, seen, chosen)
        widgets.chart(
            charts.distributions(bins, title),
            table=bins,
            key="own_distribution",
            alt_text=f"{title} of your cases and of the training cases",
            note=f"Outlined: your {count(len(cases))} cases. Grey: {count(len(seen))} training cases.",
        )


def judge(trial: Trial) -> None:
    """What the answers would have cost, beside those of the AI alone."""
    judged = uploads.judge(trial)
    if judged.empty:
        st.info(texts.NOT_JUDGED, icon=":material/help:")
        return
    n = int(judged["n"].iloc[0])
    if n < len(trial.cohort):
        st.info(texts.PARTLY_JUDGED.format(n=count(n), cases=count(len(trial.cohort))), icon=":material/info:")
    rows = uploads.as_text(judged).assign(metric=judged["metric"].map(label_of))
    titles = {"metric": "Metric", "run": trial.outcome.title, "ai": "AI alone", "difference": "Difference"}
    widgets.data_table(rows, key="own_metrics", alt_text="Metrics of the run and of the AI alone", columns=titles)
    st.caption(texts.JUDGED.format(n=count(n), resamples=count(uploads.resamples_for(n))))


def decide(trial: Trial) -> None:
    """Who would decide each case, and how many each reader would get."""
    cases = trial.cohort
    load = readers.load(trial.outcome, cases, resample_weights(cases, uploads.resamples_for(len(cases))))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.chart(
            reader_charts.load(load),
            table=load,
            key="own_load",
            alt_text="Cases each reader would get",
            note=readers.busiest(load),
        )
    with right:
        widgets.data_table(
            trial.worklist[["case_id", "reader", "label", "votes", "defer"]],
            csv=trial.worklist,
            key="decisions",
            alt_text="What is done with each case",
            columns=texts.decision_columns(trial.routers),
        )
        st.caption(texts.DECISIONS)
