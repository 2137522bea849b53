"""Charts that set runs beside one of them, or beside the paper."""

from __future__ import annotations

import pandas as pd

from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import AltairChart, with_method_marks


def against(paired: pd.DataFrame, title: str) -> AltairChart:
    """How far runs are from one of them, called `title`, on the same cases.

    `paired`: the rows of one metric and reference of `tables.paired`.
    """
    metric = label_of(paired["metric"].iloc[0])
    rows = with_method_marks(paired.rename(columns={"difference": "value"}), active="")
    return forest(rows, f"{metric}, run less {title}", f"Difference in {metric} to {title}", zero=True)


@drawn_once
def less_paper(rows: pd.DataFrame, metric: str, router: str) -> AltairChart:
    """How far ours are from what the paper prints of the same; `router` is the run of the paper's own method.

    `rows`: those of one table and one metric, called `metric`, of `study.reproduction`, each with a title of its own.
    """
    printed = rows["published"]
    shown = rows.assign(value=rows["difference"], low=rows["low"] - printed, high=rows["high"] - printed)
    title = f"{metric[:1].upper()}{metric[1:]}: ours less the paper's, with our 95 % intervals"
    return forest(with_method_marks(shown, router), f"{metric}, ours less the paper's", title, zero=True)
