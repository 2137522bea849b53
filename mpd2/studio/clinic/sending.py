"""A file sent to the clinic: read apart, looked at, and taken in when somebody presses the button."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.shadow.keeping import Taken
from mpd2.core.errors import UserError
from mpd2.core.table_file import problems_frame
from mpd2.core.text import numbered
from mpd2.lab.imports.files import BROWSER, ENDINGS, MEGA
from mpd2.lab.received import receive
from mpd2.studio.clinic import store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import widgets
from mpd2.studio.shell import identity, session
from mpd2.studio.your_data import refusals
from mpd2.studio.your_data.trial_texts import PROBLEM_COLUMNS

TYPES = [ending.removeprefix(".") for ending in ENDINGS]
LONGEST = 200  # characters of a list of rows that are shown
TakeIn = Callable[[pd.DataFrame, Actor], Taken]


@dataclass(frozen=True)
class Sent:
    """What can be sent, and how it is called."""

    key: str  # of its parts on the page
    label: str
    action: Action
    one: str  # what a row is
    many: str
    press: str
    prepared: Callable[[pd.DataFrame], pd.DataFrame] = lambda cells: cells  # what is done with a file's cells at first


def draw(sent: Sent, clinic: Clinic, take_in: TakeIn) -> None:
    """A place for a file, the button that takes it in, and what became of the last one."""
    file = st.file_uploader(sent.label, type=TYPES, key=f"{sent.key}_file", help=texts.PRIVATE,
                            max_upload_size=(BROWSER.size or MEGA) // MEGA)  # fmt: skip
    if file is None:
        session.forget(f"{sent.key}_cells", f"{sent.key}_taken")
        return
    try:
        cells = session.kept(
            f"{sent.key}_cells",
            file.file_id,
            lambda: sent.prepared(receive(file.getvalue(), file.name, by=identity.actor()).cells),
        )
        st.button(
            sent.press.format(rows=numbered(len(cells), "row")), key=f"{sent.key}_take", type="primary",
            on_click=_take, args=(sent, clinic, cells, file.file_id, take_in), **identity.permitted(sent.action),
        )  # fmt: skip
    except UserError as error:
        refusals.draw(error, key=f"{sent.key}_unread", of="Your table")
        return
    made_from, outcome = st.session_state.get(f"{sent.key}_taken", (None, None))
    if made_from == file.file_id:
        _told(sent, outcome)


def sample(label: str, make: Callable[[Actor], bytes], explained: str) -> None:
    """A file to begin with, made when it is asked for."""
    name = label.lower().replace(" ", "-").replace("'", "")
    st.download_button(
        label, identity.later(make), f"clinic-{name}.csv", "text/csv", key=f"clinic_{name}", on_click="ignore",
        icon=":material/download:", type="tertiary",
        **identity.permitted(Action.EXPORT_CASES, otherwise=explained),
    )  # fmt: skip


def _take(sent: Sent, clinic: Clinic, cells: pd.DataFrame, file_id: str, take_in: TakeIn) -> None:
    try:
        outcome: Taken | UserError = take_in(cells, identity.actor())
        store.seen_at_once(clinic)
    except UserError as error:
        outcome = error
    st.session_state[f"{sent.key}_taken"] = (file_id, outcome)


def _told(sent: Sent, outcome: Taken | UserError) -> None:
    """What was taken in, what was there before, and every row that was refused."""
    if isinstance(outcome, UserError):
        refusals.draw(outcome, key=f"{sent.key}_refusal", told=texts.NOTHING_TAKEN)
        return
    refused = problems_frame(outcome.refused)
    rows = sum(1 + len(problem.also) for problem in outcome.refused)
    said = [
        f"{numbered(len(outcome.accepted), sent.one, sent.many)} taken in",
        *(
            [f"{numbered(len(outcome.repeated), sent.one, sent.many)} there before, unchanged"]
            if outcome.repeated
            else []
        ),
        *([f"{numbered(rows, 'row')} refused"] if rows else []),
    ]
    words = f"{', '.join(said)}."
    if refused.empty:
        st.success(words, icon=":material/check_circle:")
        return
    st.warning(words, icon=":material/rule:")
    shown = refused.assign(**{"further rows": refused["further rows"].str.slice(0, LONGEST)})
    widgets.data_table(
        shown, csv=refused, key=f"{sent.key}_refused", alt_text=texts.REFUSED_ALT, columns=PROBLEM_COLUMNS
    )
