"""What the Overview page reads besides the tables of the study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.evaluation import readers, standings, tables
from mpd2.evaluation.clinical import gain as gains
from mpd2.evaluation.clinical import per_thousand
from mpd2.evaluation.clinical.per_thousand import SCREENED, Programme
from mpd2.evaluation.evidence import Evidence
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

NOT_IN_PEOPLE = ("TotalCost", "Top1")


@cached
@st.spinner("Counting …")
def people(about: Scenario, programme: Programme, screened: int = SCREENED) -> pd.DataFrame:
    """What becomes of the people screened under the active run, the recalibrated AI and the AI alone."""
    return per_thousand.per_thousand(_compared(about), programme, store.weights(about), AI, screened)


@cached
def cells(name: str, about: Scenario, programme: Programme) -> pd.DataFrame:
    """Whole people for the picture of one run."""
    return per_thousand.cells(store.cases(about), store.outcome(name, about).decisions, programme)


@cached
def not_in_people(about: Scenario) -> pd.DataFrame:
    """Total cost and the busiest reader's share of the same runs, and how far the cost is from that of the AI alone."""
    facts, drawn = _compared(about), store.weights(about)
    rows = pd.concat([tables.overall(facts, drawn), tables.collapse(facts, drawn)])
    rows = rows[rows["metric"].isin(NOT_IN_PEOPLE)]
    if len(facts.outcomes) == 1:
        return rows.assign(difference=np.nan, difference_low=np.nan, difference_high=np.nan)
    apart = tables.paired(facts, AI, drawn).query("metric == 'TotalCost'")[
        ["method", "metric", "difference", "low", "high"]
    ]
    apart = apart.rename(columns={"low": "difference_low", "high": "difference_high"})
    return rows.merge(apart, how="left", on=["method", "metric"])


@cached
def gain(about: Scenario, programme: Programme) -> pd.DataFrame:
    """How much of the gain over the AI alone is by recalibration, and how much by readers."""
    return gains.gain(_compared(about), about.run, store.weights(about), programme)


def can_split(about: Scenario) -> bool:
    """Whether there is a gain to split: of a run that is neither the AI nor the recalibrated one."""
    return about.run not in (AI, gains.RECALIBRATED) and gains.RECALIBRATED in store.sound_runs(about.workspace)


def _compared(about: Scenario) -> Evidence:
    """The active run beside the recalibrated AI, where that is shipped, and the AI alone."""
    there = [name for name in (gains.RECALIBRATED, AI) if name in store.sound_runs(about.workspace)]
    return store.compared(tuple(dict.fromkeys((about.run, *there))), about)


@cached
@st.spinner("Counting …")
def standing(view: str, about: Scenario) -> pd.DataFrame:
    """Which methods of a table are best, and which tie with them."""
    return standings.standings(view, store.evidence(about), store.weights(about), NOT_DEPLOYABLE)


@cached
def never_available(about: Scenario) -> pd.DataFrame:
    """Methods that have nobody to ask in a cohort of the slice, judged by whom they ask in all cohorts."""
    rows = readers.never_available(store.evidence(replace(about, cohorts=())))
    return rows[rows["cohort"].isin(about.cohorts)] if about.cohorts else rows


def paired(about: Scenario, metric: str) -> pd.DataFrame:
    """Every other method less the active run."""
    rows = results.table("paired", about)
    return rows[(rows["reference"] == about.run) & (rows["metric"] == metric)]


def plane(about: Scenario, score: str, cost: str) -> pd.DataFrame:
    """Every deployable method by a score and a cost."""
    rows = results.table("tradeoff", about)
    return rows[(rows["score"] == score) & (rows["cost"] == cost)]
