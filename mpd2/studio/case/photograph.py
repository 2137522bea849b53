"""The photograph of a case: outlines, ruler, rim by sector, where it is poor, and the nearest labelled cases."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from mpd2.core.arrays import Floats
from mpd2.core.cache import cached, depends_on
from mpd2.core.errors import UserError
from mpd2.core.text import decimal, verbatim
from mpd2.imaging.field import Field, find_field
from mpd2.imaging.measurement import outlines_of_row
from mpd2.imaging.outlines import Outlines
from mpd2.imaging.photograph import Photograph
from mpd2.imaging.quality import quality_map
from mpd2.imaging.rim import rim_of
from mpd2.present.charts.clinical import photograph as charts
from mpd2.studio.case import store, tabs
from mpd2.studio.case.store import Facts
from mpd2.studio.new_case import heat, texts
from mpd2.studio.new_case.store import pipeline_folder
from mpd2.studio.parts import case_pictures
from mpd2.studio.shell.scenario import Scenario

TAB = "Photograph"
VIEW, SHOWN = "photograph_view", "photograph_shown"  # keys of the session
GONE = "The table names a photograph of this case, but it cannot be shown: {reason}."
NONE = "The table names no photograph of this case."
NO_OUTLINES = "The table has no outlines of disc and cup of this case."
SMALL = 96  # pixels of a neighbour's picture
NEAREST = "The training cases nearest in all inputs, with their truth and how many standard deviations they are away."


@dataclass(frozen=True, eq=False)
class Shown:
    """A photograph, its field of view and the map of its quality."""

    photograph: Photograph
    field: Field
    cells: Floats  # [K, K]


def panel(facts: Facts, about: Scenario) -> None:
    """The photograph with what was measured on it, and beside it the nearest labelled cases."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        shown = _picture(facts)
    with right:
        outlines = _outlines(facts)
        if shown is not None:
            _words(shown, outlines)
        neighbours(facts, about)
    if shown is not None:
        _heat(facts, shown, outlines)


def similar(facts: Facts, about: Scenario) -> None:
    """The most similar training cases as pictures, and in a table."""
    neighbours(facts, about)
    tabs.similar(facts, about)


def neighbours(facts: Facts, about: Scenario) -> None:
    """The nearest labelled cases as pictures, of those that have one."""
    rows = store.similar(about, facts.id)
    found = {case_id: case_pictures.small(facts.workspace, case_id) for case_id in rows["case_id"]}
    if not any(found.values()):
        return
    st.caption(NEAREST)
    beside = st.container(horizontal=True, gap="small")
    for row in rows.to_dict("records"):
        small = found[row["case_id"]]
        with beside.container(width=SMALL):
            if small is not None:
                st.image(small, width="stretch", alt=f"Case {row['case_id']}, {row['truth']}")
            st.caption(f"{verbatim(row['case_id'])}  \n{row['truth']}, {decimal(row['distance'], 1)}")


@cached
def _shown(workspace: str, case_id: str) -> Shown:
    pictures = case_pictures.attached_to(workspace)
    path = None if pictures is None else pictures.path(case_id)
    if pictures is None or path is None:
        raise UserError("its file is not in the attached folder")
    depends_on(path)
    photograph = pictures.read(case_id)
    field = find_field(photograph.pixels)
    return Shown(photograph, field, quality_map(photograph.pixels, field))


def _picture(facts: Facts) -> Shown | None:
    """The photograph with its switches; why there is none where there is none."""
    pictures = case_pictures.attached_to(facts.workspace)
    if pictures is None or facts.id not in pictures.names:
        st.info(NONE, icon=":material/hide_image:")
        return None
    try:
        shown = _shown(facts.workspace, facts.id)
    except UserError as error:
        st.info(GONE.format(reason=verbatim(str(error).rstrip("."))), icon=":material/broken_image:")
        return None
    outlines = _outlines(facts)
    known = outlines is not None and outlines.disc is not None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = "whole"
        if known:
            view = st.segmented_control(
                "View", list(texts.VIEWS), default="whole", required=True, key=VIEW,
                format_func=texts.VIEWS.__getitem__, label_visibility="collapsed",
            )  # fmt: skip
        offered = list(texts.SHOWN) if known else ["quality"]
        chosen = st.pills(
            "Show", offered, selection_mode="multi", default=["ruler"] if known else [], key=f"{SHOWN}:{known}",
            format_func=texts.SHOWN.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
    frame = charts.whole(shown.field)
    if view == "disc" and outlines is not None and outlines.disc is not None:
        frame = charts.around(outlines.disc, shown.field)
    words = texts.ALT.format(
        case=facts.case.manifest.task.case, said=charts.outlines_in_words(outlines) if outlines else NO_OUTLINES
    )
    marks = _marks(shown, outlines, chosen, frame.height)
    st.image(charts.picture(shown.photograph.pixels, shown.field, frame, marks, words), width="stretch", alt=words)
    return shown


def _marks(shown: Shown, outlines: Outlines | None, chosen: list[str], size: float) -> str:
    """What was chosen to be seen over the photograph."""
    marks = charts.cell_marks(1 - shown.cells, shown.field) if "quality" in chosen else ""
    if outlines is None:
        return marks
    marks += charts.outline_marks(outlines)
    rim = rim_of(outlines)
    if "rim" in chosen and rim is not None:
        marks += charts.rim_marks(outlines, rim.hours, size)
    return marks + (charts.ruler_marks(outlines, size, "rim" in chosen) if "ruler" in chosen else "")


def _words(shown: Shown, outlines: Outlines | None) -> None:
    """What the outlines say, and what makes one doubt them."""
    ratios = None if outlines is None else outlines.ratios
    rim = None if outlines is None else rim_of(outlines, shown.photograph.laterality)
    if outlines is None or ratios is None or rim is None:
        st.caption(NO_OUTLINES)
    else:
        st.markdown(
            f"**Vertical CDR {texts.ratio(ratios.vertical, ratios.margin)}, area CDR "
            f"{texts.ratio(ratios.area, texts.area_margin(ratios))}.** {texts.rim(rim)}"
        )
        for doubt in outlines.doubts:
            st.warning(doubt, icon=":material/warning:")
    poor = texts.poor_places(shown.cells)
    if poor:
        st.caption(f"The picture is {poor}.")


def _heat(facts: Facts, shown: Shown, outlines: Outlines | None) -> None:
    """The heat map, off, where the networks that made the table are here."""
    try:
        folder = pipeline_folder(facts.workspace)
    except UserError:
        return
    task = facts.case.manifest.task
    disc = None if outlines is None else outlines.disc
    heat.draw(shown.photograph, shown.field, disc, folder, (task.positive, task.negative, task.case), facts.id)


def _outlines(facts: Facts) -> Outlines | None:
    rows = case_pictures.table_rows(facts.workspace)
    if facts.id not in rows.index:
        return None
    return outlines_of_row({str(column): cell for column, cell in rows.loc[facts.id].items()})
