"""Step 5: a name, a summary and the manifest; then the workspace is kept, and built while one watches or leaves."""

from __future__ import annotations

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.errors import UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.manifest_text import to_toml
from mpd2.lab.jobs import worker_pool
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces import shelf
from mpd2.studio.shell import identity
from mpd2.studio.your_data import progress, refusals, texts
from mpd2.studio.your_data.steps.draft import DRAFT, Draft, current, keep
from mpd2.studio.your_data.steps.fields import answer
from mpd2.studio.your_data.steps.prepared import PREPARED, Prepared, prepared

SAVED = "import_saved"  # key of the session: the name of a workspace, and the draft it was made of
REFUSED = "import_build_refused"  # key of the session: why it could not be made
TOLD = "import_manifest_told"  # key of the session: what came of an uploaded manifest
SIZE = "import_size"
MANIFEST_FILE = "manifest.toml"


def draw(draft: Draft) -> None:
    """What will be kept, and the button; once it is kept, how far it is built."""
    name, of = st.session_state.get(SAVED, ("", None))
    if of is draft:
        _saved(name)
        return
    worker_pool.keep_ready()
    found = prepared(draft)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _names(draft)
        if isinstance(found, Prepared):
            st.text(found.in_words())
        _save(found)
    with right:
        _manifest(draft)


def _names(draft: Draft) -> None:
    first, second = st.columns([3, 2])
    with first:
        answer(st.text_input, texts.TITLE, "title", max_chars=100, help=texts.TITLE_HELP)
    with second:
        key = f"import_name_{draft.generation}"
        suggested = shelf.suggested_name(draft.answers.title, Workshop.here())
        st.text_input(texts.NAME, value=draft.name, max_chars=40, key=key, help=texts.NAME_HELP, placeholder=suggested,
                      on_change=_keep_name, args=(key,))  # fmt: skip


def _keep_name(key: str) -> None:
    keep(current().with_name(str(st.session_state[key]).strip()))


# ---------------------------------------------------------------------------------- the manifest


def _manifest(draft: Draft) -> None:
    with st.expander(texts.MANIFEST, icon=":material/description:"):
        st.caption(texts.MANIFEST_NOTE)
        text = to_toml(draft.manifest())
        st.download_button("Download", data=text, file_name=MANIFEST_FILE, mime="application/toml",
                           key="import_manifest_download", on_click="ignore", icon=":material/download:")  # fmt: skip
        st.file_uploader(texts.MANIFEST_BACK, type=["toml"], key=f"import_manifest_{draft.generation}",
                         on_change=_read_manifest, args=(f"import_manifest_{draft.generation}",),
                         max_upload_size=1)  # fmt: skip
        st.code(text, language="toml", height=300)
    told = st.session_state.get(TOLD)
    if isinstance(told, UserError):
        refusals.draw(told, key="import_manifest_problems", told=texts.NOT_THIS_MANIFEST)
    elif told:
        st.success(told, icon=":material/check_circle:")


def _read_manifest(key: str) -> None:
    file = st.session_state.get(key)
    if file is None:
        st.session_state.pop(TOLD, None)
        return
    try:
        manifest = parse_manifest(file.getvalue().decode("utf-8"), file.name)
        keep(current().with_manifest(manifest))
        st.session_state[TOLD] = texts.MANIFEST_TAKEN
    except UnicodeDecodeError:
        st.session_state[TOLD] = UserError(f"{file.name}: found bytes that are not UTF-8 text, expected TOML")
    except UserError as error:
        st.session_state[TOLD] = error


# ---------------------------------------------------------------------------------- saving


def _save(found: Prepared | UserError) -> None:
    fit = isinstance(found, Prepared) and not found.errors
    if not fit:
        st.error(texts.NOT_YET, icon=":material/error:")
    st.radio(texts.HOW_LARGE, list(texts.SIZES), format_func=texts.SIZES.__getitem__, key=SIZE)
    asked = identity.permitted(Action.MAKE_WORKSPACE)
    st.button(texts.SAVE, key="import_save", type="primary", disabled=not fit or asked["disabled"], on_click=_make,
              icon=":material/save:", help=asked["help"])  # fmt: skip
    st.caption(texts.SAVED)
    refused = st.session_state.get(REFUSED)
    if refused is not None:
        refusals.draw(refused, key="import_save_problems", told=texts.NOT_SAVED)


def _make() -> None:
    """Keep the workspace and order its building; from here on it is as any other."""
    st.session_state.pop(REFUSED, None)
    draft, place = current(), Workshop.here()
    try:
        found = prepared(draft)
        if isinstance(found, UserError):
            raise found
        name = draft.name or shelf.suggested_name(draft.answers.title, place)
        shelf.create(name, found.data, to_toml(found.table.manifest), place, by=identity.actor())
        st.session_state[SAVED] = (name, draft)
        progress.start(name, place, small=st.session_state.get(SIZE) == "small")
    except UserError as error:
        st.session_state[REFUSED] = error


def _saved(name: str) -> None:
    place = Workshop.here()
    progress.draw(name, place)
    refused = st.session_state.get(REFUSED)
    if refused is not None:
        refusals.draw(refused, key="import_build_problems", told=texts.NOT_BUILT)
    st.button(texts.NEW, key="import_again", on_click=start_anew, type="tertiary", icon=":material/add:")


def start_anew() -> None:
    """Forget the table that was brought; the workspace made of it stays."""
    for key in (DRAFT, PREPARED, SAVED, REFUSED, TOLD, "import_step"):
        st.session_state.pop(key, None)
