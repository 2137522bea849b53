"""Budget: what if we could send fewer?"""

import streamlit as st

from mpd2.studio import budget_after, budget_arrivals, budget_controls, budget_live, frame
from mpd2.studio import budget_state as state

about = frame.open_page("budget")
state.write_link()
if reason := state.refused():
    st.warning(reason, icon=":material/block:")
budget_controls.days(about)
budget_live.draw(about)
budget_live.explain(about)
budget_controls.draw(about)
budget_after.cohorts(about)
budget_after.moved(about)
budget_after.side_by_side(about)
budget_arrivals.draw(about)
budget_after.worklist(about)
