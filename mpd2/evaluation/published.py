"""The numbers the paper prints, as data: what a result of ours is placed beside.

Tables: `overall`, `per_cohort`, `expert_collapse`, `ai_retention`, `per_expert`, and the ablations
`ablation_objective`, `ablation_regularisation`, `ablation_deferral` (mean and sd of ten seeds). Metrics are named as in
`evaluation.metrics`; besides those, DeferHard is Defer where DeferSoft stands beside it, GapSoft and GapHard are a
deferral rate minus its Target, and TotalLoss is the printed L_total, which weighs fees otherwise than TotalCost does.
Top1 and Top2 of `ablation_regularisation` cannot be of the load its HHI is of (their squares alone exceed it); the
paper does not say which load either is of.
"""

from __future__ import annotations

import pandas as pd

from mpd2.core.errors import UserError
from mpd2.core.files import ROOT

FOLDER = ROOT / "data" / "published"


def tables() -> tuple[str, ...]:
    """The names of the published tables."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.csv")))


def published(table: str) -> pd.DataFrame:
    """One printed table, tidy: method (or condition, or reader), cohort ("all" or its key), metric, value, sd.

    sd is NaN where the paper prints none; a cell it leaves empty has no row.

    >>> published("overall").query("method == 'AI-Only' and metric == 'MCC'")["value"].item()
    0.482
    """
    if table not in tables():
        raise UserError(f"published table: found {table!r}, expected one of {', '.join(tables())}")
    return pd.read_csv(FOLDER / f"{table}.csv")
