"""Robustness: does it hold elsewhere?"""

import streamlit as st

from mpd2.evaluation.metrics import label_of
from mpd2.evaluation.tables import ALL
from mpd2.present.charts import robustness as figures
from mpd2.studio.parts import guarantee_panel, method_table, widgets
from mpd2.studio.shell import frame, link, store
from mpd2.study.resplits import REPORTED
from mpd2.study.tables import StudyTables

about = frame.open_page("robustness")
tables = {name: store.ablation(name) for name in store.ELSEWHERE}
told = StudyTables(tables, store.cohort().manifest)
on_other_splits, in_new_cohorts = store.elsewhere()
st.caption(
    "Every method is fitted and chosen anew each time, and judged once on cases it has not seen. The slice chosen in "
    "the sidebar does not change these figures."
)


@st.fragment
def resplits() -> None:
    """Every method over random resplits."""
    st.subheader("On other splits of the cases", anchor=False)
    st.markdown(on_other_splits)
    metric = link.one(st.selectbox, "Metric", REPORTED, key="resplit_metric", default=REPORTED[0],
                      format_func=label_of, width=300)  # fmt: skip
    rows = tables["resplits"]
    rows = rows[rows["cohort"] == ALL]
    against = told.titles[tables["rivals"]["reference"].iloc[0]]
    levels, differences = st.columns(2)
    with levels:
        widgets.chart(
            figures.resplits(rows, metric, about.run),
            table=rows[rows["metric"] == metric],
            key="resplits",
            alt_text=f"Mean {label_of(metric)} of every method over resplits, with intervals",
        )
    with differences:
        widgets.chart(
            figures.rivals(tables["rivals"], metric, about.run, against),
            table=tables["rivals"][tables["rivals"]["metric"] == metric],
            key="rivals",
            alt_text=f"Difference in {label_of(metric)} of every method from {against}, resplit by resplit",
        )
    st.caption(
        f"{method_table.help_of(metric)} Intervals are Student's 95 % over n = {rows['n'].max()} "
        "resplits, widened for the cases that resplits share. Where an interval on the right leaves out the line, the "
        "difference is beyond chance. Green diamonds: the active run; orange squares: the AI alone."
    )


@st.fragment
def new_cohort() -> None:
    """A cohort nobody learned from, and what local cases buy."""
    st.subheader("In a cohort nobody learned from", anchor=False)
    st.markdown(in_new_cohorts)
    key = link.one(
        st.segmented_control,
        "New cohort",
        list(dict.fromkeys(tables["transfer"]["cohort"])),
        key="new_cohort",
        default=tables["transfer"]["cohort"].iloc[0],
        required=True,
        format_func=told.cohorts.__getitem__,
        help="Learned from are the other cohorts' train and val cases; judged are this one's test cases.",
    )
    cold, curve = (tables[name][tables[name]["cohort"] == key] for name in ("transfer", "recalibration"))
    name = told.cohorts[key]
    left, right = st.columns(2)
    with left:
        widgets.chart(
            figures.transfer(cold, name, about.run),
            table=cold,
            key="transfer",
            alt_text=f"Total cost of every method with {name} new, and when it was learned from",
        )
    with right:
        widgets.chart(
            figures.recalibration(curve, name),
            table=curve,
            key="recalibration",
            alt_text=f"Total cost in {name} by the number of labelled local cases in training",
        )
    st.caption(
        f"Left: n = {cold['n'].max()} resplits. Right: n = {curve['n'].max()} draws of local "
        "cases, added to the other cohorts' cases. Bars and bands are 95 % intervals, widened for shared cases."
    )


resplits()
new_cohort()
st.subheader("What can be promised about glaucoma no reader sees", anchor=False)
guarantee_panel.panel(about.run)
