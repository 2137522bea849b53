"""What is watched: how each monitor stands, its path, and the alarms with what was said of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.shadow.answering import LONGEST, acknowledge
from mpd2.clinic.shadow.watching import Rung, Watch
from mpd2.core.errors import UserError
from mpd2.core.text import capital, count, decimal, numbered
from mpd2.evaluation.monitors import DRAWN, FALSE_ALARMS
from mpd2.present.charts import clinic as charts
from mpd2.studio.clinic import answering, store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity

ALARM, REASON, TOLD = "clinic_alarm", "clinic_alarm_reason", "clinic_alarm_told"
"""Keys of the session."""


def draw(clinic: Clinic) -> None:
    """Every monitor, the path of one, and the alarms."""
    now = store.watched(clinic)
    told = st.session_state.pop(TOLD, None)
    if told is not None:
        answering.tell(told)
    st.markdown(texts.WATCHED)
    rows = now.rows.sort_values(["alarms", "level"], ascending=False, ignore_index=True)
    left, right = st.columns([3, 2], gap="large")
    with left:
        picked = widgets.data_table(
            _shown(rows),
            csv=rows,
            key="watchers",
            alt_text=texts.WATCHERS_ALT,
            columns=texts.WATCHER_COLUMNS,
            pick=True,
        )
        st.caption(
            texts.BY_CHANCE.format(
                monitors=len(rows), alarms=f"{FALSE_ALARMS:g}", cases=count(clinic.day.day), drawn=count(DRAWN)
            )
        )
    with right:
        _path(rows.iloc[picked[0] if picked else 0], now)
    _alarms(clinic, now)


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    by_chance = [count(round(arl)) if np.isfinite(arl) else "" for arl in rows["arl"]]
    shown = rows.assign(by_chance=by_chance, label=rows["label"].map(capital), level=rows["level"].clip(upper=1.0))
    return shown[[name for name in texts.WATCHER_COLUMNS if name != "why_not" or rows["why_not"].any()]]


def _path(row: pd.Series[float], now: Watch) -> None:
    """How one monitor came to stand as it does."""
    name, label = str(row["name"]), str(row["label"])
    path = now.paths[name]
    if path.empty:
        st.info(texts.NOTHING_SEEN.format(what=label), icon=":material/hourglass_empty:")
        return
    days = path["time"].astype("datetime64[us]").dt.strftime("%Y-%m-%d")
    rows = pd.DataFrame({"number": np.arange(1, len(path) + 1), "value": path["level"], "day": days})
    first = next((alarm.day for alarm in now.alarms if alarm.name == name), "")
    widgets.chart(
        charts.monitored(rows, 1.0, label, first),
        table=rows,
        key="clinic_path",
        alt_text=f"{capital(label)}: evidence of a change over {numbered(len(rows), 'value')}, now "
        f"{decimal(float(path['level'].iloc[-1]), 2)} of an alarm{f'; the first alarm on {first}' if first else ''}",
        note=texts.PATH,
    )


def _alarms(clinic: Clinic, now: Watch) -> None:
    """The alarms, and a reason with which one of them is acknowledged."""
    st.subheader("Alarms", anchor=False)
    if not now.alarms:
        st.caption(texts.NO_ALARM)
        return
    rows = pd.DataFrame(
        [{name: getattr(alarm, name) for name in texts.ALARM_COLUMNS} for alarm in reversed(now.alarms)]
    )
    widgets.data_table(rows, key="alarms", alt_text=texts.ALARMS_ALT, columns=texts.ALARM_COLUMNS)
    waiting = {alarm.key: alarm for alarm in now.open}
    if not waiting:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Alarm", list(waiting), key=ALARM, format_func=lambda key: _called(waiting[key]), width=420)
        st.text_input(texts.ACKNOWLEDGE, key=REASON, max_chars=LONGEST)
        st.button("Acknowledge it", key="clinic_acknowledge", on_click=_acknowledge, args=(clinic,),
                  **identity.permitted(Action.ACKNOWLEDGE_ALARM))  # fmt: skip


def _called(alarm: Rung) -> str:
    return f"{capital(alarm.label)}: {alarm.side}, {alarm.day}"


def _acknowledge(clinic: Clinic) -> None:
    state = st.session_state
    try:
        acknowledge(str(state[ALARM]), str(state[REASON]), clinic.shadow.store, by=identity.actor())
        state[TOLD] = ("done", texts.ACKNOWLEDGED)
        state[REASON] = ""
    except UserError as error:
        state[TOLD] = ("error", str(error))
