"""Resplits, new cohorts and promises as people read them: rows of words and sentences, all from the tables' figures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mpd2.findings import Estimate, Figures, listed, sentence
from mpd2.guarantee import AMONG, CONFIDENCE, HOLDS
from mpd2.resplits import AI, METRICS, PLUS
from mpd2.rounds import UNHEARD
from mpd2.studies import ROUTERS
from mpd2.tables import ALL

Rows = list[list[str]]

ASSUMPTION = (
    f"A promise holds with {CONFIDENCE:.0%} confidence, for cases exchangeable with the val cases it was found on: the "
    "same kind of people and cameras. Val also chose among checkpoints and thresholds, so it is not quite untouched: "
    "therefore it is counted, over redrawn val and test cases, how often a promise would have been broken."
)


def resplit_rows(figures: Figures) -> Rows:
    """METRICS of every method, mean ± sd over resplits, the cheapest first."""
    rows = figures.tables["resplits"]
    told = rows[rows["cohort"] == ALL].set_index(["method", "metric"])
    body = [
        [row["title"], *(_spread(told.loc[(row["method"], metric)]) for metric in METRICS)]
        for row in _cheapest(rows[rows["cohort"] == ALL])
    ]
    return [["method", *METRICS], *body]


def rival_rows(figures: Figures) -> Rows:
    """What every method has more than the reference, and how often the reference is the better one."""
    rows = figures.tables["rivals"]
    shown = ("TotalCost", "ClinicalCost", "MCC")
    told = rows.set_index(["method", "metric"])
    body = []
    for row in rows[rows["metric"] == "TotalCost"].sort_values("difference", kind="stable").to_dict("records"):
        cells = [told.loc[(row["method"], metric)] for metric in shown]
        body.append([row["title"], *(_difference(cell) for cell in cells), f"{row['won']:.0%}"])
    return [["method", *shown, "dearer in"], *body]


def transfer_rows(figures: Figures) -> Rows:
    """Total cost of every method in each cohort when it is new, and what that is more than when it is known."""
    rows = figures.tables["transfer"]
    costs = rows[rows["metric"] == "TotalCost"].set_index(["method", "cohort"])
    keys = list(dict.fromkeys(rows["cohort"]))
    body = []
    for method, title in dict(zip(rows["method"], rows["title"], strict=True)).items():
        cells = [costs.loc[(method, key)] for key in keys]
        body.append([title, *(part for cell in cells for part in (_spread(cell), _change(cell)))])
    heads = [part for key in keys for part in (f"{figures.cohorts[key]} new", "more than known")]
    return [["method", *heads], *body]


def recalibration_rows(figures: Figures) -> Rows:
    """From how many labelled cases of a new cohort on a method pays."""
    body = []
    for (title, cohort), rows in _curves(figures.tables["recalibration"]):
        cost = {int(row["local"]): row["value"] for row in rows.to_dict("records")}
        first, last = min(cost), max(cost)
        body.append([
            title, figures.cohorts[cohort], f"{cost[first]:.3f}", f"{cost[last]:.3f} ({last})",
            pays_from(rows, "less_ai"), pays_from(rows, "less_none"),
        ])  # fmt: skip
    heads = ["method", "new cohort", "cost with no local case", "with all", "cheaper than the AI from",
             "cheaper than with none from"]  # fmt: skip
    return [heads, *body]


def guarantee_rows(figures: Figures) -> Rows:
    """What can be promised of the routers and the AI in each cohort, for each level."""
    rows = figures.tables["guarantee"]
    rows = rows[rows["method"].isin([PLUS, *ROUTERS, AI])]
    kinds = list(dict.fromkeys(zip(rows["among"], rows["level"], strict=True)))
    body = []
    for (title, cohort), part in rows.groupby(["title", "cohort"], sort=False):
        told = {(row["among"], row["level"]): row for row in part.to_dict("records")}
        body.append([str(title), figures.cohorts[str(cohort)], *(_promised(told[kind]) for kind in kinds)])
    return [["method", "cohort", *(f"{level:.0%} of {among}" for among, level in kinds)], *body]


def resplit_words(figures: Figures) -> str:
    """Who is cheapest over resplits, and by how much the reference is ahead."""
    rows = figures.tables["resplits"]
    costs = _cheapest(rows[rows["cohort"] == ALL])
    first, n = costs[0], int(costs[0]["n"])
    deferred = rows[(rows["cohort"] == ALL) & (rows["metric"] == "Defer")].set_index("method")["value"]
    rivals = figures.tables["rivals"]
    rivals = rivals[rivals["metric"] == "TotalCost"]
    reference = rivals["reference"].iloc[0]
    beaten, better = rivals[rivals["low"] > 0], rivals[rivals["high"] < 0]
    title = {row["method"]: row["title"] for row in costs}[reference]
    return (
        f"Over {n} resplits {first['title']} costs the least: {_spread(first)}, with {deferred[first['method']]:.1%} "
        f"of cases deferred. Of {len(rivals)} other methods {len(beaten)} are dearer than {title} beyond chance and "
        f"{len(better)} are cheaper."
    )


def transfer_words(figures: Figures) -> str:
    """What a new cohort does to methods, and whether anybody is sent to readers nobody knows."""
    rows = figures.tables["transfer"]
    parts = []
    for cohort, part in rows[rows["metric"] == "TotalCost"].groupby("cohort", sort=False):
        costs = part.set_index("method")
        alone = costs.loc[AI, "value"]
        others = costs.drop(index=AI)
        least = others.sort_values("value", kind="stable").iloc[0]
        cheaper = int((others["value"] < alone).sum())
        parts.append(
            f"with {figures.cohorts[str(cohort)]} new, {cheaper} of {len(others)} methods cost less than the AI "
            f"alone ({alone:.3f}), {least['title']} the least ({_spread(least)}, {least['known']:.3f} when it is known)"
        )
    strangers = rows.loc[rows["metric"] == UNHEARD, "value"].max()
    told = (
        "Every reader had been heard in some other cohort."
        if strangers == 0
        else f"Up to {strangers:.0%} of cases were sent to readers of whom nothing had been learned."
    )
    return f"{sentence('; '.join(parts))} {told}"


def guarantee_words(figures: Figures) -> str:
    """How many promises could be given, and how they fared."""
    rows = figures.tables["guarantee"]
    given = rows[rows["state"] == HOLDS]
    broken = int((given["rate"] > given["level"]).sum())
    return (
        f"Of {len(rows)} promises asked for, {len(given)} can be given; {broken} of these were broken on test cases. "
        f"Over {int(rows['checks'].iloc[0])} redraws of val and test no promise was broken in more than "
        f"{rows['broken'].max():.1%} of draws; {1 - CONFIDENCE:.0%} are allowed. Shares are of "
        f"{listed([f'{words} ({name})' for name, words in AMONG.items()])}."
    )


def pays_from(rows: pd.DataFrame, difference: str) -> str:
    """The fewest local cases from which on every interval of a difference is below 0."""
    ordered = rows.sort_values("local")
    below = (ordered[f"{difference}_high"] < 0).to_numpy()
    lasting = np.logical_and.accumulate(below[::-1])[::-1]
    return str(int(ordered["local"].to_numpy()[lasting.argmax()])) if lasting.any() else "no number tried"


def _curves(rows: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """The learning curves of all methods but the AI, which learns nothing."""
    return [
        ((str(title), str(cohort)), part)
        for (title, cohort), part in rows[rows["method"] != AI].groupby(["title", "cohort"], sort=False)
    ]


def _cheapest(rows: pd.DataFrame) -> list[dict[str, object]]:
    return rows[rows["metric"] == "TotalCost"].sort_values("value", kind="stable").to_dict("records")


def _spread(row: pd.Series | Mapping[str, object]) -> str:
    return f"{row['value']:.3f}" + ("" if np.isnan(row["sd"]) else f" ±{row['sd']:.3f}".replace("±0", "±"))


def _difference(row: pd.Series) -> str:
    return str(Estimate(row["difference"], row["low"], row["high"]))


def _change(row: pd.Series) -> str:
    return str(Estimate(row["change"], row["change_low"], row["change_high"]))


def _promised(row: Mapping[str, object]) -> str:
    if row["state"] != HOLDS:
        return str(row["state"])
    kept, missed = row["judged_kept"], row["judged_missed"]
    return f"{kept / row['judged_n']:.0%} kept; {missed:.0f} of {kept:.0f} missed"
