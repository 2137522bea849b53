"""A few real cases as a table on disk, for work that happens in another process."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from places import DATA


def write_small_table(folder: Path, cases: int = 8) -> Path:
    """The first cases of every cohort in every split, with their manifest; the table's path."""
    rows = pd.read_csv(DATA / "glaucoma.csv", dtype=str, keep_default_na=False)
    path = folder / "small.csv"
    rows.groupby(["cohort", "split"], sort=False).head(cases).to_csv(path, index=False)
    manifest = (DATA / "glaucoma.toml").read_text(encoding="utf-8")
    path.with_suffix(".toml").write_text(manifest, encoding="utf-8")
    return path
