"""The Budget page without foresight: the same day with its cases decided one by one, as they come in."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from mpd2.core.errors import EmptyCohort
from mpd2.core.memo import cached
from mpd2.core.text import decimal, interval, percent
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.metrics import METRICS
from mpd2.planning.arrivals import can_arrive, in_many_orders
from mpd2.planning.day import DaySetting
from mpd2.studio.budget import state, store
from mpd2.studio.parts import widgets
from mpd2.studio.shell.scenario import Scenario

ORDERS = 10
OTHER = {"test": "val", "val": "test"}
WHAT_FOR = (
    "A plan needs the whole worklist. Where cases come in one at a time, each must be sent or kept before the next is "
    "seen. Then a case is sent if it is worth more than a place is expected to be worth later, judged by the {n} "
    "{split} cases of the same cohorts."
)
ANY_ORDER = "Nobody's places are limited and no budget is set: whatever the order, every case is decided as above."
NOT_SO = "A mean probability, a budget for each cohort and a reserve need the whole worklist: choose none of them here."
NO_PAST = "There are no {split} cases of these cohorts to judge by."
COLUMNS = {"order": "Order", "sent": "Cases sent", "otherwise": "Decided otherwise", "regret": "Worth lost"}
COST_HEADS = {name: METRICS[name].heading for name in COSTS}
HELP = {
    "order": "0: all cases known beforehand. Others: the same cases in an order drawn by chance.",
    "sent": "Cases a reader is asked about.",
    "otherwise": "Cases that go to somebody else, or stay, other than with all known beforehand.",
    "regret": "Of the policy's log-odds that the plan with all known beforehand keeps.",
}


@st.fragment
def draw(about: Scenario) -> None:
    """Worked out only for those who open it."""
    area = st.expander(
        "What if cases come in one by one?", icon=":material/hourglass_top:", key="budget_arrivals", on_change="rerun"
    )
    if area.open:
        with area:
            _compare(about, state.now())


def _compare(about: Scenario, setting: DaySetting) -> None:
    past = replace(about, split=OTHER[about.split])
    try:
        n = len(store.ranked_for(past, setting).cohort)
    except EmptyCohort:
        st.caption(NO_PAST.format(split=past.split))
        return
    st.caption(WHAT_FOR.format(n=n, split=past.split))
    limits = setting.limits
    if not can_arrive(limits):
        st.caption(NOT_SO)
    elif limits.budget is None and limits.total is None and not limits.capacity:
        st.caption(ANY_ORDER)
    else:
        rows = _orders(about, past, setting)
        st.markdown(in_words(rows))
        widgets.data_table(
            rows,
            key="budget_orders",
            alt_text="Cases sent, decided otherwise and costs with all cases known beforehand and in each order",
            columns={
                **{name: st.column_config.NumberColumn(head, help=HELP[name]) for name, head in COLUMNS.items()},
                "regret": st.column_config.NumberColumn(COLUMNS["regret"], format="percent", help=HELP["regret"]),
                **{
                    name: st.column_config.NumberColumn(
                        head, format="%.3f", help=METRICS[name].explained(setting.costs)
                    )
                    for name, head in COST_HEADS.items()
                },
            },
        )


def in_words(rows: pd.DataFrame) -> str:
    """What not knowing the day beforehand costs: the first row of `in_many_orders` against the others."""
    known, orders = rows.iloc[0], rows.iloc[1:]
    cost, regret = orders["TotalCost"], orders["regret"]
    worth = f", and loses {percent(regret.mean())} of the plan's worth" if regret.notna().all() else ""
    return (
        f"Deciding on arrival, in {len(orders)} orders of the same cases, costs {decimal(cost.mean())} a case "
        f"({interval(cost.min(), cost.max())}){worth}; with all known beforehand it is {decimal(known['TotalCost'])}."
    )


@cached
def _orders(about: Scenario, past: Scenario, setting: DaySetting) -> pd.DataFrame:
    ranked, known = (store.ranked_for(one, setting) for one in (about, past))
    return in_many_orders(ranked, known.order, setting.limits, setting.costs, ORDERS)
