"""Risk: where does it break?"""

import streamlit as st

from mpd2.evaluation import regions
from mpd2.evaluation.curves import MEAN_READER, RISK_SIGNALS, cases_in_stratum
from mpd2.present.charts import risk as figures
from mpd2.studio.parts import widgets
from mpd2.studio.parts.case_list import case_list
from mpd2.studio.shell import frame, link, store

SIGNAL_NAMES = {"reliability": "AI reliability risk", "structural": "Structural risk"}

about = frame.open_page("risk")
evidence = store.evidence(about)

left, middle, right = st.columns([5, 4, 3], vertical_alignment="bottom")
with left:
    signal = link.one(
        st.segmented_control,
        "Cases ranked by",
        list(SIGNAL_NAMES),
        key="signal",
        default="reliability",
        required=True,
        format_func=SIGNAL_NAMES.__getitem__,
        help="\n\n".join(f"**{SIGNAL_NAMES[name]}.** {text}" for name, text in RISK_SIGNALS.items()),
    )
with middle:
    strata = st.slider(
        "Strata",
        min_value=3,
        max_value=10,
        value=store.STUDY_STRATA,
        key="strata",
        bind="query-params",
        help="Cases are ranked from easy to hard and cut into this many parts of equal size.",
    )
with right:
    bands = st.toggle(
        "95 % bands",
        value=True,
        key="bands",
        bind="query-params",
        help="95 % of 2,000 resamples of the cases, drawn within each cohort, give a cost inside the band.",
    )

curves = store.risk(about, signal, strata)
titles = dict(zip(curves["method"], curves["title"], strict=True))
printed = [name for name, outcome in evidence.outcomes.items() if outcome.published]
beside = link.many(
    st.multiselect,
    "Beside the active run",
    sorted(titles, key=titles.__getitem__),
    key="methods",
    default=[MEAN_READER, *sorted(printed)],
    format_func=titles.__getitem__,
    help="The mean available reader is the average over those who have read a case.",
)
shown = curves[curves["method"].isin([about.run, *beside])]
told = figures.in_words(shown, about.run)

st.markdown(told)
picked = widgets.chart(
    figures.risk_curves(shown, about.run, SIGNAL_NAMES[signal], bands),
    table=shown,
    key="risk",
    alt_text=f"Clinical cost of {len(beside) + 1} methods in {strata} strata of risk. {told}",
    note=f"{RISK_SIGNALS[signal]} Every stratum has as many cases. Clinical cost counts wrong final answers, not fees: "
    f"a missed glaucoma costs {evidence.costs.false_negative}, a false alarm {evidence.costs.false_positive}. Green "
    "diamonds: the active run; orange squares: the AI alone; blue triangles: the mean available reader. Click a point "
    "to see its cases.",
    select=figures.PICKED,
)
with st.expander("The figures", icon=":material/table:"):
    figures_of = shown[["title", "stratum", "value", "low", "high", "sd", "n"]].reset_index(drop=True)
    rows = widgets.data_table(
        figures_of,
        key="risk_figures",
        alt_text="Clinical cost of each method in each stratum",
        columns={
            "title": "Method",
            "stratum": st.column_config.NumberColumn("Stratum", help="1 is the easiest"),
            "value": st.column_config.NumberColumn("Clinical cost", format="%.3f"),
            "low": st.column_config.NumberColumn("95 % from", format="%.3f"),
            "high": st.column_config.NumberColumn("to", format="%.3f"),
            "sd": st.column_config.NumberColumn("Spread", format="%.3f", help="Standard deviation over seeds"),
            "n": st.column_config.NumberColumn("Cases"),
        },
        pick=True,
    )

points = picked or shown.iloc[rows][["method", "stratum"]].to_dict("records")
if points:
    method, stratum = points[0]["method"], int(points[0]["stratum"])
    inside = regions.cases(evidence, method).query(
        "case_id in @ids", local_dict={"ids": set(cases_in_stratum(evidence.cohort, signal, strata, stratum))}
    )
    st.subheader(f"Stratum {stratum} of {strata}, {titles[method]}", anchor=False)
    case_list(inside, key="risk_cases", alt_text=f"The cases of stratum {stratum} as {titles[method]} decides them")
