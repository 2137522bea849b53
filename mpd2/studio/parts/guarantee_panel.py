"""What can be promised about misses among cases no reader sees: a level to choose, a row for each cohort."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.text import NOTHING, listed, percent, percent_interval
from mpd2.evaluation.guarantee import (
    AMONG,
    CONFIDENCE,
    HOLDS,
    TOO_FEW,
    cases_needed,
    checked_promise,
    kept_cases,
    redraws,
)
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.definition import StudyPlan
from mpd2.study.sentences import records

LEVEL = "level"
CHECKS = StudyPlan().checks  # redraws, as many as for the study's own table
CASES = {"kept": "unread cases", "sent home": "unread cases called negative"}
"""Whom a promise is about, by the keys of AMONG."""

MOST = "How many misses are allowed among 100 cases of the kind chosen beside this."
WHO = "Unread: no reader sees the case. Only cases called negative can be missed, so theirs is the stronger promise."
LIMIT = "Log-odds of being sent up to which a case stays unread; 0 is the run's own rule."
HEADS = {
    "cohort": ("Cohort", "Where the cases come from."),
    "state": ("Promise", "Whether it can be given from the val cases, and if not, why."),
    "val": ("Missed on val", "Misses among the unread of n val cases, on which the limit was found."),
    "test": ("Missed on test", "Misses among the unread of n test cases, which had no part in that."),
    "rate": ("Share missed on test", "Of the test cases that stay unread, with its 95 % interval (Wilson)."),
    "broken": (
        "Broken in redraws",
        f"In how many of {CHECKS} redraws of val and test cases the promise would have been broken; "
        f"{CHECKS * (1 - CONFIDENCE):.0f} are allowed.",
    ),
}
"""The columns of words: head and help."""

ASSUMPTION = (
    f"A promise holds with {percent(CONFIDENCE, 0)} confidence for cases like those of val: the same kind of people "
    "and devices. The val cases also chose checkpoints and thresholds, so they are not untouched; the last "
    "column therefore counts how often the promise would have been broken with val and test cases drawn anew."
)


@st.fragment
def panel(about: Scenario) -> None:
    """The promises of one run, found on its val cases and judged on its test cases."""
    left, right = st.columns([2, 3], vertical_alignment="bottom")
    with left:
        most = st.slider("Missed, at most in 100", 1, 20, 5, key=LEVEL, bind="query-params", help=MOST)
    with right:
        among = link.one(
            st.segmented_control,
            "Among",
            list(AMONG),
            key="among",
            default="kept",
            required=True,
            format_func=CASES.__getitem__,
            help=WHO,
        )
    rows = promises(about, most / 100, among)
    st.markdown(in_words(rows, most, among))
    widgets.data_table(
        as_words(rows),
        csv=rows,
        key="guarantee",
        alt_text=f"Whether at most {most} missed in 100 can be promised in each cohort, and what happened on test",
        columns={
            "limit": st.column_config.NumberColumn("Limit", format="%.2f", help=LIMIT),
            **{name: st.column_config.TextColumn(head, help=text) for name, (head, text) in HEADS.items()},
        },
    )
    st.caption(ASSUMPTION)


@cached
def promises(about: Scenario, level: float, among: str) -> pd.DataFrame:
    """A row a cohort: what `checked_promise` gives of the run at its operating point."""
    run, whole = about.run, replace(about, cohorts=())
    val, test = (store.compared((run,), replace(whole, split=split)) for split in ("val", "test"))
    calibration, judged = (kept_cases(evidence, run, among) for evidence in (val, test))
    rows = []
    for entry in store.manifest(about.workspace).cohorts:
        own = calibration.of(val.cohort.sources == entry.key)
        others = judged.of(test.cohort.sources == entry.key)
        rows.append({"cohort": entry.name} | checked_promise(own, others, level, redraws(own, others, CHECKS)))
    return pd.DataFrame(rows)


def as_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The promises as words, a few columns wide; a dash where there is no promise."""
    given = [row if row["state"] == HOLDS else None for row in records(rows, None).values()]
    return pd.DataFrame(
        {
            "cohort": rows["cohort"],
            "state": rows["state"],
            "limit": rows["limit"],
            "val": [row and f"{row['missed']:.0f} of {row['kept']:.0f} (n = {row['n']})" for row in given],
            "test": [
                row and f"{row['judged_missed']:.0f} of {row['judged_kept']:.0f} (n = {row['judged_n']})"
                for row in given
            ],
            "rate": [
                row and f"{percent(row['rate'], 1)} ({percent_interval(row['low'], row['high'])})" for row in given
            ],
            "broken": [row and f"{row['broken'] * row['checks']:.0f} of {row['checks']}" for row in given],
        }
    ).fillna(dict.fromkeys(("val", "test", "rate", "broken"), NOTHING))


def in_words(rows: pd.DataFrame, most: int, among: str) -> str:
    """The promises in a sentence or two."""
    given, few = (rows.loc[rows["state"] == state, "cohort"].tolist() for state in (HOLDS, TOO_FEW))
    promise = f"At most {most} in 100 {CASES[among]} are positive and missed"
    if given:
        sentence = f"{promise}: this can be promised in **{listed(given)}**."
    else:
        sentence = f"{promise}: this can be promised in no cohort."
    if few:
        sentence += (
            f" In {listed(few)} there are too few val cases: it takes {cases_needed(most / 100)} without a miss."
        )
    return sentence
