"""The Case page of a run that goes on asking: its decision, and how it comes to it step by step."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.core.cohort import UNKNOWN
from mpd2.core.memo import cached
from mpd2.core.policy import choose
from mpd2.evaluation import hardstop
from mpd2.evaluation.explain import WORDS
from mpd2.evaluation.hardstop import LEVEL, StopThresholds
from mpd2.methods.plus import asking
from mpd2.methods.plus.method import Plus, outlook_of
from mpd2.studio.case import store
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets

EXPECTED_COST = (
    "What errors are expected to cost under the run's own posterior, plus the fees of whoever is still asked. All "
    "trained versions together."
)
STEPS = (
    "Each row is what has become known, the probability of glaucoma that follows, and what giving the cheaper label "
    "now is expected to cost. Asking counts in the reader's fee and every answer that may come after."
)
STOPS = {
    hardstop.AGAIN: f"The photograph is poorer than those of {100 * LEVEL:.0f} % of the training cases: photograph "
    "again before anybody decides.",
    hardstop.SPECIALIST: f"The case is farther from its nearest training case than {100 * LEVEL:.0f} % of these are "
    "from theirs: to a specialist, whatever the steps say.",
}


def goes_on(facts: Facts) -> bool:
    """Whether the run asks again and decides by itself."""
    return facts.run.method == Plus.key


def decision(facts: Facts) -> None:
    """What is done first, what it is expected to cost, and how the case ends."""
    steps = _steps(facts)
    first, last = steps.iloc[1], steps.iloc[-1]
    asks, nobody = first["next"].startswith("ask"), first["reader"] == ""
    action = int(facts.case.manifest.columns.index(_column(facts, first["reader"]))) + 1 if asks else 0
    votes, members = int((choose(facts.policy, facts.run.rule) == action).sum()), len(facts.policy.defer)
    with st.container(border=True):
        st.subheader(f"Ask {first['reader']}" if asks else f"Decide now: {first['label']}", anchor=False)
        st.caption(f"{facts.title}: {votes} of {members} {facts.routers} do the same alone")
        with st.container(horizontal=True):
            cost = first["asking"] if asks else first["now"]
            delta = f"{first['asking'] - first['now']:+.2f} against deciding now" if asks else None
            st.metric("Expected cost", f"{cost:.2f}", delta=delta, delta_color="inverse", help=EXPECTED_COST)
            if asks:
                st.metric("If decided now", f"{first['now']:.2f}", help=EXPECTED_COST)
            elif not nobody:
                st.metric(f"If {first['reader']} were asked", f"{first['asking']:.2f}", help=EXPECTED_COST)
        st.caption(_ending(facts, steps, last))


def chain(facts: Facts) -> None:
    """From how common glaucoma is to the label, each step with its expected cost."""
    steps = _steps(facts)
    st.subheader("Step by step", anchor=False, help=STEPS)
    stop = _limits().stops(facts.case)["stop"].iloc[0]
    if stop:
        st.warning(STOPS[stop], icon=":material/do_not_disturb_on:")
    widgets.data_table(
        steps,
        key="chain",
        alt_text=f"From what is known at first to the end: {'; '.join(steps['known'] + ', ' + steps['next'])}",
        columns={
            "known": st.column_config.TextColumn("What becomes known", width="medium"),
            "probability": st.column_config.ProgressColumn(
                "P(glaucoma)", width="small", format="percent", min_value=0, max_value=1, help="Given all that is known"
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
    limit = int(facts.run.settings[0]["limit"])
    st.caption(
        f"{STEPS} At most {limit} readers; mean of {len(facts.policy.defer)} {facts.routers}. Answers count as "
        "independent given the truth: in a clinic readers share mistakes, and a second one is worth less than this."
    )


@cached
def _limits() -> StopThresholds:
    return hardstop.fit_limits(store.train())


def _steps(facts: Facts) -> pd.DataFrame:
    run = facts.run
    outlook = outlook_of(run, facts.case).together()
    prevalence = float(run.arrays["prevalence"].mean())
    return asking.chain(outlook, facts.case, run.costs, int(run.settings[0]["limit"]), prevalence)


def _column(facts: Facts, name: str) -> str:
    return next(reader.column for reader in facts.case.manifest.readers if reader.name == name)


def _ending(facts: Facts, steps: pd.DataFrame, last: pd.Series) -> str:
    """How the case ends and, where the truth is known, whether rightly."""
    if last["next"].startswith("ask"):
        return f"It waits for {last['reader']}, who has not read it."
    truth = int(facts.case.truth[0])
    heard = steps["known"].iloc[2:].tolist()
    end = f"{', '.join(heard)}; it ends" if heard else "It ends"
    verdict = "" if truth == UNKNOWN else f", which is {'right' if WORDS[truth] == last['label'] else 'wrong'}"
    return f"{end} as {last['label']}{verdict}. Fees: {last['spent']:.2f}."
