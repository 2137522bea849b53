"""The frame around every page: navigation, sidebar, banner."""

from pathlib import Path

import streamlit as st

from mpd2.studio import frame
from mpd2.studio.registry import DEFAULT, PAGES, SECTIONS

ASSETS = Path(__file__).parents[2] / "assets"
st.set_page_config(page_title="MPD² Studio", page_icon=ASSETS / "icon.svg", layout="wide")
st.logo(ASSETS / "logo.svg", size="large", icon_image=ASSETS / "icon.svg")

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
