"""Step 1: one file or two, what was read of them and what was tidied."""

from __future__ import annotations

import streamlit as st

from mpd2.core.errors import UserError
from mpd2.core.text import count
from mpd2.lab.imports.files import BROWSER, ENDINGS, MEGA
from mpd2.lab.imports.uses import File
from mpd2.studio.shell import identity
from mpd2.studio.your_data import refusals, texts
from mpd2.studio.your_data.steps.draft import Draft, Upload, current, keep

TYPES = [*(ending.removeprefix(".") for ending in ENDINGS), "xls"]  # which is refused with what to do
PREVIEW = 4  # rows that are shown
LABELS: dict[File, str] = {"cases": texts.CASES, "readings": texts.READINGS}
REFUSED = "import_refused"  # key of the session: why a file could not be read, by file


def draw(draft: Draft) -> None:
    """Where files are dropped; a file that is there stands in its place."""
    if "cases" not in draft.files:
        st.markdown(texts.INTRO)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _place("cases", draft)
    with right:
        _place("readings", draft)
    if list(draft.files) == ["readings"]:
        st.info(texts.CASES_TOO, icon=":material/info:")
    for file, upload in draft.files.items():
        _preview(file, upload)
    if draft.tables is not None:
        dropped = {note for upload in draft.files.values() for note in upload.table.notes}
        st.text("\n".join(f"• {note}" for note in draft.cases.notes if note not in dropped))
    if "cases" not in draft.files:
        st.caption(f":material/lock: {texts.PRIVACY} {texts.LARGER}")


def _place(file: File, draft: Draft) -> None:
    upload = draft.files.get(file)
    if upload is not None:
        _there(file, upload)
        return
    explained = texts.CASES_HELP if file == "cases" else texts.READINGS_HELP
    rows, size = count(BROWSER.rows or 0), (BROWSER.size or 0) // MEGA
    st.file_uploader(
        LABELS[file],
        type=TYPES,
        max_upload_size=size,
        key=f"import_{file}",
        on_change=_read,
        args=(file,),
        help=explained.format(rows=rows, size=size),
    )
    refused = st.session_state.get(REFUSED, {}).get(file)
    if refused is not None:
        refusals.draw(refused, key=f"import_{file}_problems", of="Your file")


def _there(file: File, upload: Upload) -> None:
    """The file that is there: how large it is, and its sheet."""
    table = upload.table
    st.markdown(f"**{LABELS[file]}**")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{table.name}: {count(len(table))} rows, {count(table.cells.shape[1])} columns")
        st.button(
            texts.ANOTHER if file == "cases" else "Remove",
            key=f"import_{file}_away",
            type="tertiary",
            on_click=_away,
            args=(file,),
            icon=":material/close:",
        )
    if len(table.sheets) > 1:
        st.selectbox(
            texts.SHEET,
            table.sheets,
            index=table.sheets.index(table.sheet),
            key=f"import_{file}_sheet",
            on_change=_sheet,
            args=(file,),
        )


def _preview(file: File, upload: Upload) -> None:
    """The first rows as they were read, and what was tidied."""
    table = upload.table
    st.dataframe(
        table.cells.head(PREVIEW), key=f"import_{file}_preview", height="content", alt=f"The first rows of {file}"
    )
    if table.notes:
        st.text("\n".join(f"• {note}" for note in table.notes))


def _read(file: File) -> None:
    """Read what was dropped; why it cannot be read is kept until another file comes."""
    dropped = st.session_state.get(f"import_{file}")
    if dropped is not None:
        _try(file, dropped.getvalue(), dropped.name)


def _sheet(file: File) -> None:
    upload = current().files[file]
    _try(file, upload.data, upload.table.name, st.session_state[f"import_{file}_sheet"])


def _try(file: File, data: bytes, name: str, sheet: str = "") -> None:
    refused = {key: reason for key, reason in st.session_state.get(REFUSED, {}).items() if key != file}
    try:
        keep(current().with_file(file, Upload.of(data, name, sheet, by=identity.actor())))
    except UserError as error:
        refused[file] = error
    st.session_state[REFUSED] = refused


def _away(file: File) -> None:
    keep(current().with_file(file, None))
