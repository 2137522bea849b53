"""Case: why did this one go there?"""

import streamlit as st

from mpd2.studio import case_chain, case_find, case_note, case_store, case_view, case_whatif, frame

about = frame.open_page("case")
case_id = case_find.choose_case(about)
facts = case_store.facts(about, case_id)

card, drawing, words = st.columns([5, 3, 5], gap="medium")
with card:
    case_chain.decision(facts) if case_chain.goes_on(facts) else case_view.decision(facts)
with drawing:
    case_view.eye(facts)
with words:
    case_view.story(facts)
    with st.container(horizontal=True):
        case_note.note(facts)
        other = case_find.choose_pinned(about, case_id)

if case_chain.goes_on(facts):
    case_chain.chain(facts)
left, right = st.columns(2, gap="large")
with left:
    case_view.policy(facts)
with right:
    case_view.inputs(facts)

why, changes = st.columns([3, 2], gap="large")
with changes:
    case_view.changes(facts, about)
case_view.similar(facts, about)
if other:
    case_view.comparison(facts, case_store.facts(about, other))
case_whatif.what_if(facts, about)
with why:  # last, because it takes longest
    case_view.why(facts, about)
