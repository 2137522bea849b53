"""A small table on disk."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from places import DATA


def small_table(folder: Path, cases: int) -> Path:
    """The benchmark's first cases of every cohort in every split, with its manifest beside them."""
    path = folder / "small.csv"
    rows = pd.read_csv(DATA / "glaucoma.csv", dtype=str, keep_default_na=False)
    rows.groupby(["cohort", "split"], sort=False).head(cases).to_csv(path, index=False)
    path.with_suffix(".toml").write_bytes((DATA / "manifest.toml").read_bytes())
    return path
