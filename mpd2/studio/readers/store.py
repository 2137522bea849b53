"""What the Readers page reads, a part for each of its tabs, cached by run and slice."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.evaluation import readers
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario


@dataclass(frozen=True, eq=False)
class Quality:
    """Every reader of a slice beside the active run."""

    title: str  # of the run
    wins: str  # against how many readers it wins
    sheet: pd.DataFrame  # as `readers.sheet`
    points: pd.DataFrame  # as `readers.operating_points`


@dataclass(frozen=True, eq=False)
class Workload:
    """Who is asked, and who could be."""

    deciders: pd.DataFrame  # as `readers.who_decides`
    load: pd.DataFrame  # as `readers.load`
    availability: pd.DataFrame  # as `readers.availability`


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far readers and the AI give the same answers."""

    pairs: pd.DataFrame  # as `readers.agreement`
    contradictions: pd.DataFrame  # as `readers.against_ai`


@cached
@st.spinner("Counting …")
def quality(about: Scenario) -> Quality:
    """How good each reader is."""
    evidence, matched = store.evidence(about), results.table("readers", about)
    wins, gaps = (results.table(name, about).query("method == @about.run") for name in ("wins", "gaps"))
    return Quality(
        title=evidence.outcomes[about.run].title,
        wins=readers.beaten(wins.iloc[0]),
        sheet=readers.sheet(matched, gaps, evidence.cohort),
        points=readers.operating_points(matched, results.table("overall", about), about.run),
    )


@cached
def sheet_in_percent(about: Scenario, columns: tuple[str, ...], shares: tuple[str, ...]) -> pd.DataFrame:
    """Some columns of the readers' sheet, shares in per cent."""
    rows = quality(about).sheet[list(columns)]
    return rows.assign(**{name: 100 * rows[name] for name in shares})


@cached
@st.spinner("Counting …")
def workload(about: Scenario) -> Workload:
    """Who gets the cases."""
    evidence = store.evidence(about)
    outcome = evidence.outcomes[about.run]
    load = readers.load(outcome, evidence.cohort, store.weights(about))
    return Workload(
        readers.who_decides(outcome.decisions, evidence.cohort), load, readers.availability(evidence.cohort)
    )


@cached
@st.spinner("Counting …")
def agreed(about: Scenario) -> Agreement:
    """Who agrees with whom."""
    cases = store.evidence(about).cohort
    return Agreement(readers.agreement(cases, store.weights(about)), readers.against_ai(cases))
