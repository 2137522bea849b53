"""What stands below the first screen of the Case page, a tab each; only the open one is worked out."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import streamlit as st
from scipy.special import expit

from mpd2.core.manifest import Manifest
from mpd2.core.state import PROBABILITY
from mpd2.core.text import capital, chance, decimal, percent, verbatim
from mpd2.evaluation import explain
from mpd2.methods.base import Ground
from mpd2.present.charts import case as charts
from mpd2.studio.case import store, view
from mpd2.studio.case.store import Facts, Reason
from mpd2.studio.parts import widgets
from mpd2.studio.shell.scenario import Scenario

RULES = {
    "staged": "This run sends a case when all readers together hold more than half of the decision, and then asks the "
    "one who holds most.",
    "joint": "This run takes whoever holds most of the decision, the AI or a reader.",
}


UNREAD = (
    "A case nobody is asked about gets the answer whose error is expected to cost less, or the AI's own where the "
    "operating point forbids to overrule it."
)
BY_COST = f"This run asks whoever is expected to save most after fees, and nobody where none would. {UNREAD}"
BY_POSTERIOR = f"This run asks nobody. {UNREAD}"
EXACT = "Exact Shapley values over all {sets} sets"
DRAWN = "Shapley values over {orders} orders, drawn at random,"
ALIKE = "{title} does the same with every case, whatever its inputs: there is nothing to take apart."
BY_THE_ANSWERS = (
    "{title} looks up the truth and what readers said. A changed or a new case has neither, so it cannot be asked."
)
WHY: dict[Ground, str] = {
    "sending": "The log-odds of sending, from {base} for the mean of {n} training cases to {total} here; above 0 it is "
    "sent. Thin lines: least and most of any of {members} models.",
    "positive": "The log-odds of {one} before anybody is asked, from {base} for the mean of {n} training cases to "
    "{total} here, a probability of {chance}.",
    "asking": "What asking the best reader is expected to save after all fees, from {base} for the mean of {n} "
    "training cases to {total} here; above 0 asking pays.",
}


def why(facts: Facts, about: Scenario) -> None:
    """What each input adds to the numbers the case is decided by."""
    if not facts.inputs:
        told = ALIKE if facts.deployable else BY_THE_ANSWERS
        st.info(told.format(title=facts.title), icon=":material/info:")
        return
    reasons = store.reasons(about, facts.id)
    for place, (ground, reason) in zip(st.columns(max(len(reasons), 1), gap="medium"), reasons.items(), strict=False):
        with place:
            _reason(ground, reason, facts)
    if not facts.case.available.any():
        st.info("No reader is available for this case, so whether to ask is no question.", icon=":material/person_off:")
    scores = facts.case.layout.scores
    together = (
        f" The AI's probability and uncertainty follow from its {'two scores' if len(scores) > 1 else 'score'}: read "
        "them together."
        if {PROBABILITY, *scores} <= set(facts.inputs)
        else ""
    )
    if reasons:
        orders = max(reason.orders for reason in reasons.values())
        how = DRAWN.format(orders=orders) if orders else EXACT.format(sets=2 ** len(facts.inputs))
        st.caption(
            f"{how} of the {len(facts.inputs)} inputs the method looks at: from the training cases to this one they "
            f"add up.{together}"
        )


def changes(facts: Facts, about: Scenario) -> None:
    """What would turn the decision: the budget, an absence, one input."""
    place, n = store.place(about, facts.id)
    rule = BY_COST if facts.own_model else BY_POSTERIOR if facts.own_posterior else RULES[facts.run.rule]
    st.markdown(f"**Rule.** {rule}")
    st.markdown(f"**Budget.** {_budget(place, n, facts.sent)}")
    if facts.sent:
        order = store.stand_ins(about, facts.id)
        steps = [f"{before} is away, {_decides(after)}" for before, after in pairwise(order)]
        st.markdown(f"**Absence.** If {'; if also '.join(steps)}.")
    if facts.deployable:
        _flips(store.flips(about, facts.id), facts.case.layout.scores)
    else:
        st.markdown(f"**One input.** {BY_THE_ANSWERS.format(title=facts.title)}")


def inputs(facts: Facts) -> None:
    """What the run saw when it decided."""
    ranges = explain.range_frame(facts.case, facts.train)
    flagged = ranges[ranges["flag"] != explain.INSIDE]
    widgets.chart(
        charts.input_ranges(ranges),
        table=ranges,
        key="inputs",
        alt_text="Each input of the case on the training cases of its cohort"
        + "".join(f"; {row['input']} is {row['flag']}" for _, row in flagged.iterrows()),
        note=f"The {len(ranges)} inputs a run sees, and nothing else. Blue: the {ranges['n'].iloc[0]} training cases "
        "of its cohort, from lowest to highest, the middle 90 % and 50 % thicker, the median a tick. A value outside "
        f"is drawn at the edge.{_meanings(facts.case.manifest)}",
    )


def similar(facts: Facts, about: Scenario) -> None:
    """The most similar training cases."""
    widgets.data_table(
        store.similar(about, facts.id),
        key="similar",
        alt_text="The most similar training cases with truth and every reader's answer",
        columns={
            "case_id": "Case",
            "distance": st.column_config.NumberColumn("Distance", format="%.2f", help="In standard deviations"),
            "cohort": "Cohort",
            "truth": "Truth",
            "done": st.column_config.TextColumn("What is done", help="By the active run"),
        },
    )
    st.caption(f"The {store.NEIGHBOURS} training cases nearest in all inputs taken together.")


def comparison(facts: Facts, other: Facts) -> None:
    """Two cases side by side."""
    for place, each in zip(st.columns(2), (facts, other), strict=True):
        with place:
            st.caption(f"Case {verbatim(each.id)}")
            view.decision(each)
    widgets.data_table(
        explain.comparison_frame(facts.case, other.case, facts.train),
        key="comparison",
        alt_text=f"The inputs of {facts.id} and {other.id}",
        columns={
            "input": "Input",
            "this": st.column_config.NumberColumn(facts.id, format="%.2f"),
            "other": st.column_config.NumberColumn(other.id, format="%.2f"),
            "apart": st.column_config.NumberColumn("Apart", format="%+.1f", help="In standard deviations"),
        },
    )


def _meanings(manifest: Manifest) -> str:
    """What each input means, of those whose owners say it."""
    said = [f" {capital(each.title or each.column)}: {each.means}" for each in manifest.inputs if each.means]
    return "".join(f"{words.rstrip('.')}." for words in said)


def _budget(place: int, n: int, sent: bool) -> str:
    """From which budget on a case is sent, in the order of the Budget page."""
    if not place:
        return "Nobody can read this case: no budget sends it."
    below = " With fewer it is kept." if sent else " The run by itself sends fewer."
    return f"It is sent once {place} of the {n} cases are sent, a budget of {percent(place / n, 1)}.{below}"


def _decides(who: str) -> str:
    return "it is kept" if who == "AI" else f"{who} is asked"


def _reason(ground: Ground, reason: Reason, facts: Facts) -> None:
    """One number and what each input adds to it."""
    task = facts.case.manifest.task
    rows = reason.parts
    first = rows.sort_values("adds", key=abs, ascending=False).iloc[0]
    widgets.chart(
        charts.attribution_bars(rows, ground, task),
        table=rows,
        key=f"why:{ground}",
        alt_text=f"What each input {charts.adds(ground, task)[1]}; most, {decimal(first['adds'], 2, signed=True)}, "
        f"{first['input']}",
        note=WHY[ground].format(
            one=task.one,
            base=decimal(reason.base, 2, signed=True),
            total=decimal(reason.total, 2, signed=True),
            chance=chance(float(expit(reason.total))),
            n=explain.BACKGROUND,
            members=facts.members,
        ),
    )


def _flips(rows: pd.DataFrame, scores: tuple[str, ...]) -> None:
    if rows.empty:
        st.markdown("**One input.** None, changed alone within the training range, would change what is done.")
        return
    st.markdown("**One input.** Changed alone within the training range, the easiest first, these change what is done:")
    for _, row in rows.iterrows():
        side = "above" if row["flips_at"] > row["now"] else "below"
        follows = f" (AI's probability {chance(row['probability'])})" if row["variable"] in scores else ""
        st.markdown(
            f"- {row['input']} {side} **{decimal(row['flips_at'])}**{follows}, now {decimal(row['now'])}, "
            f"{decimal(abs(row['change']), 2)} standard deviations away: **{row['then']}**"
        )
