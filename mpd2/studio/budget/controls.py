"""The controls of the Budget page: example days, roster, capacities, and what everything costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.costs import Costs
from mpd2.planning import dayplan, recosting
from mpd2.planning.day import MOST, DaySetting, costs_in_words
from mpd2.planning.day_presets import presets
from mpd2.studio.budget import state, texts
from mpd2.studio.budget import store as budget_store
from mpd2.studio.parts import widgets
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

HARD, SOFT, TOGETHER, EACH = "hard", "soft", "together", "each"
KINDS = {HARD: "Cases sent", SOFT: "Mean probability"}
SCOPES = {TOGETHER: "All cohorts together", EACH: "Each cohort"}
DAY, KIND, SCOPE = "budget_day", "budget_kind", "budget_scope"
TOTAL, RESERVE, URGENT = "budget_total", "budget_reserve", "budget_urgent"
MISSED, ALARM, FEES, FOR_COSTS, ROSTER = "budget_missed", "budget_alarm", "budget_fees", "budget_for", "budget_roster"
"""Keys of the session."""


def examples(about: Scenario) -> None:
    """Example days to start from."""
    manifest = store.manifest(about.workspace)
    with st.popover("Example days", help=texts.EXAMPLES):
        for key, preset in presets(manifest).items():
            st.button(
                preset.title,
                key=f"preset:{key}",
                help=preset.meaning,
                on_click=state.attempt,
                args=(lambda setting, apply=preset.apply: apply(setting, manifest),),
                width="stretch",
            )


def draw(about: Scenario) -> None:
    """Costs, limits and the roster."""
    st.subheader("What does it cost?", anchor=False)
    _costs(about)
    st.subheader("Who is there, and how many cases can they read?", anchor=False, help=texts.ROSTER)
    _limits(about)
    _roster(about)


def _roster(about: Scenario) -> None:
    """The readers as a table to be edited; it starts afresh with every settled change, so that it shows what is."""
    setting, n = state.now(), budget_store.size(about)
    rows = readers(about, setting)
    key = f"{ROSTER}:{state.slider().turn}"
    st.data_editor(
        _shown(about, setting),
        key=key,
        hide_index=True,
        height="content" if len(rows) <= widgets.WHOLE else "auto",
        disabled=["name", "tier", "a_day", "now", "capacity", "worth"],
        on_change=_edited,
        args=(key, rows),
        column_config={
            "name": st.column_config.TextColumn("Reader", pinned=True, width=85),
            "tier": st.column_config.TextColumn("Tier", width=45),
            "here": st.column_config.CheckboxColumn("Here", help="Untick if away", width=65),
            "at_most": st.column_config.NumberColumn(
                "At most a day", min_value=0, max_value=MOST, step=1, width=125, help=texts.AT_MOST
            ),
            "fee": st.column_config.NumberColumn("Fee", min_value=0.0, step=0.001, format="%.3f", width=65),
            "a_day": st.column_config.NumberColumn("Readings a day", format="%.1f", width=115),
            "now": st.column_config.NumberColumn(f"Of {n}", help=texts.READINGS.format(n=n), width=65),
            "capacity": st.column_config.NumberColumn("Capacity", help=texts.CAPACITY.format(n=n), width=75),
            "worth": st.column_config.NumberColumn(
                "Value of one more place", format="%.2f", width=165, help=texts.ONE_MORE
            ),
        },
        placeholder="–",
        alt="Every reader: whether they are here, how many cases they can read a day, their fee, readings and capacity",
    )


@cached
def readers(about: Scenario, setting: DaySetting) -> pd.DataFrame:
    """A row a reader: limits per day, as entered, beside what they come to on the slice."""
    cases = store.cases(about)
    rows = dayplan.roster(budget_store.day(about, setting), cases)
    entered = setting.limits.capacities(cases.manifest)
    rows = rows.assign(
        capacity=rows["at_most"],
        at_most=np.where(np.isfinite(entered), entered, np.nan),
        a_day=rows["now"] * setting.day / len(cases),
    ).astype({"at_most": "Int64", "capacity": "Int64"})
    return rows[["reader", "name", "tier", "here", "at_most", "fee", "a_day", "now", "capacity", "worth"]]


@cached
def _shown(about: Scenario, setting: DaySetting) -> pd.DataFrame:
    return readers(about, setting).drop(columns="reader")


def _edited(key: str, rows: pd.DataFrame) -> None:
    """Take over what was changed in the table of readers."""
    edits: Mapping[int, Mapping[str, Any]] = st.session_state[key]["edited_rows"]
    table = rows.astype({"at_most": "object", "fee": "object"})
    for row, cells in edits.items():
        for column, value in cells.items():
            table.loc[row, column] = np.nan if value is None and column == "at_most" else value

    def make(setting: DaySetting) -> DaySetting:
        limited = table[table["at_most"].notna()]
        capacity = tuple(zip(limited["reader"], map(int, limited["at_most"]), strict=True))
        away = tuple(table.loc[~table["here"].astype(bool), "reader"])
        fees = tuple(usual if fee is None else float(fee) for fee, usual in zip(table["fee"], rows["fee"], strict=True))
        return replace(
            setting,
            limits=replace(setting.limits, capacity=capacity, away=away),
            costs=replace(setting.costs, fees=fees),
        )

    state.attempt(make)


def _limits(about: Scenario) -> None:
    setting = state.now()
    limits = setting.limits
    st.session_state.update(
        {
            DAY: setting.day,
            KIND: SOFT if limits.soft else HARD,
            SCOPE: EACH if limits.by_cohort else TOGETHER,
            TOTAL: limits.total,
            RESERVE: limits.reserve,
            URGENT: setting.urgent,
        }
    )
    fields = (
        ("Cases a day", 1, 10, DAY, texts.PER_DAY),
        ("Sent, at most a day", 0, 10, TOTAL, texts.TOTAL),
        ("Reserved places a day", 0, 5, RESERVE, texts.RESERVE),
        ("Urgent cases a day", 0, 5, URGENT, texts.URGENT),
    )
    for column, (label, least, step, key, words) in zip(st.columns(4), fields, strict=True):
        column.number_input(label, least, MOST, step=step, key=key, help=words, placeholder="no limit",
                            on_change=_set_limits)  # fmt: skip
    st.caption(_scaled_in_words(setting, budget_store.size(about)))
    with st.container(horizontal=True):
        st.segmented_control("Limit", list(KINDS), required=True, format_func=KINDS.__getitem__, key=KIND,
                             help=texts.KIND, on_change=_set_kind, args=(about,))  # fmt: skip
        st.segmented_control("Applies to", list(SCOPES), required=True, format_func=SCOPES.__getitem__, key=SCOPE,
                             help=texts.SCOPE, on_change=_set_scope)  # fmt: skip


def _scaled_in_words(setting: DaySetting, cases: int) -> str:
    """What the numbers a day come to on the slice."""
    scaled = setting.scaled_to(cases)
    parts = [f"at most {scaled.limits.total} sent"] if scaled.limits.total is not None else []
    parts += [f"{scaled.limits.reserve} reserved"] if setting.limits.reserve else []
    parts += [f"{scaled.urgent} urgent"] if setting.urgent else []
    if not parts:
        return f"Numbers a day are scaled to the {cases} cases shown."
    return f"On the {cases} cases shown: {', '.join(parts)}."


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
    day, total, reserve, urgent = (st.session_state[key] for key in (DAY, TOTAL, RESERVE, URGENT))
    state.attempt(
        lambda setting: replace(
            setting,
            limits=replace(setting.limits, total=total, reserve=reserve or 0),
            urgent=urgent or 0,
            day=day or setting.day,
        )
    )


def _costs(about: Scenario) -> None:
    setting, usual = state.now(), state.usual(about)
    scale = sum(setting.costs.fees) / sum(usual.costs.fees) if sum(usual.costs.fees) else 1.0
    st.session_state.update(
        {
            MISSED: setting.costs.false_negative,
            ALARM: setting.costs.false_positive,
            FEES: round(scale, 3),
            FOR_COSTS: setting.for_costs,
        }
    )
    missed, alarm, fees, routed = st.columns([2, 2, 2, 3], vertical_alignment="bottom")
    for column, label, key, words in (
        (missed, f"Missed {store.manifest(about.workspace).task.positive}", MISSED, texts.MISSED),
        (alarm, "False alarm", ALARM, texts.ALARM),
    ):
        column.number_input(label, 0.0, None, step=0.1, format="%.2f", key=key, help=words, on_change=_set_costs)
    fees.number_input("Multiply all fees by", 0.0, None, step=0.1, format="%.2f", key=FEES, help=texts.FEES,
                      on_change=_set_fees, args=(about, scale))  # fmt: skip
    routed.toggle("Route for these costs too", key=FOR_COSTS, help=texts.FOR_COSTS, on_change=_set_costs)
    distance = recosting.distance_in_words(store.run(about.workspace, about.run).costs, setting.costs)
    st.markdown(f"{costs_in_words(setting.costs, store.manifest(about.workspace).task)} :gray[{distance}]")


def _set_costs() -> None:
    missed, alarm, for_costs = (st.session_state[key] for key in (MISSED, ALARM, FOR_COSTS))
    state.attempt(lambda setting: replace(setting, costs=Costs(missed, alarm, setting.costs.fees), for_costs=for_costs))


def _set_fees(about: Scenario, scale: float) -> None:
    """All fees in proportion; from none at all back to the usual ones."""
    usual = state.usual(about).costs.fees
    wanted = st.session_state[FEES]

    def make(setting: DaySetting) -> DaySetting:
        fees = [fee * wanted / scale for fee in setting.costs.fees] if scale else [fee * wanted for fee in usual]
        return replace(setting, costs=replace(setting.costs, fees=tuple(float(f"{fee:.9g}") for fee in fees)))

    state.attempt(make)
