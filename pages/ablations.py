"""Ablations: what does each term buy?"""

from typing import Literal

import streamlit as st

from mpd2.evaluation.metrics import label_of
from mpd2.evaluation.tables import ALL, BUDGET_CONTROL, OBJECTIVE, REGULARISATION
from mpd2.present.charts import ablations as figures
from mpd2.present.words.answer import in_words
from mpd2.present.words.side_by_side import side_by_side
from mpd2.studio.parts import method_table, widgets
from mpd2.studio.shell import frame, link, store
from mpd2.study.claims import FAILS, HARDLY, HOLDS, OF_THE_OBJECTIVE, RATHER, UNKNOWN
from mpd2.study.tables import StudyTables

STUDIES = {"objective": "Terms of the objective", "regularisation": "Spreading the load", "budget": "The budget"}
METRICS = {"objective": OBJECTIVE, "regularisation": REGULARISATION, "budget": BUDGET_CONTROL}
FIRST = {"objective": "ClinicalCost", "regularisation": "Top1", "budget": "F1"}
Colour = Literal["green", "blue", "orange", "red", "gray"]
BADGES: dict[str, tuple[Colour, str]] = {
    HOLDS: ("green", ":material/check_circle:"),
    RATHER: ("blue", ":material/help:"),
    HARDLY: ("orange", ":material/help:"),
    FAILS: ("red", ":material/cancel:"),
    UNKNOWN: ("gray", ":material/block:"),
}
EXPLAINED = {
    "objective": "The router is trained to make errors rare (clinical cost) and fees small, to prefer reliable readers "
    "(GSDP), not to lean on one of them (Rank-JS), and to keep a budget. Here one term at a time is taken away.",
    "regularisation": "GSDP and Rank-JS are there so that not everything goes to the same reader. Here they are taken "
    "away, and the readers' load is watched.",
    "budget": "A budget tells training which share of cases it may send at most. It acts on soft deferral, the mean "
    "probability; hard deferral is what is then sent.",
}

frame.open_page("ablations")
tables = {name: store.ablation(name) for name in (*STUDIES, "effects")}
told = StudyTables(tables, store.cohort().manifest)
st.caption(
    f"These figures are about the paper's own configuration, trained anew for each condition with {told.seeds} seeds "
    "and judged on all test cases; the run and the slice chosen in the sidebar do not change them. Intervals are "
    "Student's, over seeds."
)


def claims() -> None:
    """What the paper says each term does, and whether it does so here."""
    st.subheader("Does it hold here?", anchor=False)
    places = [place for _ in range(0, len(OF_THE_OBJECTIVE), 2) for place in st.columns(2)]
    for place, claim, finding in zip(places, OF_THE_OBJECTIVE, store.terms(), strict=False):
        colour, icon = BADGES[finding.verdict]
        with place.container(border=True, height="stretch"):
            st.markdown(f"**{claim.statement}**")
            st.badge(finding.verdict, color=colour, icon=icon)
            st.caption(in_words(finding.text))
    st.caption(
        f"*{HOLDS}* and *{FAILS}*: the intervals leave no other reading. *{RATHER}* and *{HARDLY}*: what the figures "
        "say, and other seeds could have said otherwise. Brackets hold 95 % intervals of differences, seed by seed."
    )


@st.fragment
def study() -> None:
    """One of the three ablations."""
    name = link.one(st.segmented_control, "Study", list(STUDIES), key="study", default="objective", required=True,
                    format_func=STUDIES.__getitem__, label_visibility="collapsed")  # fmt: skip
    st.markdown(EXPLAINED[name])
    changed = [metric for metric in METRICS[name] if metric in set(tables["effects"]["metric"])]
    metric = link.one(st.selectbox, "Metric", changed, key=f"figure-{name}", default=FIRST[name],
                      format_func=label_of, width=300)  # fmt: skip
    st.caption(method_table.help_of(metric))
    rows, effects = figures.in_words(tables[name], name), figures.effects_of(tables["effects"], name, metric)
    levels, changes = st.columns(2)
    with levels:
        widgets.chart(
            figures.levels(rows, metric),
            table=rows[rows["metric"] == metric],
            key="levels",
            alt_text=f"{label_of(metric)} of each condition with its interval, and the paper's figure",
        )
    with changes:
        widgets.chart(
            figures.effects(effects),
            table=effects,
            key="effects",
            alt_text=f"Change in {label_of(metric)} of each condition with its interval",
        )
    st.caption(f"Where an interval of the right figure leaves out the line, the change is beyond chance. "
               f"n = {told.seeds} seeds.")  # fmt: skip
    if name == "budget":
        widgets.chart(
            figures.budget_control(rows),
            table=rows[rows["metric"].isin(figures.KINDS)],
            key="budget-control",
            alt_text="Realised soft and hard deferral against the target, with the line of equality",
            note="Below the dashed line the budget is kept. Hollow: in the paper.",
        )
    columns = method_table.heads(METRICS[name], ALL)
    intervals, printed = method_table.switches(name, True, "Student's 95 % interval of the mean over seeds.")
    table = side_by_side(rows, columns, first=figures.AGAINST[name], intervals=intervals, printed=printed)
    method_table.wide_table(rows, table, columns, key=f"table-{name}", active=figures.AGAINST[name], head="Condition",
                           roomy=intervals,
                           alt_text=f"{STUDIES[name]}: a row for each condition, a column for each figure")  # fmt: skip


claims()
study()
