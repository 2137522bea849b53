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
    goes_by = texts.GOES_BY.format(run=verbatim(clinic.active.proposal.run))
    st.caption(
        f":material/visibility: **{texts.SHADOW}** {goes_by}",
        help=f"{texts.SHADOW_MORE} {verbatim(clinic.active.in_words())}",
    )
    with st.container(border=True):
        today = datetime.now(UTC).date()
        counts, stops = store.counts(clinic, today)
        st.markdown(f"**Today, {words.day_of(today)}:** {words.day_in_words(counts, stops)}")
        first = clinic.first_day
        if first is None:
            st.markdown(f"**Compared:** {texts.NO_CASE}")
            return
        waits = store.not_counted(clinic).cases
        said = words.compared_in_words(store.compared(clinic, "all"), clinic.task, clinic.against, waits)
        st.markdown(f"**{words.since_in_words(first)}:** {said}")
        now = store.watched(clinic)
        said = f"{words.watch_in_words(store.standings(now))} · {store.sent(clinic).in_words()}"
        st.markdown(f"**Watch:** {verbatim(said)}", help=texts.WATCHED)
        if clinic.is_behind:
            st.caption(texts.AS_OF.format(time=f"{clinic.figures.at:%H:%M:%S}"))
        if now.suggestion:
            st.warning(verbatim(now.suggestion), icon=":material/front_hand:")
