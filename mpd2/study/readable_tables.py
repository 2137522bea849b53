"""The tables of the study as people read them: a few columns of words, ours beside what the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from mpd2.core.text import NOTHING, brief
from mpd2.evaluation.curves import COSTS, SCORES
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import BEST_ORACLE
from mpd2.evaluation.tables import BUDGET_CONTROL, COLLAPSE, MATCHED, OBJECTIVE, REGULARISATION, REPORTED
from mpd2.study import sentences
from mpd2.study.analyses import sensitivity
from mpd2.study.analyses.by_group import group_rows
from mpd2.study.analyses.moved_budgets import live_rows
from mpd2.study.analyses.plus_ablation import OVERRULED, RELABELLED
from mpd2.study.decision_curve import curve_rows, winner_rows
from mpd2.study.tables import StudyTables

Rows = list[list[str]]
"""The heads, then a row of cells each."""

PRINTED = "in the paper"
RATES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of deferral, of which the curve is shown
PLUS_METRICS = (
    "MCC", "Sens", "Spec", "Defer", "Consults", "ClinicalCost", "ExpertCost", "TotalCost", OVERRULED, RELABELLED,
)  # fmt: skip
CHANGED = ("F1", "ClinicalCost", "ExpertCost", "TotalCost", "DeferSoft", "Top1", "EffExp")

Column = Mapping[str, Estimate]
"""An estimate for each row, by the row's name."""


def cell(estimate: Estimate) -> str:
    """A mean and its standard deviation over seeds, where it has one.

    >>> cell(Estimate(0.9482, 0.93, 0.96, sd=0.0041)), cell(Estimate(0.755, 0.7, 0.8, sd=0.0))
    ('0.948 ±.004', '0.755')
    """
    return brief(estimate.value) + (f" ±{brief(estimate.sd).removeprefix('0')}" if estimate.sd > 0 else "")


def view(name: str, tables: StudyTables) -> Rows:
    """One table, to be read."""
    return VIEWS[name](tables)


def _grid(columns: Mapping[str, Column], head: str) -> Rows:
    """A row for each method; below it, what the paper prints where it prints anything."""
    rows = [[head, *columns]]
    for name, first in next(iter(columns.values())).items():
        row = [column[name] for column in columns.values()]
        rows.append([first.title, *map(cell, row)])
        if not all(np.isnan(estimate.published) for estimate in row):
            rows.append([PRINTED, *(brief(estimate.published) for estimate in row)])
    return rows


def _plain(table: str, metrics: Sequence[str], head: str, tables: StudyTables) -> Rows:
    return _grid({metric: tables.of(table, metric=metric) for metric in metrics}, head)


def _by_cohort(table: str, metrics: Sequence[str], tables: StudyTables) -> Rows:
    columns = {
        f"{name} {metric}": tables.of(table, metric=metric, cohort=key)
        for key, name in tables.cohorts.items()
        for metric in metrics
    }
    return _grid(columns, "method")


def _paired(tables: StudyTables) -> Rows:
    columns = {
        f"{metric}, less {tables.titles[router]}": tables.of("paired", reference=router, metric=metric)
        for router in dict.fromkeys(tables["paired"]["reference"])
        for metric in ("TotalCost", "F1")
    }
    names = dict.fromkeys(tables["paired"]["method"])
    body = [[tables.titles[name], *(str(column.get(name, NOTHING)) for column in columns.values())] for name in names]
    return [["method", *columns], *body]


def _readers(tables: StudyTables) -> Rows:
    """The readers alone; what methods do on their cases is in `gaps` and `wins`."""
    columns = {
        metric: {
            name: tables.of("readers", metric=metric, reader=name)[name]
            for name in (*tables.manifest.columns, BEST_ORACLE)
        }
        for metric in MATCHED
    }
    return _grid(columns, "reader")


def _gaps(tables: StudyTables) -> Rows:
    rows = tables["gaps"]
    routers = list(dict.fromkeys(rows["method"]))
    by_router = {router: rows[rows["method"] == router].to_dict("records") for router in routers}
    heads = ["reader", "n", "its F1"]
    for router in routers:
        heads += [f"F1 of {tables.titles[router]}", "difference"]
    body = []
    for position, row in enumerate(by_router[routers[0]]):
        cells = [row["reader_title"], str(row["n"]), brief(row["reader_f1"])]
        for router in routers:
            ours = by_router[router][position]
            cells += [brief(ours["method_f1"]), str(Estimate(ours["difference"], ours["low"], ours["high"]))]
        body.append(cells)
    return [heads, *body]


def _wins(tables: StudyTables) -> Rows:
    body = [
        [row["title"], f"{row['wins']} of {row['n']}", f"{row['low']:.0f} to {row['high']:.0f}",
         f"{row['wins_all']:.0%}"]
        for row in tables["wins"].to_dict("records")
    ]  # fmt: skip
    return [["method", "readers with a lower F1", "resampled", "all of them"], *body]


def _effects(tables: StudyTables) -> Rows:
    rows = tables["effects"]
    body = []
    for first, second in dict.fromkeys(zip(rows["first"], rows["second"], strict=True)):
        changes = tables.of("effects", by="metric", first=first, second=second)
        body.append([f"{first} less {second}", *(str(changes[metric]) for metric in CHANGED)])
    return [["conditions", *CHANGED], *body]


def _risk(tables: StudyTables) -> Rows:
    rows = tables["risk"]
    strata = dict.fromkeys(zip(rows["signal"], rows["stratum"], strict=True))
    columns = {f"{signal} {level}": tables.of("risk", signal=signal, stratum=level) for signal, level in strata}
    names = next(iter(columns.values()))
    body = [[row.title, *(brief(column[name].value) for column in columns.values())] for name, row in names.items()]
    return [["method", *columns], *body]


def _tradeoff(tables: StudyTables) -> Rows:
    """Whether a method is on the front of each plane, and in how many resamples."""
    rows = tables["tradeoff"].to_dict("records")
    cells = {
        (row["method"], row["score"], row["cost"]): f"{'on' if row['on_front'] else 'off'}, {row['front_share']:.0%}"
        for row in rows
    }
    planes = [(score, cost) for cost in COSTS for score in SCORES]
    names = dict.fromkeys(row["method"] for row in rows)
    body = [[tables.titles[name], *(cells[name, *plane] for plane in planes)] for name in names]
    return [["method", *(f"{score}, {cost}" for score, cost in planes)], *body]


def _deferral(tables: StudyTables) -> Rows:
    """Total cost along the curve, and where it is least."""
    rows = tables["deferral"]
    rows = rows[rows["metric"] == "TotalCost"]
    body = []
    for title, curve in rows.groupby("title", sort=False):
        rate, cost = curve["deferral"].to_numpy(float), curve["value"].to_numpy(float)
        at = [brief(float(np.interp(share, rate, cost))) if share <= rate.max() else NOTHING for share in RATES]
        body.append([str(title), *at, f"{cost.min():.3f} at {rate[cost.argmin()]:.0%}"])
    return [["method", *(f"{share:.0%} deferred" for share in RATES), "least"], *body]


def _plus(tables: StudyTables) -> Rows:
    """MPD²+ and its variants, by split."""
    columns = {metric: tables.of("plus", metric=metric) for metric in PLUS_METRICS}
    rows = _grid(columns, "variant")
    splits = tables["plus"].drop_duplicates("method")["split"]
    return [[rows[0][0], "cases", *rows[0][1:]]] + [
        [row[0], split, *row[1:]] for row, split in zip(rows[1:], splits, strict=True)
    ]


VIEWS: dict[str, Callable[[StudyTables], Rows]] = {
    "overall": partial(_plain, "overall", REPORTED, "method"),
    "cohorts": partial(_by_cohort, "cohorts", ("F1", "Defer", "TotalCost")),
    "paired": _paired,
    "groups": group_rows,
    "collapse": partial(_plain, "collapse", COLLAPSE, "method"),
    "retention": partial(_by_cohort, "retention", ("Share", "Acc", "ClinicalCost")),
    "readers": _readers,
    "gaps": _gaps,
    "wins": _wins,
    "objective": partial(_plain, "objective", OBJECTIVE, "condition"),
    "regularisation": partial(_plain, "regularisation", REGULARISATION, "condition"),
    "budget": partial(_plain, "budget", BUDGET_CONTROL, "condition"),
    "effects": _effects,
    "risk": _risk,
    "tradeoff": _tradeoff,
    "deferral": _deferral,
    "decision_curve": curve_rows,
    "winners": winner_rows,
    "plus": _plus,
    "live": live_rows,
    "resplits": sentences.resplit_rows,
    "rivals": sentences.rival_rows,
    "transfer": sentences.transfer_rows,
    "recalibration": sentences.recalibration_rows,
    "sensitivity": sensitivity.sensitivity_rows,
    "claims": sensitivity.claim_rows,
    "floors": sensitivity.floor_rows,
    "floor_rivals": sensitivity.floor_rival_rows,
    "promises": sensitivity.promise_rows,
    "guarantee": sentences.guarantee_rows,
}
