"""Budget: what if we could send fewer?"""

import streamlit as st

from mpd2.studio.budget import after, arrivals, controls, live, state
from mpd2.studio.shell import frame

about = frame.open_page("budget")
state.write_link()
if reason := state.refused():
    st.warning(reason, icon=":material/block:")
controls.days(about)
live.draw(about)
live.explain(about)
controls.draw(about)
after.cohorts(about)
after.moved(about)
after.side_by_side(about)
arrivals.draw(about)
after.worklist(about)
