"""The numbers the paper prints, as data: what a result of ours is placed beside.

Tables: `overall`, `per_cohort`, `expert_collapse`, `ai_retention`, `per_expert`, and the ablations
`ablation_objective`, `ablation_regularisation`, `ablation_deferral` (mean and sd of ten seeds). Metrics are named as in
`evaluation.metrics`; besides those, DeferHard is Defer where DeferSoft stands beside it, GapSoft and GapHard are a
deferral rate minus its Target, and TotalLoss is the printed L_total, which weighs fees otherwise than TotalCost does.
Top1 and Top2 of `ablation_regularisation` cannot be of the load its HHI is of (their squares alone exceed it); the
paper does not say which load either is of.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from mpd2.core.errors import UserError
from mpd2.core.workspace import DEFAULT, SHIPPED

PUBLISHED = "published"  # the folder's name in a workspace that has one
BENCHMARK = SHIPPED / DEFAULT / PUBLISHED
TYPES = {"method": str, "cohort": str, "metric": str, "value": float, "sd": float}


def published_of(data: Path) -> Path | None:
    """The folder of what a paper prints about the table of a workspace; none where no paper is about it."""
    return data / PUBLISHED if (data / PUBLISHED).is_dir() else None


def tables(folder: Path = BENCHMARK) -> tuple[str, ...]:
    """The names of the published tables."""
    return tuple(sorted(path.stem for path in folder.glob("*.csv")))


def published(table: str, folder: Path | None = BENCHMARK) -> pd.DataFrame:
    """One printed table, tidy: method (or condition, or reader), cohort ("all" or its key), metric, value, sd.

    sd is NaN where the paper prints none; a cell it leaves empty has no row. Without a folder there is no row at all.

    >>> published("overall").query("method == 'AI-Only' and metric == 'MCC'")["value"].item()
    0.482
    """
    if folder is None:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in TYPES.items()})
    if table not in tables(folder):
        raise UserError(f"published table: found {table!r}, expected one of {', '.join(tables(folder))}")
    return pd.read_csv(folder / f"{table}.csv")
