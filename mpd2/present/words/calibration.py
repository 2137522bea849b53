"""Calibration in words."""

from __future__ import annotations

import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import decimal, percent

BEYOND = 2.0  # times the distance that chance explains from which on it is told as a distance


def of_truth(rows: pd.DataFrame, task: Task) -> str:
    """What each forecast predicts on average and what is observed; `rows` as of `calibration.quality`."""
    observed = rows["events"].iloc[0] / rows["n"].iloc[0]
    said = [f"{percent(observed, 0)} of the cases have {task.one}."]
    for row in rows.to_dict("records"):
        off = row["ece"] > BEYOND * row["by_chance"]
        apart = f"in bins, predicted and observed are {decimal(100 * row['ece'], 1)} points apart"
        chance = "more than chance explains" if off else "about what chance explains"
        said.append(f"{row['title']} expects {percent(observed - row['apart'], 0)}; {apart}, {chance}.")
    return " ".join(said)


def of_readers(rows: pd.DataFrame) -> str:
    """How many reader models are calibrated; `rows` as of `calibration.quality`."""
    near = int((rows["ece"] <= BEYOND * rows["by_chance"]).sum())
    judged = rows.dropna(subset="slope")
    one = int(((judged["slope_low"] <= 1) & (judged["slope_high"] >= 1)).sum())
    return (
        f"Of {len(rows)} readers, {near} say what their model expects as nearly as chance allows; the slopes of {one} "
        f"of {len(judged)} agree with 1."
    )
