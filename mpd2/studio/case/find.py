"""Finding a case: by id, by filter, or from the worklist, one after the other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.text import verbatim
from mpd2.evaluation.clinical.searches import SEARCHES, meanings, titles
from mpd2.planning.worklist import ORDERS
from mpd2.present.documents.worklist_files import clinic_table
from mpd2.studio.case import store as case_store
from mpd2.studio.parts import widgets
from mpd2.studio.shell import frame, link, store
from mpd2.studio.shell.scenario import SHOWN_SPLITS, Scenario

CASE, PIN, ORDER, WHO, FINAL, SEARCH = "case", "pin", "order", "decided_by", "final_answer", "search"
"""Keys of the session and names in the URL."""

TABLE, NARROWED = "worklist", "case_narrowed"
ANY, EVERYTHING = "any", "all"
LONGEST = 100  # characters of an id that are shown
FINALS = {ANY: "Any", case_store.RIGHT: "Right", case_store.WRONG: "Wrong"}
HELP = {
    CASE: "Type an id, or walk through the worklist with the arrows.",
    ORDER: "Most costly: largest expected cost of what the run does. Closest call: nearest to being decided the other "
    "way. Most disagreement: fewest of the run's models agree on who decides.",
    WHO: "None chosen means all.",
    FINAL: "Whether the final answer is the true one. A clinic learns this only later.",
    PIN: "A second case to compare this one with.",
}


def choose_case(about: Scenario) -> tuple[pd.DataFrame, str]:
    """The bar above the page: the worklist in its order and the case to show, or a stop that says why there is none."""
    everything = case_store.listing(about)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = _search(about)
        order = link.one(
            st.selectbox,
            "Worklist",
            list(ORDERS),
            key=ORDER,
            default=next(iter(ORDERS)),
            format_func=ORDERS.__getitem__,
            help=HELP[ORDER],
            width=175,
        )
        rows = case_store.in_order(about, search, *_filter(about), order)
        ids = rows["case_id"].tolist()
        _leave_what_is_filtered(ids)
        asked_for = st.session_state.get(CASE) or st.query_params.get(CASE)
        case_id = st.selectbox(
            "Case",
            ids if asked_for in (None, *ids) else [*ids, asked_for],
            key=CASE,
            bind="query-params",
            accept_new_options=True,
            help=HELP[CASE],
            placeholder="Case id",
            width=150,
        )
        position = ids.index(case_id) if case_id in ids else None
        _arrows(ids, position)
    if case_id is None:
        st.info(
            "No case fits the search and the filter. Loosen them, or type the id of a case.",
            icon=":material/filter_alt_off:",
        )
        st.stop()
    if case_id not in set(everything["case_id"]):
        _outside(case_id, about)
    return rows, str(case_id)


def choose_pinned(about: Scenario, case_id: str) -> str | None:
    """A button to pin a case; the one to compare with, if one of the slice is pinned."""
    ids = case_store.listing(about)["case_id"].tolist()
    _pinning(ids, case_id)
    other = st.session_state.get(PIN)
    if other and other not in ids:
        st.warning(f"The pinned case {verbatim(str(other))} is not in this slice.", icon=":material/push_pin:")
    return str(other) if other in ids and other != case_id else None


def _search(about: Scenario) -> str:
    """The chosen preset search; each with how many cases it finds."""
    found = case_store.found(about)
    task = store.manifest(about.workspace).task
    called = titles(task)
    names = {key: f"{name} ({found[key].sum()})" for key, name in called.items()}
    return link.one(
        st.selectbox,
        "Show",
        list(SEARCHES),
        key=SEARCH,
        default=EVERYTHING,
        format_func=names.__getitem__,
        persist_state="session",
        on_change=_narrow,
        help=f"{'; '.join(f'{called[key]}: {means}' for key, means in meanings(task).items())}.",
        width=235,
    )


def _filter(about: Scenario) -> tuple[tuple[str, ...], str | None]:
    """By whom cases are to be decided, none chosen means all, and with which final answer, if not with any."""
    names = {"ai": "AI's own word", case_store.RULE: "Rule against the AI"} | {
        reader.column: reader.name for reader in store.manifest(about.workspace).readers
    }
    parts = _chosen(WHO, list(names)) + _chosen(FINAL, [case_store.RIGHT, case_store.WRONG])
    with st.popover(
        f"Filter ({parts})" if parts else "Filter",
        icon=":material/filter_alt:",
        type="primary" if parts else "secondary",
        key="case_filter",
    ):
        who = link.many(
            st.multiselect,
            "Decided by",
            list(names),
            key=WHO,
            format_func=names.__getitem__,
            persist_state="session",
            on_change=_narrow,
            help=HELP[WHO],
        )
        final = link.one(
            st.segmented_control,
            "Final answer",
            list(FINALS),
            key=FINAL,
            default=ANY,
            required=True,
            format_func=FINALS.__getitem__,
            persist_state="session",
            on_change=_narrow,
            help=HELP[FINAL],
        )
        st.button("Clear the filter", on_click=_clear, disabled=not parts, width="stretch")
    return tuple(who), None if final == ANY else final


def _chosen(key: str, options: list[str]) -> int:
    """How many of the options are chosen, in this visit or else by the link."""
    chosen = st.session_state[key] if key in st.session_state else st.query_params.get_all(key)
    return sum(option in ([chosen] if isinstance(chosen, str) else chosen) for option in options)


def _narrow() -> None:
    st.session_state[NARROWED] = True


def _clear() -> None:
    st.session_state[WHO], st.session_state[FINAL] = [], ANY


def _leave_what_is_filtered(ids: list[str]) -> None:
    """Go to the first case that fits when a change of the filter leaves out the one on screen."""
    if st.session_state.pop(NARROWED, False) and st.session_state.get(CASE) not in ids:
        st.session_state[CASE] = ids[0] if ids else None


def _arrows(ids: list[str], position: int | None) -> None:
    """One case back, where we are, one case on."""
    here = 0 if position is None else position
    for name, step in (("Previous", -1), ("Next", 1)):
        target = here + step if position is not None else 0
        st.button(
            name,
            key=f"case_{name}",
            help=f"{name} case of the worklist",
            disabled=not 0 <= target < len(ids),
            on_click=_go,
            args=(ids[target] if 0 <= target < len(ids) else None,),
        )
    st.caption(f"{here + 1} of {len(ids)}" if position is not None else f"not among these {len(ids)}", width="content")


def _pinning(ids: list[str], case_id: str) -> None:
    with st.popover("Compare", icon=":material/push_pin:"):
        st.selectbox(
            "Pinned case",
            ids,
            index=None,
            key=PIN,
            bind="query-params",
            placeholder="None",
            accept_new_options=True,
            help=HELP[PIN],
        )
        st.button("Pin this case", on_click=_pin, args=(case_id,), width="stretch")
        st.button("Unpin", on_click=_pin, args=(None,), disabled=not st.session_state.get(PIN), width="stretch")


def table(rows: pd.DataFrame) -> None:
    """The worklist itself; a chosen row becomes the case."""
    st.dataframe(
        rows[list(_COLUMNS)],
        hide_index=True,
        column_config=_COLUMNS,
        key=TABLE,
        on_select=lambda: _take(rows["case_id"].tolist()),
        selection_mode="single-row",
        alt="The cases in the order of the worklist",
        height=300,
    )
    st.caption(f"n = {len(rows)}. Choose a row to show its case.")
    widgets.download(clinic_table(rows), "worklist", label="Download the worklist (CSV)")


def _take(ids: list[str]) -> None:
    chosen = st.session_state[TABLE]["selection"]["rows"]
    if chosen:
        _go(ids[chosen[0]])


def _outside(case_id: str, about: Scenario) -> None:
    """Say where an id is to be found, if anywhere, and stop."""
    everything = store.cohort(about.workspace)
    row = np.flatnonzero(everything.ids == case_id)
    first = str(case_store.listing(about)["case_id"].iloc[0])
    if not len(row):
        asked = verbatim(repr(case_id[:LONGEST]))
        said = f"There is no case {asked} in the table. An id looks like {verbatim(first)}."
        st.error(said, icon=":material/search_off:")
    elif everything.split[row[0]] not in SHOWN_SPLITS:
        st.warning(
            f"Case {verbatim(case_id)} is a {everything.split[row[0]]} case. Decisions are judged on "
            f"{' and '.join(SHOWN_SPLITS)} cases only.",
            icon=":material/school:",
        )
    else:
        split = str(everything.split[row[0]])
        st.warning(
            f"Case {verbatim(case_id)} is a {split} case of another slice than the one chosen in the sidebar.",
            icon=":material/filter_alt_off:",
        )
        st.button("Go to its slice", on_click=_widen, args=(split,), type="primary")
    st.button("Go to the worklist", on_click=_go, args=(first,))
    st.stop()


def _go(case_id: str | None) -> None:
    if case_id is not None:
        st.session_state[CASE] = case_id


def _pin(case_id: str | None) -> None:
    st.session_state[PIN] = case_id


def _widen(split: str) -> None:
    st.session_state[frame.SPLIT], st.session_state[frame.COHORTS] = split, []


_COLUMNS = {
    "case_id": st.column_config.TextColumn("Case"),
    "cohort": st.column_config.TextColumn("Cohort"),
    "reader": st.column_config.TextColumn("Decided by", help="Rule: against the AI, with nobody asked"),
    "votes": st.column_config.NumberColumn("Agree", help="Models of the run that would do the same alone"),
    "expected_cost": st.column_config.NumberColumn("Expected cost", format="%.2f", help="Of what the run does"),
    "kept_cost": st.column_config.NumberColumn("If kept", format="%.2f", help="Expected cost if nobody is asked"),
    "place": st.column_config.NumberColumn("Sent as", help="How many cases are sent before this one is, and this one"),
    "defer": st.column_config.ProgressColumn("Lean to readers", min_value=0, max_value=1, format="percent"),
    "ai_probability": st.column_config.NumberColumn("AI's probability", format="%.2f", help="That it is positive"),
    "final": st.column_config.TextColumn("Final answer", help="Whether the final answer is the true one"),
}
