"""The panels of the Case page."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pandas as pd
import streamlit as st

from mpd2.core.cohort import UNKNOWN
from mpd2.core.text import chance, decimal, percent
from mpd2.evaluation import explain
from mpd2.evaluation.explain import WORDS
from mpd2.planning import worklist
from mpd2.present.charts import case as figures
from mpd2.present.words import case
from mpd2.studio.case import store
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets
from mpd2.studio.shell.scenario import Scenario

EXPECTED_COST = (
    "What the answer is expected to cost: the chance of a missed glaucoma and of a false alarm, each times its cost, "
    "plus the reader's fee. The chances are estimated from the training cases, apart from the run."
)
RULES = {
    "staged": "This run sends a case when all readers together hold more than half of the decision, and then asks the "
    "one who holds most.",
    "joint": "This run takes whoever holds most of the decision, the AI or a reader.",
}


def decision(facts: Facts) -> None:
    """What is done, how sure the run is of it, and what it is expected to cost."""
    chosen, members = facts.chosen, len(facts.policy.defer)
    ai_cost = float(facts.actions["expected_cost"].iloc[0])
    kept = chosen["action"] == "ai"
    with st.container(border=True):
        word = WORDS[int(facts.case.ai_label[0])]
        st.subheader(f"Leave it to the AI: {word}" if kept else f"Ask {chosen['who']}", anchor=False)
        st.caption(f"{facts.title}: {chosen['votes']} of {members} {facts.routers} decide the same alone")
        with st.container(horizontal=True):
            st.metric(
                "Expected cost",
                f"{chosen['expected_cost']:.2f}",
                delta=None if kept else f"{chosen['expected_cost'] - ai_cost:+.2f} against the AI",
                delta_color="inverse",
                help=EXPECTED_COST,
            )
            best = facts.actions[facts.actions["available"]].iloc[1:]
            if kept and len(best):
                cheapest = best.sort_values("expected_cost").iloc[0]
                st.metric(f"If {cheapest['who']} were asked", f"{cheapest['expected_cost']:.2f}", help=EXPECTED_COST)
            elif not kept:
                st.metric("If kept with the AI", f"{ai_cost:.2f}", help=EXPECTED_COST)
        st.caption(_ending(facts))


def eye(facts: Facts) -> None:
    """Disc and cup to scale; the table has no photograph."""
    vertical, horizontal = float(facts.case.column("vCDR")[0]), float(facts.case.horizontal_cdr[0])
    outline = figures.eye_frame(vertical, horizontal)
    width = "its width is not known" if pd.isna(horizontal) else f"{horizontal:.2f} of its width"
    cup = f"{vertical:.2f} of the disc's height, {width}"
    widgets.chart(
        figures.eye(outline),
        table=outline,
        key="eye",
        alt_text=f"Optic disc with its cup: {cup}",
        note=f"Cup: {cup}. Drawn from ratios: the table has no photograph.",
        width="content",
    )
    if case.doubtful_segmentation(facts.case, store.train()):
        st.warning("The ratios do not fit together: disc or cup may be outlined wrongly.", icon=":material/warning:")


def story(facts: Facts) -> None:
    """The case in words."""
    st.markdown(case.story(facts.case, facts.actions, store.train(), store.anatomy()))
    entry = facts.case.manifest.cohorts[facts.case.source[0]]
    st.caption(f"Case {facts.id}, {entry.name}, {facts.case.split[0]}. Its readings are {entry.readings}.")


def policy(facts: Facts) -> None:
    """The soft decision over the AI and all readers."""
    st.subheader("Who could decide", anchor=False, help=RULES[facts.run.rule])
    chosen = facts.chosen
    widgets.chart(
        figures.policy_bars(facts.actions),
        table=facts.actions,
        key="policy",
        alt_text=f"Share of the decision of the AI and every reader; {chosen['who']} is chosen with "
        f"{percent(chosen['share'], 0)}",
        note=f"{RULES[facts.run.rule]} Bars: mean of {len(facts.policy.defer)} {facts.routers}; thin lines: from the "
        "least to the most of any; diamond: chosen. Beside it the expected cost under each.",
    )


def inputs(facts: Facts) -> None:
    """What the run saw when it decided."""
    ranges = explain.range_frame(facts.case, store.train())
    flagged = ranges[ranges["flag"] != explain.INSIDE]
    st.subheader("What was known", anchor=False, help="The eight inputs a router sees, and nothing else.")
    widgets.chart(
        figures.input_ranges(ranges),
        table=ranges,
        key="inputs",
        alt_text="Each input of the case on the training cases of its cohort"
        + "".join(f"; {row['input']} is {row['flag']}" for _, row in flagged.iterrows()),
        note=f"Blue: the {ranges['n'].iloc[0]} training cases of the same cohort, from lowest to highest, the middle "
        "90 % and 50 % thicker, the median a tick. A value outside is drawn at the edge. Image distance: how unlike "
        "its training images the photograph looks to the AI; CDR: cup-to-disc ratio.",
    )


def why(facts: Facts, about: Scenario) -> None:
    """What each input adds to the decision to send."""
    st.subheader("Why", anchor=False, help="Exact Shapley values over all 256 sets of the eight inputs.")
    if not explain.has_router(facts.run):
        st.info(f"{facts.title} has no deferral logit to take apart. Choose an MPD² run in the sidebar.",
                icon=":material/info:")  # fmt: skip
        return
    if not facts.case.available.any():
        st.info("No reader is available for this case, so there is nothing to decide.", icon=":material/person_off:")
        return
    rows, base, own = store.attribution(about.run, facts.id)
    first = rows.sort_values("adds", key=abs, ascending=False).iloc[0]
    widgets.chart(
        figures.attribution_bars(rows),
        table=rows,
        key="why",
        alt_text="What each input adds to the log-odds of sending; most, "
        f"{decimal(first['adds'], 2, signed=True)}, {first['input']}",
        note=f"From {decimal(base, 2, signed=True)}, the mean of {explain.BACKGROUND} training cases, to "
        f"{decimal(own, 2, signed=True)} here; above 0, sending is likelier than not. Thin lines: from the least to "
        f"the most of any of {len(facts.policy.defer)} routers. The AI's probability and uncertainty follow from "
        "its two scores: read the four together.",
    )


def changes(facts: Facts, about: Scenario) -> None:
    """What would turn the decision: the budget, an absence, one input."""
    st.subheader("What would change it", anchor=False)
    rows = store.listing(about)
    position = int((rows["case_id"] == facts.id).to_numpy().argmax())
    share = worklist.sent_from(rows["log_odds"].to_numpy(), position)
    sent = facts.chosen["action"] != "ai"
    st.markdown(
        f"**Budget.** With the clearest cases sent first, this one is sent from a budget of {percent(share, 0)} of the "
        f"{len(rows)} cases of the slice on. " + ("Below that it stays with the AI." if sent else "")
    )
    order = store.stand_ins(about.run, facts.id)
    if sent:
        steps = [f"{before} is away, {_decides(after)}" for before, after in pairwise(order)]
        st.markdown(f"**Absence.** If {'; if also '.join(steps)}.")
    if explain.has_router(facts.run):
        _flips(store.flips(about.run, facts.id), sent)
    else:
        st.caption("Which input would turn the decision is worked out for MPD² runs only.")


def similar(facts: Facts, about: Scenario) -> None:
    """The most similar training cases."""
    st.subheader("Training cases most like it", anchor=False, help="Nearest in the eight inputs taken together.")
    widgets.data_table(
        store.similar(about.run, facts.id),
        key="similar",
        alt_text="The most similar training cases with truth and every reader's word",
        columns={
            "case_id": "Case",
            "distance": st.column_config.NumberColumn("Distance", format="%.2f", help="In standard deviations"),
            "cohort": "Cohort",
            "truth": "Truth",
            "sent to": st.column_config.TextColumn("Decided by", help="What the active run does with it"),
        },
    )


def comparison(facts: Facts, other: Facts) -> None:
    """Two cases side by side."""
    st.subheader(f"Beside {other.id}", anchor=False)
    for place, each in zip(st.columns(2), (facts, other), strict=True):
        with place:
            st.caption(f"Case {each.id}")
            decision(each)
    widgets.data_table(
        explain.comparison_frame(facts.case, other.case, store.train()),
        key="comparison",
        alt_text=f"The inputs of {facts.id} and {other.id}",
        columns={
            "input": "Input",
            "this": st.column_config.NumberColumn(facts.id, format="%.2f"),
            "other": st.column_config.NumberColumn(other.id, format="%.2f"),
            "apart": st.column_config.NumberColumn("Apart", format="%+.1f", help="In standard deviations"),
        },
    )


def _ending(facts: Facts) -> str:
    """What the truth is and what was said, where it is known."""
    truth = int(facts.case.truth[0])
    if truth == UNKNOWN:
        return "The truth is not known."
    said = int(facts.case.action_labels[0][facts.actions["chosen"].to_numpy()][0])
    verdict = "right" if said == truth else "wrong"
    answer = "has not read it" if said == UNKNOWN else f"says {WORDS[said]}, which is {verdict}"
    return f"In hindsight: the truth is {WORDS[truth]}; {_subject(facts.chosen)} {answer}."


def _subject(action: pd.Series[Any]) -> str:
    return "the AI" if action["action"] == "ai" else str(action["who"])


def _decides(who: str) -> str:
    return "the AI decides" if who == "AI" else f"{who} is asked"


def _flips(rows: pd.DataFrame, sent: bool) -> None:
    found = rows.dropna(subset=["flips_at"])
    turned = "stay with the AI" if sent else "go to a reader"
    if found.empty:
        st.markdown(f"**One input.** None, changed alone within the training range, would make it {turned}.")
        return
    st.markdown(f"**One input.** Changed alone, the easiest first, it would {turned} with")
    for _, row in found.iterrows():
        side = "above" if row["flips_at"] > row["now"] else "below"
        follows = f" (probability {chance(row['probability'])})" if row["variable"].startswith("logit") else ""
        st.markdown(
            f"- {row['input']} {side} **{decimal(row['flips_at'])}**{follows}, now {decimal(row['now'])}: "
            f"{abs(row['change']):.2f} standard deviations"
        )
    never = len(rows) - len(found)
    if never:
        st.caption(f"The other {never} cannot do it alone within the training range.")
