"""A list of cases to choose one from."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity


def case_list(table: pd.DataFrame, *, key: str, alt_text: str) -> None:
    """Cases as in `regions.cases`, the costliest first; a chosen row opens its case. n and CSV come with it."""
    if not identity.is_allowed(Action.SEE_CASE):
        st.caption(f":material/lock: {widgets.UNSEEN}")
        return
    ordered = table.sort_values(["total", "clinical"], ascending=False, kind="stable", ignore_index=True)
    shown = ordered[list(_COLUMNS)].dropna(axis="columns", how="all")
    st.caption(f"{len(shown)} cases, the costliest first. Choose a row to open its case.")
    rows = widgets.data_table(shown, key=key, alt_text=alt_text, columns=_COLUMNS, pick=True)
    if rows:
        widgets.open_case(str(shown["case_id"].iloc[rows[0]]))


def _share(label: str, explanation: str) -> object:
    return st.column_config.ProgressColumn(
        label, help=explanation, min_value=0, max_value=1, format="%.2f", width="small"
    )


def _cost(label: str, explanation: str) -> object:
    return st.column_config.NumberColumn(label, help=explanation, format="%.3f")


_COLUMNS = {
    "case_id": st.column_config.TextColumn("Case", help="Its id in the table"),
    "cohort": st.column_config.TextColumn("Cohort", help="Where the case comes from"),
    "truth": st.column_config.TextColumn("Truth", help="The reference diagnosis"),
    "action": st.column_config.TextColumn(
        "Decided by", help="The AI by its own word, the rule against it, or the reader most models of the run ask"
    ),
    "total": _cost("Total cost", "Clinical plus expert cost"),
    "wrong": _share("Wrong", "Share of the run's models that end with the wrong answer"),
    "deferred": _share("Sent", "Share of the run's models that send the case to a reader"),
    "ai_wrong": _share("AI wrong", "Whether the AI alone is wrong"),
    "readers_wrong": _share("Readers wrong", "Share of those who have read the case that are wrong"),
    "defer": _cost("d", "Deferral mass: how strongly the run leans towards a reader, 0 to 1, mean over its models"),
    "clinical": _cost("Clinical cost", "Cost of wrong final answers, mean over the run's models"),
    "fees": _cost("Expert cost", "Fees of the readers asked, mean over the run's models"),
}
