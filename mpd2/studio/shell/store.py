"""What pages read: cached for everybody, and read again once a run or a table of the study is another."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.arrays import Floats
from mpd2.core.cache import cached, depends_on
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates import ErrorModel, Expectations
from mpd2.core.errors import UserError
from mpd2.core.files import ROOT
from mpd2.core.policy import Continuations, Policy, route
from mpd2.core.runs import CONFIG, Run, load_continuations, load_errors, load_predictions, load_run
from mpd2.core.table_file import load_cohort
from mpd2.evaluation import curves, tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.map import Map, load_map
from mpd2.lab.jobs import own_runs as people
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.jobs.own_runs import DamagedRun, OwnRun
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.planning.floors import Choice, Floor
from mpd2.present.words import answer as headlines
from mpd2.present.words.answer import Answer
from mpd2.studio.shell.scenario import DEFAULT_SPLIT, SHOWN_SPLITS, Scenario
from mpd2.study.claims import OF_THE_OBJECTIVE, Finding
from mpd2.study.definition import CONTENDERS, PAPER_RUN, ROUTERS
from mpd2.study.operating import as_fitted, choose_point, continuations_at, expectations_at, policy_at
from mpd2.study.tables import StudyTables, read_table, table_path

DATA = ROOT / "data"
RUNS = DATA / "runs"
OWN = "own-"  # begins the name of a run that people made
ABLATIONS = ("objective", "regularisation", "budget")
STUDY_STRATA = 5  # of risk, in the study's table


@cached
def cohort() -> Cohort:
    """The benchmark, every case."""
    return load_cohort(DATA / "glaucoma.csv")


@cached
def embedding() -> Map:
    """The shipped map of every case."""
    return load_map(DATA / "map", cohort())


def run_names() -> list[str]:
    """The runs that can be the active one: the study's in its order, then people's own, the newest first."""
    return _shipped() + [own_key(run) for run in own_runs() if run.kind == "train"]


def own_runs() -> list[OwnRun]:
    """People's own runs that were made from this table, the newest first."""
    return [run for run in people.own_runs(Workshop.here()) if run.fingerprint == cohort().fingerprint]


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
    own = people.described(name.removeprefix(OWN), Workshop.here())
    return own.title if own else name


@cached
def damage(name: str) -> str:
    """Why a run cannot be shown, empty if it can: all that pages read of it is read once."""
    _watched(name)
    try:
        for split in SHOWN_SPLITS:
            _outcome(name, split, (), None, None)
        error_model(name).predict(_cases(DEFAULT_SPLIT, ()))
    except UserError as error:
        return str(error)
    return ""


def damaged_runs() -> list[DamagedRun]:
    """People's own runs that cannot be shown, by name: those without a description, and those with damaged files."""
    broken = [DamagedRun(each.name, reason) for each in own_runs() if (reason := damage(own_key(each)))]
    return sorted([*people.damaged_runs(Workshop.here()), *broken], key=lambda each: each.name)


@cached
def run(name: str) -> Run:
    """One run, with its weights."""
    return load_run(_watched(name))


@cached
def error_model(name: str) -> ErrorModel:
    """How likely everybody is to err, as a run keeps it."""
    return load_errors(_watched(name))


def cases(scenario: Scenario) -> Cohort:
    """The cases of the slice, whichever run is the active one; none left is an `EmptyCohort`."""
    return _cases(scenario.split, scenario.cohorts)


def outcome(name: str, scenario: Scenario) -> Outcome:
    """What one run did with the slice, at the operating point."""
    return _outcome(name, scenario.split, scenario.cohorts, scenario.floor, scenario.confident)


def point(name: str, scenario: Scenario) -> OperatingPoint:
    """By what a run decides: as it was made to, or so that the floor is kept on val."""
    return as_fitted(run(name)) if scenario.is_as_fitted else _chosen(name, scenario.floor, scenario.confident)[0]


def choice(name: str, scenario: Scenario) -> Choice | None:
    """How a run's operating point was chosen for the floor; none where there is none to keep."""
    return None if scenario.floor is None else _chosen(name, scenario.floor, scenario.confident)[1]


def applied(name: str, scenario: Scenario, judged: Cohort) -> tuple[Policy, Continuations | None]:
    """What a run makes of any cases at the operating point, [E, N]; it is asked anew."""
    at = point(name, scenario)
    return policy_at(run(name), judged, at, error_model(name)), continuations_at(run(name), judged, at)


def expectations(name: str, scenario: Scenario, judged: Cohort, costs: Costs | None = None) -> Expectations:
    """What the model that decides expects of any cases, under the costs it decides by unless others are given."""
    at = point(name, scenario)
    found = expectations_at(run(name), judged, replace(at, costs=costs or at.costs), error_model(name))
    if found is None:
        raise UserError(f"run {name}: it keeps no error rates; make the run anew")
    return found


def weights(scenario: Scenario) -> Floats:
    """The resamples of the slice, shared by every table and curve of it."""
    return _weights(scenario.split, scenario.cohorts)


def evidence(scenario: Scenario) -> Evidence:
    """What every run did with the slice, the active one first."""
    return compared((scenario.run, *(name for name in _shipped() if name != scenario.run)), scenario)


def compared(names: tuple[str, ...], scenario: Scenario) -> Evidence:
    """What some runs did with the slice, in the order of their names."""
    outcomes = {name: outcome(name, scenario) for name in names}
    return Evidence(cases(scenario), cohort().manifest.default_costs(), outcomes)


@cached
@st.spinner("Counting …")
def table(name: str, scenario: Scenario) -> pd.DataFrame:
    """A table of the study: as stored where the slice is the study's own, else computed for the slice.

    What the paper prints is about its test cases, so beside any other slice there is none of it.
    """
    if scenario.is_as_published and scenario.run in (ROUTERS if name in ("paired", "gaps") else CONTENDERS):
        return _table(name)
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
    if not scenario.is_as_published:
        rows.loc[:, rows.columns.str.contains("published")] = np.nan
    return rows


@cached
@st.spinner("Counting …")
def answer(scenario: Scenario) -> Answer:
    """Whether the run is worth it on the slice, in words."""
    tables = {name: table(name, scenario) for name in ("overall", "paired", "collapse")}
    return headlines.answer(StudyTables(tables, cohort().manifest), scenario.run)


@cached
@st.spinner("Counting …")
def risk(scenario: Scenario, signal: str, strata: int) -> pd.DataFrame:
    """Clinical cost by how hard a case is: as stored where slice and strata are the study's own, else computed."""
    if scenario.is_as_published and scenario.run in CONTENDERS and strata == STUDY_STRATA:
        return table("risk", scenario).query("signal == @signal").reset_index(drop=True)
    return curves.risk_curves(evidence(scenario), signal, weights(scenario), strata)


@cached
def ablation(name: str) -> pd.DataFrame:
    """One of the study's ablation tables."""
    return _table(name)


@cached
def terms() -> tuple[Finding, ...]:
    """What came of each claim about the terms of the objective, in the order of the claims."""
    study = StudyTables({name: ablation(name) for name in (*ABLATIONS, "effects")}, cohort().manifest)
    return tuple(claim.check(study, PAPER_RUN) for claim in OF_THE_OBJECTIVE)


def _shipped() -> list[str]:
    return [name for name in CONTENDERS if (RUNS / name / CONFIG).is_file()]


@cached
def _cases(split: str, cohorts: tuple[str, ...]) -> Cohort:
    return Scenario(split=split, cohorts=cohorts).slice(cohort())


@cached
def _weights(split: str, cohorts: tuple[str, ...]) -> Floats:
    return resample_weights(_cases(split, cohorts))


@cached
def _outcome(name: str, split: str, cohorts: tuple[str, ...], floor: Floor | None, confident: float | None) -> Outcome:
    made, judged, folder = run(name), _cases(split, cohorts), run_folder(name)
    own = partial(load_predictions, folder, made)
    if floor is None and confident is None:
        policy, continuations = own(judged), load_continuations(folder, made, judged)
    else:
        at = _chosen(name, floor, confident)[0]
        policy = policy_at(made, judged, at, error_model(name), own)
        continuations = continuations_at(made, judged, at)
    published = CONTENDERS[name].published if name in CONTENDERS else None
    decisions = route(policy, judged, made.rule, continuations)
    return Outcome(run_title(name), published, decisions, policy, made.rule, continuations)


@cached
def _chosen(name: str, floor: Floor | None, confident: float | None) -> tuple[OperatingPoint, Choice | None]:
    """The operating point that keeps a floor on val, whatever the slice; without a floor the run's own."""
    made, folder = run(name), _watched(name)
    if floor is None:
        return as_fitted(made, confident), None
    val = _cases("val", ())
    return choose_point(made, val, floor, error_model(name), confident, partial(load_predictions, folder, made))


def _watched(name: str) -> Path:
    """Where a run is kept; what is made of it is valid as long as its description, which digests all its files."""
    folder = run_folder(name)
    depends_on(folder / CONFIG)
    return folder


def _table(name: str) -> pd.DataFrame:
    """A table of the study, as stored."""
    depends_on(table_path(DATA, name))
    return read_table(DATA, name)


def _beside_ai(facts: Evidence, run: str) -> Evidence:
    """The run and the AI: matching every method with every reader would take seconds."""
    return replace(facts, outcomes={name: facts.outcomes[name] for name in dict.fromkeys((run, "ai"))})


def _deployable(facts: Evidence) -> Evidence:
    """Without the methods that need the answers: nobody can be on a front beside them."""
    kept = {name: outcome for name, outcome in facts.outcomes.items() if name not in NOT_DEPLOYABLE}
    return replace(facts, outcomes=kept)
