"""A grid of conditions trained as one population: as tables, while it is trained and when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Ints
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy, route
from mpd2.core.runs import Run
from mpd2.evaluation import tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.metrics import concentration
from mpd2.lab.jobs.folder import Order
from mpd2.lab.jobs.history import History

LIVE = ("val_total", "val_hard_deferral", "val_soft_deferral")
EFFECTS = ("TotalCost", "ClinicalCost", "Defer", "F1", "Top1", "NEff")


def so_far(history: History, order: Order) -> pd.DataFrame:
    """Every cell by its routers' best checkpoints up to now, on val; mean over those that have one.

    Columns: condition, routers, finished, total_cost, total_cost_sd, hard_deferral, soft_deferral, top1 and effective
    readers of the soft load.
    """
    best = history.chosen(order.configs)  # [E]
    row = np.searchsorted(history.epoch, np.maximum(best, history.epoch[0]))
    router = np.arange(len(order.configs))
    spread = concentration(history.load[row, router])
    stopped = np.isnan(history.log["score"][-1]) | (history.epoch[-1] >= [c.training.epochs for c in order.configs])
    frame = pd.DataFrame(
        {
            "condition": list(order.conditions),
            "finished": stopped,
            **{name: history.log[name][row, router] for name in LIVE},
            "top1": spread["Top1"],
            "effective": spread["NEff"],
        }
    )
    frame.loc[best == 0, [*LIVE, "top1", "effective"]] = np.nan
    cells = frame.groupby("condition", sort=False)
    means = cells[[*LIVE, "top1", "effective"]].mean()
    means.insert(0, "routers", cells.size())
    means.insert(1, "finished", cells["finished"].sum())
    means.insert(3, "val_total_sd", cells["val_total"].std())
    return means.reset_index()


def evidence(run: Run, policy: Policy, cohort: Cohort) -> Evidence:
    """What the routers of every cell did with the cases, one member a seed that could be trained in every cell."""
    conditions = run.notes.get("conditions")
    if not conditions:
        raise UserError("this run is no grid: all its models have the same settings")
    seeds = np.array([int(settings["seed"]) for settings in run.settings])
    cells = {cell: np.flatnonzero(np.array(conditions) == cell) for cell in dict.fromkeys(conditions)}
    common = set.intersection(*(set(seeds[members].tolist()) for members in cells.values()))
    if not common:
        raise UserError("grid: found no seed that could be trained in every cell")
    rows = {cell: _of(members, seeds, common) for cell, members in cells.items()}
    outcomes = {cell: _outcome(cell, rows[cell], run, policy, cohort) for cell in cells}
    return Evidence(cohort, cohort.manifest.default_costs(), outcomes)


def levels(facts: Evidence) -> pd.DataFrame:
    """Every cell's metrics, mean and Student's interval over seeds, as in the study's ablations."""
    parts = [tables.objective(facts), tables.regularisation(facts)]
    return pd.concat(parts).drop_duplicates(["method", "metric"], ignore_index=True)


def effects(facts: Evidence) -> pd.DataFrame:
    """What each cell has more than the first, seed by seed."""
    first, *others = facts.outcomes
    return pd.concat([tables.ablation_difference(facts, cell, first, EFFECTS) for cell in others], ignore_index=True)


def one_cell(run: Run, policy: Policy, cell: str) -> tuple[Run, Policy]:
    """The routers of one cell as a run of their own."""
    conditions: Sequence[str] = run.notes.get("conditions", ())
    rows = [position for position, name in enumerate(conditions) if name == cell]
    if not rows:
        raise UserError(f"cell: found {cell!r}, expected one of {', '.join(dict.fromkeys(conditions))}")
    notes = {key: value for key, value in run.notes.items() if key not in ("conditions", "problems")}
    notes |= {"kind": "train", "best_epoch": [run.notes["best_epoch"][row] for row in rows], "problems": []}
    return replace(run.member(rows), notes=notes), policy.member(rows)


def _of(members: Ints, seeds: Ints, common: set[int]) -> list[int]:
    """The members of a cell with the common seeds, in the seeds' order."""
    return sorted((int(row) for row in members if int(seeds[row]) in common), key=lambda row: int(seeds[row]))


def _outcome(cell: str, rows: list[int], run: Run, policy: Policy, cohort: Cohort) -> Outcome:
    part = policy.member(rows)
    return Outcome(cell, None, route(part, cohort, run.rule), part, run.rule)
