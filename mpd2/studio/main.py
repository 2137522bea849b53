"""The frame around every page: navigation, sidebar, banner."""

import streamlit as st

from mpd2.studio import frame
from mpd2.studio.registry import DEFAULT, PAGES, SECTIONS

st.set_page_config(page_title="MPD² Studio", page_icon=":material/account_tree:", layout="wide")

pages = {
    section: [
        st.Page(
            page.path,
            title=page.title,
            icon=page.icon,
            url_path=page.key,
            default=page.key == DEFAULT,
            help=page.question,
        )
        for page in PAGES
        if page.section == section and page.path.exists()
    ]
    for section in SECTIONS
}
chosen = st.navigation({section: entries for section, entries in pages.items() if entries})
frame.draw()
chosen.run()
