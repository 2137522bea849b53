"""The first screen of the Case page: what is done, a drawing, who could decide, and the case in words."""

from __future__ import annotations

import streamlit as st

from mpd2.core.cohort import UNKNOWN
from mpd2.core.policy import NOBODY
from mpd2.core.text import chance, decimal, percent, verbatim
from mpd2.present.charts import case as charts
from mpd2.present.charts.clinical import optic_disc
from mpd2.present.words import case as words
from mpd2.studio.case import store
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets

EXPECTED_COST = (
    "The chance of a miss times {miss}, that of a false alarm times {alarm}, as this run decides at the "
    "operating point, plus the fees of whoever is asked. "
)
FROM_THE_RUN = "All of it comes from the run's own model, the one that decides."
FROM_THE_POSTERIOR = (
    "The chance of a positive is the run's own; how often readers err was learned from the training cases."
)
FROM_ERROR_RATES = "The chances are error rates of the AI and every reader, learned from the training cases."


def decision(facts: Facts) -> None:
    """What is done, how many models agree, what it is expected to cost, and the final answer."""
    chosen, ai_cost = facts.chosen, float(facts.actions["expected_cost"].iloc[0])
    weights = {"miss": decimal(facts.costs.false_negative, 2), "alarm": decimal(facts.costs.false_positive, 2)}
    helped = EXPECTED_COST.format(**weights) + _source(facts)
    with st.container(border=True):
        st.subheader(words.headline(facts.case, facts.actions, facts.decisions), anchor=False)
        st.caption(f"{facts.title}: {words.agreement(int(chosen['votes']), facts.members)}")
        cost, other, positive = st.columns([5, 3, 4.4], gap="xsmall")
        # With a hyphen, by which Streamlit tells a fall from a rise.
        delta = f"{chosen['expected_cost'] - ai_cost:+.2f}" if facts.sent else None
        spent = decimal(chosen["expected_cost"], 2)
        cost.metric("Expected cost", spent, delta=delta, delta_color="inverse", help=helped)
        others = facts.actions[facts.actions["available"]].iloc[1:]
        if facts.sent:
            other.metric("If kept", decimal(ai_cost, 2), help=helped)
        elif len(others):
            cheapest = others.sort_values("expected_cost").iloc[0]
            asked = f"If {cheapest['who']}, the cheapest, were asked. {helped}"
            other.metric("If asked", decimal(cheapest["expected_cost"], 2), help=asked)
        positive.metric(f"P({facts.case.manifest.task.positive})", percent(facts.positive, 0), help=_of_positive(facts))
        st.caption(
            f"{words.who_decided(facts.case, facts.decisions, facts.positive, facts.costs)} {final_answer(facts)}"
        )


def drawing(facts: Facts) -> None:
    """A picture from the numbers of a case, where its manifest says which can be drawn."""
    ratios = facts.case.manifest.drawing
    if ratios is None:
        return
    vertical, horizontal = float(facts.case.column(ratios.vertical)[0]), float(facts.case.drawn[0, 0])
    outline, said = optic_disc.outlines(vertical, horizontal), optic_disc.in_words(vertical, horizontal)
    widgets.chart(
        optic_disc.optic_disc(outline),
        table=outline,
        key="drawing",
        alt_text=optic_disc.ALT.format(said=said),
        note=optic_disc.NOTE.format(said=said),
        width="content",
    )


def policy(facts: Facts) -> None:
    """Who could decide, and how much of the decision each holds."""
    chosen, absent = facts.chosen, int((~facts.actions["available"]).sum())
    widgets.chart(
        charts.policy_bars(facts.actions, facts.case.manifest.task),
        table=facts.actions,
        key="policy",
        alt_text=f"Share of the decision of whoever keeps it and of every reader; {chosen['who']} is chosen with "
        f"{percent(chosen['share'], 0)}",
        note=f"Mean of {facts.members} models; thin lines: least and most of any; full diamond: chosen; open: the "
        "reader next in line." + (f" {absent} readers are not available." if absent else ""),
    )


def story(facts: Facts) -> None:
    """The case in words; where it stands in the table, if it is of the table."""
    st.markdown(words.story(facts.case, facts.reason, facts.train, store.anatomy(facts.workspace)))
    if facts.sent:
        st.markdown(words.why_this_reader(facts.actions, facts.case.manifest.task))
    entry, split = facts.case.manifest.cohorts[facts.case.source[0]], facts.case.split[0]
    if split:
        st.caption(f"Case {verbatim(facts.id)}, {entry.name}, {split}. Its readings are {entry.readings}.")
    if words.doubtful_segmentation(facts.case, facts.train):
        st.warning(optic_disc.DOUBTFUL, icon=":material/warning:")


def final_answer(facts: Facts) -> str:
    """Who says what, the final answer and, where the truth is known, whether it is right."""
    label, truth = int(facts.decisions.label[0]), int(facts.case.truth[0])
    readers = [int(reader) for reader in facts.decisions.consulted[0] if reader != NOBODY]
    names = [facts.case.manifest.readers[reader].name for reader in readers]
    if label == UNKNOWN:
        return f"The final answer waits for {names[-1]}, who has not read it."
    heard = [
        f"{name} says {facts.case.manifest.task.answers[int(facts.case.decisions[0, reader])]}"
        for name, reader in zip(names, readers, strict=True)
    ]
    verdict = "the truth is not known" if truth == UNKNOWN else "right" if label == truth else "wrong"
    fees = sum(facts.costs.fees[reader] for reader in readers)
    paid = f" Fees: {decimal(fees, 2)}." if readers else ""
    answer = facts.case.manifest.task.answers[label]
    return f"{''.join(f'{each}. ' for each in heard)}Final answer: {answer} ({verdict}).{paid}"


def _source(facts: Facts) -> str:
    if facts.own_model:
        return FROM_THE_RUN
    return FROM_THE_POSTERIOR if facts.own_posterior else FROM_ERROR_RATES


def _of_positive(facts: Facts) -> str:
    own = facts.own_model or facts.own_posterior
    source = "the run's own model" if own else "a model learned from the training cases, from all inputs"
    return f"By {source}. The AI's own probability is {chance(float(facts.case.ai_probability[0]))}."
