"""Entries of the record as a table on screen and as a file."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from mpd2.clinic.record.entry import Entry, canonical
from mpd2.studio.record import texts

SHORT = 12  # characters of a pseudonym on screen
SECONDS = 19  # characters of a time on screen


def as_table(entries: Sequence[Entry]) -> pd.DataFrame:
    """A row an entry, whole, with the hashes."""
    return pd.DataFrame(
        [
            {
                "number": entry.number,
                "time": entry.time,
                "who": entry.actor,
                "role": entry.role,
                "visit": entry.visit,
                "action": entry.action,
                "refused": not entry.granted,
                "pseudonym": entry.case,
                "reason": entry.reason,
                "details": canonical(entry.about) if entry.about else "",
                "previous": entry.previous,
                "hash": entry.hash,
            }
            for entry in entries
        ]
    )


def shown(entries: Sequence[Entry], key: str) -> None:
    """The entries, as far as one reads them; texts are shown as they are, never as mark-up."""
    table = as_table(entries).drop(columns=["visit", "previous", "hash"])
    table["time"] = table["time"].str[:SECONDS].str.replace("T", " ")
    table["pseudonym"] = table["pseudonym"].str[:SHORT]
    st.dataframe(
        table,
        hide_index=True,
        key=key,
        alt=texts.ALT,
        column_config={
            "number": st.column_config.NumberColumn("No.", format="%d", width="small"),
            "time": st.column_config.TextColumn("Time (UTC)"),
            "pseudonym": st.column_config.TextColumn("Case", help="The first characters of its pseudonym"),
        },
    )
