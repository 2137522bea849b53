"""A tidy table laid out wide, to be read and sorted: a row a method, a column a figure, the best and ties marked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.memo import cached_by_content
from mpd2.core.text import NOTHING, brief, decimal, typeset
from mpd2.evaluation.metrics import METRICS

Columns = Mapping[tuple[str, str], str]
"""The columns in their order: cohort and metric of a figure, and the head it has."""

MERIT = {name: metric.merit for name, metric in METRICS.items() if metric.merit}
"""Metrics by which one method is better than another, with their direction; asking readers is a means, not a merit."""

BEST, TIED = "★", "≈"
PRINTED = "printed:"  # begins the key of a row that holds what the paper prints
IN_PAPER = "in the paper"


@dataclass(frozen=True, eq=False)
class SideBySide:
    """All frames have the same rows and columns; rows are run names, or PRINTED and a run name."""

    titles: pd.Series[str]  # by row
    values: pd.DataFrame  # what to sort by
    cells: pd.DataFrame  # what to read
    best: pd.DataFrame  # bool


@cached_by_content
def side_by_side(
    rows: pd.DataFrame,
    columns: Columns,
    *,
    first: str,
    unranked: Collection[str] = (),
    merit: Mapping[str, int] = MERIT,
    intervals: bool = False,
    printed: bool = False,
) -> SideBySide:
    """Lay out the figures of a table.

    The method `first` comes first; `unranked` ones come last and are never best. Only metrics of `merit` have a best
    one, by the direction it gives; a tie is a figure inside the interval of the best. With `printed`, what the paper
    prints for a method stands below it.
    """
    order = sorted(dict.fromkeys(rows["method"]), key=lambda name: (name in unranked, name != first))
    value, low, high, paper = (_wide(rows, column, order, columns) for column in ("value", "low", "high", "published"))
    best, tied = _best(value, low, high, columns, merit, [name for name in order if name not in unranked])
    cells = value.map(_number)
    if intervals:
        ends = " (" + low.map(_number) + " – " + high.map(_number) + ")"
        cells += ends.where(low.notna() & (low < high), "")
    cells += np.where(best, f" {BEST}", np.where(tied, f" {TIED}", ""))
    said = paper.dropna(how="all") if printed else paper.iloc[:0]
    titles = dict(zip(rows["method"], rows["title"], strict=True)) | dict.fromkeys(map(_printed, said.index), IN_PAPER)
    keys = [key for name in order for key in (name, _printed(name)) if key in titles]
    said = said.rename(index=_printed)
    return SideBySide(
        titles=pd.Series([titles[key] for key in keys], keys),
        values=pd.concat([value, said]).loc[keys],
        cells=pd.concat([cells, said.map(_number)]).loc[keys],
        best=best.reindex(keys, fill_value=False),
    )


def with_difference(table: SideBySide, paired: pd.DataFrame, head: str, intervals: bool = False) -> SideBySide:
    """The table with one column more, its second: how far each method is from the active run.

    `paired`: the rows of one metric of `tables.paired` that have the active run as reference. What the paper prints,
    and the active run itself, have no difference.
    """
    apart = paired.set_index("method")[["difference", "low", "high"]].reindex(table.values.index)
    signed = apart.map(lambda value: decimal(value, signed=True))
    cells = signed["difference"] + (" (" + signed["low"] + " – " + signed["high"] + ")" if intervals else "")
    columns = ((table.values, apart["difference"]), (table.cells, cells.where(apart["difference"].notna(), NOTHING)))
    values, words = (_second(frame, head, column) for frame, column in columns)
    return replace(table, values=values, cells=words, best=_second(table.best, head, False))


def _number(value: float) -> str:
    return typeset(brief(value))


def _second(frame: pd.DataFrame, head: str, column: pd.Series[Any] | bool) -> pd.DataFrame:
    wider = frame.copy()
    wider.insert(1, head, column)
    return wider


def _printed(name: object) -> str:
    return f"{PRINTED}{name}"


def _wide(rows: pd.DataFrame, column: str, order: list[str], columns: Columns) -> pd.DataFrame:
    wide = rows.pivot(index="method", columns=["cohort", "metric"], values=column).reindex(order)
    return wide[list(columns)].set_axis(list(columns.values()), axis=1).astype(float)


def _best(
    value: pd.DataFrame,
    low: pd.DataFrame,
    high: pd.DataFrame,
    columns: Columns,
    merit: Mapping[str, int],
    ranked: list[str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Which figure of a column is the best, and which others are in its interval."""
    best, tied = (pd.DataFrame(False, value.index, value.columns) for _ in range(2))
    for (_, metric), head in columns.items():
        known = merit.get(metric, 0) * value.loc[ranked, head].dropna()
        if metric in merit and len(known):
            first = known.idxmax()
            best.loc[known.index[known == known.max()], head] = True
            within = value.loc[known.index, head].between(low.at[first, head], high.at[first, head])
            tied.loc[within.index[within], head] = True
    return best, tied & ~best
