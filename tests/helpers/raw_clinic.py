"""A table as a clinic would have it: its own column names, two rows a patient, three readers, no split."""

from __future__ import annotations

import numpy as np
import pandas as pd

READERS = ("dr_adams", "dr_brown", "resident")


def clinic(rows: int = 240, seed: int = 5) -> pd.DataFrame:
    """Cells as text; every fourth patient is sick, and every reader leaves some cases out."""
    rng = np.random.default_rng(seed)
    sick = (np.arange(rows) // 2) % 4 == 0
    score = np.clip(rng.normal(np.where(sick, 0.65, 0.3), 0.15), 0.01, 0.99)
    table = {
        "scan": [f"scan-{number:04d}" for number in range(rows)],
        "patient": [f"p{number // 2:03d}" for number in range(rows)],
        "acquired": [f"{1 + number % 28:02d}.{1 + (number // 28) % 12:02d}.2024" for number in range(rows)],
        "biopsy": np.where(sick, "yes", "no"),
        "ai_score": [f"{each:.4f}" for each in score],
        "age": rng.integers(30, 90, rows).astype(str),
    }
    for reader, errs in zip(READERS, (0.1, 0.15, 0.25), strict=True):
        says = np.where(rng.random(rows) < errs, ~sick, sick)
        table[reader] = np.where(rng.random(rows) < 0.1, "", np.where(says, "yes", "no"))
    return pd.DataFrame(table)


def csv(table: pd.DataFrame) -> bytes:
    """The table as a file."""
    return table.to_csv(index=False).encode()
