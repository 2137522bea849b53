"""The parts of the Readers page: one sentence, then a tab for each of three questions, drawn when it is looked at."""

from __future__ import annotations

import streamlit as st

from mpd2.evaluation import readers
from mpd2.evaluation.readers import FEWEST
from mpd2.present.charts import readers as charts
from mpd2.studio.parts import widgets
from mpd2.studio.parts.deciders import who_decides
from mpd2.studio.readers import store, texts
from mpd2.studio.shell import link
from mpd2.studio.shell.scenario import Scenario

MOST = 10_000_000  # cases that a reader could be said to take
SHARES = ("Sens", "Spec", "favours_method")  # columns of the readers' table in per cent


def draw(about: Scenario) -> None:
    """The whole page."""
    st.markdown(f"**{store.quality(about).wins}**")
    default = "workload" if "capacity" in st.query_params else "quality"  # links were made before there were tabs
    topic = link.one(st.segmented_control, "Topic", list(texts.TOPICS), key="readers_topic", default=default,
                     required=True, format_func=texts.TOPICS.__getitem__, label_visibility="collapsed")  # fmt: skip
    {"quality": quality, "workload": workload, "agreement": agreement}[topic](about)


def quality(about: Scenario) -> None:
    """How good each reader is, beside the run."""
    facts = store.quality(about)
    left, right = st.columns(2, gap="large")
    with left:
        widgets.chart(
            charts.f1_barbell(facts.sheet, facts.title),
            table=facts.sheet,
            key="reader_f1",
            alt_text=f"Each reader's F1 beside that of the run on the same cases. {facts.wins}",
            note=f"{texts.BARBELL} {texts.MATCHED}",
        )
    with right:
        widgets.chart(
            charts.operating_points(facts.points, facts.title),
            table=facts.points,
            key="reader_points",
            alt_text="Sensitivity against specificity of every reader, of the AI and of the run",
            note=texts.POINTS,
        )
    widgets.data_table(
        store.sheet_in_percent(about, tuple(_COLUMNS), SHARES),
        csv=facts.sheet,
        key="reader_sheet",
        alt_text="Each reader's tier, fee and scores, and the run's F1 on the same cases",
        columns=_COLUMNS,
    )
    st.caption(texts.SHEET)


def workload(about: Scenario) -> None:
    """Who is asked, and who could be."""
    facts = store.workload(about)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        capacity = widgets.whole_number(
            "Cases a reader can take", 0, MOST, None, 10, placeholder="no limit", key="capacity", help=texts.CAPACITY,
            width=260,
        )  # fmt: skip
        st.markdown(readers.busiest(facts.load, capacity))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.chart(
            charts.load(facts.load, capacity),
            table=facts.load,
            key="reader_load",
            alt_text="Cases sent to each reader, mean over models, and what the models prefer",
            note=texts.LOAD,
        )
    with right:
        widgets.chart(
            charts.availability(facts.availability),
            table=facts.availability,
            key="reader_availability",
            alt_text="Share of each cohort's cases in which each reader can be asked",
            note=texts.AVAILABILITY,
        )
    who_decides(facts.deciders, key="reader_deciders")


def agreement(about: Scenario) -> None:
    """Who agrees with whom, and who is right against the AI."""
    facts = store.agreed(about)
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.chart(
            charts.kappa(facts.pairs),
            table=facts.pairs,
            key="reader_kappa",
            alt_text="Cohen's kappa of every two readers and of each with the AI, with the cases both have read",
            note=texts.KAPPA.format(fewest=FEWEST),
        )
    with right:
        widgets.chart(
            charts.disagreement(facts.contradictions),
            table=facts.contradictions,
            key="reader_disagreement",
            alt_text="How often each reader disagrees with the AI, and who is then right",
            note=texts.DISAGREEMENT,
        )


def _number(label: str, form: str) -> object:
    return st.column_config.NumberColumn(label, format=form)


_COLUMNS = {
    "title": "Reader",
    "tier": "Tier",
    "fee": _number("Fee", "%.3f"),
    "n": "Cases read",
    "Sens": _number("Sensitivity", "%.1f %%"),
    "Spec": _number("Specificity", "%.1f %%"),
    "FN": _number("Missed", "%d"),
    "FP": _number("False alarms", "%d"),
    "F1": _number("F1", "%.3f"),
    "method_f1": _number("F1 of the run", "%.3f"),
    "difference": _number("Difference", "%+.3f"),
    "low": _number("95 % from", "%+.3f"),
    "high": _number("to", "%+.3f"),
    "favours_method": _number("Run better", "%.0f %%"),
}
