"""What the Readers page reads, kept by run and slice."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from mpd2.evaluation import roster
from mpd2.evaluation.agreement import against_ai, agreement
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Readers:
    """Every reader of a slice beside the active run."""

    title: str  # of the run
    told: str  # against how many of them the run wins
    sheet: pd.DataFrame  # as `roster.sheet`
    points: pd.DataFrame  # as `roster.operating_points`
    load: pd.DataFrame  # as `roster.load`
    availability: pd.DataFrame  # as `roster.availability`
    pairs: pd.DataFrame  # as `agreement.agreement`
    contradictions: pd.DataFrame  # as `agreement.against_ai`


@st.cache_data(show_spinner="Counting …", max_entries=16)
def readers(about: Scenario) -> Readers:
    """The readers of a slice."""
    evidence, weights = store.evidence(about), store.weights(about)
    cases, outcome = evidence.cohort, evidence.outcomes[about.run]
    wins, gaps = (store.table(name, about).query("method == @about.run") for name in ("wins", "gaps"))
    matched = store.table("readers", about)
    return Readers(
        title=outcome.title,
        told=roster.beaten(wins.iloc[0]),
        sheet=roster.sheet(matched, gaps, cases),
        points=roster.operating_points(matched, store.table("overall", about), about.run),
        load=roster.load(outcome, cases, weights),
        availability=roster.availability(cases),
        pairs=agreement(cases, weights),
        contradictions=against_ai(cases),
    )
