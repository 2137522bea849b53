"""What the Overview page reads besides the tables of the study."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.evaluation import readers, standings
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario


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
    rows = store.table("paired", about)
    return rows[(rows["reference"] == about.run) & (rows["metric"] == metric)]


def plane(about: Scenario, score: str, cost: str) -> pd.DataFrame:
    """Every deployable method by a score and a cost."""
    rows = store.table("tradeoff", about)
    return rows[(rows["score"] == score) & (rows["cost"] == cost)]
