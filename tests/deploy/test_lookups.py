"""What a visit holds, looked up one by one, is what Streamlit's own copy of it says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX, SessionState
from streamlit.testing.v1 import AppTest

from mpd2.studio.server.lookups import Held, spare_copies

COPIED = SafeSessionState.filtered_state
FIELDS = 4  # on the page


@pytest.fixture(autouse=True)
def as_before(monkeypatch) -> Iterator[None]:
    """Streamlit is left as it was."""
    with monkeypatch.context() as patch:
        patch.setattr(SafeSessionState, "filtered_state", COPIED)
        yield


def page() -> None:
    import streamlit as st

    st.session_state.setdefault("own", [1, 2])
    if "nothing" not in st.session_state:
        st.session_state["nothing"] = None
    st.number_input("Nothing", value=3, key="nothing")
    st.selectbox("Choice", ["a", "b"], key="choice")
    st.slider("Slider", 0, 9, key="slider")
    st.text_input("Keyless")
    if st.session_state["choice"] == "a":
        st.text_input("Goes away", key="transient")


def visits() -> Iterator[SafeSessionState]:
    """A visit after its first look, after a choice, and after a widget went away."""
    visit = AppTest.from_function(page).run()
    yield visit.session_state._state
    visit.slider(key="slider").set_value(4).run()
    yield visit.session_state._state
    visit.selectbox(key="choice").set_value("b").run()
    yield visit.session_state._state


def test_every_value_and_no_other_is_found():
    for state in visits():
        copied, held = COPIED.fget(state), Held(state)
        assert {"own", "nothing", "choice", "slider"} <= copied.keys()
        assert dict(held) == copied
        assert len(held) == len(copied)
        inner = [key for key in state._state._keys() if key not in copied]
        assert inner
        for key in [*inner, "transient", "unknown", f"{STREAMLIT_INTERNAL_KEY_PREFIX}own"]:
            assert (key in held) == (key in copied), key


def test_widgets_are_drawn_alike_and_copy_nothing(monkeypatch):
    copies, copied = list[str](), SessionState.filtered_state.fget
    monkeypatch.setattr(SessionState, "filtered_state", property(lambda state: copies.append("") or copied(state)))
    before = AppTest.from_function(page).run()
    assert len(copies) > FIELDS
    spare_copies()
    copies.clear()
    after = AppTest.from_function(page).run()
    assert not copies
    assert [repr(each) for each in after.main] == [repr(each) for each in before.main]
    assert after.number_input(key="nothing").value is None
