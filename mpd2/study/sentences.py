"""Resplits, new cohorts and promises as people read them: rows of words and sentences that follow from the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.manifest import Manifest
from mpd2.core.text import GAP, decimal, interval, listed, sentence
from mpd2.evaluation.guarantee import AMONG, CONFIDENCE, HOLDS
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.tables import ALL
from mpd2.study.definition import ROUTERS
from mpd2.study.experiments import UNHEARD
from mpd2.study.robustness import AI, COST, PLUS, REPORTED
from mpd2.study.tables import StudyTables

Rows = list[list[str]]
Record = dict[str, Any]
WITHOUT = "no-gsdp-rank-js"  # the condition of the ablations without both regularisers
SHOWN_RIVALS = (COST, "ClinicalCost", "MCC")

ASSUMPTION = (
    f"A promise holds with {CONFIDENCE:.0%} confidence, for cases exchangeable with the val cases it was found on: the "
    "same kind of people, recorded in the same way. Val also chose among checkpoints and thresholds, so it is not "
    "quite untouched: therefore it is counted, over redrawn val and test cases, how often a promise would have been "
    "broken."
)


def no_patients(manifest: Manifest) -> str:
    """That cases are simulated, to be said before anything else; empty where none are."""
    drawn = [entry.name for entry in manifest.cohorts if entry.readings == "simulated"]
    if not drawn:
        return ""
    if len(drawn) == len(manifest.cohorts):
        return "Simulated cases, no patients: a program drew every case, the AI's answers and the readers' words."
    return f"The cases of {listed(drawn)} are simulated: no patients, and no readers."


def resplit_rows(tables: StudyTables) -> Rows:
    """REPORTED of every method, mean ± sd over its resplits, the cheapest first."""
    cells = records(tables["resplits"], ("method", "metric"), cohort=ALL)
    body = [
        [row["title"], str(row["n"]), *(spread(cells[row["method"], metric]) for metric in REPORTED)]
        for row in _by_cost(tables["resplits"], cohort=ALL)
    ]
    return [["method", "resplits", *REPORTED], *body]


def rival_rows(tables: StudyTables) -> Rows:
    """What every method has more than the reference, and how often it is dearer."""
    rows = tables["rivals"].rename(columns={"difference": "value"})
    cells = records(rows, ("method", "metric"))
    body = [
        [row["title"], *(_interval(cells[row["method"], metric]) for metric in SHOWN_RIVALS), f"{row['won']:.0%}"]
        for row in _by_cost(rows)
    ]
    return [["method", *SHOWN_RIVALS, "dearer in"], *body]


def transfer_rows(tables: StudyTables) -> Rows:
    """Total cost of every method in each cohort when it is new, and what that is more than when it is known."""
    cells = records(tables["transfer"], ("method", "cohort"), metric=COST)
    keys = list(dict.fromkeys(key for _, key in cells))
    heads = [part for key in keys for part in (f"{tables.cohorts[key]} new", "more than known")]
    body = [
        [tables.titles[method], str(cells[method, keys[0]]["n"]),
         *(part for key in keys for part in _new(cells[method, key]))]
        for method in dict.fromkeys(method for method, _ in cells)
    ]  # fmt: skip
    return [["method", "resplits", *heads], *body]


def recalibration_rows(tables: StudyTables) -> Rows:
    """From how many labelled cases of a new cohort on a method pays."""
    body = []
    for method, cohort, rows in curves(tables["recalibration"]):
        cost = dict(zip(rows["local"].tolist(), rows["value"].tolist(), strict=True))
        cells = [f"{cost[0]:.3f}", f"{cost[max(cost)]:.3f} ({max(cost)})"]
        cells += [pays_from(rows, "less_ai"), pays_from(rows, "less_none")]
        body.append([tables.titles[method], tables.cohorts[cohort], *cells])
    heads = ["cost with no local case", "with all", "cheaper than the AI from", "cheaper than with none from"]
    return [["method", "new cohort", *heads], *body]


def guarantee_rows(tables: StudyTables) -> Rows:
    """What can be promised of the routers and the AI in each cohort, for each level."""
    rows = tables["guarantee"]
    rows = rows[rows["method"].isin([PLUS, *ROUTERS, AI])]
    promises = records(rows, ("method", "cohort", "among", "level"))
    kinds = list(dict.fromkeys((among, level) for _, _, among, level in promises))
    body = [
        [tables.titles[method], tables.cohorts[cohort], *(_promised(promises[method, cohort, *kind]) for kind in kinds)]
        for method, cohort in dict.fromkeys((method, cohort) for method, cohort, _, _ in promises)
    ]
    return [["method", "cohort", *(f"{level:.0%} of {among}" for among, level in kinds)], *body]


def resplit_words(tables: StudyTables) -> str:
    """Who is cheapest over resplits, and whom the reference is ahead of."""
    first = _by_cost(tables["resplits"], cohort=ALL)[0]
    deferred = records(tables["resplits"], ("method",), cohort=ALL, metric="Defer")[first["method"],]
    rivals = list(records(tables["rivals"], ("method",), metric=COST).values())
    dearer, cheaper = (sum(row["low"] > 0 for row in rivals), sum(row["high"] < 0 for row in rivals))
    return (
        f"Over {first['n']} resplits {first['title']} costs the least: {spread(first)}, with {deferred['value']:.1%} "
        f"of cases deferred. Of {len(rivals)} other methods {dearer} are dearer than "
        f"{tables.titles[rivals[0]['reference']]} beyond chance, and {cheaper} cheaper."
    )


def transfer_words(tables: StudyTables) -> str:
    """What a new cohort does to methods, and whether anybody is sent to readers nobody knows."""
    parts = []
    for cohort in dict.fromkeys(tables["transfer"]["cohort"]):
        costs = _by_cost(tables["transfer"], cohort=cohort)
        alone = next(row["value"] for row in costs if row["method"] == AI)
        others = [row for row in costs if row["method"] != AI]
        cheaper = sum(row["value"] < alone for row in others)
        parts.append(
            f"with {tables.cohorts[cohort]} new, {cheaper} of {len(others)} methods cost less than the AI alone "
            f"({alone:.3f}), {others[0]['title']} the least ({spread(others[0])}, {others[0]['known']:.3f} when known)"
        )
    strangers = max(row["value"] for row in records(tables["transfer"], None, metric=UNHEARD).values())
    heard = "Every reader had been heard in another cohort."
    unheard = f"Up to {strangers:.0%} of cases were sent to readers of whom nothing had been learned."
    return f"{sentence('; '.join(parts))} {unheard if strangers else heard}"


def guarantee_words(tables: StudyTables) -> str:
    """How many promises could be given, and how they fared."""
    rows = tables["guarantee"]
    given = rows[rows["state"] == HOLDS]
    broken = int((given["rate"] > given["level"]).sum())
    shares = listed([f"{words} (*{name}*)" for name, words in AMONG.items()])
    return (
        f"Of {len(rows)} promises asked for, {len(given)} can be given; {broken} of these were broken on test cases. "
        f"Over {rows['checks'].max()} redraws of val and test no promise was broken in more than "
        f"{rows['broken'].max():.1%} of draws; {1 - CONFIDENCE:.0%} are allowed. Shares are of {shares}."
    )


def pays_from(rows: pd.DataFrame, difference: str) -> str:
    """The fewest local cases from which on every interval of a difference is below 0."""
    ordered = rows.sort_values("local")
    below = (ordered[f"{difference}_high"] < 0).to_numpy()
    lasting = np.logical_and.accumulate(below[::-1])[::-1]
    return str(ordered["local"].tolist()[int(lasting.argmax())]) if lasting.any() else "no number tried"


def curves(rows: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    """The learning curve of each method and cohort, but the AI's, which learns nothing."""
    learned = rows[rows["method"] != AI]
    return [(str(m), str(c), part) for (m, c), part in learned.groupby(["method", "cohort"], sort=False)]


def records(rows: pd.DataFrame, by: Sequence[str] | None, **where: object) -> dict[Any, Record]:
    """The rows in which columns have the given values, by other columns, or by their position."""
    for column, value in where.items():
        rows = rows[rows[column] == value]
    named: list[Record] = [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
    return {place if by is None else tuple(row[name] for name in by): row for place, row in enumerate(named)}


def spread(row: Record) -> str:
    """Mean and standard deviation over resplits."""
    return f"{row['value']:.3f}" + ("" if np.isnan(row["sd"]) else f" ±{row['sd']:.3f}".replace("±0", "±"))


def _by_cost(rows: pd.DataFrame, **where: object) -> list[Record]:
    return sorted(records(rows, None, metric=COST, **where).values(), key=lambda row: float(row["value"]))


def _interval(row: Record) -> str:
    return _signed(Estimate(row["value"], row["low"], row["high"]))


def _new(row: Record) -> tuple[str, str]:
    return spread(row), _signed(Estimate(row["change"], row["change_low"], row["change_high"]))


def _signed(difference: Estimate) -> str:
    """A difference with its interval; one resplit has none."""
    return f"{difference.value:+.3f}" if np.isnan(difference.low) else str(difference)


def _promised(row: Record) -> str:
    if row["state"] != HOLDS:
        return str(row["state"])
    kept, missed = row["judged_kept"], row["judged_missed"]
    return f"{kept / row['judged_n']:.0%} kept; {missed:.0f} of {kept:.0f} missed"


# ---------------------------------------------------------------------------------- what the regularisers buy


def regularisers_buy(tables: StudyTables) -> str:
    """What GSDP and Rank-JS do to the readers' load and to clinical cost; tables needed: objective and effects."""
    top, readers, cost = (tables.effect(WITHOUT, metric) for metric in ("Top1", "EffExp", "ClinicalCost"))
    spread = tables.of("objective", metric="ClinicalCost")
    sds = {"with both": spread["full"].sd, "without": spread[WITHOUT].sd}
    within = [
        f"{'within' if abs(cost.value) <= sd else 'above'} that of routers {name} ({decimal(sd)})"
        for name, sd in sds.items()
    ]
    return (
        f"Without GSDP and Rank‑JS the busiest reader's share {_moves(top)} by {decimal(100 * abs(top.value), 1)} "
        f"points ({interval(100 * top.low, 100 * top.high, 1)}) and the number of effective readers {_moves(readers)} "
        f"by {decimal(abs(readers.value), 2)} ({interval(readers.low, readers.high, 2)}), while clinical cost "
        f"{_moves(cost)} by {decimal(abs(cost.value))} ({interval(cost.low, cost.high)}): against the standard "
        f"deviation between seeds, {listed(within)}. {tables.seeds} seeds, all test cases, the paper's "
        f"configuration; brackets hold 95{GAP}% intervals of differences, seed by seed."
    )


def _moves(more: Estimate) -> str:
    verb = "rises" if more.value > 0 else "falls"
    return verb if more.low > 0 or more.high < 0 else f"{verb}, within chance,"
