"""The Budget page without foresight: the same day with its cases decided one by one, as they arrive."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.errors import EmptyCohort
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
    "A plan needs the whole worklist. Where cases arrive one at a time, each must be sent or kept before the next is "
    "seen. Then a case is sent if it is worth more than a place is expected to be worth later, estimated on the {n} "
    "{split} cases of the same cohorts."
)
ANY_ORDER = "There is neither a capacity nor a budget: in any order, every case is decided as above."
NOT_SO = "A mean probability, a budget for each cohort and a reserve need the whole worklist; remove them to see this."
NO_PAST = "There are no {split} cases of these cohorts to estimate it on."
COLUMNS = {"order": "Order", "sent": "Cases sent", "otherwise": "Decided differently", "regret": "Value lost"}
HELP = {
    "order": "0: all cases known beforehand. Others: the same cases in random order.",
    "sent": "Cases a reader is asked about.",
    "otherwise": "Cases that go to another reader, or are sent or kept, other than with all cases known beforehand.",
    "regret": "Share of the plan's value, in log-odds of the policy, that is lost by not knowing later cases.",
}


def draw(about: Scenario) -> None:
    """The day in many orders beside the day known beforehand."""
    st.subheader("What if cases arrive one by one?", anchor=False)
    setting = state.now()
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
        _compare(_orders(about, past, setting.scaled_to(store.size(about))), setting)


def _compare(rows: pd.DataFrame, setting: DaySetting) -> None:
    st.markdown(in_words(rows))
    widgets.data_table(
        rows,
        key="budget_orders",
        alt_text="Cases sent, decided differently and costs with all cases known beforehand and in each order",
        columns={
            **{name: st.column_config.NumberColumn(head, help=HELP[name]) for name, head in COLUMNS.items()},
            "regret": st.column_config.NumberColumn(COLUMNS["regret"], format="percent", help=HELP["regret"]),
            **{
                name: st.column_config.NumberColumn(
                    METRICS[name].heading, format="%.3f", help=METRICS[name].explained(setting.costs)
                )
                for name in COSTS
            },
        },
    )


def in_words(rows: pd.DataFrame) -> str:
    """The cost of not knowing the day beforehand: the first row of `in_many_orders` against the others."""
    planned, orders = rows.iloc[0], rows.iloc[1:]
    cost, regret = orders["TotalCost"], orders["regret"]
    lost = f", and loses {percent(regret.mean())} of the plan's value" if regret.notna().all() else ""
    return (
        f"Deciding on arrival, in {len(orders)} orders of the same cases, costs {decimal(cost.mean())} a case "
        f"({interval(cost.min(), cost.max())}){lost}. With all cases known beforehand it costs "
        f"{decimal(planned['TotalCost'])}."
    )


@cached
def _orders(about: Scenario, past: Scenario, setting: DaySetting) -> pd.DataFrame:
    today, earlier = (store.ranked_for(one, setting) for one in (about, past))
    return in_many_orders(today, earlier.order, setting.limits, setting.costs, ORDERS)
