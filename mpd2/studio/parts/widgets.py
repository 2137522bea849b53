"""The parts pages are laid out with: charts, tables and key numbers, each with help, alternative text and its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_cases, export_figures
from mpd2.core.text import NOTHING
from mpd2.present.charts.kit.drawing import Drawing, finished
from mpd2.present.charts.kit.export import MIME, Kind, render
from mpd2.present.charts.kit.style import AltairChart
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.studio.shell import identity
from mpd2.studio.shell.registry import entry

CASE = "case_id"  # the column that says that a table has a row a case
UNSEEN = "Single cases are shown to readers, clinicians, researchers and admins."
WHOLE = 30  # rows of a table that is shown without a scroll bar of its own


def chart(
    drawn: Drawing | AltairChart,
    *,
    table: pd.DataFrame,
    key: str,
    alt_text: str,
    note: str = "",
    select: str | None = None,
    width: Literal["stretch", "content"] = "stretch",
) -> list[dict[str, Any]]:
    """A chart with its note and its data for download; the points picked, if it has a selection named `select`."""
    drawing = drawn if isinstance(drawn, Drawing) else finished(drawn)
    picked: list[dict[str, Any]] = []
    if select is None:
        st.vega_lite_chart(spec=drawing.on_page(), key=key, alt=alt_text, width=width)
    else:
        event = st.vega_lite_chart(
            spec=drawing.on_page(), key=key, alt=alt_text, on_select="rerun", selection_mode=select
        )
        picked = list(dict(event["selection"] or {}).get(select) or [])
    if note:
        st.caption(note)
    files(lambda: drawn, table, key)
    return picked


def bare_chart(drawing: Drawing, *, key: str, alt_text: str) -> None:
    """A chart that is drawn anew while a hand moves; its `files` stand apart, drawn once."""
    st.vega_lite_chart(spec=drawing.on_page(), key=key, alt=alt_text)


def files(draw: Callable[[], Drawing | AltairChart | str], table: pd.DataFrame, key: str) -> None:
    """The data of a chart and the chart itself, drawn when it is asked for; closed, a page is drawn sooner."""
    with st.popover("Download", icon=":material/download:", type="tertiary", key=f"{key}:files"):
        download(table, key)
        for kind, mime in MIME.items():
            st.download_button(
                kind.upper(),
                data=identity.later(partial(_exported_picture, draw, kind, key)),
                file_name=f"{key}.{kind}",
                mime=mime,
                icon=":material/image:",
                key=f"{key}:{kind}",
                on_click="ignore",
                type="tertiary",
                help=f"This chart as {kind.upper()}",
            )


def download(table: pd.DataFrame, key: str, label: str = "CSV") -> None:
    """The data behind something, made when it is asked for; a table with a row a case leaves with few."""
    named = CASE in table
    st.download_button(
        label,
        data=identity.later(partial(_exported_table, table, key)),
        file_name=f"{key}.csv",
        mime="text/csv",
        icon=":material/download:",
        key=f"{key}:csv",
        on_click="ignore",
        type="tertiary",
        **identity.permitted(
            Action.EXPORT_CASES if named else Action.EXPORT_FIGURES, otherwise="The data shown, as CSV"
        ),
    )


def data_table(
    frame: pd.DataFrame,
    *,
    key: str,
    alt_text: str,
    columns: Mapping[str, Any] | None = None,
    pick: bool = False,
    csv: pd.DataFrame | None = None,
) -> list[int]:
    """A sortable table with its CSV; the positions of the rows picked, if it can be picked from.

    `csv`: the data for download where they are not as shown. Cases are shown to those who may see one.
    """
    if CASE in frame and not identity.is_allowed(Action.SEE_CASE):
        st.caption(f":material/lock: {UNSEEN}")
        return []
    settings: dict[str, Any] = {
        "hide_index": True, "key": key, "column_config": dict(columns or {}), "placeholder": NOTHING, "alt": alt_text,
        "height": "content" if len(frame) <= WHOLE else "auto",
    }  # fmt: skip
    rows: list[int] = []
    if pick:
        event = st.dataframe(frame, on_select="rerun", selection_mode="single-row", **settings)
        rows = list(event["selection"]["rows"])
    else:
        st.dataframe(frame, **settings)
    download(frame if csv is None else csv, key)
    return rows


def key_numbers(cards: Sequence[Mapping[str, Any]]) -> None:
    """A row of bordered numbers; each card holds the arguments of `st.metric`."""
    with st.container(horizontal=True):
        for card in cards:
            st.metric(border=True, **card)


def open_case(case_id: str) -> None:
    """Go to a case's page."""
    st.switch_page(entry("case").path, query_params={"case": case_id})


def _exported_picture(draw: Callable[[], Drawing | AltairChart | str], kind: Kind, key: str, by: Actor) -> bytes:
    return export_figures(lambda: render(draw(), kind), key, by=by)


def _exported_table(table: pd.DataFrame, key: str, by: Actor) -> bytes:
    export = export_cases if CASE in table else export_figures
    return export(partial(to_csv, table), key, by=by)


def whole_number(label: str, least: int, most: int, value: int | None, step: int, **settings: Any) -> int | None:
    """A field for a whole number that may stand in the link.

    As far as Streamlit knows it is no whole one: for these an infinite number in a link would stop the page.
    """
    usual = None if value is None else float(value)
    typed = st.number_input(
        label, float(least), float(most), usual, float(step), format="%.0f", bind="query-params", **settings
    )
    return None if typed is None else round(typed)
