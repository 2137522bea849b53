"""The first screen: the day, the comparison since the first case, and the watch, a line each."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from mpd2.core.text import verbatim
from mpd2.present.words import clinic as words
from mpd2.studio.clinic import store, texts
from mpd2.studio.clinic.store import Clinic


def draw(clinic: Clinic) -> None:
    """Who is in, how it compares, and whether to trust on."""
    st.caption(verbatim(clinic.active.in_words()), help=texts.NOT_THE_SIDEBAR)
    with st.container(border=True):
        today = datetime.now(UTC).date()
        counts, stops = store.counts(clinic, today)
        st.markdown(f"**Today, {words.day_of(today)}:** {words.day_in_words(counts, stops)}")
        first = clinic.first_day
        if first is None:
            st.markdown(f"**Compared:** {texts.NO_CASE}")
            return
        said = words.compared_in_words(store.compared(clinic, "all"), clinic.task, clinic.against)
        st.markdown(f"**{words.since_in_words(first)}:** {said}")
        watched = store.watched(clinic)
        st.markdown(f"**Watch:** {verbatim(words.watch_in_words(watched.lines))}", help=texts.WATCHED)
        if watched.stop:
            st.warning(verbatim(watched.stop), icon=":material/front_hand:")
