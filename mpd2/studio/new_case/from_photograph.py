"""A photograph, its outlines and numbers, and what would be done with it; all follows an outline that is dragged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from mpd2.core.arrays import Bools
from mpd2.core.cohort import Cohort
from mpd2.core.text import capital, chance, decimal, in_short, listed
from mpd2.evaluation import explain
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.measurement import Measurement
from mpd2.imaging.outlines import Outlines, outlines_of_ellipses
from mpd2.imaging.quality import assess
from mpd2.imaging.rim import rim_of
from mpd2.methods.base import COHORT, AsksOn
from mpd2.present.charts.clinical import photograph as charts
from mpd2.studio.case import enquiry, tabs
from mpd2.studio.case import store as case_store
from mpd2.studio.case import view as case_view
from mpd2.studio.case.store import Facts
from mpd2.studio.new_case import heat, store, texts, values
from mpd2.studio.new_case.store import Taken
from mpd2.studio.parts import case_controls
from mpd2.studio.parts.ellipse_editor import NUMBERS, Box, Outline, drawn, ellipse_editor, is_moving, restart
from mpd2.studio.shell import store as shell_store
from mpd2.studio.shell.registry import entry
from mpd2.studio.shell.scenario import Scenario

CORRECTED = "new_case_outlines"  # key of the session: the upload, and what a person made of its outlines
VIEW, SHOWN = "new_case_view", "new_case_shown"
TITLES = {"disc": ("Disc", charts.DISC), "cup": ("Cup", charts.CUP)}


@st.fragment
def routed(about: Scenario, taken: Taken, folder: Path, upload: str) -> None:
    """The whole of it."""
    measurement = _measurement(taken, folder, upload)
    task = shell_store.manifest(about.workspace).task
    left, right = st.columns(2, gap="medium")
    with left:
        picture = st.container()
    with right:
        answer = st.container()
        _numbers(measurement, taken, shell_store.train(about.workspace))
    below = st.container()
    with below:
        facts, word = _case(about, measurement)
    with answer:
        case_view.decision(facts)
        st.caption(texts.DECIDED.format(point=about.point_in_words()))
    with below:
        _rest(facts, about, word)
        words = (task.positive, task.negative, task.case)
        heat.draw(taken.photograph, measurement.field, measurement.outlines.disc, folder, words, "new")
    with picture:
        _editor(taken, measurement.outlines, upload, task.case)


def correct(upload: str, key: str) -> None:
    """Take what the editor says as the outlines of a photograph."""
    said = drawn(key)
    if said is not None:
        st.session_state[CORRECTED] = (upload, dict(said.ellipses))


def _measurement(taken: Taken, folder: Path, upload: str) -> Measurement:
    """What was measured, with the outlines of whoever corrected them."""
    owner, ellipses = st.session_state.get(CORRECTED, ("", {}))
    if owner != upload:
        return taken.measurement
    made = {name: Ellipse(**numbers) for name, numbers in ellipses.items()}
    found = taken.measurement.outlines
    outlines = outlines_of_ellipses(made.get("disc", found.disc), made.get("cup", found.cup), found.resolution)
    pipeline = store.pipeline_of(folder)
    measurement = pipeline.remeasured(taken.measurement, outlines)
    if is_moving(_key(upload)):  # quality follows when the hand rests
        return measurement
    pixels, field = taken.photograph.pixels, measurement.field
    return replace(measurement, quality=assess(pixels, field, outlines.disc, pipeline.quality))


def _key(upload: str) -> str:
    """Of the editor."""
    return f"new_case_editor:{upload}"


# ---------------------------------------------------------------------------------- what was measured


def _numbers(measurement: Measurement, taken: Taken, train: Cohort) -> None:
    """The numbers with their margins, quality and distance in words, and what makes one doubt them."""
    ratios, layout = measurement.outlines.ratios, train.layout
    first, second, third = st.columns(3, gap="xsmall")
    probability = in_short(chance(measurement.probability))
    first.metric("AI's probability", probability, help="Of what is looked for, as the AI says it")
    if ratios is not None:
        margins = (
            ("Vertical CDR", ratios.vertical, ratios.margin),
            ("Area CDR", ratios.area, texts.area_margin(ratios)),
        )
        for place, (name, value, margin) in zip((second, third), margins, strict=True):
            place.metric(
                name, decimal(value, 2), f"± {decimal(margin, 2)}", "off", delta_arrow="off", help=texts.MARGIN
            )
    for doubt in measurement.outlines.doubts:
        st.warning(doubt, icon=":material/warning:")
    rim = rim_of(measurement.outlines, taken.photograph.laterality)
    said = [] if rim is None else [texts.rim(rim)]
    said.append(texts.quality(measurement.quality, taken.cells))
    if measurement.distance is not None and layout.distances:
        said.append(texts.distance(measurement.distance, train.column(layout.distances[0])))
    st.markdown("  \n".join(said))
    if taken.photograph.notes:
        st.caption(f"{capital('; '.join(taken.photograph.notes))}.")


# ---------------------------------------------------------------------------------- the case


def _case(about: Scenario, measurement: Measurement) -> tuple[Facts, str]:
    """The case as it is routed, and the word of a link with its numbers."""
    train = shell_store.train(about.workspace)
    typical = explain.typical_case(train)
    looked_at = case_store.inputs_of(case_store.deciding(about), typical.layout)
    found = values.measured_values(measurement, typical.manifest)
    keys = case_controls.keys_of(f"new_case_photograph:{about.workspace}", typical)
    cohort, (first, second) = str(typical.sources[0]), st.columns([1, 3], gap="medium")
    if COHORT in looked_at:
        with first:
            cohort = case_controls.choose_cohort(typical, cohort, keys[COHORT])
    with second if COHORT in looked_at else first:
        available = case_controls.choose_readers(typical, typical.available[0], keys[case_controls.ROSTER])
    found |= _by_hand(typical, train, found, keys)
    facts = case_store.of_case(about, values.case_of(typical, found, measurement, available, cohort))
    return facts, _word(typical, found, available, cohort)


def _by_hand(typical: Cohort, train: Cohort, found: Mapping[str, float], keys: Mapping[str, str]) -> dict[str, float]:
    """What could not be measured, from sliders."""
    spans = np.ptp(train.state, axis=0)
    missing = [name for name in values.not_measured(typical, found) if spans[typical.layout.position(name)] > 0]
    if not missing:
        return {}
    names, one = listed([typical.layout.titles[name] for name in missing]), len(missing) == 1
    why = texts.NO_REFERENCE if set(missing) & set(typical.layout.distances) else ""
    said = texts.NOT_MEASURED.format(names=capital(names), have="has" if one else "have", it="it" if one else "them")
    st.info(f"{said}{why}", icon=":material/edit:")
    places = st.columns(min(len(missing), 3))
    made = {}
    for position, name in enumerate(missing):
        with places[position % len(places)]:
            made[name] = case_controls.slider(typical, train, name, float(typical.column(name)[0]), keys[name])
    return made


def _word(typical: Cohort, found: Mapping[str, float], available: Bools, cohort: str) -> str:
    return case_controls.to_link(typical, found, available, cohort)


def _rest(facts: Facts, about: Scenario, word: str) -> None:
    """As on Case: the case in words, who could decide, the steps of a run that goes on, every input on its range."""
    left, right = st.columns(2, gap="medium")
    with right:
        case_view.policy(facts)
    with left:
        case_view.story(facts)
        st.page_link(
            entry("case").path, label=texts.TO_CASE, icon=":material/visibility:", help=texts.TO_CASE_HELP,
            query_params={case_controls.LINK: word},
        )  # fmt: skip
    panels = {"Inputs": partial(tabs.inputs, facts)}
    if facts.asks_on is not None:
        panels = {"Step by step": partial(_steps, facts, facts.asks_on), **panels}
    for area, panel in zip(st.tabs(list(panels), key="new_case_tab", on_change="rerun"), panels.values(), strict=True):
        if area.open:
            with area:
                panel()


def _steps(facts: Facts, method: AsksOn) -> None:
    enquiry.chain(facts, method, facts.steps_by(method))


# ---------------------------------------------------------------------------------- the picture


def _editor(taken: Taken, outlines: Outlines, upload: str, case: str) -> None:
    """The photograph, what is shown on it, and the outlines to be dragged."""
    pixels, field = taken.photograph.pixels, taken.measurement.field
    start = taken.measurement.outlines
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = "whole"
        if outlines.disc is not None:
            view = st.segmented_control(
                "View", list(texts.VIEWS), default="disc", required=True, key=VIEW,
                format_func=texts.VIEWS.__getitem__, label_visibility="collapsed",
            )  # fmt: skip
        shown = st.pills(
            "Show", list(texts.SHOWN), selection_mode="multi", default=["ruler"], key=SHOWN,
            format_func=texts.SHOWN.__getitem__, label_visibility="collapsed", help=texts.SHOWN_HELP,
        )  # fmt: skip
    disc = start.disc or outlines.disc  # of a drawn one the frame would run away from the hand
    frame = charts.around(disc, field) if view == "disc" and disc is not None else charts.whole(field)
    marks = ""
    if "quality" in shown:
        marks += charts.cell_marks(1 - taken.cells, field)
    rim = rim_of(outlines)
    if "rim" in shown and rim is not None:
        marks += charts.rim_marks(outlines, rim.hours, frame.height)
    if "ruler" in shown:
        marks += charts.ruler_marks(outlines, frame.height, "rim" in shown)
    key = _key(upload)
    ellipse_editor(
        key,
        partial(correct, upload, key),
        image="" if is_moving(key) else charts.data_uri(charts.cut(pixels, field, frame)),
        box=Box(*frame),
        outlines=[
            Outline(name, *TITLES[name], {number: asdict(ellipse)[number] for number in NUMBERS})
            for name, ellipse in (("disc", outlines.disc), ("cup", outlines.cup))
            if ellipse is not None
        ],
        overlay=marks,
        label=texts.ALT.format(case=case, said=charts.outlines_in_words(outlines)),
        hint=texts.HINT if outlines.disc is not None else texts.NO_OUTLINES,
    )
    _begin_or_undo(outlines, taken, upload)


def _begin_or_undo(outlines: Outlines, taken: Taken, upload: str) -> None:
    """Outlines to begin with where none were found, and the way back to those that were."""
    found, field = taken.measurement.outlines, taken.measurement.field
    if outlines.disc is None or outlines.cup is None:
        middle = outlines.disc
        if middle is None or middle.vertical > field.side / 2:  # what fills the photograph is no disc
            x, y = field.left + field.side / 2, field.top + field.side / 2
            middle = Ellipse(x, y, field.side / 6, field.side / 6)
        cup = Ellipse(middle.x, middle.y, middle.width / 2, middle.height / 2, middle.angle)
        st.button(texts.DRAW, icon=":material/draw:", on_click=_take, args=(upload, middle, cup))
    elif (outlines.disc, outlines.cup) != (found.disc, found.cup):
        st.caption(texts.CORRECTED)
        st.button(texts.BACK, icon=":material/restart_alt:", on_click=_undo, args=(_key(upload),))


def _take(upload: str, disc: Ellipse, cup: Ellipse) -> None:
    st.session_state[CORRECTED] = (upload, {"disc": asdict(disc), "cup": asdict(cup)})


def _undo(key: str) -> None:
    restart(key)
    st.session_state.pop(CORRECTED, None)
