"""A slider that reports where it is while it is dragged; Streamlit's own does so only once it is released.

It sends one step at a time and the next only after the page has answered, so that a slow server is never asked to
draw what nobody will see. Other parts of the page hear of every step at once, as an event of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

NAME = "mpd2_live_slider"  # of the component
STATIC = Path(__file__).parents[1] / "static"
EVENT = "mpd2-slider"  # of the window, with the slider's key, its step and the number of the message that will carry it
TIMING = {
    "every": 60,  # milliseconds between two messages at least
    "patience": 2000,  # milliseconds after which an answer is no longer waited for
    "rest": 300,  # milliseconds after which a key is taken to be the last
}
HTML = """
<div class="slider">
  <div class="head">
    <label id="label" for="range"></label><output id="meaning" for="range" aria-live="off"></output>
  </div>
  <div class="track">
    <span id="least" aria-hidden="true"></span>
    <input id="range" type="range" aria-labelledby="label">
    <span id="most" aria-hidden="true"></span>
  </div>
  <div id="notes"></div>
</div>
"""

_slider = st.components.v2.component(
    NAME,
    html=HTML,
    css=(STATIC / "live_slider.css").read_text(encoding="utf-8"),
    js=(STATIC / "live_slider.js").read_text(encoding="utf-8"),
)


class Position(NamedTuple):
    """Where the slider is."""

    step: float
    moving: bool  # whether it is still being dragged


def position_of(key: str) -> Position | None:
    """What the slider's last message says; none before the first."""
    message = _message(key)
    return Position(float(message["step"]), bool(message["moving"])) if message else None


def turn_of(key: str) -> int:
    """The number of the slider's last message."""
    message = _message(key)
    return int(message["turn"]) if message else 0


def live_slider(key: str, on_move: Callable[[], None], **data: Any) -> None:
    """Draw it last of all that follows it: that it is drawn shows the browser that the rest is there.

    `data`: label, least and most (the words at its ends), step and max, meaning (of the step, while nobody moves it),
    to work that out while it moves: cases, day (cases a day), soft; notes, lines under it; and numbers for who
    listens, or none.
    """
    _slider(
        key=key,
        data={**data, "key": key, "turn": turn_of(key), "event": EVENT, "timing": TIMING},
        default={"step": None},
        on_step_change=on_move,
    )


def _message(key: str) -> Mapping[str, Any] | None:
    return (st.session_state.get(key) or {}).get("step")
