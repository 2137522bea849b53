"""The parts of the Record page: how the record stands, a search, the entries found, and whether all is whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.installation import kept_record
from mpd2.clinic.record import reading
from mpd2.clinic.record.entry import Entry, read_time, written_time
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.search import PAGE, Search
from mpd2.core.errors import UserError
from mpd2.core.text import count, numbered, verbatim
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.studio.parts import widgets
from mpd2.studio.record import table, texts
from mpd2.studio.shell import identity, session

FOUND, PAGES, VERDICT = "record_found", "record_pages", "record_verdict"  # keys of the session
ANY = "any"


def draw() -> None:
    """The whole page."""
    try:
        record = kept_record()
        if record is None:
            _off()
            return
        _numbers(record)
        search = _search()
        _verdict()
        _entries(search)
    except UserError as error:
        st.error(verbatim(str(error)), icon=":material/error:")


def _off() -> None:
    """That there is no record, and how there would be one."""
    st.info(texts.OFF, icon=":material/history_toggle_off:")
    st.code(texts.SETTINGS, language="toml")
    st.caption(texts.MORE)


def _numbers(record: RecordLog) -> None:
    """How long the record is, and how much of it is held fast."""
    length, signed = record.length(), record.checkpoints.last()
    held = signed.says["number"] if signed else 0
    since = (datetime.now(UTC) - read_time(signed.says["time"])).total_seconds() if signed else None
    days = record.options.retention_days
    widgets.key_numbers(
        [
            {"label": "Entries written", "value": count(length)},
            {
                "label": "Last checkpoint",
                "value": "none" if since is None else f"{texts.age(since)} ago",
                "help": texts.CHECKPOINT,
            },
            {"label": "Entries since then", "value": count(max(0, length - held)), "help": texts.CHECKPOINT},
            {"label": "Kept for", "value": numbered(days, "day") if days else "ever"},
        ]
    )


def _search() -> Search:
    """What is looked for."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        case = st.text_input("Case", key="record_case", max_chars=200, help=texts.CASE)
        person = st.text_input("Person", key="record_person", max_chars=200, help=texts.PERSON)
        action = st.selectbox("Action", [ANY, *map(str, Action)], key="record_action")
        since = st.date_input("From", value=None, key="record_since", help=texts.TIMES)
        until = st.date_input("To", value=None, key="record_until", help=texts.TIMES)
        refused = st.toggle("Refused only", key="record_refused", help=texts.REFUSED)
    return Search(
        case.strip(),
        person.strip(),
        "" if action == ANY else action,
        _midnight(since, 0),
        _midnight(until, 1),
        refused,
    )


def _midnight(day: object, later: int) -> str:
    """The beginning of a day, or of one some days later; nothing if none was chosen."""
    if not isinstance(day, date):
        return ""
    return written_time(datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=later))


def _entries(search: Search) -> None:
    """The entries found, a page at a time."""
    asked, pages = st.session_state.get(PAGES, (search, []))
    if asked != search:
        pages = []
    before = pages[-1] if pages else None
    entries = session.kept(FOUND, (search, before), partial(reading.found, search, before, by=identity.actor()))
    if not entries:
        st.info(texts.NOTHING, icon=":material/search_off:")
    else:
        table.shown(entries, "record_entries")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Newer", disabled=not pages, on_click=_turn, args=(search, pages[:-1]), icon=":material/chevron_left:"
        )
        older = [*pages, entries[-1].number] if entries else pages
        st.button(
            "Older",
            disabled=len(entries) < PAGE,
            on_click=_turn,
            args=(search, older),
            icon=":material/chevron_right:",
        )
        st.button("Look again", on_click=session.forget, args=(FOUND, PAGES), icon=":material/refresh:")
        if entries:
            _download(entries)


def _turn(search: Search, pages: list[int]) -> None:
    st.session_state[PAGES] = (search, pages)


def _download(entries: Sequence[Entry]) -> None:
    st.download_button(
        "CSV",
        data=identity.later(partial(_file, entries)),
        file_name="record.csv",
        mime="text/csv",
        icon=":material/download:",
        key="record:csv",
        on_click="ignore",
        type="tertiary",
        **identity.permitted(Action.EXPORT_RECORD, otherwise="The entries shown, as CSV"),
    )


def _file(entries: Sequence[Entry], by: Actor) -> bytes:
    return reading.exported(lambda: to_csv(table.as_table(entries)), len(entries), by=by)


def _verdict() -> None:
    """Whether the record is whole, when that is asked for, in words."""
    pressed = st.button(
        "Verify the record",
        key="record_verify",
        icon=":material/verified:",
        **identity.permitted(Action.VERIFY_RECORD, otherwise=texts.VERIFY),
    )
    if pressed:
        with st.spinner("Walking the record …"):
            st.session_state[VERDICT] = reading.verified(by=identity.actor())
    verdict = st.session_state.get(VERDICT)
    if verdict is not None:
        words = verbatim(verdict.in_words()).replace("\n", "\n\n")
        if verdict.whole:
            st.success(words, icon=":material/verified:")
        else:
            st.error(words, icon=":material/gpp_bad:")
