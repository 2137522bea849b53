"""The parts of the Risk page: a sentence and its curves, then the numbers and the cases of a point."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from mpd2.core.policy import decided_cases
from mpd2.evaluation import regions
from mpd2.evaluation.curves import MEAN_READER, cases_in_stratum
from mpd2.present.charts import risk as charts
from mpd2.present.words.deciders import in_words
from mpd2.studio.parts import widgets
from mpd2.studio.parts.case_list import case_list
from mpd2.studio.risk import store as reads
from mpd2.studio.risk import texts
from mpd2.studio.shell import link, results, store
from mpd2.studio.shell.scenario import Scenario


def draw(about: Scenario) -> None:
    """The whole page."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        signals = texts.signals(store.manifest(about.workspace))
        signal = _signal(signals)
        with st.popover("Methods and strata", icon=":material/tune:"):
            strata, bands = _strata()
            beside = tuple(_beside(about, reads.titles(about, signal, strata)))
    shown, words = reads.shown(about, signal, strata, beside), reads.in_words(about, signal, strata, beside)
    st.markdown(words)
    costs = store.evidence(about).costs
    picked = widgets.chart(
        charts.risk_curves(shown, about.run, texts.SIGNALS[signal], bands),
        table=shown,
        key="risk",
        alt_text=texts.ALT.format(methods=shown["method"].nunique(), strata=strata, words=words),
        note=texts.NOTE.format(signal=signals[signal], missed=costs.false_negative, alarm=costs.false_positive),
        select=charts.PICKED,
    )
    points = picked or _numbers(shown, reads.figures(about, signal, strata, beside, tuple(_COLUMNS)))
    if points:
        _cases(about, signal, strata, points[0])


def _signal(signals: dict[str, str]) -> str:
    return link.one(
        st.segmented_control,
        "Rank cases by",
        list(signals),
        key="signal",
        default="reliability",
        required=True,
        format_func=texts.SIGNALS.__getitem__,
        help="\n\n".join(f"**{texts.SIGNALS[name]}.** {text}" for name, text in signals.items()),
    )


def _strata() -> tuple[int, bool]:
    """How many strata, and whether with bands."""
    strata = st.slider(
        "Strata", min_value=3, max_value=10, value=results.STUDY_STRATA, key="strata", bind="query-params",
        help=texts.STRATA,
    )  # fmt: skip
    return strata, st.toggle("95 % bands", value=True, key="bands", bind="query-params", help=texts.BANDS)


def _beside(about: Scenario, titles: Mapping[str, str]) -> list[str]:
    """The methods to be shown beside the active run; those of the paper unless others are chosen."""
    published = [name for name, outcome in store.evidence(about).outcomes.items() if outcome.published]
    return link.many(
        st.multiselect,
        "Beside the active run",
        sorted(titles, key=titles.__getitem__),
        key="methods",
        default=[MEAN_READER, *sorted(published)],
        format_func=titles.__getitem__,
        help=texts.METHODS,
    )


def _numbers(shown: pd.DataFrame, figures: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """The numbers of the curves; the row picked, as a point of the chart."""
    with st.expander("Numbers", icon=":material/table:"):
        rows = widgets.data_table(
            figures,
            key="risk_figures",
            alt_text="Clinical cost of each method in each stratum",
            columns=_COLUMNS,
            pick=True,
        )
    return shown.iloc[rows][["method", "stratum"]].to_dict("records")


def _cases(about: Scenario, signal: str, strata: int, point: Mapping[Any, Any]) -> None:
    """The cases of one stratum as one method decides them."""
    evidence, method, stratum = store.evidence(about), point["method"], int(point["stratum"])
    cases = regions.cases(evidence, method)
    inside = cases["case_id"].isin(cases_in_stratum(evidence.cohort, signal, strata, stratum))
    title = results.risk(about, signal, strata).set_index("method")["title"].loc[method].iloc[0]
    st.subheader(f"Stratum {stratum} of {strata}, {title}", anchor=False)
    if method in evidence.outcomes:
        part = evidence.outcomes[method].decisions.rows(inside.to_numpy())
        st.markdown(in_words(decided_cases(part, evidence.cohort.rows(inside.to_numpy()))))
    case_list(cases[inside], key="risk_cases", alt_text=f"The cases of stratum {stratum} as {title} decides them")


_COLUMNS = {
    "title": st.column_config.TextColumn("Method"),
    "stratum": st.column_config.NumberColumn("Stratum", help="1 is the easiest"),
    "value": st.column_config.NumberColumn("Clinical cost", format="%.3f"),
    "low": st.column_config.NumberColumn("95 % from", format="%.3f"),
    "high": st.column_config.NumberColumn("to", format="%.3f"),
    "sd": st.column_config.NumberColumn("Spread", format="%.3f", help="Standard deviation over seeds"),
    "n": st.column_config.NumberColumn("Cases"),
}
