"""The parts of the Map page: the map, and below it the region selected on it beside the rest."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.arrays import Bools
from mpd2.core.errors import UserError
from mpd2.evaluation import regions
from mpd2.present.charts import map as charts
from mpd2.present.charts.map_print import for_paper
from mpd2.studio.map import region, texts
from mpd2.studio.map import store as reads
from mpd2.studio.parts import case_pictures, widgets
from mpd2.studio.parts.case_list import case_list
from mpd2.studio.parts.hover_picture import hover_picture
from mpd2.studio.parts.not_built import not_built
from mpd2.studio.shell import identity, link, results, store
from mpd2.studio.shell.scenario import Scenario

FEW = 20  # cases below which a region says little
HEADLINES = ("ai_wrong", "wrong", "deferred", "total")
MAP, REGION = "map", "region"  # keys of the session; the region's is in the link too


def draw(about: Scenario) -> None:
    """The whole page."""
    named = identity.is_allowed(Action.SEE_CASE)  # the map is everybody's, ids and pictures are not
    try:
        layout = results.embedding(about.workspace)
    except UserError:  # there is none, or it is of the table before rows were added
        not_built("A map of the cases", about.workspace)
        return
    cases = reads.cases(about, named)
    inside = region.inside(link.free(REGION), cases)
    st.markdown(reads.in_words(about))
    _map(about, cases, cases["case_id"][inside].tolist(), named)
    if inside.any():
        _region(about, cases, inside)
    else:
        st.info(texts.NO_REGION, icon=":material/select:")
    st.caption(
        texts.MADE.format(
            inputs=len(store.manifest(about.workspace).layout),
            all_cases=len(layout.ids),
            **layout.parameters.model_dump(),
        )
    )


def _map(about: Scenario, cases: pd.DataFrame, chosen: list[str], named: bool) -> None:
    """The map with its choices."""
    paints = charts.paints(store.manifest(about.workspace))
    with st.container(horizontal=True, vertical_alignment="center"):
        arrangement = link.one(
            st.segmented_control, "Show", list(texts.LAYOUTS), key="layout", default="four", required=True,
            format_func=texts.LAYOUTS.__getitem__, help=texts.LAYOUT, label_visibility="collapsed",
        )  # fmt: skip
        paint = link.one(
            st.selectbox, "Colour", list(paints), key="colour", default="decider",
            disabled=arrangement == "four", format_func=lambda name: paints[name].title, help=texts.COLOUR,
            label_visibility="collapsed", width=240,
        )  # fmt: skip
        averaged = st.toggle(
            "Local averages", value=True, key="averaged", bind="query-params",
            help=texts.AVERAGED.format(neighbours=reads.NEIGHBOURS),
        )  # fmt: skip
    drawn = reads.averaged(about, named) if averaged else cases
    panels = {name: paints[name] for name in (charts.PANELS if arrangement == "four" else [paint])}
    st.plotly_chart(
        charts.four_panels(drawn, chosen)
        if arrangement == "four"
        else charts.one_panel(drawn, paint, paints[paint], chosen),
        key=MAP,
        on_select=_keep_region,
        selection_mode=("points", "box", "lasso"),
        theme="streamlit",
        config={"displaylogo": False},
        alt=texts.ALT.format(cases=len(cases), colours=", ".join(each.title for each in panels.values())),
    )
    if case_pictures.has_pictures(about.workspace) and named:
        hover_picture(MAP, partial(case_pictures.small_uri, about.workspace))
    models = len(store.evidence(about).outcomes[about.run].decisions.label)
    st.caption(texts.NOTE.format(cases=len(cases), models=models))
    widgets.files(partial(for_paper, drawn, panels, chosen), cases, "map_cases")


def _region(about: Scenario, cases: pd.DataFrame, inside: Bools) -> None:
    """The region beside the rest of the slice: in numbers, by reader, and case by case."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader(f"The region: {inside.sum()} of {len(cases)} cases", anchor=False)
        st.button("Clear the region", on_click=_clear_region, icon=":material/deselect:", type="tertiary")
    if inside.sum() < FEW:
        st.caption(texts.FEW.format(few=FEW))
    compared = regions.compare(cases, inside, store.weights(about), store.cases(about).cluster)
    words = regions.in_words(compared)
    widgets.key_numbers(
        [
            {
                "label": row["title"],
                "value": row["value"],
                "delta": f"{row['gap']} to the rest",
                "delta_color": "off",
                "help": f"Region {row['region']}, rest {row['rest']}; 95 % intervals, n = {inside.sum()}.",
            }
            for row in words[words["measure"].isin(HEADLINES)].to_dict("records")
        ]
    )
    st.dataframe(
        words[["title", "region", "rest", "difference"]],
        column_config={
            "title": "Mean over cases",
            "region": f"Region, n = {inside.sum()}",
            "rest": f"Rest, n = {(~inside).sum()}",
            "difference": "Difference",
        },
        hide_index=True,
        height="content",
        key="region_table",
        alt="The region against the rest of the slice, with 95 % intervals",
    )
    st.caption(texts.INTERVALS)
    widgets.download(compared, "region_against_rest")
    mix = regions.reader_mix(store.evidence(about), about.run, inside)
    if not mix.empty:
        widgets.chart(
            charts.region_mix(mix),
            table=mix,
            key="region_readers",
            alt_text="Who reads the cases sent: each reader's share in the region and in the rest",
            note=texts.MIX,
        )
    case_list(cases[inside], key="region_cases", alt_text="The cases of the region")


def _keep_region() -> None:
    """Remember what was selected, because a redrawn chart forgets it."""
    st.session_state[REGION] = region.words_of(st.session_state[MAP]["selection"])


def _clear_region() -> None:
    st.session_state[REGION] = []
