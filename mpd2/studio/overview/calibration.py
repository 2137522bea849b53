"""Can its probabilities be believed: that a case is positive, and what each reader will say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.cohort import Cohort
from mpd2.core.text import decimal, interval, percent
from mpd2.evaluation.clinical.calibration import Forecast, of_readers, of_truth, quality, reliability
from mpd2.evaluation.clinical.gain import RECALIBRATED
from mpd2.methods.base import HasPosterior, ModelsReaders
from mpd2.methods.recalibrated import RecalibratedScore
from mpd2.methods.registry import method_of
from mpd2.present.charts.clinical import calibration as charts
from mpd2.present.words import calibration as words
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

BESIDE = (RecalibratedScore.key, RECALIBRATED)  # runs shown with every other
SAME = 1e-3  # of a probability, which nobody sees in a chart
READER_BINS = 5  # of one reader's cases
OF_TRUTH = (
    "Each point is a tenth of the cases, from the least to the most likely to have {one}; lines: 95 % intervals "
    "(Wilson). Dashed: perfectly calibrated; above it {positives} are more frequent than predicted, below it rarer."
)
OF_READERS = (
    "How likely a reader was to say {positive}, given the truth and by the model, against what was said. A slope below "
    "1: the model is too sure of what the reader will say."
)
NO_READERS = "{title} has no model of what readers say, so there is nothing more to calibrate."
COLUMNS = {
    "title": "Probability",
    "n": "Cases",
    "predicted": "Predicted",
    "observed": "Observed",
    "ece": "Points apart in bins",
    "by_chance": "by chance alone",
    "brier": "Brier score",
    "slope": "Slope",
    "intercept": "Intercept",
}


def draw(about: Scenario) -> None:
    """Reliability of every probability that a case is positive, then of the reader models where the run has any."""
    about = about.as_fitted()  # what is believed does not depend on the operating point
    curve, rows = positive(about)
    task = store.manifest(about.workspace).task
    st.markdown(words.of_truth(rows, task))
    left, right = st.columns([2, 3], gap="large")
    with left:
        widgets.chart(
            charts.reliability(curve, f"with {task.one}"),
            table=curve,
            key="calibration",
            alt_text=f"Predicted and observed share with {task.one} by {', '.join(rows['title'])}",
            note=OF_TRUTH.format(one=task.one, positives=task.positives),
        )
    with right:
        widgets.data_table(
            in_words(rows), key="calibration_quality", alt_text="How well each probability is calibrated", csv=rows
        )
    if isinstance(method_of(store.run(about.workspace, about.run)), ModelsReaders):
        _readers(about)
    else:
        st.caption(NO_READERS.format(title=store.run_title(about.run)))


def _readers(about: Scenario) -> None:
    """The slope of every reader model, and the curve of one reader."""
    task = store.manifest(about.workspace).task
    curves, rows = readers(about)
    st.markdown(words.of_readers(rows))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.chart(
            charts.slopes(rows),
            table=rows,
            key="reader_slopes",
            alt_text="Calibration slope of the model of each reader, perfectly calibrated at 1",
            note=OF_READERS.format(positive=task.positive),
        )
    with right:
        titles = dict(zip(rows["name"], rows["title"], strict=True))
        chosen = link.one(st.selectbox, "Reader", list(titles), key="calibrated_reader", default=next(iter(titles)),
                          format_func=titles.__getitem__, width=260)  # fmt: skip
        curve = curves[curves["name"] == chosen]
        widgets.chart(
            charts.reliability(curve, f"said to have {task.one}"),
            table=curve,
            key="reader_calibration",
            alt_text=f"Predicted and observed share said to have {task.one} by {titles[chosen]}",
        )


@cached
@st.spinner("Counting …")
def positive(about: Scenario) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reliability and quality of the AI's probability, of those of the recalibrated AI and of the active run."""
    cases, shipped = store.cases(about), store.sound_runs(about.workspace)
    made = [of_truth(AI, store.run_title(AI), cases.ai_probability, cases)]
    names = dict.fromkeys((*(name for name in BESIDE if name in shipped), about.run))
    made += [_believed(name, about, cases) for name in names if name != AI]
    made = list(_told_apart(made))
    return reliability(made), quality(made, store.weights(about))


@cached
@st.spinner("Counting …")
def readers(about: Scenario) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reliability and quality of what the run expects each reader to say."""
    run, cases = store.run(about.workspace, about.run), store.cases(about)
    method = method_of(run, cases)
    made = of_readers(method.answers(run, cases), cases) if isinstance(method, ModelsReaders) else []
    return reliability(made, READER_BINS), quality(made, store.weights(about), READER_BINS)


def in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The table of quality as shown."""
    shown = []
    for row in rows.to_dict("records"):
        observed = row["events"] / row["n"]
        spans = {name: interval(row[f"{name}_low"], row[f"{name}_high"], 2) for name in ("slope", "intercept")}
        shown.append({
            "title": row["title"],
            "n": row["n"],
            "predicted": percent(observed - row["apart"], 1),
            "observed": percent(observed, 1),
            "ece": decimal(100 * row["ece"], 1),
            "by_chance": decimal(100 * row["by_chance"], 1),
            "brier": f"{decimal(row['brier'])} ({interval(row['brier_low'], row['brier_high'])})",
            "slope": f"{decimal(row['slope'], 2)} ({spans['slope']})",
            "intercept": f"{decimal(row['intercept'], 2)} ({spans['intercept']})",
        })  # fmt: skip
    return pd.DataFrame(shown).rename(columns=COLUMNS)


def _believed(name: str, about: Scenario, cases: Cohort) -> Forecast:
    """P(positive) by the model a run decides by, or by the error rates beside it if it has none of its own."""
    run, title = store.run(about.workspace, name), store.run_title(name)
    method = method_of(run, cases)
    if isinstance(method, HasPosterior):
        return of_truth(name, title, method.positive(run, cases).mean(0), cases)
    return of_truth(name, f"error rates of {title}", store.expectations(name, about, cases).positive, cases)


def _told_apart(forecasts: Iterable[Forecast]) -> Iterable[Forecast]:
    """Forecasts without those that say the same as the one before; that one then has both names."""
    apart: list[Forecast] = []
    for forecast in forecasts:
        if apart and np.allclose(apart[-1].probability, forecast.probability, rtol=0, atol=SAME):
            apart[-1] = replace(apart[-1], title=f"{apart[-1].title} and {forecast.title}")
        else:
            apart.append(forecast)
    return apart
