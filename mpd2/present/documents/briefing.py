"""A briefing: what a meeting must see of one run on one slice, in words and small tables, before any layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import GAP, count, decimal, interval, percent, percent_interval
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import LEVEL, resamples_for
from mpd2.evaluation.metrics import METRICS, load_of
from mpd2.present.documents.board import People, PlanOfDay, caution, deciders
from mpd2.present.words.answer import KeyNumber, best_other, errors, headline, key_numbers, level, rival
from mpd2.present.words.origins import no_patients, origins
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables

TABLES = ("overall", "paired", "cohorts", "collapse", "tradeoff")
"""The tables of the study that a briefing is drawn up from."""

INDEPENDENT = "Where truth and readers' answers are not independent, readers look better here than in a clinic."
COMPARED = ("F1", "MCC", "Sens", "Spec", "Defer", "ClinicalCost", "ExpertCost", "TotalCost")
"""The metrics of the comparison."""


@dataclass(frozen=True)
class Stamp:
    """What a briefing is about, so that a printed one can be distinguished from any other."""

    run: str  # as shown
    slice: str  # in words
    n: int  # cases
    data: str  # fingerprint of the table
    version: str
    made: date
    point: str = ""  # the operating point in words

    def __str__(self) -> str:
        about = ", ".join(filter(None, (self.run, self.slice, self.point)))
        return f"{about}, n = {self.n}. Data {self.data[:12]}, MPD² Studio {self.version}, {self.made.isoformat()}."


@dataclass(frozen=True, eq=False)
class Briefing:
    """Everything that is shown."""

    stamp: Stamp
    active: str  # name of the run
    task: Task
    people: People
    deciders: pd.DataFrame  # who decides, of how many, and how many of these end wrong either way
    caution: str  # which of the readings were not given by people; empty where all were
    plan: PlanOfDay
    answer: str  # in costs
    numbers: tuple[KeyNumber, ...]
    methods: pd.DataFrame  # title and COMPARED in words, a row a method, the cheapest first
    plane: pd.DataFrame  # rows of `curves.tradeoff` for F1 against total cost
    cohorts: pd.DataFrame  # cohort, method, title, value, low, high, n: total cost of three methods
    load: pd.DataFrame  # reader, share of all readings, cases (mean over members)
    spread: str
    caveats: tuple[str, ...]


def brief(
    evidence: Evidence,
    tables: Mapping[str, pd.DataFrame],
    active: str,
    stamp: Stamp,
    people: People,
    plan: PlanOfDay,
) -> Briefing:
    """Draw up the briefing of the run `active`; `tables` holds TABLES of the same slice, as do `people` and `plan`."""
    study = StudyTables(tables, evidence.cohort.manifest)
    planes, task = tables["tradeoff"], evidence.cohort.manifest.task
    load = _load(evidence, active)
    return Briefing(
        stamp=stamp,
        active=active,
        task=task,
        people=people,
        deciders=deciders(people, task),
        caution=caution(evidence, active),
        plan=plan,
        answer=" ".join(filter(None, (part(study, active) for part in (headline, errors, rival)))),
        numbers=tuple(key_numbers(study, active)),
        methods=_methods(tables["overall"]),
        plane=planes[(planes["score"] == "F1") & (planes["cost"] == "TotalCost")].reset_index(drop=True),
        cohorts=_cohorts(study, active),
        load=load,
        spread=_spread(study, active, load),
        caveats=_caveats(evidence, active),
    )


def _methods(overall: pd.DataFrame) -> pd.DataFrame:
    values = overall.pivot(index="title", columns="metric", values="value").sort_values("TotalCost")
    total = overall[overall["metric"] == "TotalCost"].set_index("title").loc[values.index]
    words = pd.DataFrame(
        {METRICS[name].heading: [METRICS[name].shown(value) for value in values[name]] for name in COMPARED}
    )
    words["95 % interval"] = [interval(low, high) for low, high in total[["low", "high"]].to_numpy(float)]
    words.insert(0, "Method", values.index)
    return words


def _cohorts(study: StudyTables, active: str) -> pd.DataFrame:
    """Total cost in each cohort: the run, the AI alone, and the cheapest of the others."""
    shown = list(dict.fromkeys([active, AI, best_other(study, active)]))
    rows = study.tables["cohorts"]
    rows = rows[(rows["metric"] == "TotalCost") & rows["method"].isin(shown)]
    names = {entry.key: entry.name for entry in study.manifest.cohorts}
    rows = rows.assign(cohort=rows["cohort"].map(names), place=rows["method"].map(shown.index))
    rows = rows.sort_values("place", kind="stable", ignore_index=True)
    return rows[["cohort", "method", "title", "value", "low", "high", "n"]]


def _load(evidence: Evidence, active: str) -> pd.DataFrame:
    counts = load_of(evidence.outcomes[active].decisions, evidence.cohort.readers).mean(0)  # [M]
    names = [reader.name for reader in evidence.cohort.manifest.readers]
    return pd.DataFrame({"reader": names, "share": counts / max(counts.sum(), 1), "cases": counts})


def _spread(study: StudyTables, active: str, load: pd.DataFrame) -> str:
    if not load["cases"].any():
        return "No case is sent to a reader."
    busiest = level(study, active, "Top1")
    effective = study.of("collapse", metric="NEff")[active]
    return (
        f"The busiest reader gives {percent(busiest.value, 1)} of all readings (95{GAP}% interval "
        f"{percent_interval(busiest.low, busiest.high)}). The readings are spread as if {decimal(effective.value, 1)} "
        f"({interval(effective.low, effective.high, 1)}) of {len(load)} readers were equally busy."
    )


def _caveats(evidence: Evidence, active: str) -> tuple[str, ...]:
    cohort, costs, task = evidence.cohort, evidence.costs, evidence.cohort.manifest.task
    present = [entry for place, entry in enumerate(cohort.manifest.cohorts) if place in np.unique(cohort.source)]
    members = len(evidence.outcomes[active].decisions.label)
    return (
        *filter(None, [no_patients(cohort.manifest)]),
        "Research software, not a medical device. It has not been tried on patients.",
        f"Readers' answers: {origins(present)}. Only real ones were given by people who looked at the {task.case}.",
        f"A missed {task.positive} costs {costs.false_negative:g}, a false alarm {costs.false_positive:g}; a reader's "
        "fee is in the same unit. Other costs give other results.",
        f"Numbers are means over {members} model{'s' * (members > 1)}; {percent(LEVEL, 0)} of "
        f"{count(resamples_for(len(cohort)))} resamples of the cases give a number within its interval. If the "
        "interval of a difference includes 0, the difference may be chance.",
        *(cohort.manifest.assumptions or (INDEPENDENT,)),
        *filter(None, (cohort.manifest.credit, *(entry.credit for entry in present))),
    )
