"""The tables of a workspace's study: as stored where they are about what is looked at, else computed for the slice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.cache import cached, depends_on, once_a_look
from mpd2.evaluation import curves, tables
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.map import RECORD, Map, load_map
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.present.words import answer as headlines
from mpd2.present.words.answer import Answer
from mpd2.studio.shell import store, workspaces
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import OF_THE_OBJECTIVE, Finding
from mpd2.study.definition import CONTENDERS, PAPER_RUN, ROUTERS
from mpd2.study.tables import StudyTables, read_table, table_path

ABLATIONS = ("objective", "regularisation", "budget")
STUDY_STRATA = 5  # of risk, in the study's table


@once_a_look
def has(workspace: str, *names: str) -> bool:
    """Whether the study of a workspace has come as far as these tables."""
    folder = workspaces.find(workspace).folder
    return all(table_path(folder, name).is_file() for name in names)


@once_a_look
def has_map(workspace: str) -> bool:
    """Whether a workspace has a map of its cases."""
    return (workspaces.find(workspace).map / RECORD).is_file()


@cached
def embedding(workspace: str) -> Map:
    """The map of every case of a workspace."""
    folder = workspaces.find(workspace).map
    depends_on(folder / RECORD)
    return load_map(folder, store.cohort(workspace))


@cached
def stored(workspace: str, name: str) -> pd.DataFrame:
    """A table of a workspace's study, as stored."""
    folder = workspaces.find(workspace).folder
    depends_on(table_path(folder, name))
    return read_table(folder, name)


def as_published(about: Scenario) -> bool:
    """Whether a paper prints numbers about what is looked at."""
    return about.is_as_published and workspaces.has_published(about.workspace)


def is_stored(name: str, about: Scenario) -> bool:
    """Whether a table of the study is about what is looked at.

    Those of somebody's own workspace may be of earlier runs while it is being built, so that they are not used.
    """
    known = ROUTERS if name in ("paired", "gaps") else CONTENDERS
    shipped = workspaces.find(about.workspace).shipped
    return shipped and about.is_as_published and about.run in known and has(about.workspace, name)


@cached
@st.spinner("Counting …")
def table(name: str, about: Scenario) -> pd.DataFrame:
    """A table of the study: as stored where the slice is the study's own, else computed for the slice.

    What a paper prints is about its test cases, so beside any other slice there is none of it.
    """
    if is_stored(name, about):
        return stored(about.workspace, name)
    facts, drawn = store.evidence(about), store.weights(about)
    made = {
        "overall": lambda: tables.overall(facts, drawn),
        "cohorts": lambda: tables.cohorts(facts, drawn),
        "paired": lambda: tables.paired(facts, about.run, drawn),
        "collapse": lambda: tables.collapse(facts, drawn),
        "retention": lambda: tables.retention(facts, drawn),
        "readers": lambda: tables.readers(_beside_ai(facts, about.run), drawn),
        "gaps": lambda: tables.reader_gaps(facts, about.run, drawn),
        "wins": lambda: tables.reader_wins(facts, about.run, drawn),
        "tradeoff": lambda: curves.tradeoff(_deployable(facts), drawn),
    }
    rows = made[name]()
    if not as_published(about):
        rows.loc[:, rows.columns.str.contains("published")] = np.nan
    return rows


@cached
@st.spinner("Counting …")
def answer(about: Scenario) -> Answer:
    """Whether the run is worth it on the slice, in words."""
    tables = {name: table(name, about) for name in ("overall", "paired", "collapse")}
    return headlines.answer(StudyTables(tables, store.manifest(about.workspace)), about.run)


@cached
@st.spinner("Counting …")
def risk(about: Scenario, signal: str, strata: int) -> pd.DataFrame:
    """Clinical cost by how hard a case is: as stored where slice and strata are the study's own, else computed."""
    if is_stored("risk", about) and strata == STUDY_STRATA:
        return stored(about.workspace, "risk").query("signal == @signal").reset_index(drop=True)
    return curves.risk_curves(store.evidence(about), signal, store.weights(about), strata)


@cached
def terms(workspace: str) -> tuple[Finding, ...]:
    """What came of each claim about the terms of the objective, in the order of the claims."""
    found = {name: stored(workspace, name) for name in (*ABLATIONS, "effects")}
    study = StudyTables(found, store.manifest(workspace))
    return tuple(claim.check(study, PAPER_RUN) for claim in OF_THE_OBJECTIVE)


def _beside_ai(facts: Evidence, run: str) -> Evidence:
    """The run and the AI: matching every method with every reader would take seconds."""
    there = [name for name in dict.fromkeys((run, "ai")) if name in facts.outcomes]
    return replace(facts, outcomes={name: facts.outcomes[name] for name in there})


def _deployable(facts: Evidence) -> Evidence:
    """Without the methods that need the answers: nobody can be on a front beside them."""
    kept = {name: outcome for name, outcome in facts.outcomes.items() if name not in NOT_DEPLOYABLE}
    return replace(facts, outcomes=kept)
