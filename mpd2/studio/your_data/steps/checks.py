"""Step 4: what is wrong row by row, what is odd, what can be known with so many cases, and the splits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from mpd2.core.errors import TableError, UserError
from mpd2.core.text import several
from mpd2.core.text import verbatim as escaped
from mpd2.lab.imports.checks import Notice
from mpd2.lab.imports.mending import omission
from mpd2.lab.imports.uses import Use
from mpd2.studio.parts import widgets
from mpd2.studio.your_data import refusals, texts
from mpd2.studio.your_data.steps.draft import Draft, Way, current, keep
from mpd2.studio.your_data.steps.prepared import Prepared, prepared

LISTED = 5  # rows that a notice names
STEP = 5  # per cent between two positions of the slider


def draw(draft: Draft) -> None:
    """The splits on the right, what was found on the left."""
    left, right = st.columns([3, 2], gap="large")
    with right:
        _division(draft)
    with left:
        found = prepared(current())
        if isinstance(found, UserError):
            offer = partial(_leave_out, found, current())
            refusals.draw(found, key="import_problems", told=texts.WRONG, offer=offer)
        else:
            _findings(found)
        _take_back(current())
    if isinstance(found, Prepared):
        with right:
            _parts(found)


def _leave_out(error: UserError, draft: Draft) -> None:
    """The way on without what is wrong, for those who cannot or need not mend the file."""
    problems = error.problems if isinstance(error, TableError) else ()
    found = omission(problems, draft.proposals, (draft.cases, draft.readings))
    if found:
        st.button(texts.LEAVE_OUT.format(what=found.in_words()), key="import_leave_out", type="primary",
                  on_click=keep, args=(draft.leaving_out(found),), help=texts.LEAVE_OUT_HELP)  # fmt: skip
    st.caption(texts.MEND)


def _take_back(draft: Draft) -> None:
    if draft.left_out:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(texts.LEFT_OUT.format(what=draft.left_out.in_words()))
            st.button(texts.TAKE_BACK, key="import_take_back", type="tertiary", on_click=keep,
                      args=(draft.leaving_nothing_out(),), icon=":material/undo:")  # fmt: skip


def _findings(found: Prepared) -> None:
    if found.errors:
        st.error(texts.ERRORS, icon=":material/error:")
    else:
        st.success(texts.RIGHT, icon=":material/check_circle:")
    _listed([_sentence(notice) for notice in found.errors])
    st.markdown(f"**{texts.KNOWN}**")
    _listed(found.known)
    odd = [notice for notice in found.notices if not notice.error]
    if odd:
        st.markdown(f"**{texts.ODD}**")
        _listed([_sentence(notice) for notice in odd])
    if found.notices:
        widgets.download(notices_frame(found.notices), "import-notices", label="All of this as CSV")
    if found.table.notes:
        with st.expander(texts.READ_AS):
            _listed(found.table.notes)


def _listed(sentences: Sequence[str]) -> None:
    """Sentences that may quote somebody's cells, as text."""
    if sentences:
        st.text("\n".join(f"• {sentence}" for sentence in sentences))


def notices_frame(notices: tuple[Notice, ...]) -> pd.DataFrame:
    """One row a notice: kind, column, what, rows."""
    rows = [
        ("error" if each.error else "to look at", each.column, each.text, " ".join(map(str, each.rows)))
        for each in notices
    ]
    return pd.DataFrame(rows, columns=["kind", "column", "what", "rows"])


def _sentence(notice: Notice) -> str:
    if not notice.rows:
        return notice.text
    named = ", ".join(map(str, notice.rows[:LISTED]))
    more = f" and {len(notice.rows) - LISTED:,} more" if len(notice.rows) > LISTED else ""
    return f"{notice.text} Row{'s' if len(notice.rows) > 1 else ''} {named}{more}."


# ---------------------------------------------------------------------------------- splits


def ways(draft: Draft) -> dict[Way, str]:
    """How the cases can be divided."""
    there = {each.use: each.column for each in draft.proposals}
    word = draft.answers.group_word if Use.GROUP in there else draft.answers.case
    found: dict[Way, str] = {"column": texts.BY_COLUMN} if Use.SPLIT in there else {}
    found["random"] = texts.AT_RANDOM.format(word=escaped(word))
    if Use.DATE in there:
        found["date"] = texts.BY_DATE
    return found


def _division(draft: Draft) -> None:
    st.markdown(f"**{texts.SPLITS}**", help=texts.SPLITS_HELP)
    options = ways(draft)
    chosen = draft.division.way if draft.division.way in options else next(iter(options))
    key = f"import_way_{draft.generation}"
    st.radio(texts.SPLITS, list(options), index=list(options).index(chosen), key=key, on_change=_choose_way,
             args=(key,), format_func=options.__getitem__, label_visibility="collapsed")  # fmt: skip
    if chosen == "column":
        return
    train, val, _ = draft.division.shares
    edges = (round(100 * train), round(100 * (train + val)))
    slider = f"import_shares_{draft.generation}"
    st.slider(texts.SHARES, STEP, 100 - STEP, edges, step=STEP, key=slider, on_change=_choose_shares, args=(slider,),
              format="%d %%", help=texts.SHARES_HELP)  # fmt: skip


def _parts(found: Prepared) -> None:
    """How many cases each part has."""
    groups = found.cohort.manifest.groups
    columns: dict[str, Any] = {
        "part": st.column_config.TextColumn("Part", width=95),
        "cases": st.column_config.NumberColumn("Rows", width=55),
        "groups": st.column_config.NumberColumn(several(groups.word) if groups else "Groups", width=65),
        "positives": st.column_config.NumberColumn(found.cohort.manifest.task.positives, width=80),
    }
    rows = found.parts().assign(part=list(texts.PARTS.values()))
    st.dataframe(
        rows if groups else rows.drop(columns="groups"), hide_index=True, key="import_parts", column_config=columns,
        alt="How many cases and positives are learned from, chosen by and judged by",
    )  # fmt: skip


def _choose_way(key: str) -> None:
    keep(current().with_division(way=st.session_state[key]))


def _choose_shares(key: str) -> None:
    first, second = st.session_state[key]
    if first == second:  # each part needs some cases
        first, second = (first - STEP, second) if first > STEP else (first, second + STEP)
    keep(current().with_division(shares=(first / 100, (second - first) / 100, (100 - second) / 100)))
