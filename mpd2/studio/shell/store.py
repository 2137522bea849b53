"""What pages read: loaded once for everybody, never changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import ErrorModel
from mpd2.core.files import ROOT
from mpd2.core.policy import route
from mpd2.core.reading import load_cohort
from mpd2.core.runs import CONFIG, Run, load_continuations, load_errors, load_predictions, load_run
from mpd2.evaluation import curves, tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.map import Map, load_map
from mpd2.lab.jobs import own_runs as shelf
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.jobs.own_runs import OwnRun
from mpd2.methods import NOT_DEPLOYABLE
from mpd2.present.words import answer as headlines
from mpd2.present.words.answer import Answer
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import OF_THE_OBJECTIVE, Finding
from mpd2.study.definition import CONTENDERS, PAPER_RUN, ROUTERS
from mpd2.study.sentences import resplit_words, transfer_words
from mpd2.study.tables import StudyTables, read_table

DATA = ROOT / "data"
RUNS = DATA / "runs"
OWN = "own-"  # begins the name of a run that people made
ABLATIONS = ("objective", "regularisation", "budget")
ELSEWHERE = ("resplits", "rivals", "transfer", "recalibration")
STUDY_STRATA = 5  # of risk, in the study's table


@st.cache_resource(show_spinner=False)
def cohort() -> Cohort:
    """The benchmark, every case."""
    return load_cohort(DATA / "glaucoma.csv")


@st.cache_resource(show_spinner=False)
def embedding() -> Map:
    """The shipped map of every case."""
    return load_map(DATA / "map", cohort())


def run_names() -> list[str]:
    """The runs that can be the active one: the study's in its order, then people's own, the newest first."""
    shipped = [name for name in CONTENDERS if (RUNS / name / CONFIG).is_file()]
    return shipped + [own_key(run) for run in own_runs() if run.kind == "train"]


def own_runs() -> list[OwnRun]:
    """People's own runs that were made from this table, the newest first."""
    return [run for run in shelf.own_runs(Workshop.here()) if run.fingerprint == cohort().fingerprint]


def own_key(run: OwnRun) -> str:
    """The name an own run has here, where no shipped one can have the same."""
    return f"{OWN}{run.name}"


def run_folder(name: str) -> Path:
    """Where a run is kept."""
    return Workshop.here().runs / name.removeprefix(OWN) if name.startswith(OWN) else RUNS / name


def run_title(name: str) -> str:
    """A run as shown."""
    if not name.startswith(OWN):
        return CONTENDERS[name].title if name in CONTENDERS else name
    known = shelf.described(name.removeprefix(OWN), Workshop.here())
    return known.title if known else name


def forget_runs() -> None:
    """Let go of what is kept of runs, after one was renamed or deleted."""
    st.cache_data.clear()
    run.clear()
    evidence.clear()
    compared.clear()
    answer.clear()


@st.cache_resource(show_spinner=False, max_entries=64)
def run(name: str) -> Run:
    """One run, with its weights."""
    return load_run(run_folder(name))


@st.cache_resource(show_spinner=False, max_entries=64)
def error_model(name: str) -> ErrorModel:
    """How likely everybody is to err, as a run keeps it."""
    return load_errors(run_folder(name))


@st.cache_resource(show_spinner=False, max_entries=32)
def evidence(scenario: Scenario) -> Evidence:
    """What every run did with the slice, the active one first."""
    cases = scenario.slice(cohort())
    names = [scenario.run, *(name for name in CONTENDERS if name in run_names() and name != scenario.run)]
    return Evidence(cases, cohort().manifest.default_costs(), {name: _outcome(name, cases) for name in names})


@st.cache_resource(show_spinner=False, max_entries=16)
def compared(names: tuple[str, ...], scenario: Scenario) -> Evidence:
    """What some runs did with a slice, in the order of their names."""
    cases = scenario.slice(cohort())
    return Evidence(cases, cohort().manifest.default_costs(), {name: _outcome(name, cases) for name in names})


@st.cache_resource(show_spinner=False, max_entries=16)
def weights(scenario: Scenario) -> Floats:
    """The resamples of the slice, shared by every table and curve of it."""
    return resample_weights(scenario.slice(cohort()))


@st.cache_data(show_spinner="Counting …", max_entries=64)
def table(name: str, scenario: Scenario) -> pd.DataFrame:
    """A table of the study: as stored where the slice is the study's own, else computed for the slice.

    What the paper prints is about its test cases, so beside any other slice there is none of it.
    """
    if scenario.is_whole and scenario.run in (ROUTERS if name in ("paired", "gaps") else CONTENDERS):
        return read_table(DATA, name)
    facts, drawn = evidence(scenario), weights(scenario)
    made = {
        "overall": lambda: tables.overall(facts, drawn),
        "cohorts": lambda: tables.cohorts(facts, drawn),
        "paired": lambda: tables.paired(facts, scenario.run, drawn),
        "collapse": lambda: tables.collapse(facts, drawn),
        "retention": lambda: tables.retention(facts, drawn),
        "readers": lambda: tables.readers(_beside_ai(facts, scenario.run), drawn),
        "gaps": lambda: tables.reader_gaps(facts, scenario.run, drawn),
        "wins": lambda: tables.reader_wins(facts, scenario.run, drawn),
        "tradeoff": lambda: curves.tradeoff(_deployable(facts), drawn),
    }
    rows = made[name]()
    if not scenario.is_whole:
        rows.loc[:, rows.columns.str.contains("published")] = np.nan
    return rows


@st.cache_resource(show_spinner="Counting …", max_entries=64)
def answer(scenario: Scenario) -> Answer:
    """Whether the run is worth it on the slice, in words."""
    told = {name: table(name, scenario) for name in ("overall", "paired", "collapse")}
    return headlines.answer(StudyTables(told, cohort().manifest), scenario.run)


@st.cache_data(show_spinner="Counting …", max_entries=64)
def risk(scenario: Scenario, signal: str, strata: int) -> pd.DataFrame:
    """Clinical cost by how hard a case is: as stored where slice and strata are the study's own, else computed."""
    if scenario.is_whole and scenario.run in CONTENDERS and strata == STUDY_STRATA:
        return table("risk", scenario).query("signal == @signal").reset_index(drop=True)
    return curves.risk_curves(evidence(scenario), signal, weights(scenario), strata)


@st.cache_data(show_spinner=False)
def ablation(name: str) -> pd.DataFrame:
    """One of the study's ablation tables."""
    return read_table(DATA, name)


@st.cache_resource(show_spinner=False)
def terms() -> tuple[Finding, ...]:
    """What came of each claim about the terms of the objective, in the order of the claims."""
    told = StudyTables({name: ablation(name) for name in (*ABLATIONS, "effects")}, cohort().manifest)
    return tuple(claim.check(told, PAPER_RUN) for claim in OF_THE_OBJECTIVE)


@st.cache_resource(show_spinner=False)
def elsewhere() -> tuple[str, str]:
    """What other splits of the cases and new cohorts come to, in words."""
    told = StudyTables({name: ablation(name) for name in ELSEWHERE}, cohort().manifest)
    return headlines.in_words(resplit_words(told)), headlines.in_words(transfer_words(told))


def _beside_ai(facts: Evidence, run: str) -> Evidence:
    """The run and the AI: matching every method with every reader would take seconds."""
    return replace(facts, outcomes={name: facts.outcomes[name] for name in dict.fromkeys((run, "ai"))})


def _deployable(facts: Evidence) -> Evidence:
    """Without the methods that need the answers: nobody can be on a front beside them."""
    kept = {name: outcome for name, outcome in facts.outcomes.items() if name not in NOT_DEPLOYABLE}
    return replace(facts, outcomes=kept)


def _outcome(name: str, cases: Cohort) -> Outcome:
    known = run(name)
    policy = load_predictions(run_folder(name), known, cases)
    continuations = load_continuations(run_folder(name), known, cases)
    published = CONTENDERS[name].published if name in CONTENDERS else None
    made = route(policy, cases, known.rule, continuations)
    return Outcome(run_title(name), published, made, policy, known.rule, continuations)
