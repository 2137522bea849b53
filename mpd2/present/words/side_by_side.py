"""A tidy table laid out wide, to be read and sorted: a row a method, a column a metric, the best and ties marked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.cache import cached_by_content
from mpd2.core.text import NOTHING, decimal
from mpd2.evaluation.metrics import METRICS

Columns = Mapping[tuple[str, str], str]
"""The columns in their order: cohort and metric of its numbers, and its head."""

BEST, TIED = "★", "≈"
NOTED = "†"
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
    last: Collection[str] = (),
    standing: pd.DataFrame | None = None,
    noted: Collection[str] = (),
    intervals: bool = False,
    printed: bool = False,
) -> SideBySide:
    """Lay out the numbers of a table.

    The method `first` comes first and methods `last` come last; `standing`, as of `standings.standings`, says which
    numbers are best and which tie with them. Methods `noted` have a mark that a note explains. With `printed`, what the
    paper prints for a method stands below it.
    """
    order = sorted(dict.fromkeys(rows["method"]), key=lambda name: (name in last, name != first))
    value, low, high, paper = (_wide(rows, column, order, columns) for column in ("value", "low", "high", "published"))
    best, tied = (_marked(standing, mark, value, columns) for mark in ("best", "tied"))
    cells = _shown(value, columns)
    if intervals:
        cells += _ends(low, high, columns)
    cells += np.where(best, f" {BEST}", np.where(tied, f" {TIED}", ""))
    paper = paper.dropna(how="all") if printed else paper.iloc[:0]
    titles = dict(zip(rows["method"], rows["title"], strict=True))
    titles |= {name: f"{titles[name]} {NOTED}" for name in noted if name in titles}
    titles |= dict.fromkeys(map(_printed, paper.index), IN_PAPER)
    keys = [key for name in order for key in (name, _printed(name)) if key in titles]
    paper = paper.rename(index=_printed)
    return SideBySide(
        titles=pd.Series([titles[key] for key in keys], keys),
        values=pd.concat([value, paper]).loc[keys],
        cells=pd.concat([cells, _shown(paper, columns)]).loc[keys],
        best=best.reindex(keys, fill_value=False),
    )


def with_difference(
    table: SideBySide, paired: pd.DataFrame, head: str, beside: str, intervals: bool = False
) -> SideBySide:
    """The table with one column more, to the right of `beside`: how far each method is from the active run.

    `paired`: the rows of one metric of `tables.paired` that have the active run as reference. What the paper prints,
    and the active run itself, have no difference.
    """
    apart = paired.set_index("method")[["difference", "low", "high"]].reindex(table.values.index)
    signed = apart.map(lambda value: decimal(value, signed=True))
    cells = signed["difference"] + (" (" + signed["low"] + " to " + signed["high"] + ")" if intervals else "")
    columns = ((table.values, apart["difference"]), (table.cells, cells.where(apart["difference"].notna(), NOTHING)))
    values, words = (_wider(frame, head, beside, column) for frame, column in columns)
    return replace(table, values=values, cells=words, best=_wider(table.best, head, beside, False))


def _wider(frame: pd.DataFrame, head: str, beside: str, column: pd.Series[Any] | bool) -> pd.DataFrame:
    wider = frame.copy()
    wider.insert(list(frame).index(beside) + 1, head, column)
    return wider


def _printed(name: object) -> str:
    return f"{PRINTED}{name}"


def _wide(rows: pd.DataFrame, column: str, order: list[str], columns: Columns) -> pd.DataFrame:
    wide = rows.pivot(index="method", columns=["cohort", "metric"], values=column).reindex(order)
    return wide[list(columns)].set_axis(list(columns.values()), axis=1).astype(float)


def _shown(values: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Every number in its metric's unit."""
    cells = {head: [METRICS[metric].shown(value) for value in values[head]] for (_, metric), head in columns.items()}
    return pd.DataFrame(cells, values.index, dtype=object)


def _ends(low: pd.DataFrame, high: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Every interval in brackets; nothing where it has no width."""
    cells = {
        head: [f" ({METRICS[metric].interval(*ends)})" for ends in zip(low[head], high[head], strict=True)]
        for (_, metric), head in columns.items()
    }
    return pd.DataFrame(cells, low.index, dtype=object).where(low < high, "")


def _marked(standing: pd.DataFrame | None, mark: str, values: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Which numbers have a mark, in the shape of the table."""
    marked = pd.DataFrame(False, values.index, values.columns)
    for row in standing[standing[mark]].itertuples() if standing is not None else ():
        head = columns.get((str(row.cohort), str(row.metric)))
        if head is not None and row.method in marked.index:
            marked.at[row.method, head] = True
    return marked
