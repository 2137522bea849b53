"""Map: where does it defer?"""

from functools import partial

import streamlit as st

from mpd2.core.cohort import STATE
from mpd2.core.text import MINUS
from mpd2.evaluation import regions
from mpd2.present.charts import map as figures
from mpd2.present.charts.map_print import for_paper
from mpd2.studio.parts import widgets
from mpd2.studio.parts.case_list import case_list
from mpd2.studio.shell import frame, link, store

LAYOUTS = {"four": "Four panels", "one": "One large map"}
NEIGHBOURS = 15  # cases an average is taken over: few enough to stay local, enough for a share
FEW = 20  # cases below which a region says little
HEADLINES = ("ai_wrong", "wrong", "deferred", "total")

REGION = "region"  # key of the session: the ids chosen last, kept apart because a redrawn chart forgets its selection


def keep_region() -> None:
    """Remember what was chosen on the map."""
    st.session_state[REGION] = figures.picked_ids(st.session_state["map"]["selection"])


def forget_region() -> None:
    """Choose nothing."""
    st.session_state[REGION] = []


about = frame.open_page("map")
evidence, layout = store.evidence(about), store.embedding()
x, y = layout.of(evidence.cohort).T
cases = regions.cases(evidence, about.run).assign(x=x, y=y)
st.markdown(regions.deferral_in_words(cases))

left, middle, right = st.columns([5, 5, 3], vertical_alignment="bottom")
with left:
    arrangement = link.one(
        st.segmented_control,
        "Show",
        list(LAYOUTS),
        key="layout",
        default="four",
        required=True,
        format_func=LAYOUTS.__getitem__,
        help="The four panels move together; one large map can be coloured by anything known of a case.",
    )
with middle:
    paint = link.one(
        st.selectbox,
        "Colour",
        list(figures.PAINTS),
        key="colour",
        default="action",
        format_func=lambda name: figures.PAINTS[name].title,
        disabled=arrangement == "four",
        help="What the one large map is coloured by.",
    )
with right:
    averaged = st.toggle(
        "Local averages",
        value=True,
        key="averaged",
        bind="query-params",
        help=f"Who is right and d are shown as the mean over the {NEIGHBOURS} cases nearest on the map, so that "
        "regions stand out. Off, each point shows its own case alone.",
    )

shares = [painted.column for painted, _ in figures.PANELS.values()]
drawn = regions.smoothed(cases, shares, NEIGHBOURS) if averaged else cases
chosen = st.session_state.get(REGION, [])
st.plotly_chart(
    figures.four_panels(drawn, chosen) if arrangement == "four" else figures.one_panel(drawn, paint, chosen),
    key="map",
    on_select=keep_region,
    selection_mode=("points", "box", "lasso"),
    theme="streamlit",
    config={"displaylogo": False},
    alt=f"Map of {len(cases)} cases, alike ones side by side. The region chosen on it is described below in a table.",
)
made, routers = layout.parameters, len(evidence.outcomes[about.run].decisions.label)
st.caption(
    f"Each point is a case; cases that look alike to a router lie side by side. All {len(cases)} cases of the slice "
    f"are shown, none is sampled. The map is a UMAP of the {len(STATE)} inputs a router sees, laid out once for all "
    f"{len(layout.ids)} cases of the table ({made.neighbours} neighbours, minimum distance {made.min_distance}, "
    f"{made.metric} distance, seed {made.seed}): only nearness has a meaning, not direction or scale. What the active "
    f"run does with a case is the mean over its members, here {routers}; readers right is the share of those who have "
    "read it. d, from 0 to 1, is how strongly the run leans towards a reader. Square: the AI; triangle: readers; "
    "diamond: the active run."
)
panels = list(figures.PANELS) if arrangement == "four" else [paint]
widgets.files(partial(for_paper, drawn, panels, chosen), cases, "map_cases")

inside = cases["case_id"].isin(chosen).to_numpy()
if not inside.any():
    st.info("Drag a box or a lasso over the map to see how a region differs from the rest.", icon=":material/select:")
    st.stop()

with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.subheader(f"The region: {inside.sum()} of {len(cases)} cases", anchor=False)
    st.button("Forget the region", on_click=forget_region, icon=":material/deselect:", type="tertiary")
if inside.sum() < FEW:
    st.caption(f":material/warning: Fewer than {FEW} cases say little; look at the intervals.")
compared = regions.compare(cases, inside, store.weights(about))
words = regions.in_words(compared)
widgets.key_numbers(
    [
        {
            "label": row["title"],
            "value": row["value"],
            "delta": f"{row['gap']} to the rest",
            "delta_color": "off",
            "delta_arrow": "down" if row["gap"].startswith(MINUS) else "up",
            "help": f"Region {row['region']}, rest {row['rest']}; 95 % intervals, n = {inside.sum()} in the region.",
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
st.caption("In brackets 95 % intervals: Wilson's for rates, the bootstrap's for costs.")
widgets.download(compared, "region_against_rest")

mix = regions.reader_mix(evidence, about.run, inside)
if not mix.empty:
    widgets.chart(
        figures.region_mix(mix),
        table=mix,
        key="region_readers",
        alt_text="Share of the readings each reader does in the region and in the rest",
        note="Of the cases sent, who reads them, mean over routers. Lines are 95 % intervals (Wilson).",
    )
case_list(cases[inside], key="region_cases", alt_text="The cases of the region")
