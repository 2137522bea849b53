"""A briefing: what a meeting must see of one run on one slice, in words and small tables, before any layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd

from mpd2.core.text import GAP, decimal, interval, percent, percent_interval
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import LEVEL, RESAMPLES
from mpd2.evaluation.metrics import METRICS, load_of
from mpd2.present.words.answer import KeyNumber, best_other, errors, headline, key_numbers, level
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables

TABLES = ("overall", "paired", "cohorts", "collapse", "tradeoff")
"""The tables of the study that a briefing is drawn up from."""

COMPARED = ("F1", "MCC", "Sens", "Spec", "Defer", "ClinicalCost", "ExpertCost", "TotalCost")
"""The metrics of the comparison."""


@dataclass(frozen=True)
class Stamp:
    """What a briefing is about, so that a printed one can be told from any other."""

    run: str  # as shown
    slice: str  # in words
    n: int  # cases
    data: str  # fingerprint of the table
    version: str
    made: date

    def __str__(self) -> str:
        return (
            f"{self.run}, {self.slice}, n = {self.n}. Data {self.data[:12]}, MPD² Studio {self.version}, "
            f"{self.made.isoformat()}."
        )


@dataclass(frozen=True, eq=False)
class Briefing:
    """Everything that is shown."""

    stamp: Stamp
    active: str  # name of the run
    answer: str
    numbers: tuple[KeyNumber, ...]
    methods: pd.DataFrame  # title and COMPARED in words, a row a method, the cheapest first
    plane: pd.DataFrame  # rows of `curves.tradeoff` for F1 against total cost
    cohorts: pd.DataFrame  # cohort, method, title, value, low, high, n: total cost of three methods
    load: pd.DataFrame  # reader, share of all readings, cases (mean over members)
    spread: str
    caveats: tuple[str, ...]


def brief(evidence: Evidence, tables: Mapping[str, pd.DataFrame], active: str, stamp: Stamp) -> Briefing:
    """Draw up the briefing of the run `active`; `tables` holds TABLES of the same slice."""
    figures = StudyTables(tables, evidence.cohort.manifest)
    planes = tables["tradeoff"]
    load = _load(evidence, active)
    return Briefing(
        stamp=stamp,
        active=active,
        answer=f"{headline(figures, active)} {errors(figures, active)}".strip(),
        numbers=tuple(key_numbers(figures, active)),
        methods=_methods(tables["overall"]),
        plane=planes[(planes["score"] == "F1") & (planes["cost"] == "TotalCost")].reset_index(drop=True),
        cohorts=_cohorts(figures, active),
        load=load,
        spread=_spread(figures, active, load),
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


def _cohorts(figures: StudyTables, active: str) -> pd.DataFrame:
    """Total cost in each cohort: the run, the AI alone, and the cheapest of the others."""
    shown = list(dict.fromkeys([active, AI, best_other(figures, active)]))
    rows = figures.tables["cohorts"]
    rows = rows[(rows["metric"] == "TotalCost") & rows["method"].isin(shown)]
    names = {entry.key: entry.name for entry in figures.manifest.cohorts}
    rows = rows.assign(cohort=rows["cohort"].map(names), place=rows["method"].map(shown.index))
    rows = rows.sort_values("place", kind="stable", ignore_index=True)
    return rows[["cohort", "method", "title", "value", "low", "high", "n"]]


def _load(evidence: Evidence, active: str) -> pd.DataFrame:
    counts = load_of(evidence.outcomes[active].decisions, evidence.cohort.readers).mean(0)  # [M]
    names = [reader.name for reader in evidence.cohort.manifest.readers]
    return pd.DataFrame({"reader": names, "share": counts / max(counts.sum(), 1), "cases": counts})


def _spread(figures: StudyTables, active: str, load: pd.DataFrame) -> str:
    if not load["cases"].any():
        return "No case goes to a reader."
    busiest = level(figures, active, "Top1")
    effective = figures.of("collapse", metric="NEff")[active]
    return (
        f"The busiest reader gives {percent(busiest.value, 1)} of all readings (95{GAP}% interval "
        f"{percent_interval(busiest.low, busiest.high)}); the load amounts to {decimal(effective.value, 1)} equally "
        f"busy readers ({interval(effective.low, effective.high, 1)}) of {len(load)}."
    )


def _caveats(evidence: Evidence, active: str) -> tuple[str, ...]:
    cohort, costs = evidence.cohort, evidence.costs
    present = [entry for place, entry in enumerate(cohort.manifest.cohorts) if place in np.unique(cohort.source)]
    origins = ", ".join(f"{entry.name} {entry.readings}" for entry in present)
    members = len(evidence.outcomes[active].decisions.label)
    return (
        "Research software, not a medical device; nothing here has been tried on patients.",
        f"Where readers' decisions come from: {origins}. Only real ones were given by people who looked at the image.",
        f"A missed case costs {costs.false_negative:g}, a false alarm {costs.false_positive:g}; a reader's fee is in "
        "the same unit. Other costs give other results.",
        f"Figures are means over {members} seed{'s' * (members > 1)}; {LEVEL:.0%} of {RESAMPLES} resamples of the "
        "cases give a figure within its interval. Where the interval of a difference holds 0, it may be chance.",
        "Truth and readings can be tied, which makes readers look better than in a clinic: see the table's datasheet.",
        *(entry.credit for entry in present if entry.credit),
    )
