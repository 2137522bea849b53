"""Case: why did this one go there?"""

import streamlit as st

from mpd2.studio.case import chain, find, note, store, view, whatif
from mpd2.studio.shell import frame

about = frame.open_page("case")
case_id = find.choose_case(about)
facts = store.facts(about, case_id)

card, drawing, words = st.columns([5, 3, 5], gap="medium")
with card:
    chain.decision(facts) if chain.goes_on(facts) else view.decision(facts)
with drawing:
    view.eye(facts)
with words:
    view.story(facts)
    with st.container(horizontal=True):
        note.note(facts)
        other = find.choose_pinned(about, case_id)

if chain.goes_on(facts):
    chain.chain(facts)
left, right = st.columns(2, gap="large")
with left:
    view.policy(facts)
with right:
    view.inputs(facts)

why, changes = st.columns([3, 2], gap="large")
with changes:
    view.changes(facts, about)
view.similar(facts, about)
if other:
    view.comparison(facts, store.facts(about, other))
whatif.what_if(facts, about)
with why:  # last, because it takes longest
    view.why(facts, about)
