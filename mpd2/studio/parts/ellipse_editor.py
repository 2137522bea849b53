"""Outlines over a picture that are dragged, sized and turned, by pointer or by keys, and report where they are.

Like the live slider it sends one message at a time, and the next only after the page has answered. The picture itself
is sent when nothing moves; while something does, the browser keeps the one it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from mpd2.studio.parts.live_slider import STATIC, TIMING

NAME = "mpd2_ellipse_editor"  # of the component
NUMBERS = ("x", "y", "width", "height", "angle")
HTML = """
<div class="editor">
  <svg id="picture" role="group" xmlns="http://www.w3.org/2000/svg">
    <image id="photo"></image>
    <g id="overlay" aria-hidden="true"></g>
    <g id="outlines"></g>
  </svg>
  <div id="hint"></div>
</div>
"""

_editor = st.components.v2.component(
    NAME,
    html=HTML,
    css=(STATIC / "ellipse_editor.css").read_text(encoding="utf-8"),
    js=(STATIC / "ellipse_editor.js").read_text(encoding="utf-8"),
)


class Drawn(NamedTuple):
    """What the editor says last."""

    ellipses: Mapping[str, Mapping[str, float]]  # x, y, width, height and angle by the outline's key
    moving: bool  # whether one is still being dragged


class Outline(NamedTuple):
    """One outline to begin with, in pixels of the picture."""

    key: str
    title: str
    colour: str
    numbers: Mapping[str, float]  # x, y, width, height, angle


class Box(NamedTuple):
    """The part of the picture that is shown, in its pixels."""

    left: float
    top: float
    width: float
    height: float


def drawn(key: str) -> Drawn | None:
    """The outlines of the editor's last message; none before the first."""
    message = _message(key)
    if message is None:
        return None
    found = {
        str(name): {number: float(ellipse[number]) for number in NUMBERS}
        for name, ellipse in message["ellipses"].items()
    }
    return Drawn(found, bool(message["moving"]))


def restart(key: str) -> None:
    """Let the editor begin anew: what it has said, and what is still on its way, counts no more."""
    st.session_state[_round(key)] = st.session_state.get(_round(key), 0) + 1


def is_moving(key: str) -> bool:
    """Whether an outline is being dragged."""
    message = _message(key)
    return bool(message and message["moving"])


def ellipse_editor(
    key: str,
    on_move: Callable[[], None],
    *,
    image: str,
    box: Box,
    outlines: Sequence[Outline],
    overlay: str,
    label: str,
    hint: str,
) -> None:
    """Draw it last of all that follows it: that it is drawn shows the browser that the rest is there.

    `image`: a data URI of the part of the picture within `box`; `overlay`: SVG in the picture's pixels under the
    outlines; `label`: what is seen, for who does not see it.
    """
    message = _message(key)
    _editor(
        key=key,
        data={
            "image": None if is_moving(key) else image,
            "box": box._asdict(),
            "ellipses": [
                {"key": each.key, "title": each.title, "colour": each.colour, **each.numbers} for each in outlines
            ],
            "overlay": overlay,
            "label": label,
            "hint": hint,
            "turn": int(message["turn"]) if message else 0,
            "round": st.session_state.get(_round(key), 0),
            "timing": TIMING,
        },
        default={"outlines": None},
        on_outlines_change=on_move,
    )


def _message(key: str) -> Mapping[str, Any] | None:
    said = (st.session_state.get(key) or {}).get("outlines")
    return said if said and said.get("round", 0) == st.session_state.get(_round(key), 0) else None


def _round(key: str) -> str:
    """Key of the session: how often the editor has begun anew."""
    return f"{key}:round"
