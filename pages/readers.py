"""Readers: who should read what?"""

import streamlit as st

from mpd2 import roster
from mpd2.agreement import FEWEST, against_ai, agreement
from mpd2.figures import readers as figures
from mpd2.studio import frame, store, widgets
from mpd2.studio import texts_readers as texts

about = frame.open_page("readers")
evidence, weights = store.evidence(about), store.weights(about)
cases, outcome = evidence.cohort, evidence.outcomes[about.run]

wins = store.table("wins", about).query("method == @about.run").iloc[0]
gaps = store.table("gaps", about).query("method == @about.run")
matched = store.table("readers", about)
sheet = roster.sheet(matched, gaps, cases)
points = roster.operating_points(matched, store.table("overall", about), about.run)

told = roster.beaten(wins)
st.markdown(told)

st.subheader("How good is each reader?", anchor=False, help=texts.MATCHED)
left, right = st.columns(2, gap="large")
with left:
    widgets.chart(
        figures.f1_barbell(sheet, outcome.title),
        table=sheet,
        key="reader_f1",
        alt_text=f"Each reader's F1 beside that of the run on the same cases. {told}",
        note=texts.BARBELL,
    )
with right:
    widgets.chart(
        figures.operating_points(points, outcome.title),
        table=points,
        key="reader_points",
        alt_text="Sensitivity against specificity of every reader, of the AI and of the run",
        note=texts.POINTS,
    )
widgets.data_table(
    sheet.drop(columns="reader"),
    key="reader_sheet",
    alt_text="Each reader's tier, fee and figures, and the run's F1 on the same cases",
    columns={
        "title": "Reader",
        "tier": "Tier",
        "fee": st.column_config.NumberColumn("Fee", format="%.3f"),
        "n": st.column_config.NumberColumn("Cases"),
        **{
            metric: st.column_config.NumberColumn(name, format="%.3f")
            for metric, name in (
                ("Acc", "Accuracy"), ("Sens", "Sensitivity"), ("Spec", "Specificity"), ("F1", "F1"), ("MCC", "MCC"),
                ("ClinicalCost", "Clinical cost"),
            )
        },
        "FN": st.column_config.NumberColumn("Missed", format="%d"),
        "FP": st.column_config.NumberColumn("False alarms", format="%d"),
        "method_f1": st.column_config.NumberColumn("F1 of the run", format="%.3f"),
        "difference": st.column_config.NumberColumn("Difference", format="%+.3f"),
        "low": st.column_config.NumberColumn("95 % from", format="%+.3f"),
        "high": st.column_config.NumberColumn("to", format="%+.3f"),
        "favours_method": st.column_config.NumberColumn("Run better", format="percent"),
    },
)  # fmt: skip
st.caption(texts.SHEET)

st.subheader("Who gets the work, and who could?", anchor=False)
load, availability = roster.load(outcome, cases, weights), roster.availability(cases)
left, right = st.columns(2, gap="large")
with left:
    capacity = st.number_input(
        "Cases a reader can take", min_value=0, value=None, step=10, placeholder="no limit", key="capacity",
        bind="query-params", help=texts.CAPACITY,
    )  # fmt: skip
    widgets.chart(
        figures.load(load, capacity),
        table=load,
        key="reader_load",
        alt_text="Cases sent to each reader, mean over routers, and how much the routers lean to each",
        note=texts.LOAD,
    )
    st.markdown(roster.busiest(load, capacity))
with right:
    widgets.chart(
        figures.availability(availability),
        table=availability,
        key="reader_availability",
        alt_text="Share of each cohort's cases in which each reader can be asked",
        note=texts.AVAILABILITY,
    )

st.subheader("Do they say the same?", anchor=False)
pairs, contradictions = agreement(cases, weights), against_ai(cases)
widgets.chart(
    figures.kappa(pairs),
    table=pairs,
    key="reader_kappa",
    alt_text="Cohen's kappa of every two readers and of each with the AI, with their common cases",
    note=texts.KAPPA.format(fewest=FEWEST),
)
widgets.chart(
    figures.disagreement(contradictions),
    table=contradictions,
    key="reader_disagreement",
    alt_text="How often each reader contradicts the AI, and who is then right",
    note=texts.DISAGREEMENT,
)
