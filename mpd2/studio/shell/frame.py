"""What stands around every page: the run and the slice in the sidebar, the banner, a page's title."""

from __future__ import annotations

import streamlit as st

from mpd2.core.errors import EmptyCohort
from mpd2.core.text import verbatim
from mpd2.studio.shell import glossary, link, operating_point, report_button, store
from mpd2.studio.shell.registry import entry
from mpd2.studio.shell.scenario import DEFAULT_RUN, DEFAULT_SPLIT, SHOWN_SPLITS, Scenario

RUN, SPLIT, COHORTS, SAVED, REFUSED = "run", "split", "cohorts", "saved_slices", "refused"
"""Keys of the session; the first three are names in the URL too."""

LONGEST = 300  # characters of a link or of a reason that are shown


def draw() -> None:
    """The sidebar's controls, the banner, and what of the link or of the choice before could not be followed."""
    link.carry(RUN, COHORTS, operating_point.POINT)
    refused = [*_refused_run(), *_refused_slice(), *operating_point.refused()]
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
        operating_point.draw()
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
    if refused:
        st.session_state[REFUSED] = (scenario(), refused)
    _tell_refused()
    if damage := store.damage(scenario().run):  # of the default run, in whose place there is no other
        st.error(f"{store.run_title(scenario().run)} is damaged: {damage}", icon=":material/error:")
        st.stop()


def scenario() -> Scenario:
    """What is being looked at, on every page."""
    chosen = tuple(item.key for item in store.cohort().manifest.cohorts if item.key in st.session_state[COHORTS])
    return Scenario(st.session_state[RUN], st.session_state[SPLIT], chosen, *operating_point.chosen())


def open_page(key: str) -> Scenario:
    """Print a page's title, its question and what it is about; a stop with the reason if that is no case at all."""
    page, about = entry(key), scenario()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="left"):
        st.title(page.title, anchor=False, width="content")
        st.header(page.question, anchor=False, width="content")  # so that a page's own headings are of the third level
    if page.about == "run":
        st.caption(f"Active run: {store.run_title(about.run)}")
    elif page.about == "slice":
        st.caption(_what_it_is_about(about))
    return about


def _what_it_is_about(about: Scenario) -> str:
    """The run, its operating point and the slice, and what of the floor could not be kept."""
    slice_ = f"{about.describe(store.cohort())}, n = {_size(about)}"
    words = f"{store.run_title(about.run)}, {about.point_in_words()}, on the {slice_}"
    shortfall = operating_point.shortfall(store.choice(about.run, about))
    return f"{words}. {shortfall}" if shortfall else words


def _refused_run() -> list[str]:
    """Why the run that is asked for is not the active one; then the default run is."""
    asked = st.session_state.get(RUN, st.query_params.get(RUN, DEFAULT_RUN))
    default = f"{store.run_title(DEFAULT_RUN)} is shown instead."
    if asked not in store.run_names():
        reason = f"There is no run “{_verbatim(asked)}” here; it may have been deleted. {default}"
    elif asked != DEFAULT_RUN and (damage := store.damage(asked)):
        run = _verbatim(store.run_title(asked))
        reason = (
            f"The run “{run}” is damaged. {default} It can be deleted on Retrain, under Own runs. {_verbatim(damage)}"
        )
    else:
        return []
    st.session_state[RUN] = DEFAULT_RUN
    return [reason]


def _refused_slice() -> list[str]:
    """Which cohorts and which split the link names that are none."""
    options = {COHORTS: {item.key for item in store.cohort().manifest.cohorts}, SPLIT: set(SHOWN_SPLITS)}
    words = {COHORTS: "cohort", SPLIT: "split"}
    return [
        f"The link names the {words[key]} “{_verbatim(asked)}”, which is not shown here: that part of it is left out."
        for key in (COHORTS, SPLIT)
        if key not in st.session_state
        for asked in st.query_params.get_all(key)
        if asked and asked not in options[key]
    ]


def _verbatim(text: str) -> str:
    """What a link or a folder says, as far as it is shown, word for word."""
    return verbatim(text[:LONGEST])


def _tell_refused() -> None:
    """Say what could not be followed, until something else is chosen."""
    about, reasons = st.session_state.get(REFUSED, (None, []))
    for reason in reasons if about == scenario() else []:
        st.warning(reason, icon=":material/link_off:")


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
