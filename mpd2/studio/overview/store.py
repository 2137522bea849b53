"""What the Overview page reads besides the tables of the study."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
from mpd2.present.charts.icon_array import icon_array, in_words
from mpd2.present.words import people as words
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

NOT_IN_PEOPLE = ("TotalCost", "Top1")


@dataclass(frozen=True)
class Picture:
    """A thousand people under one run."""

    svg: str
    alt: str
    totals: dict[str, int]  # people by outcome


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
def picture(name: str, about: Scenario, programme: Programme) -> Picture:
    """The picture of one run."""
    shown, task = cells(name, about, programme), store.manifest(about.workspace).task
    totals = shown.groupby("outcome")["people"].sum()
    return Picture(icon_array(shown, task), in_words(shown, task), {str(key): int(n) for key, n in totals.items()})


@cached
def pictured(titles: tuple[tuple[str, str], ...], about: Scenario, programme: Programme) -> pd.DataFrame:
    """Who is in the pictures of some runs, given as pairs of name and title."""
    return pd.concat([cells(name, about, programme).assign(method=title) for name, title in titles], ignore_index=True)


@cached
def effort(name: str, about: Scenario, programme: Programme, currency: str) -> str:
    """What the readings of one run take."""
    rows = people(about, programme)
    own = {row["quantity"]: row for row in rows[rows["method"] == name].to_dict("records")}
    return words.effort(own, currency)


@cached
def sentences(about: Scenario, programme: Programme) -> words.Sentences:
    """The answer in sentences."""
    task = store.manifest(about.workspace).task
    return words.sentences(people(about, programme), about.run, task, about.floor, store.choice(about.run, about))


@cached
def numbers(about: Scenario, programme: Programme, currency: str) -> pd.DataFrame:
    """Every number beside those of the recalibrated AI and the AI alone, as text."""
    task = store.manifest(about.workspace).task
    return words.numbers(people(about, programme), about.run, task, currency, not_in_people(about))


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


@cached
def nobody_to_ask(about: Scenario) -> list[tuple[str, str, str]]:
    """The same in words: a method, its readers, and the cohorts."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in never_available(about).to_dict("records"):
        found.setdefault((row["method"], row["title"], str(row["readers"])), []).append(row["cohort_title"])
    return [(title, readers, ", ".join(cohorts)) for (_, title, readers), cohorts in sorted(found.items())]


@cached
def paired(about: Scenario, metric: str) -> pd.DataFrame:
    """Every other method less the active run."""
    rows = results.table("paired", about)
    return rows[(rows["reference"] == about.run) & (rows["metric"] == metric)]


@cached
def plane(about: Scenario, score: str, cost: str) -> pd.DataFrame:
    """Every deployable method by a score and a cost."""
    rows = results.table("tradeoff", about)
    return rows[(rows["score"] == score) & (rows["cost"] == cost)]
