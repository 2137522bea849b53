"""What is watched: how each monitor stands, its path, and the alarms with what was said of them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.shadow.answering import LONGEST, acknowledge
from mpd2.clinic.shadow.evidence.watching import Rung, Watch
from mpd2.core.errors import UserError
from mpd2.core.text import capital, count, decimal, numbered
from mpd2.evaluation.over_time.monitors import DRAWN, FALSE_ALARMS
from mpd2.present.charts.clinical import clinic as charts
from mpd2.studio.clinic import answering, store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity, link

ALARM, REASON, TOLD = "clinic_alarm", "clinic_alarm_reason", "clinic_alarm_told"
"""Keys of the session."""


def draw(clinic: Clinic) -> None:
    """The path of one monitor beside the alarms, and how every monitor stands."""
    now = store.watched(clinic)
    told = st.session_state.pop(TOLD, None)
    if told is not None:
        answering.tell(told)
    st.markdown(texts.WATCHED)
    rows = now.rows.sort_values(["alarms", "level"], ascending=False, ignore_index=True)
    left, right = st.columns(2, gap="large")
    with left:
        labels = dict(zip(rows["name"], rows["label"].map(capital), strict=True))
        name = link.one(st.selectbox, "Monitor", list(labels), key="clinic_monitor", default=next(iter(labels)),
                        format_func=labels.__getitem__, label_visibility="collapsed")  # fmt: skip
        _path(clinic, name, labels[name], now)
    with right:
        _alarms(clinic, now)
    widgets.data_table(
        _shown(rows), csv=rows, key="watchers", alt_text=texts.WATCHERS_ALT, columns=texts.WATCHER_COLUMNS
    )
    st.caption(
        texts.BY_CHANCE.format(
            monitors=len(rows), alarms=f"{FALSE_ALARMS:g}", cases=count(clinic.day.day), drawn=count(DRAWN)
        )
    )


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    by_chance = [count(round(arl)) if np.isfinite(arl) else "" for arl in rows["arl"]]
    shown = rows.assign(
        by_chance=by_chance, label=rows["label"].map(capital), level=100 * rows["level"].clip(upper=1.0)
    )
    told = {"why_not": rows["why_not"].any(), "compared_with": rows["compared_with"].nunique() > 1}
    return shown[[name for name in texts.WATCHER_COLUMNS if told.get(name, True)]]


def _path(clinic: Clinic, name: str, label: str, now: Watch) -> None:
    """How one monitor came to stand as it does."""
    rows = store.path(clinic, name)
    if rows.empty:
        st.info(texts.NOTHING_SEEN.format(what=label), icon=":material/hourglass_empty:")
        return
    first = next((alarm.day for alarm in now.alarms if alarm.name == name), "")
    widgets.chart(
        charts.monitored(rows, 1.0, label),
        table=rows,
        key="clinic_path",
        alt_text=f"{label}: evidence of a change over {numbered(len(rows), 'value')}, now "
        f"{decimal(float(rows['value'].iloc[-1]), 2)} of an alarm{f'; the first alarm on {first}' if first else ''}",
        note=texts.PATH,
    )


def _alarms(clinic: Clinic, now: Watch) -> None:
    """What has rung, and a reason with which that is acknowledged."""
    if not now.alarms:
        st.info(texts.NO_ALARM, icon=":material/notifications_off:")
        return
    rung = pd.DataFrame([{**asdict(alarm), "open": not alarm.acknowledged} for alarm in now.alarms])
    rows = rung.groupby(["label", "side"], sort=False, as_index=False).agg(
        first=("day", "min"), last=("day", "max"), alarms=("day", "size"), open=("open", "sum"),
        acknowledged=("acknowledged", "last"),
    )  # fmt: skip
    rows["label"] = rows["label"].map(capital)
    widgets.data_table(rows, csv=rung, key="alarms", alt_text=texts.ALARMS_ALT, columns=texts.ALARM_COLUMNS)
    waiting: dict[str, list[Rung]] = {}
    for alarm in now.open:
        waiting.setdefault(f"{capital(alarm.label)}: {alarm.side}", []).append(alarm)
    if not waiting:
        return
    st.selectbox("Alarms", list(waiting), key=ALARM, label_visibility="collapsed",
                 format_func=lambda what: f"{what}, {numbered(len(waiting[what]), 'open alarm')}")  # fmt: skip
    st.text_input(texts.ACKNOWLEDGE, key=REASON, max_chars=LONGEST)
    keys = {what: [alarm.key for alarm in alarms] for what, alarms in waiting.items()}
    st.button("Acknowledge", key="clinic_acknowledge", on_click=_acknowledge, args=(clinic, keys),
              **identity.permitted(Action.ACKNOWLEDGE_ALARM))  # fmt: skip


def _acknowledge(clinic: Clinic, keys: dict[str, list[str]]) -> None:
    """The same reason for every open alarm of one kind."""
    state = st.session_state
    try:
        for key in keys.get(str(state[ALARM]), []):
            acknowledge(key, str(state[REASON]), clinic.shadow.store, by=identity.actor())
        state[TOLD] = ("done", texts.ACKNOWLEDGED)
        state[REASON] = ""
    except UserError as error:
        state[TOLD] = ("error", str(error))
