"""Step 2: what each column is, with the reason it is taken for that; all of it can be changed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from mpd2.lab.imports.matching import Proposal
from mpd2.lab.imports.uses import INPUTS, USES, File
from mpd2.studio.your_data import texts
from mpd2.studio.your_data.steps.draft import Draft, current, keep

HEIGHT = 388  # pixels of a long list, so that the way on stays on the first screen
ROW, HEADER = 35, 38  # pixels
FIXED = ("column", "first", "why")  # columns of the editor that nobody changes


def draw(draft: Draft) -> None:
    """One row a column, and what has to be said before it can go on."""
    st.caption(texts.COLUMNS)
    _edit("cases", draft)
    if draft.readings is not None:
        st.markdown(f"**{texts.COLUMNS_READINGS}**")
        _edit("readings", draft)
    for sentence in current().lacking:
        st.warning(texts.plain(sentence), icon=":material/help:")


def frame(draft: Draft, file: File) -> pd.DataFrame:
    """The columns of a file as rows: column, first, use, why, low, high, missing."""
    rows = [_row(each) for each in draft.proposals if each.file == file]
    made = pd.DataFrame(rows, columns=["column", "first", "use", "why", "low", "high", "missing"])
    return made.astype({"low": float, "high": float, "missing": bool})


def apply(draft: Draft, file: File, edited: dict[int, dict[str, Any]]) -> Draft:
    """The draft after the cells of some rows were changed, as the editor tells them: by row, then by column."""
    columns = [each.column for each in draft.proposals if each.file == file]
    for row, cells in edited.items():
        known = {name: value for name, value in cells.items() if name in ("use", "low", "high", "missing")}
        if known.get("use", "") is None:  # somebody emptied the cell
            del known["use"]
        draft = draft.with_column(file, columns[int(row)], **known)
    return draft


def _row(proposal: Proposal) -> tuple[Any, ...]:
    first = "  ".join(proposal.first_values)
    limits = (proposal.low, proposal.high) if proposal.use in INPUTS else (None, None)
    missing = proposal.missing and proposal.use in INPUTS
    return (proposal.column, first, str(proposal.use), proposal.reason, *limits, missing)


def _edit(file: File, draft: Draft) -> None:
    rows = frame(draft, file)
    key = f"import_columns_{file}_{draft.generation}"
    settings: dict[str, Any] = {
        "column": st.column_config.TextColumn("Column", width=120),
        "first": st.column_config.TextColumn("First values", width=95),
        "use": st.column_config.SelectboxColumn("is ▾", options=list(map(str, USES[file])), required=True, width=150),
        "why": st.column_config.TextColumn("Why", width=270),
        "low": st.column_config.NumberColumn("Min", help=texts.USUAL, width=58),
        "high": st.column_config.NumberColumn("Max", help=texts.USUAL, width=60),
        "missing": st.column_config.CheckboxColumn("Gaps", help=texts.MAY_MISS, width=66),
    }
    st.data_editor(
        rows,
        key=key,
        column_config=settings,
        column_order=None if file == "cases" else ["column", "first", "use", "why"],
        disabled=FIXED,
        hide_index=True,
        num_rows="fixed",
        placeholder="",
        height=min(HEIGHT, HEADER + ROW * len(rows)),
        on_change=_changed,
        args=(file, key),
        alt=f"The columns of the file of {file}: what each is, why, its usual range and whether it may be missing",
    )


def _changed(file: File, key: str) -> None:
    keep(apply(current(), file, st.session_state[key]["edited_rows"]))
