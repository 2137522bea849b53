"""What stands below the first screen of the Case page, a tab each; only the open one is worked out."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import streamlit as st

from mpd2.core.text import chance, decimal, percent
from mpd2.evaluation import explain
from mpd2.present.charts import case as charts
from mpd2.studio.case import store, view
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets
from mpd2.studio.shell.scenario import Scenario

RULES = {
    "staged": "This run sends a case when all readers together hold more than half of the decision, and then asks the "
    "one who holds most.",
    "joint": "This run takes whoever holds most of the decision, the AI or a reader.",
}


def why(facts: Facts, about: Scenario) -> None:
    """What each input adds to the decision to send."""
    if not facts.explains:
        st.info(f"{facts.title} has no deferral logit to take apart. Choose an MPD² run in the sidebar.",
                icon=":material/info:")  # fmt: skip
        return
    if not facts.case.available.any():
        st.info("No reader is available for this case, so there is nothing to decide.", icon=":material/person_off:")
        return
    rows, base, own = store.attribution(about.run, facts.id)
    first = rows.sort_values("adds", key=abs, ascending=False).iloc[0]
    widgets.chart(
        charts.attribution_bars(rows),
        table=rows,
        key="why",
        alt_text="What each input adds to the log-odds of sending; most, "
        f"{decimal(first['adds'], 2, signed=True)}, {first['input']}",
        note=f"From {decimal(base, 2, signed=True)}, the mean of {explain.BACKGROUND} training cases, to "
        f"{decimal(own, 2, signed=True)} here; above 0, sending is likelier than not. Thin lines: least and most of "
        f"any of {facts.members} models. Exact Shapley values over "
        "all 256 sets of the eight inputs. The AI's probability and uncertainty follow from its two scores: read the "
        "four together.",
    )


def changes(facts: Facts, about: Scenario) -> None:
    """What would turn the decision: the budget, an absence, one input."""
    place, n = store.place(about, facts.id)
    st.markdown(f"**Rule.** {RULES[facts.run.rule]}")
    st.markdown(f"**Budget.** {_budget(place, n, facts.sent)}")
    if facts.sent:
        order = store.stand_ins(about.run, facts.id)
        steps = [f"{before} is away, {_decides(after)}" for before, after in pairwise(order)]
        st.markdown(f"**Absence.** If {'; if also '.join(steps)}.")
    if facts.deployable:
        _flips(store.flips(about.run, facts.id), facts.sent)


def inputs(facts: Facts) -> None:
    """What the run saw when it decided."""
    ranges = explain.range_frame(facts.case, store.train())
    flagged = ranges[ranges["flag"] != explain.INSIDE]
    widgets.chart(
        charts.input_ranges(ranges),
        table=ranges,
        key="inputs",
        alt_text="Each input of the case on the training cases of its cohort"
        + "".join(f"; {row['input']} is {row['flag']}" for _, row in flagged.iterrows()),
        note=f"The eight inputs a run sees, and nothing else. Blue: the {ranges['n'].iloc[0]} training cases of its "
        "cohort, from lowest to highest, the middle 90 % and 50 % thicker, the median a tick. A value outside is drawn "
        "at the edge. Image distance: how unlike its training images the photograph looks to the AI; CDR: cup-to-disc "
        "ratio.",
    )


def similar(facts: Facts, about: Scenario) -> None:
    """The most similar training cases."""
    widgets.data_table(
        store.similar(about.run, facts.id),
        key="similar",
        alt_text="The most similar training cases with truth and every reader's answer",
        columns={
            "case_id": "Case",
            "distance": st.column_config.NumberColumn("Distance", format="%.2f", help="In standard deviations"),
            "cohort": "Cohort",
            "truth": "Truth",
            "sent to": st.column_config.TextColumn("Decided by", help="What the active run does with it"),
        },
    )
    st.caption(f"The {store.NEIGHBOURS} training cases nearest in the eight inputs taken together.")


def comparison(facts: Facts, other: Facts) -> None:
    """Two cases side by side."""
    for place, each in zip(st.columns(2), (facts, other), strict=True):
        with place:
            st.caption(f"Case {each.id}")
            view.decision(each)
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


def _budget(place: int, n: int, sent: bool) -> str:
    """From which budget on a case is sent, in the order of the Budget page."""
    if not place:
        return "Nobody can read this case: no budget sends it."
    below = " With fewer it is kept." if sent else " The run by itself sends fewer."
    return f"It is sent once {place} of the {n} cases are sent, a budget of {percent(place / n, 1)}.{below}"


def _decides(who: str) -> str:
    return "it is kept" if who == "AI" else f"{who} is asked"


def _flips(rows: pd.DataFrame, sent: bool) -> None:
    turning = rows.dropna(subset=["flips_at"])
    turned = "be kept" if sent else "be sent to a reader"
    if turning.empty:
        st.markdown(f"**One input.** None, changed alone within the training range, would make it {turned}.")
        return
    st.markdown(f"**One input.** Changed alone, the easiest first, it would {turned} with")
    for _, row in turning.iterrows():
        side = "above" if row["flips_at"] > row["now"] else "below"
        follows = f" (probability {chance(row['probability'])})" if row["variable"].startswith("logit") else ""
        st.markdown(
            f"- {row['input']} {side} **{decimal(row['flips_at'])}**{follows}, now {decimal(row['now'])}: "
            f"{decimal(abs(row['change']), 2)} standard deviations"
        )
    never = len(rows) - len(turning)
    if never:
        st.caption(f"The other {never} cannot do it alone within the training range.")
