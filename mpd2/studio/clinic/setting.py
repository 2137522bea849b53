"""The setting of the day: who is there, how many each can read, the budget, what errors cost, the operating point."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.shadow.answering import set_day
from mpd2.clinic.shadow.deciding import FEWEST_OWN, day_setting
from mpd2.clinic.shadow.rows import Setting
from mpd2.core.errors import UserError
from mpd2.core.text import count, percent
from mpd2.planning.day import MOST, DaySetting, in_words
from mpd2.planning.floors import Floor
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.words.clinic import day_of
from mpd2.studio.clinic import answering, store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity

DAY, CASES, BUDGET, MISSED, ALARM, POINT, LEVEL, CONFIDENT, FIRST, ROSTER, TOLD = (
    "set_day", "set_cases", "set_budget", "set_missed", "set_alarm", "set_point", "set_level", "set_confident",
    "set_first", "set_roster", "set_told",
)  # fmt: skip
"""Keys of the session."""
KEEP, AI, OWN, FITTED = "keep", "ai", "own", "fitted"
POINTS = {
    KEEP: "As it is now",
    AI: "The AI's sensitivity",
    OWN: "A sensitivity of your own",
    FITTED: "As the run was made",
}


def draw(clinic: Clinic) -> None:
    """What holds now, what held before, and a form for what should hold from a day on."""
    told = st.session_state.pop(TOLD, None)
    if told is not None:
        answering.tell(told)
    now = clinic.shadow.decider.setting
    st.markdown(texts.SETTING)
    st.text(_in_words(clinic, now))
    _form(clinic, now)
    _history(clinic)


def _in_words(clinic: Clinic, setting: Setting) -> str:
    """A setting in a line."""
    since = "From the first case on" if setting.start == date.min else f"From {day_of(setting.start)} on"
    point = "; decided as the run was made"
    if setting.weight is not None:
        usual = setting.weight == clinic.shadow.deciders.usual.weight
        point = "; at the AI's own sensitivity" if usual else f"; a miss weighs {setting.weight:.3g} in decisions"
    sure = "" if setting.confident is None else f"; an AI at least {percent(setting.confident)} sure is not overruled"
    day = in_words(day_setting(setting, clinic.manifest), clinic.manifest, store.own_share(clinic))
    own = f"; compared with the first {count(setting.compare_with)} cases" if setting.compare_with else ""
    return f"{since}: {day}{point}{sure}{own}."


def _form(clinic: Clinic, now: Setting) -> None:
    day = day_setting(now, clinic.manifest)
    confident = None if now.confident is None else 100 * now.confident
    with st.form("clinic_setting"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.date_input("From", datetime.now(UTC).date(), key=DAY, width=150, help=texts.FROM)
            st.number_input("Cases a day", 1, MOST, day.day, 10, key=CASES, width=130, help=texts.CASES_A_DAY)
            share = None if day.limits.budget is None else 100 * day.limits.budget
            st.number_input("Sent at most, %", 0.0, 100.0, share, 1.0, key=BUDGET, width=150, placeholder="no limit")
            st.number_input(f"A missed {clinic.task.positive} costs", 0.0, 1e6, day.costs.false_negative, 0.1,
                            key=MISSED, width=200)  # fmt: skip
            st.number_input("A false alarm costs", 0.0, 1e6, day.costs.false_positive, 0.1, key=ALARM, width=170)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.selectbox("Operating point", list(POINTS), key=POINT, format_func=POINTS.__getitem__, width=260)
            st.number_input("Sensitivity at least, %", 50.0, 99.9, 95.0, 0.5, key=LEVEL, width=190, help=texts.LEVEL)
            st.number_input("Never overrule an AI surer than, %", 50.0, 100.0, confident, 1.0, key=CONFIDENT, width=260,
                            placeholder="it may be overruled")  # fmt: skip
            st.number_input("Watch against its first cases", FEWEST_OWN, MOST, now.compare_with, 100, key=FIRST,
                            width=240, placeholder="those learned from", help=texts.FIRST)  # fmt: skip
        roster = _roster(clinic, day.limits)
        edited = st.data_editor(
            roster,
            key=ROSTER,
            hide_index=True,
            disabled=["reader", "name"],
            height="content" if len(roster) <= widgets.WHOLE else "auto",
            column_config=texts.ROSTER_COLUMNS,
            placeholder="–",
            alt=texts.ROSTER_ALT,
        )
        pressed = st.form_submit_button(
            "Let it hold", type="primary", icon=":material/event_available:",
            **identity.permitted(Action.CHANGE_SETTING, otherwise=texts.HOLDS),
        )  # fmt: skip
    if pressed:
        _save(clinic, edited)
        st.rerun()


def _roster(clinic: Clinic, limits: Limits) -> pd.DataFrame:
    """A row a reader: whether they are there, and how many cases a day they can read."""
    most = dict(limits.capacity)
    return pd.DataFrame({
        "reader": list(clinic.names),
        "name": list(clinic.names.values()),
        "here": [column not in limits.away for column in clinic.names],
        "at_most": pd.array([most.get(column) for column in clinic.names], dtype="Int64"),
    })  # fmt: skip


def _save(clinic: Clinic, roster: pd.DataFrame) -> None:
    state = st.session_state
    try:
        usual, now = clinic.manifest.default_costs(), clinic.day
        limited = roster[roster["at_most"].notna()]
        limits = replace(
            now.limits,
            budget=None if state[BUDGET] is None else state[BUDGET] / 100,
            capacity=tuple(zip(limited["reader"], map(int, limited["at_most"]), strict=True)),
            away=tuple(roster.loc[~roster["here"].astype(bool), "reader"]),
        )
        costs = replace(now.costs, false_negative=float(state[MISSED]), false_positive=float(state[ALARM]))
        day = DaySetting(costs, limits, for_costs=costs != usual, day=int(state[CASES]))
        confident = None if state[CONFIDENT] is None else state[CONFIDENT] / 100
        made = Setting(state[DAY], day.to_query(clinic.manifest), _weight(clinic, confident), confident, state[FIRST])
        set_day(made, clinic.shadow.store, clinic.shadow.deciders, by=identity.actor())
        store.seen_at_once(clinic)
        st.session_state[TOLD] = ("done", _in_words(clinic, made))
    except UserError as error:
        st.session_state[TOLD] = ("error", str(error))


def _weight(clinic: Clinic, confident: float | None) -> float | None:
    """What a miss has to weigh so that the chosen floor is kept on val; none: as the run was made."""
    point = st.session_state[POINT]
    if point == FITTED:
        return None
    if point == KEEP:
        return clinic.shadow.decider.setting.weight
    floor = Floor() if point == AI else Floor(round(st.session_state[LEVEL] / 100, 4))
    return store.weight_for(clinic, floor, confident)


def _history(clinic: Clinic) -> None:
    """Every setting there was."""
    made = clinic.shadow.store.settings()
    if not made:
        return
    rows = pd.DataFrame(
        [
            {"start": each.start, "what": _in_words(clinic, each), "by": each.by, "at": each.at.replace(tzinfo=None)}
            for each in reversed(made)
        ]
    )
    st.subheader("Settings so far", anchor=False)
    widgets.data_table(rows, key="settings", alt_text=texts.SETTINGS_ALT, columns=texts.SETTING_COLUMNS)
