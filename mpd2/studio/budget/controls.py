"""What can be wished for on the Budget page: a kind of day, the roster, places, and what everything costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.costs import Costs
from mpd2.planning import dayplan, recosting
from mpd2.planning.day import DaySetting, costs_in_words
from mpd2.planning.day_presets import presets
from mpd2.studio.budget import state, texts
from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

HARD, SOFT, TOGETHER, EACH = "hard", "soft", "together", "each"
KINDS = {HARD: "Cases sent", SOFT: "Mean probability"}
SCOPES = {TOGETHER: "All together", EACH: "Each cohort"}
KIND, SCOPE, TOTAL, RESERVE, URGENT = "budget_kind", "budget_scope", "budget_total", "budget_reserve", "budget_urgent"
MISSED, ALARM, FEES, FOR_COSTS, ROSTER = "budget_missed", "budget_alarm", "budget_fees", "budget_for", "budget_roster"
"""Keys of the session."""


def days(about: Scenario) -> None:
    """Kinds of day to start from, and the way back."""
    cases = about.slice(store.cohort())
    with st.container(horizontal=True, vertical_alignment="center"):
        for key, preset in presets(cases.manifest).items():
            st.button(
                preset.title,
                key=f"preset:{key}",
                help=preset.meaning,
                on_click=state.attempt,
                args=(lambda setting, apply=preset.apply: apply(setting, cases),),
            )
        st.button("Reset", icon=":material/restart_alt:", on_click=state.change, args=(state.usual(),))


def draw(about: Scenario) -> None:
    """Roster and places beside costs."""
    left, right = st.columns([2, 1], gap="medium")
    with left:
        st.subheader("Who is there, and how much can they take?", anchor=False, help=texts.ROSTER)
        _roster(about)
        _places(about)
    with right:
        st.subheader("What does it cost?", anchor=False)
        _costs(about)


def _roster(about: Scenario) -> None:
    """The readers as a table to be edited; it starts afresh with every settled change, so that it shows what is."""
    rows = dayplan.roster(budget_store.measure(about, state.now()).day, about.slice(store.cohort()))
    key = f"{ROSTER}:{state.course().turn}"
    st.data_editor(
        rows.drop(columns="reader").astype({"at_most": "Int64", "free": "Int64"}),
        key=key,
        hide_index=True,
        height="content",
        disabled=["name", "tier", "now", "free", "worth"],
        on_change=_edited,
        args=(key, rows),
        column_config={
            "name": st.column_config.TextColumn("Reader", pinned=True, width=90),
            "tier": st.column_config.TextColumn("Tier", width=45),
            "here": st.column_config.CheckboxColumn("Here", help="Untick who is away", width=65),
            "at_most": st.column_config.NumberColumn("At most", min_value=0, step=1, width=75, help=texts.AT_MOST),
            "fee": st.column_config.NumberColumn("Fee", min_value=0.0, step=0.001, format="%.3f", width=65),
            "now": st.column_config.NumberColumn("Now", width=55, help="Readings under the setting in force"),
            "free": st.column_config.NumberColumn("Free", width=55, help="Places left; empty: no limit"),
            "worth": st.column_config.NumberColumn("One more", format="%.2f", width=75, help=texts.ONE_MORE),
        },
        placeholder="–",
        alt="Every reader: whether they are here, how many cases they can take at most, their fee, readings and places",
    )


def _edited(key: str, rows: pd.DataFrame) -> None:
    """Take over what was changed in the table of readers."""
    changed: Mapping[int, Mapping[str, Any]] = st.session_state[key]["edited_rows"]
    table = rows.astype({"at_most": "object", "fee": "object"})
    for row, cells in changed.items():
        for column, value in cells.items():
            table.loc[row, column] = np.nan if value is None and column == "at_most" else value

    def made(setting: DaySetting) -> DaySetting:
        limited = table[table["at_most"].notna()]
        capacity = tuple(zip(limited["reader"], map(int, limited["at_most"]), strict=True))
        away = tuple(table.loc[~table["here"].astype(bool), "reader"])
        fees = tuple(known if fee is None else float(fee) for fee, known in zip(table["fee"], rows["fee"], strict=True))
        return replace(
            setting,
            limits=replace(setting.limits, capacity=capacity, away=away),
            costs=replace(setting.costs, fees=fees),
        )

    state.attempt(made)


def _places(about: Scenario) -> None:
    limits, setting = state.now().limits, state.now()
    st.session_state.update(
        {
            KIND: SOFT if limits.soft else HARD,
            SCOPE: EACH if limits.by_cohort else TOGETHER,
            TOTAL: limits.total,
            RESERVE: limits.reserve,
            URGENT: setting.urgent,
        }
    )
    with st.container(horizontal=True):
        st.segmented_control("The budget is of", list(KINDS), required=True, format_func=KINDS.__getitem__, key=KIND,
                             help=texts.KIND, on_change=_set_kind, args=(about,))  # fmt: skip
        st.segmented_control("It is for", list(SCOPES), required=True, format_func=SCOPES.__getitem__, key=SCOPE,
                             help=texts.SCOPE, on_change=_set_scope)  # fmt: skip
    first, second, third = st.columns(3)
    with first:
        st.number_input("In all, at most", 0, None, step=10, placeholder="no limit", key=TOTAL, help=texts.TOTAL,
                        on_change=_set_limits)  # fmt: skip
    with second:
        st.number_input("Kept for urgent", 0, None, step=5, key=RESERVE, help=texts.RESERVE,
                        on_change=_set_limits)  # fmt: skip
    with third:
        st.number_input("Urgent cases", 0, None, step=5, key=URGENT, help=texts.URGENT, on_change=_set_limits)


def _set_kind(about: Scenario) -> None:
    soft = st.session_state[KIND] == SOFT
    here = state.now()
    budget = here.limits.budget
    if soft and budget is None:  # a probability has no default: start from the run's own
        budget = float(budget_store.ranked_for(about, here).defer.mean())
    state.attempt(lambda setting: replace(setting, limits=replace(setting.limits, soft=soft, budget=budget)))


def _set_scope() -> None:
    each = st.session_state[SCOPE] == EACH
    state.attempt(lambda setting: replace(setting, limits=replace(setting.limits, by_cohort=each)))


def _set_limits() -> None:
    total, reserve, urgent = (st.session_state[key] for key in (TOTAL, RESERVE, URGENT))
    state.attempt(
        lambda setting: replace(
            setting, limits=replace(setting.limits, total=total, reserve=reserve or 0), urgent=urgent or 0
        )
    )


def _costs(about: Scenario) -> None:
    setting, usual = state.now(), state.usual()
    scale = sum(setting.costs.fees) / sum(usual.costs.fees) if sum(usual.costs.fees) else 1.0
    st.session_state.update(
        {
            MISSED: setting.costs.false_negative,
            ALARM: setting.costs.false_positive,
            FEES: round(scale, 3),
            FOR_COSTS: setting.for_costs,
        }
    )
    for label, key, words in (("Missed glaucoma", MISSED, texts.MISSED), ("False alarm", ALARM, texts.ALARM)):
        st.number_input(label, 0.0, None, step=0.1, format="%.2f", key=key, help=words, on_change=_set_costs)
    st.number_input("All fees times", 0.0, None, step=0.1, format="%.2f", key=FEES, help=texts.FEES,
                    on_change=_set_fees, args=(scale,))  # fmt: skip
    st.markdown(costs_in_words(setting.costs))
    st.toggle("Route for these costs too", key=FOR_COSTS, help=texts.FOR_COSTS, on_change=_set_costs)
    st.caption(recosting.distance_in_words(store.run(about.run).costs, setting.costs))


def _set_costs() -> None:
    missed, alarm, for_costs = (st.session_state[key] for key in (MISSED, ALARM, FOR_COSTS))
    state.attempt(lambda setting: replace(setting, costs=Costs(missed, alarm, setting.costs.fees), for_costs=for_costs))


def _set_fees(scale: float) -> None:
    """All fees in proportion; from none at all back to the usual ones."""
    usual = state.usual().costs.fees
    wanted = st.session_state[FEES]

    def made(setting: DaySetting) -> DaySetting:
        fees = [fee * wanted / scale for fee in setting.costs.fees] if scale else [fee * wanted for fee in usual]
        return replace(setting, costs=replace(setting.costs, fees=tuple(float(f"{fee:.9g}") for fee in fees)))

    state.attempt(made)
