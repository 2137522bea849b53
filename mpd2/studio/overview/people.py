"""A thousand people on the Overview: two pictures with their counts, what the readings take, and every number."""

from __future__ import annotations

import streamlit as st

from mpd2.core.manifest import Task
from mpd2.core.text import GAP, count
from mpd2.present.charts.clinical import gain as gain_chart
from mpd2.present.charts.icon_array import GROUND, before_and_after, looks
from mpd2.present.charts.kit.style import READER
from mpd2.present.words import people as words
from mpd2.studio.overview import store as reads
from mpd2.studio.overview import texts
from mpd2.studio.parts import widgets
from mpd2.studio.parts.programme import Told, plain
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

NAMES, NUMBERS, CHANGES = 160, 160, 180  # pixels of the columns: what it is, of each run, the difference
ERRORS = {"missed": "missed", "alarm": "false alarms"}


def pictures(about: Scenario, told: Told) -> None:
    """The AI alone, and beside it the active run."""
    for column, name in zip(st.columns(2, gap="medium"), _shown(about), strict=False):
        with column:
            _picture(name, about, told)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f":small[{_legend(_task(about))}]", width="content")
        _files(about, told)
    if told.year:
        yearly = reads.people(about, told.programme, told.year)
        st.markdown(_plain(words.in_a_year(yearly, about.run, _task(about), told.currency)))


def numbers(about: Scenario, told: Told) -> None:
    """Where the gain comes from, and every number beside those of the AI alone and the recalibrated AI."""
    if reads.can_split(about):
        rows = reads.gain(about, told.programme)
        widgets.chart(
            gain_chart.split(rows, _task(about)),
            table=rows,
            key="gain",
            alt_text="Fewer false alarms and misses of 1,000 screened by recalibration and by readers, with intervals",
            note=texts.GAIN,
        )
    shown = reads.numbers(about, told.programme, told.currency)
    widgets.data_table(
        shown,
        key="people",
        columns={str(name): st.column_config.Column(width=_width(str(name))) for name in shown},
        csv=reads.people(about, told.programme),
        alt_text="Counts per 1,000 screened with intervals: the active run, the recalibrated AI and the AI alone",
    )
    st.caption(texts.PEOPLE + worth(_task(about)))


def _width(column: str) -> int:
    return {"": NAMES, words.LESS_ALONE: CHANGES}.get(column, NUMBERS)


def _picture(name: str, about: Scenario, told: Told) -> None:
    picture, task = reads.picture(name, about, told.programme), _task(about)
    counts = ", ".join(
        f"{_sign(outcome, task)} **{count(picture.totals[outcome])}** {said}" for outcome, said in ERRORS.items()
    )
    effort = reads.effort(name, about, told.programme, told.currency)
    with st.container(gap="xxsmall"):
        st.markdown(f"**{_title(name)}**: {counts}  \n:small[:gray[{_plain(effort)}]]")
        st.image(picture.svg, alt=picture.alt, width="stretch")


def _files(about: Scenario, told: Told) -> None:
    """The pictures side by side as a file, and who is in them."""
    titles = tuple((name, _title(name)) for name in _shown(about))
    arrays = [(title, reads.cells(name, about, told.programme)) for name, title in titles]
    table = reads.pictured(titles, about, told.programme)
    title = texts.PICTURE.format(people=_task(about).people, point=about.point_in_words())
    widgets.files(lambda: before_and_after(arrays, title, _task(about)), table, "people-picture")


def worth(task: Task) -> str:
    """What one unit of cost is worth, where the table's owners say so; shown as it is, not as a formula.

    >>> worth(Task(positive="a", negative="b", currency="US$", unit=250)), worth(Task(positive="a", negative="b"))
    (' One unit is worth US\\\\$\xa0250.', '')
    """
    if task.unit is None:
        return ""
    currency = plain(task.currency)
    return _plain(f" One unit is worth {currency}{GAP if currency else ''}{task.unit:,g}.")


def _task(about: Scenario) -> Task:
    return store.manifest(about.workspace).task


def _shown(about: Scenario) -> list[str]:
    return [AI] if about.run == AI else [AI, about.run]


def _title(name: str) -> str:
    """A run as it is called beside its picture."""
    return words.ALONE if name == AI else store.run_title(name)


def _legend(task: Task) -> str:
    """What the marks of the pictures stand for."""
    marks = [f"{_sign(outcome, task)} {look.one}" for outcome, look in looks(task).items()]
    ground = f':color[ read by a reader ]{{background="{READER.colour}{round(255 * GROUND):02x}"}}'
    return "\u2002".join([*marks, ground])


def _sign(outcome: str, task: Task) -> str:
    look = looks(task)[outcome]
    return f':color[{look.sign}]{{foreground="{look.colour}"}}'


def _plain(text: str) -> str:
    """Markdown takes two signs of dollars for a formula."""
    return text.replace("$", "\\$")
