"""The parts of the Robustness page: other splits, an unseen cohort, a promise, a planner; drawn when looked at."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from mpd2.evaluation.metrics import label_of
from mpd2.present.charts import robustness as charts
from mpd2.studio.parts import guarantee_panel, method_table, widgets
from mpd2.studio.parts.not_built import not_built
from mpd2.studio.robustness import planner, store, texts
from mpd2.studio.shell import link
from mpd2.studio.shell.results import has, stored
from mpd2.studio.shell.scenario import Scenario
from mpd2.studio.shell.store import manifest, run_title
from mpd2.study.robustness import REPORTED

RATES_FIRST = ("Spec", "Sens", "Defer", "Consults", "ExpertCost", "TotalCost")
"""What methods that keep the same floor are compared by."""
MOST_IN_A_ROW = 12  # cohorts; more are chosen from a list


def draw(about: Scenario) -> None:
    """The whole page."""
    asked = (part for part, keys in texts.OWN_KEYS.items() if any(key in st.query_params for key in keys))
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        topic = link.one(st.segmented_control, "Part", list(texts.TOPICS), key="robustness_topic",
                         default=next(asked, "resplits"), required=True, format_func=texts.TOPICS.__getitem__,
                         label_visibility="collapsed")  # fmt: skip
    if topic == "resplits":
        resplits(about, row)
    elif topic == "unseen":
        unseen(about, row)
    elif topic == "promise":
        guarantee_panel.panel(about)
    else:
        planner.draw(about)
    st.caption(texts.SCOPE)


def resplits(about: Scenario, row: DeltaGenerator) -> None:
    """Every method over random resplits at the operating point, and its difference from the best.

    The metric is chosen in `row`.
    """
    floor = store.judged_floor(about)
    if not store.has_resplits(about.workspace, floor):
        not_built("The comparison over other splits of the cases", about.workspace)
        return
    metrics = REPORTED if floor is None else RATES_FIRST
    with row:
        metric = link.one(st.selectbox, "Metric", metrics, key="resplit_metric", default=metrics[0],
                          format_func=label_of, width=190, label_visibility="collapsed")  # fmt: skip
    levels, rivals = store.over_resplits(about.workspace, floor)
    of_levels, of_rivals = store.of_metric(about.workspace, floor, metric)
    run, against = about.run, run_title(str(rivals["reference"].iloc[0]))
    st.markdown(store.on_other_splits(about.workspace, floor))
    left, right = st.columns(2)
    with left:
        widgets.chart(
            charts.resplits(levels, metric, run),
            table=of_levels,
            key="resplits",
            alt_text=f"Mean {label_of(metric)} of every method over resplits, with intervals",
        )
    with right:
        widgets.chart(
            charts.rivals(rivals, metric, run, against),
            table=of_rivals,
            key="rivals",
            alt_text=f"Difference in {label_of(metric)} of every method from {against}, resplit by resplit",
        )
    point = texts.AT_FLOOR.format(floor=floor.in_words()) if floor else texts.AS_FITTED if about.floor else ""
    st.caption(
        f"{texts.RESPLITS.format(metric=method_table.help_of(metric, about), n=levels['n'].max())} {point}".strip()
    )


def unseen(about: Scenario, row: DeltaGenerator) -> None:
    """A cohort that no method was trained on, chosen in `row`, and what labelled cases of it change."""
    if len(manifest(about.workspace).cohorts) == 1:
        st.info(texts.ONE_COHORT, icon=":material/info:")
        return
    if not has(about.workspace, *store.NEW_COHORT):
        not_built("The test in cohorts that no method was trained on", about.workspace)
        return
    names = store.study(about.workspace).cohorts
    cohorts = stored(about.workspace, "transfer")["cohort"].drop_duplicates().tolist()
    with row:
        few = len(cohorts) <= MOST_IN_A_ROW
        widget: Any = partial(st.segmented_control, required=True) if few else partial(st.selectbox, width=260)
        cohort = link.one(widget, "Unseen cohort", cohorts, key="new_cohort", default=cohorts[0],
                          format_func=names.__getitem__, label_visibility="collapsed")  # fmt: skip
    tables = (stored(about.workspace, name) for name in store.NEW_COHORT)
    cold, curve = (rows[rows["cohort"] == cohort] for rows in tables)
    name = names[cohort]
    st.markdown(store.in_unseen(about.workspace, cohort))
    left, right = st.columns(2)
    with left:
        widgets.chart(
            charts.transfer(cold, name, about.run),
            table=cold,
            key="transfer",
            alt_text=f"Total cost of every method with {name} unseen, and when it was trained on {name} too",
        )
    with right:
        widgets.chart(
            charts.recalibration(curve, name),
            table=curve,
            key="recalibration",
            alt_text=f"Total cost in {name} by the number of labelled local cases in training",
        )
    st.caption(f"{texts.NEW_COHORT} {texts.UNSEEN.format(resplits=cold['n'].max(), draws=curve['n'].max())}")
