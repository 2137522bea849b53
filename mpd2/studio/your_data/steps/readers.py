"""Step 3: who reads, what a reading and an error cost, and the words in which all pages speak."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from mpd2.core.errors import UserError
from mpd2.lab.imports.drafting import Answers, reader_columns
from mpd2.studio.your_data import texts
from mpd2.studio.your_data.steps import cohorts
from mpd2.studio.your_data.steps.draft import Draft, current, keep
from mpd2.studio.your_data.steps.fields import answer

HEIGHT = 248  # pixels of a long list of readers, so that what is asked below stays on the first screen
ROW, HEADER = 35, 38
LONGEST = 60  # characters of a word


def draw(draft: Draft) -> None:
    """The readers on the left, words and costs on the right."""
    left, right = st.columns([6, 5], gap="large")
    with left:
        st.markdown(f"**{texts.READERS}**", help=texts.READERS_HELP)
        _readers(draft)
        first, second = st.columns(2)
        with first:
            answer(st.number_input, texts.THRESHOLD, "threshold", min_value=0.001, max_value=0.999, step=0.01,
                   format="%.3f", help=texts.THRESHOLD_HELP)  # fmt: skip
        with second:
            cohorts.origin(draft)
    with right:
        st.markdown(f"**{texts.WORDS}**", help=texts.WORDS_HELP)
        for place, (name, (label, explained)) in zip(st.columns(3), texts.WORD_FIELDS.items(), strict=True):
            with place:
                answer(st.text_input, label, name, max_chars=LONGEST, help=explained)
        if current().answers.positive == Answers.positive:
            st.caption(f":material/help: {texts.NO_WORD}")
        st.markdown(f"**{texts.COSTS}**", help=texts.COSTS_HELP)
        for place, (name, (label, explained)) in zip(st.columns(2), texts.COST_FIELDS.items(), strict=True):
            with place:
                answer(st.number_input, label, name, min_value=0.01, step=0.5, format="%g", help=explained)
        first, second = st.columns(2)
        with first:
            answer(st.text_input, texts.CURRENCY, "currency", max_chars=12, help=texts.CURRENCY_HELP)
        with second:
            answer(st.number_input, texts.UNIT, "unit", min_value=0.0, step=10.0, help=texts.UNIT_HELP,
                   format="%g", placeholder="not said")  # fmt: skip
    cohorts.table(draft)
    try:
        current().manifest()
    except UserError as error:
        st.error(texts.plain(str(error)), icon=":material/error:")


def frame(draft: Draft) -> pd.DataFrame:
    """One row a reader: column, name, group, fee."""
    answers, columns = draft.answers, reader_columns(draft.proposals)
    rows = {
        "column": list(columns),
        "name": [answers.names.get(column, column) for column in columns],
        "group": [answers.groups.get(column, "") for column in columns],
        "fee": [float(answers.fees.get(column, answers.fee)) for column in columns],
    }
    return pd.DataFrame(rows)


def apply(draft: Draft, edited: dict[int, dict[str, Any]]) -> Draft:
    """The draft after cells of the readers' table were changed; an emptied cell goes back to the suggestion."""
    columns = reader_columns(draft.proposals)
    for row, cells in edited.items():
        column = columns[int(row)]
        for cell, name in (("name", "names"), ("group", "groups"), ("fee", "fees")):
            if cells.get(cell) not in (None, ""):
                draft = draft.with_answers(**{name: {column: cells[cell]}})
    return draft


def _readers(draft: Draft) -> None:
    rows = frame(draft)
    key = f"import_readers_{draft.generation}"
    settings: dict[str, Any] = {
        "column": st.column_config.TextColumn("Column", width=115),
        "name": st.column_config.TextColumn("Name", required=True, max_chars=LONGEST, width=150),
        "group": st.column_config.TextColumn("Group", max_chars=LONGEST, width=95, help=texts.GROUP_HELP),
        "fee": st.column_config.NumberColumn("Fee", min_value=0.0, format="%g", width=55, help=texts.FEE_HELP),
    }
    st.data_editor(
        rows, key=key, column_config=settings, disabled=("column",), hide_index=True, num_rows="fixed",
        height=min(HEIGHT, HEADER + ROW * len(rows)), on_change=_changed, args=(key,),
        alt="Every reader: column, name, group and fee",
    )  # fmt: skip


def _changed(key: str) -> None:
    keep(apply(current(), st.session_state[key]["edited_rows"]))
