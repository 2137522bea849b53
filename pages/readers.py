"""Readers: who should read what?"""

import streamlit as st

from mpd2.evaluation import roster
from mpd2.evaluation.agreement import FEWEST
from mpd2.present.charts import readers as figures
from mpd2.studio.parts import widgets
from mpd2.studio.readers import store, texts
from mpd2.studio.shell import frame

about = frame.open_page("readers")
facts = store.readers(about)
st.markdown(facts.told)

st.subheader("How good is each reader?", anchor=False, help=texts.MATCHED)
left, right = st.columns(2, gap="large")
with left:
    widgets.chart(
        figures.f1_barbell(facts.sheet, facts.title),
        table=facts.sheet,
        key="reader_f1",
        alt_text=f"Each reader's F1 beside that of the run on the same cases. {facts.told}",
        note=texts.BARBELL,
    )
with right:
    widgets.chart(
        figures.operating_points(facts.points, facts.title),
        table=facts.points,
        key="reader_points",
        alt_text="Sensitivity against specificity of every reader, of the AI and of the run",
        note=texts.POINTS,
    )
widgets.data_table(
    facts.sheet.drop(columns="reader"),
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
left, right = st.columns(2, gap="large")
with left:
    capacity = st.number_input(
        "Cases a reader can take", min_value=0, value=None, step=10, placeholder="no limit", key="capacity",
        bind="query-params", help=texts.CAPACITY,
    )  # fmt: skip
    widgets.chart(
        figures.load(facts.load, capacity),
        table=facts.load,
        key="reader_load",
        alt_text="Cases sent to each reader, mean over routers, and how much the routers lean to each",
        note=texts.LOAD,
    )
    st.markdown(roster.busiest(facts.load, capacity))
with right:
    widgets.chart(
        figures.availability(facts.availability),
        table=facts.availability,
        key="reader_availability",
        alt_text="Share of each cohort's cases in which each reader can be asked",
        note=texts.AVAILABILITY,
    )

st.subheader("Do they say the same?", anchor=False)
widgets.chart(
    figures.kappa(facts.pairs),
    table=facts.pairs,
    key="reader_kappa",
    alt_text="Cohen's kappa of every two readers and of each with the AI, with their common cases",
    note=texts.KAPPA.format(fewest=FEWEST),
)
widgets.chart(
    figures.disagreement(facts.contradictions),
    table=facts.contradictions,
    key="reader_disagreement",
    alt_text="How often each reader contradicts the AI, and who is then right",
    note=texts.DISAGREEMENT,
)
