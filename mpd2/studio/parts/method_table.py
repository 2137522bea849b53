"""The wide tables of methods and of conditions: sortable, the best marked, each column explained."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from copy import deepcopy

import pandas as pd
import streamlit as st

from mpd2.core.memo import remembered
from mpd2.present.charts.kit.style import METRIC_NAMES, OTHER, ROUTER
from mpd2.present.words.side_by_side import BEST, PRINTED, TIED, Columns, SideBySide
from mpd2.studio.parts import widgets
from mpd2.studio.shell.glossary import GLOSSARY
from mpd2.study.views import NOTHING

HELP = {
    "Acc": "Share of all cases that end with the right answer.",
    "Prec": "Share of the answers glaucoma that are right.",
    "F1": GLOSSARY["F1"],
    "Sens": GLOSSARY["Sensitivity"],
    "Spec": GLOSSARY["Specificity"],
    "MCC": GLOSSARY["MCC"],
    "Defer": "Share of cases sent to a reader.",
    "Consults": "Readers asked about a case, on average; a case may be sent to more than one.",
    "ClinicalCost": GLOSSARY["Clinical cost"],
    "ExpertCost": GLOSSARY["Expert cost"],
    "TotalCost": GLOSSARY["Total cost"],
    "TotalGap": "Total cost less that of the active run, on the same resampled cases; below 0 the method is cheaper.",
    "Routed": "Number of cases sent to a reader, mean over trained copies of the method.",
    "Top1": GLOSSARY["Top-1 share"],
    "Top2": "Share of all sent cases that go to the two busiest readers.",
    "EntropyCollapse": "0 if all readers are equally busy, 1 if one reads everything.",
    "NEff": GLOSSARY["Effective readers"],
    "Gini": "Inequality of the readers' load: 0 if all are equally busy, 1 if one reads everything.",
    "Share": "Share of the cohort's cases that stay with the AI.",
    "DeferSoft": "Mean probability of deferral before a decision is made; the budget acts on this.",
    "DeferHard": "Share of cases that are in fact sent to a reader.",
    "HHI": "Concentration of the soft load: 0 if it is even, 1 if one reader has all of it.",
    "LoadCV": "Spread of the soft load over readers, as a share of its mean; 0 is even.",
    "DeadFrac": "Share of readers who get less than 1 % of the soft load.",
    "EffExp": "How many equally busy readers the soft load amounts to.",
    "Entropy": "Evenness of the soft load: 1 if all readers are equally busy.",
    "Target": "The largest share of cases that training was told to send.",
    "GapSoft": "Soft deferral less the target; below 0 the budget is kept.",
    "GapHard": "Hard deferral less the target; below 0 the budget is kept.",
}
"""What each metric means."""

LEGEND = (
    f"{BEST} best of the methods that can be deployed, {TIED} inside the interval of the best. "
    "Green: the active run. Grey: what the paper prints, or needs the answers. Click a head to sort."
)
INTERVAL_WIDTH = 180  # pixels
TINT = "33"  # opacity of a row's colour, so that it suits light and dark


def switches(key: str, printed: bool, meaning: str = GLOSSARY["Interval"]) -> tuple[bool, bool]:
    """Whether to show intervals, whose `meaning` is the help, and what the paper prints."""
    with st.container(horizontal=True):
        intervals = st.toggle("Intervals", key=f"{key}-intervals", bind="query-params", help=meaning)
        return intervals, published_switch(key, printed)


def published_switch(key: str, printed: bool) -> bool:
    """Whether to show what the paper prints; never where it is `printed` about other cases."""
    wanted = st.toggle(
        "Published values",
        key=f"{key}-published",
        bind="query-params",
        disabled=not printed,
        help="What the paper prints for the same method; only on all test cases, which its tables are about.",
    )
    return wanted and printed


def wide_table(
    rows: pd.DataFrame,
    table: SideBySide,
    columns: Columns,
    *,
    key: str,
    active: str,
    unranked: Collection[str] = (),
    head: str = "Method",
    roomy: bool = False,
    alt_text: str,
) -> None:
    """A tidy table laid out wide, with the tidy `rows` as its CSV; `roomy` columns have space for intervals."""
    width = INTERVAL_WIDTH if roomy else None
    helps = {name: st.column_config.Column(help=HELP[metric], width=width) for (_, metric), name in columns.items()}
    st.dataframe(
        deepcopy(_styled(table, head, active, unranked)),  # drawing one changes it
        hide_index=True,
        height="content",
        column_config={head: st.column_config.Column(pinned=True, width=230), **helps},
        placeholder=NOTHING,
        key=key,
        alt=alt_text,
    )
    widgets.download(rows, key)


def heads(metrics: Iterable[str], cohort: str, prefix: str = "") -> dict[tuple[str, str], str]:
    """A column for each metric of a cohort, named in words, after the prefix if there is one."""
    return {(cohort, metric): capital(f"{prefix} {METRIC_NAMES[metric]}".strip()) for metric in metrics}


@remembered(64)
def _styled(table: SideBySide, head: str, active: str, unranked: Collection[str]) -> pd.io.formats.style.Styler:
    frame = table.values.copy()
    frame.insert(0, head, table.titles)
    looks = table.best.map({True: "font-weight: bold; ", False: ""}.get).reindex(columns=frame.columns, fill_value="")
    looks = looks.add([_row_colour(str(row), active, unranked) for row in looks.index], axis=0)
    styled = frame.style.apply(lambda _: looks, axis=None)
    for row, cells in table.cells.iterrows():  # a formatter sees the value alone, and equal values may read otherwise
        constant: dict[object, str | Callable[[object], str] | None] = {
            column: _always(cell) for column, cell in cells.items()
        }
        styled = styled.format(constant, subset=([row], list(constant)))
    return styled


def _row_colour(row: str, active: str, unranked: Collection[str]) -> str:
    if row == active:
        return f"background-color: {ROUTER.colour}{TINT}"
    return f"color: {OTHER.colour}" if row.startswith(PRINTED) or row in unranked else ""


def _always(text: str) -> Callable[[object], str]:
    return lambda _: text


def capital(words: str) -> str:
    """With a capital at the beginning, and the rest as it is."""
    return words[:1].upper() + words[1:]
