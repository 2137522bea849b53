"""Budget: what if we could send fewer?"""

import streamlit as st

from mpd2.studio import budget_after, budget_controls, budget_live, budget_store, frame
from mpd2.studio import budget_state as state
from mpd2.studio import texts_budget as texts

about = frame.open_page("budget")
state.write_link()
if reason := state.refused():
    st.warning(reason, icon=":material/block:")
budget_controls.days(about)
budget_live.draw(about)
members = budget_store.members(about)
st.caption((texts.TOGETHER.format(members=members) if members > 1 else "") + texts.ORDER)
budget_controls.draw(about)
budget_after.cohorts(about)
budget_after.moved(about)
budget_after.side_by_side(about)
budget_after.worklist(about)
