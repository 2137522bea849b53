"""What can be promised about glaucoma that no reader sees: a level to choose, and a row for each cohort."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.elsewhere import ASSUMPTION
from mpd2.guarantee import AMONG, HOLDS, TOO_FEW, cases_needed, kept_cases, promise
from mpd2.studio import store, widgets
from mpd2.studio.scenario import Scenario

LEVEL = "level"


@st.fragment
def panel(run: str) -> None:
    """The promises of one run, found on its val cases and judged on its test cases."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        percent = st.slider(
            "Missed at most, %",
            min_value=1,
            max_value=20,
            value=5,
            key=LEVEL,
            bind="query-params",
            help="The largest share of glaucoma that may be missed among the cases chosen beside this.",
        )
    with right:
        among = st.segmented_control(
            "Of",
            list(AMONG),
            default="kept",
            required=True,
            format_func=AMONG.__getitem__,
            key="among",
            help="Only who is called healthy can be missed, so a share of these is the stronger promise.",
        )
    rows = promises(run, percent / 100, among)
    st.markdown(in_words(rows, percent / 100, among))
    widgets.data_table(
        rows,
        key="guarantee",
        alt_text=f"Whether at most {percent} % missed can be promised in each cohort, and what happened on test cases",
        columns={
            "cohort": "Cohort",
            "state": st.column_config.TextColumn("Promise", help="Whether a limit was found on the val cases."),
            "limit": st.column_config.NumberColumn(
                "Limit", format="%.2f", help="Log-odds of being sent up to which a case is kept; 0 is the own rule."
            ),
            "n": st.column_config.NumberColumn("Val cases"),
            "kept": st.column_config.NumberColumn("Kept of val"),
            "missed": st.column_config.NumberColumn("Missed of val"),
            "judged_n": st.column_config.NumberColumn("Test cases"),
            "judged_kept": st.column_config.NumberColumn("Kept of test"),
            "judged_missed": st.column_config.NumberColumn("Missed of test"),
            "rate": st.column_config.NumberColumn("Missed share, %", format="%.1f"),
            "low": st.column_config.NumberColumn("95 % from", format="%.1f"),
            "high": st.column_config.NumberColumn("to", format="%.1f"),
        },
    )
    st.caption(ASSUMPTION)


@st.cache_data(show_spinner=False, max_entries=256)
def promises(run: str, level: float, among: str) -> pd.DataFrame:
    """What can be promised of a run in each cohort; shares in per cent."""
    val, test = (store.compared((run,), Scenario(run, split)) for split in ("val", "test"))
    calibration, judged = (kept_cases(evidence, run, among) for evidence in (val, test))
    rows = [
        {"cohort": entry.name}
        | promise(calibration.of(val.cohort.sources == entry.key), judged.of(test.cohort.sources == entry.key), level)
        for entry in store.cohort().manifest.cohorts
    ]
    shares = ["rate", "low", "high"]
    return pd.DataFrame(rows).drop(columns="level").assign(**{name: lambda f, n=name: 100 * f[n] for name in shares})


def in_words(rows: pd.DataFrame, level: float, among: str) -> str:
    """The promises in a sentence."""
    given = rows[rows["state"] == HOLDS]
    names = ", ".join(given["cohort"]) or "no cohort"
    told = f"At most {level:.0%} missed, of {AMONG[among]}, can be promised in **{names}**."
    few = rows.loc[rows["state"] == TOO_FEW, "cohort"].tolist()
    if few:
        told += f" In {', '.join(few)} there are too few val cases: it takes {cases_needed(level)} without a miss."
    return told
