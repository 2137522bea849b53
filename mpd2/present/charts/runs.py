"""Charts that set runs beside one of them."""

from __future__ import annotations

import pandas as pd

from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import AltairChart, with_method_marks


def against(paired: pd.DataFrame, title: str) -> AltairChart:
    """How far runs are from one of them, called `title`, on the same cases.

    `paired`: the rows of one metric and reference of `tables.paired`.
    """
    metric = label_of(paired["metric"].iloc[0])
    rows = with_method_marks(paired.rename(columns={"difference": "value"}), active="")
    return forest(rows, f"{metric}, run less {title}", f"Difference in {metric} to {title}", zero=True)
