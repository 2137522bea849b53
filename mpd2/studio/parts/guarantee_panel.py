"""What can be promised about glaucoma that no reader sees: a level to choose, and a row for each cohort."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.core.memo import cached
from mpd2.core.text import NOTHING, percent, typeset
from mpd2.evaluation.guarantee import AMONG, HOLDS, TOO_FEW, cases_needed, kept_cases, promise
from mpd2.present.words.answer import in_words
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.sentences import ASSUMPTION, records

LEVEL = "level"
HEADS = {
    "cohort": ("Cohort", "Where the photographs come from."),
    "state": ("Promise", "Whether a limit was found on the val cases, and if not, why."),
    "val": ("Missed on val", "Glaucoma missed of the val cases kept under the limit."),
    "n": ("Val cases", "Cases the limit was found on."),
    "test": ("Missed on test", "Glaucoma missed of the test cases kept under the limit."),
    "judged_n": ("Test cases", "Cases that had no part in finding the limit."),
    "rate": ("Share missed on test", "Of the test cases kept, with its 95 % interval (Wilson)."),
}
"""The columns of words: head and help."""


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
        among = link.one(
            st.segmented_control,
            "Of",
            list(AMONG),
            key="among",
            default="kept",
            required=True,
            format_func=AMONG.__getitem__,
            help="Only who is called healthy can be missed, so a share of these is the stronger promise.",
        )
    rows = promises(run, percent / 100, among)
    st.markdown(in_words(said(rows, percent / 100, among)))
    widgets.data_table(
        told(rows),
        key="guarantee",
        alt_text=f"Whether at most {percent} % missed can be promised in each cohort, and what happened on test cases",
        columns={
            "limit": st.column_config.NumberColumn(
                "Limit", format="%.2f", help="Log-odds of being sent up to which a case is kept; 0 is the own rule."
            ),
            **{name: st.column_config.TextColumn(head, help=text) for name, (head, text) in HEADS.items()},
        },
    )
    st.caption(in_words(ASSUMPTION))


@cached
def promises(run: str, level: float, among: str) -> pd.DataFrame:
    """What can be promised of a run in each cohort, as `promise` tells it."""
    val, test = (store.compared((run,), Scenario(run, split)) for split in ("val", "test"))
    calibration, judged = (kept_cases(evidence, run, among) for evidence in (val, test))
    rows = [
        {"cohort": entry.name}
        | promise(calibration.of(val.cohort.sources == entry.key), judged.of(test.cohort.sources == entry.key), level)
        for entry in store.cohort().manifest.cohorts
    ]
    return pd.DataFrame(rows)


def told(rows: pd.DataFrame) -> pd.DataFrame:
    """The promises as words, a few columns wide."""

    def column(text: str) -> list[str]:
        return [text.format_map(row) if row["state"] == HOLDS else NOTHING for row in records(rows, None).values()]

    return pd.DataFrame(
        {
            "cohort": rows["cohort"],
            "state": rows["state"],
            "limit": rows["limit"],
            "val": column("{missed:.0f} of {kept:.0f} kept"),
            "n": rows["n"].astype(str),
            "test": column("{judged_missed:.0f} of {judged_kept:.0f} kept"),
            "judged_n": rows["judged_n"].astype(str),
            "rate": [typeset(text) for text in column("{rate:.1%} ({low:.1%} to {high:.1%})")],
        }
    )


def said(rows: pd.DataFrame, level: float, among: str) -> str:
    """The promises in a sentence."""
    given = rows.loc[rows["state"] == HOLDS, "cohort"]
    names = ", ".join(given) or "no cohort"
    sentence = f"At most {percent(level, 0)} missed, of {AMONG[among]}, can be promised in **{names}**."
    few = rows.loc[rows["state"] == TOO_FEW, "cohort"].tolist()
    if few:
        sentence += f" In {', '.join(few)} there are too few val cases: it takes {cases_needed(level)} without a miss."
    return sentence
