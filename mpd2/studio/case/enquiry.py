"""How a run that goes on asking comes to its final answer, step by step."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.text import percent
from mpd2.methods.base import AsksOn
from mpd2.planning import hard_stop
from mpd2.planning.hard_stop import LEVEL, StopThresholds
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets
from mpd2.studio.shell import store

STEPS = (
    "Each row is what has become known, the probability of {one} that follows, and what giving the cheaper answer "
    "now is expected to cost. Asking counts in the reader's fee and every answer that may come after."
)
STOPS = {
    hard_stop.AGAIN: f"The {{case}} is poorer than those of {percent(LEVEL, 0)} of the training cases: record it again "
    "before anybody decides.",
    hard_stop.SPECIALIST: f"The case is farther from its nearest training case than {percent(LEVEL, 0)} of these are "
    "from theirs: to a specialist, whatever the steps say.",
}


def chain(facts: Facts, method: AsksOn, steps: pd.DataFrame) -> None:
    """From how common positives are to the final answer, each of the `steps` with its expected cost."""
    task = facts.case.manifest.task
    stop = _thresholds(facts.workspace).stops(facts.case)["stop"].iloc[0]
    if stop:
        st.warning(STOPS[stop].format(case=task.case), icon=":material/do_not_disturb_on:")
    widgets.data_table(
        steps,
        key="chain",
        alt_text=f"From what is known at first to the end: {'; '.join(steps['known'] + ', ' + steps['next'])}",
        columns={
            "known": st.column_config.TextColumn("What becomes known", width="medium"),
            "probability": st.column_config.ProgressColumn(
                "P(positive)", width="small", format="percent", min_value=0, max_value=1, help="Given all that is known"
            ),
            "now": st.column_config.NumberColumn(
                "Deciding now", width="small", format="%.2f", help="Expected cost of errors"
            ),
            "label": None,  # said by what is done next
            "reader": st.column_config.TextColumn("Best to ask", width="small", help="Of those still open"),
            "fee": None,
            "asking": st.column_config.NumberColumn(
                "Asking", width="small", format="%.2f", help="Expected cost, fees included"
            ),
            "spent": None,
            "next": st.column_config.TextColumn("Then", width="medium"),
        },
    )
    st.caption(
        f"{STEPS.format(one=task.one)} At most {method.most_readers(facts.run)} readers; mean of {facts.members} "
        "models. Answers count as independent given the truth: in a clinic readers share mistakes, and a second one is "
        "worth less than this."
    )


@cached
def _thresholds(workspace: str) -> StopThresholds:
    return hard_stop.fit_limits(store.train(workspace))
