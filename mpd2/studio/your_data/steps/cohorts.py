"""Part of step 3: what cohorts are called, how their readings came about, and thresholds where they differ."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from mpd2.lab.imports.drafting import cohort_keys
from mpd2.studio.your_data import texts
from mpd2.studio.your_data.steps.draft import Draft, current, keep

ONE = "all"  # the key of the only cohort of a table that names none
HEIGHT = 330  # pixels of a long list
ROW, HEADER = 35, 38
LONGEST = 60  # characters of a name
FIELDS = (("name", "cohort_names"), ("readings", "origins"), ("threshold", "thresholds"))


def keys(draft: Draft) -> tuple[str, ...]:
    """The cohorts of the table; one where it names none."""
    return cohort_keys(draft.proposals) or (ONE,)


def origin(draft: Draft) -> None:
    """One answer for all readings; where cohorts differ, the table of cohorts says so."""
    said = {draft.answers.origins.get(each, "unknown") for each in keys(draft)}
    options = list(texts.ORIGINS)
    key = f"import_origin_{draft.generation}"
    st.selectbox(texts.ORIGIN, options, index=options.index(said.pop()) if len(said) == 1 else None, key=key,
                 format_func=texts.ORIGINS.__getitem__, placeholder="differs by cohort", on_change=_choose_origin,
                 args=(key,), help=texts.ORIGIN_HELP)  # fmt: skip


def table(draft: Draft) -> None:
    """A row a cohort, all of it changeable, where there is more than one."""
    if keys(draft) == (ONE,):
        return
    with st.expander(texts.COHORTS, icon=":material/location_on:"):
        rows = frame(draft)
        key = f"import_cohorts_{draft.generation}"
        settings: dict[str, Any] = {
            "key": st.column_config.TextColumn("In the table"),
            "name": st.column_config.TextColumn("Name", required=True, max_chars=LONGEST),
            "readings": st.column_config.SelectboxColumn("Readings are", options=list(texts.ORIGINS), required=True),
            "threshold": st.column_config.NumberColumn(
                "AI says yes from", min_value=0.001, max_value=0.999, format="%.3f", help=texts.THRESHOLDS_HELP
            ),
        }
        st.data_editor(
            rows, key=key, column_config=settings, disabled=("key",), hide_index=True, num_rows="fixed", placeholder="",
            height=min(HEIGHT, HEADER + ROW * len(rows)), on_change=_changed, args=(key,),
            alt="Every cohort: its name, how its readings came about and the AI's threshold",
        )  # fmt: skip


def frame(draft: Draft) -> pd.DataFrame:
    """One row a cohort: key, name, readings, threshold (empty: as for all)."""
    answers, there = draft.answers, keys(draft)
    rows = {
        "key": list(there),
        "name": [answers.cohort_names.get(each, each) for each in there],
        "readings": [answers.origins.get(each, "unknown") for each in there],
        "threshold": [answers.thresholds.get(each) for each in there],
    }
    return pd.DataFrame(rows).astype({"threshold": float})


def apply(draft: Draft, edited: dict[int, dict[str, Any]]) -> Draft:
    """The draft after cells of the cohorts' table were changed; an emptied cell goes back to what holds for all."""
    there = keys(draft)
    for row, cells in edited.items():
        for cell, name in FIELDS:
            if cell in cells:
                value = cells[cell]
                draft = draft.without_key(name, there[int(row)])
                if value not in (None, ""):
                    draft = draft.with_answers(**{name: {there[int(row)]: value}})
    return draft


def _changed(key: str) -> None:
    keep(apply(current(), st.session_state[key]["edited_rows"]))


def _choose_origin(key: str) -> None:
    chosen, draft = st.session_state[key], current()
    if chosen:
        keep(draft.with_answers(origins=dict.fromkeys(keys(draft), chosen)))
