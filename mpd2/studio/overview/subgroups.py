"""For whom it works: the active run in every cohort and band, and how many comparisons that makes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.core.cache import cached
from mpd2.core.text import capital, listed
from mpd2.evaluation.clinical.subgroups import FEWEST, JUDGED, banded, comparisons, groups, subgroups
from mpd2.evaluation.metrics import METRICS, label_of
from mpd2.present.charts.clinical import subgroups as charts
from mpd2.present.words import subgroups as words
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

EXPLAINED = (
    "Bands are thirds of the training cases{by}. n: the cases the metric is about. Thick: 95 % interval; thin: one "
    "that holds for all comparisons together. No gap is shown where a side has fewer than {fewest} such cases."
)
ALONE = "All cases of the slice are alike in cohort and bands: there is nothing to compare."
COLUMNS = {
    "group": "Group",
    "metric": "Metric",
    "n": "Cases",
    "positives": "Positive",
    "value": "Value",
    "span": "95 % interval",
    "beside": "AI alone",
    "gap": "Gap to all others",
    "gap_span": "95 % interval of the gap",
    "wide_span": "for all comparisons",
}


@cached
@st.spinner("Counting …")
def table(about: Scenario) -> pd.DataFrame:
    """Every metric in every group, beside the AI alone; empty where all cases are in the same groups."""
    split = groups(store.cases(about), store.train(about.workspace))
    if not split:
        return pd.DataFrame()
    evidence = store.compared(tuple(dict.fromkeys((about.run, AI))), about)
    return subgroups(evidence, about.run, split, store.weights(about), beside=AI)


def draw(about: Scenario) -> None:
    """What stands out among all comparisons, then one metric in every group, and all of them in numbers."""
    rows = table(about)
    if rows.empty:
        st.info(ALONE)
        return
    st.markdown(f"{words.multiplicity(comparisons(rows))} {words.largest(rows)}")
    metric = link.one(st.segmented_control, "Metric", JUDGED, key="subgroup_metric", default=JUDGED[0], required=True,
                      format_func=lambda name: METRICS[name].heading, label_visibility="collapsed")  # fmt: skip
    shown = rows[rows["metric"] == metric]
    left, right = st.columns(2, gap="large")
    with left:
        widgets.chart(
            charts.levels(shown),
            table=shown,
            key="subgroup_levels",
            alt_text=f"{capital(label_of(metric))} in each group, beside that of the AI alone",
        )
    with right:
        widgets.chart(
            charts.gaps(shown),
            table=shown,
            key="subgroup_gaps",
            alt_text=f"Gap in {label_of(metric)} of each group to all other cases",
        )
    manifest = store.manifest(about.workspace)
    by = [manifest.layout.titles[name] for name in banded(manifest)]
    st.caption(EXPLAINED.format(by=f" by {listed(by)}" if by else "", fewest=FEWEST))
    with st.expander("All numbers"):
        widgets.data_table(
            in_words(rows),
            key="subgroups",
            alt_text="Sensitivity, specificity, total cost and share sent in each group",
            csv=rows,
        )


def in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The table as shown."""
    shown = []
    for row in rows.to_dict("records"):
        metric = METRICS[row["metric"]]
        shown.append({
            "group": capital(row["group"]),
            "metric": metric.heading,
            "n": row["n"],
            "positives": row["positives"],
            "value": metric.shown(row["value"]),
            "span": metric.interval(row["low"], row["high"]),
            "beside": metric.shown(row["beside"]),
            "gap": metric.change(row["gap"]) if pd.notna(row["gap"]) else "too few cases",
            "gap_span": metric.interval(row["gap_low"], row["gap_high"], signed=True),
            "wide_span": metric.interval(row["wide_low"], row["wide_high"], signed=True),
        })  # fmt: skip
    return pd.DataFrame(shown).rename(columns=COLUMNS)
