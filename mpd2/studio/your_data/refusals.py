"""What is wrong with a file, in words: somebody else's cells are shown as text and never as Markdown."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from mpd2.core.errors import TableError, UserError
from mpd2.core.table_file import problems_frame
from mpd2.studio.parts import widgets
from mpd2.studio.your_data import texts
from mpd2.studio.your_data.trial_texts import PROBLEM_COLUMNS, verbatim

LONGEST = 200  # characters of a list of rows that are shown


def draw(
    error: UserError,
    key: str,
    of: str = "Your table",
    told: str = texts.NOT_READ,
    offer: Callable[[], None] = lambda: None,
) -> None:
    """The first thing that is wrong in an alert, which screen readers read aloud, and every one in a table.

    `offer` draws what can be done about it, between the two.
    """
    if not isinstance(error, TableError):
        st.error(f"{told} {verbatim(str(error))}", icon=":material/error:")
        return
    more = f"All {len(error.problems)} kinds of problems are listed below." if len(error.problems) > 1 else ""
    st.error(f"{told} {verbatim(error.problems[0].sentence(of))} {more}", icon=":material/error:")
    offer()
    problems = problems_frame(error.problems)
    shortened = problems.assign(**{"further rows": problems["further rows"].str.slice(0, LONGEST)})
    widgets.data_table(
        shortened,
        csv=problems,
        key=key,
        alt_text="Every problem: row, column, found, expected",
        columns=PROBLEM_COLUMNS,
    )
