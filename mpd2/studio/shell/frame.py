"""What stands around every page: the run and the slice in the sidebar, the banner, a page's title."""

from __future__ import annotations

import streamlit as st

from mpd2.core.errors import EmptyCohort
from mpd2.studio.shell import glossary, link, report_button, store
from mpd2.studio.shell.registry import entry
from mpd2.studio.shell.scenario import DEFAULT_RUN, DEFAULT_SPLIT, Scenario

RUN, SPLIT, COHORTS, SAVED = "run", "split", "cohorts", "saved_slices"
"""Keys of the session; the first three are names in the URL too."""

SHOWN_SPLITS = ("val", "test")  # nothing is judged on the cases it was trained on


def draw() -> None:
    """The sidebar's controls and the banner."""
    link.carry(RUN, COHORTS)
    with st.sidebar:
        link.one(
            st.selectbox,
            "Active run",
            store.run_names(),
            key=RUN,
            default=DEFAULT_RUN,
            format_func=store.run_title,
            help=glossary.ACTIVE_RUN,
        )
        link.many(
            st.pills,
            "Cohorts",
            [item.key for item in store.cohort().manifest.cohorts],
            key=COHORTS,
            selection_mode="multi",
            format_func=_cohort_name,
            help=glossary.COHORTS,
        )
        st.segmented_control(
            "Split",
            SHOWN_SPLITS,
            default=DEFAULT_SPLIT,
            required=True,
            key=SPLIT,
            bind="query-params",
            help=glossary.SPLIT,
        )
        _saved_slices()
        report_button.draw(scenario())
    st.caption(f":material/science: {glossary.banner(store.cohort().manifest)}")


def scenario() -> Scenario:
    """What is being looked at, on every page."""
    chosen = tuple(item.key for item in store.cohort().manifest.cohorts if item.key in st.session_state[COHORTS])
    return Scenario(st.session_state[RUN], st.session_state[SPLIT], chosen)


def open_page(key: str) -> Scenario:
    """Print a page's title, its question and what it is about; a stop with the reason if that is no case at all."""
    page, about = entry(key), scenario()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="left"):
        st.title(page.title, anchor=False, width="content")
        st.header(page.question, anchor=False, width="content")  # so that a page's own headings are of the third level
    if page.about == "run":
        st.caption(f"Active run: {store.run_title(about.run)}")
    elif page.about == "slice":
        st.caption(f"{store.run_title(about.run)} on the {about.describe(store.cohort())}, n = {_size(about)}")
    return about


def _size(about: Scenario) -> int:
    try:
        return len(store.cases(about))
    except EmptyCohort as error:
        st.warning(f"{error}. Choose other cohorts or another split in the sidebar.", icon=":material/filter_alt_off:")
        st.stop()


def _cohort_name(key: str) -> str:
    return next(item.name for item in store.cohort().manifest.cohorts if item.key == key)


def _saved_slices() -> None:
    """Slices kept by name for this visit."""
    saved: dict[str, Scenario] = st.session_state.setdefault(SAVED, {})
    with st.popover("Saved slices", icon=":material/bookmark:", width="stretch"):
        name = st.text_input("Name", key="slice_name", max_chars=40, placeholder="e.g. shifted cameras")
        st.button("Save this slice", on_click=_save_slice, args=(name,), disabled=not name.strip(), width="stretch")
        for label, kept in saved.items():
            st.button(
                label,
                key=f"slice:{label}",
                on_click=_restore,
                args=(kept,),
                help=kept.describe(store.cohort()),
                width="stretch",
            )


def _save_slice(name: str) -> None:
    st.session_state[SAVED] = {**st.session_state[SAVED], name.strip(): scenario()}


def _restore(kept: Scenario) -> None:
    st.session_state[COHORTS], st.session_state[SPLIT] = list(kept.cohorts), kept.split
