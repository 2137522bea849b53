"""The tab Decision curve of the Overview: net benefit by what a miss weighs, and who costs least where."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.costs import Costs
from mpd2.core.text import typeset
from mpd2.evaluation.clinical.decision_curve import ALL, MOVED, NONE, ratio_of, where_best
from mpd2.evaluation.clinical.winners import cells, cheapest_on, winners
from mpd2.present.charts.clinical import decision_curve as charts
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link, results, store, workspaces
from mpd2.studio.shell.scenario import Scenario
from mpd2.study import decision_curve as study
from mpd2.study.definition import CONTENDERS, PLUS_RUN, STUDIO_RUN
from mpd2.study.sentences import records

PARTS = {"curve": "Net benefit", "map": "Who costs least"}
NAMED = (
    PLUS_RUN, STUDIO_RUN, study.RECALIBRATED, study.RECALIBRATED_SCORE, study.AI, MOVED, study.ALWAYS, ALL, NONE
)  # fmt: skip
"""Whose names stand beside their lines, besides that of the active run."""

CURVE = (
    "Net benefit: {positives} found per 1,000 screened, less the false alarms and the readers' fees, each at what it "
    "weighs against a miss. Up is better. At every point across, every method decides by what a miss weighs "
    "there, all its trained copies together, and nothing is chosen on the cases that are counted. Thin and grey: other "
    "methods; hover for the name. Bands: 95 % intervals of the active run, the AI and the recalibrated AI. n = {n}."
)
BEST = {
    "weighs": "A miss weighs, in false alarms",
    "title": "Largest net benefit",
    "lead": "Ahead of every other",
}
MAP = (
    "In each cell every method decides by the cell's costs; which baseline is the best is decided on val. Number: what "
    "the next one costs more, in false alarms per 1,000 screened. Full colour: ahead of every other beyond chance; "
    "pale and ≈: within chance. Framed: the costs of this table. n = {n}."
)


def draw(about: Scenario) -> None:
    """The chosen part; a floor is one place on the curve, so that none of it depends on the floor."""
    part = link.one(st.segmented_control, "Part", list(PARTS), key="curve_part", default="curve", required=True,
                    format_func=PARTS.__getitem__, label_visibility="collapsed")  # fmt: skip
    if part == "curve":
        _curve(about)
    else:
        _map(about)


def _curve(about: Scenario) -> None:
    rows = curves(_same_for(about, CONTENDERS))
    costs = store.manifest(about.workspace).default_costs()
    marked = {"this table": ratio_of(costs)}
    if about.floor is not None:
        marked["this operating point"] = ratio_of(store.point(about.run, about).costs)
    named = [name for name in dict.fromkeys((about.run, *NAMED)) if name in set(rows["method"])]
    st.markdown(typeset(study.gain_words(rows, about.run)))
    widgets.chart(
        charts.curves(rows, about.run, marked, named),
        table=rows,
        key="decision-curve",
        alt_text="Lines: net benefit per 1,000 screened of every method, as a miss weighs from 1 to 50 false "
        f"alarms. {study.best_words(rows)}",
        note=CURVE.format(n=rows["n"].max(), positives=store.manifest(about.workspace).task.positives),
    )
    widgets.data_table(
        best_table(rows),
        key="decision-curve-best",
        alt_text="Which method has the largest net benefit at which weights",
    )


def _map(about: Scenario) -> None:
    rows = least(_same_for(about, study.RIVALS))
    here = cells(rows)
    st.markdown(typeset(study.map_words(here)))
    widgets.chart(
        charts.winners(here, about.run, ratio_of(store.manifest(about.workspace).default_costs())),
        table=rows,
        key="decision-map",
        alt_text="A grid of what a miss weighs against readers' fees; each cell has the colour of the "
        f"method with the least total cost. {study.map_words(here)}",
        note=MAP.format(n=rows["n"].max()),
    )


@cached
@st.spinner("Counting …")
def curves(about: Scenario) -> pd.DataFrame:
    """Decision curves of every deployable run: as stored where slice and run are the study's own, else counted."""
    if results.is_stored("decision_curve", about):
        return results.stored(about.workspace, "decision_curve")
    judged = store.cases(about)
    runs = {name: deciding(judged) for name, deciding in _runs(about).items()}
    return study.curves(judged, store.manifest(about.workspace).default_costs(), runs, store.weights(about))


@cached
@st.spinner("Counting …")
def least(about: Scenario) -> pd.DataFrame:
    """Who costs least by ratio and fees: as stored where slice and run are the study's own, else counted."""
    if results.is_stored("winners", about) and about.run in study.RIVALS:
        return results.stored(about.workspace, "winners")
    judged, costs, runs = store.cases(about), store.manifest(about.workspace).default_costs(), _runs(about)
    rivals = study.rivals(runs, judged, _best_on_val(about, runs, costs), besides=[about.run])
    return winners(judged, costs, rivals, store.weights(about))


def best_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Where each method is best, in words."""
    best = where_best(rows)
    shown = best.assign(
        weighs=[study.span(row) for row in records(best, None).values()],
        lead=best["beyond_chance"].map({True: "beyond chance", False: "within chance"}),
    )
    return shown[list(BEST)].rename(columns=BEST)


def _same_for(about: Scenario, runs: Container[str]) -> Scenario:
    """The scenario whose rows are those of this one: no floor matters, nor which of some runs is the active one."""
    usual = next((name for name in store.study_runs(about.workspace) if name in runs), about.run)
    return replace(about, floor=None, run=usual if about.run in runs else about.run)


def _best_on_val(about: Scenario, runs: Mapping[str, study.Deciding], costs: Costs) -> Callable[[Costs], str]:
    """Which baseline is the best at any costs, by the val cases: as stored by the study, else found now."""
    if workspaces.find(about.workspace).shipped and results.has(about.workspace, "winners"):
        return study.drawn_up_baselines(results.stored(about.workspace, "winners"), costs)
    val = store.cases(replace(about, split="val", cohorts=()))
    return cheapest_on(val, {name: runs[name](val) for name in study.baselines(runs)})


def _runs(about: Scenario) -> dict[str, study.Deciding]:
    """How every deployable run decides, the active one first."""
    names = dict.fromkeys([about.run, *store.sound_runs(about.workspace)])
    return {name: _deciding(name, about) for name in study.deployable(list(names))}


def _deciding(name: str, about: Scenario) -> study.Deciding:
    run, errors = store.run(about.workspace, name), store.error_model(about.workspace, name)
    own = store.predictions(about.workspace, name)
    val = store.cases(replace(about, split="val", cohorts=()))
    return partial(study.strategy_of, run, store.run_title(name), errors, own, val, confident=about.confident)
