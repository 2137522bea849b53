"""The frame around every page: navigation, sidebar, banner."""

import streamlit as st

from mpd2.core.cache import one_look
from mpd2.core.files import ROOT
from mpd2.studio.server.numbers import timed_rerun
from mpd2.studio.shell import forgetting, frame, identity
from mpd2.studio.shell.registry import DEFAULT, PAGES, SECTIONS, entry

forgetting.watch()
ASSETS = ROOT / "assets"
st.set_page_config(page_title="MPD² Studio", page_icon=ASSETS / "icon.svg", layout="wide")
st.logo(ASSETS / "logo.svg", size="large", icon_image=ASSETS / "icon.svg")
stopped = identity.reason_to_stop()


def to_default() -> None:
    """Go on to the default page: it stands at "/" alone, and links by its name must lead there too."""
    asked = {name: st.query_params.get_all(name) for name in st.query_params}
    st.switch_page(entry(DEFAULT).path, query_params=asked)


pages = {
    section: [
        st.Page(
            page.path,
            title=page.title,
            icon=page.icon,
            url_path="home" if page.key == DEFAULT else page.key,
            default=page.key == DEFAULT,
            help=page.question,
            # opened by address, it refuses
            visibility="visible" if not stopped and identity.is_allowed(page.needs) else "hidden",
        )
        for page in PAGES
        if page.section == section and page.path.exists()
    ]
    for section in SECTIONS
}
pages[entry(DEFAULT).section].append(st.Page(to_default, url_path=DEFAULT, visibility="hidden"))
chosen = st.navigation(
    {section: entries for section, entries in pages.items() if entries},
    position="hidden" if stopped else "sidebar",
    expanded=True,  # so many pages would else be cut off behind a button
)
if stopped:  # nobody who is not let in gets further
    identity.stop(stopped)
with timed_rerun(), one_look():
    if chosen.url_path != DEFAULT:  # a page drawn already could not hand its link on
        frame.draw()
    chosen.run()
