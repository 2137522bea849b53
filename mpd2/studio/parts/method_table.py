"""The wide tables of methods and of conditions: sortable, the best marked, each column explained."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import deepcopy

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached_by_content, fingerprint
from mpd2.core.text import NOTHING, capital
from mpd2.evaluation.metrics import METRICS, label_of
from mpd2.present.charts.kit.style import OTHER, ROUTER
from mpd2.present.words.side_by_side import BEST, PRINTED, TIED, Columns, SideBySide
from mpd2.studio.parts import widgets
from mpd2.studio.shell import store
from mpd2.studio.shell.glossary import INTERVAL
from mpd2.studio.shell.scenario import Scenario

LEGEND = (
    f"{BEST} best of the methods that can be deployed; {TIED} not clearly different from the best: the 95 % interval "
    "of the difference, case by case, includes 0. Green: the active run. Grey: in the paper, or needs the answers. "
    "Click a heading to sort."
)
INTERVAL_WIDTH = 180  # pixels
LEAST_WIDTH = 90  # pixels of a number with its mark, under however short a heading
SHORT = 4  # letters
MOST_DRAWN = 100  # tables kept as they were sent, some 50 kB each
TINT = "33"  # opacity of a row's colour, so that it suits light and dark


def switches(key: str, printed: bool, meaning: str = INTERVAL) -> tuple[bool, bool]:
    """Whether to show intervals, whose `meaning` is the help, and the numbers of the paper."""
    with st.container(horizontal=True):
        intervals = st.toggle("Intervals", key=f"{key}-intervals", bind="query-params", help=meaning)
        return intervals, published_switch(key, printed)


def published_switch(key: str, printed: bool) -> bool:
    """Whether to show the numbers of the paper; never where it has not `printed` any about these cases."""
    wanted = st.toggle(
        "Published values",
        key=f"{key}-published",
        bind="query-params",
        disabled=not printed,
        help="The paper's numbers for the same method; only on all test cases, which its tables are about.",
    )
    return wanted and printed


def wide_table(
    rows: pd.DataFrame,
    table: SideBySide,
    columns: Columns,
    about: Scenario,
    *,
    key: str,
    active: str,
    grey: Collection[str] = (),
    head: str = "Method",
    roomy: bool = False,
    alt_text: str,
) -> None:
    """A tidy table laid out wide, with the tidy `rows` as its CSV; `roomy` columns have space for intervals."""
    helps = {name: help_of(metric, about) for (_, metric), name in columns.items()}
    content = fingerprint((table, head, active, grey, helps, roomy, key, alt_text))

    def draw() -> None:
        _draw(deepcopy(_styled(table, head, active, grey)), head, helps, roomy, key, alt_text)  # drawing one changes it

    _drawn_once(content, draw)
    widgets.download(rows, key)


@st.cache_data(show_spinner=False, max_entries=MOST_DRAWN)
def _drawn_once(content: bytes, _draw: Callable[[], None]) -> None:
    """Draw what has no state of its own; whoever asks for the same `content` again is sent the same message."""
    _draw()


def _draw(
    styled: pd.io.formats.style.Styler, head: str, helps: Mapping[str, str], roomy: bool, key: str, alt_text: str
) -> None:
    columns = {
        name: st.column_config.Column(
            help=said, width=INTERVAL_WIDTH if roomy else LEAST_WIDTH if len(name) <= SHORT else None
        )
        for name, said in helps.items()
    }
    st.dataframe(
        styled,
        hide_index=True,
        height="content",
        column_config={head: st.column_config.Column(pinned=True, width=230), **columns},
        placeholder=NOTHING,
        key=key,
        alt=alt_text,
    )


def help_of(metric: str, about: Scenario) -> str:
    """What a metric means at the costs that all methods are compared by."""
    return METRICS[metric].explained(store.manifest(about.workspace).default_costs())


def heads(metrics: Iterable[str], cohort: str, prefix: str = "") -> dict[tuple[str, str], str]:
    """A column for each metric of a cohort, named in words, after the prefix if there is one."""
    return {(cohort, metric): capital(f"{prefix} {label_of(metric)}".strip()) for metric in metrics}


@cached_by_content
def _styled(table: SideBySide, head: str, active: str, grey: Collection[str]) -> pd.io.formats.style.Styler:
    frame = table.values.copy()
    frame.insert(0, head, table.titles)
    looks = table.best.map({True: "font-weight: bold; ", False: ""}.get).reindex(columns=frame.columns, fill_value="")
    looks = looks.add([_row_colour(str(row), active, grey) for row in looks.index], axis=0)
    styled = frame.style.apply(lambda _: looks, axis=None)
    for row, cells in table.cells.iterrows():  # a formatter sees the value alone, and equal values may read otherwise
        constant: dict[object, str | Callable[[object], str] | None] = {
            column: _always(cell) for column, cell in cells.items()
        }
        styled = styled.format(constant, subset=([row], list(constant)))
    return styled


def _row_colour(row: str, active: str, grey: Collection[str]) -> str:
    if row == active:
        return f"background-color: {ROUTER.colour}{TINT}"
    return f"color: {OTHER.colour}" if row.startswith(PRINTED) or row in grey else ""


def _always(text: str) -> Callable[[object], str]:
    return lambda _: text
