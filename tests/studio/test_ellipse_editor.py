"""What an editor of outlines has said counts until it begins anew."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def said_before_and_after() -> None:
    import streamlit as st

    from mpd2.studio.parts.ellipse_editor import drawn, is_moving, restart

    cup = dict.fromkeys(("x", "y", "width", "height", "angle"), 1.0)
    late = {"outlines": {"ellipses": {"cup": cup}, "moving": True, "turn": 3, "round": 0}}
    st.session_state["editor"] = late
    st.text(f"{drawn('editor') is not None} {is_moving('editor')}")
    restart("editor")
    st.text(f"{drawn('editor') is not None} {is_moving('editor')}")
    st.session_state["editor"] = {"outlines": late["outlines"] | {"round": 1}}
    st.text(f"{drawn('editor') is not None} {is_moving('editor')}")


def test_what_was_still_on_its_way_when_it_began_anew_is_not_heard() -> None:
    page = AppTest.from_function(said_before_and_after).run()
    assert [text.value for text in page.text] == ["True True", "False False", "True True"]
