"""A grid of numbers that follows a live slider in the browser: the texts of all its steps are sent beforehand.

Where they could not be worked out beforehand, the numbers follow what the slider hears from the server.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from mpd2.present.words.answer import BETTER_WORD, WORSE_WORD
from mpd2.present.words.budget import CELL, LINE
from mpd2.studio.parts.live_slider import EVENT, STATIC

HTML = '<div id="frame"><div id="cards"></div><p id="status" role="status"></p></div>'
TONES = {BETTER_WORD: "good", WORSE_WORD: "bad"}

_cards = st.components.v2.component(
    "mpd2_number_cards",
    html=HTML,
    css=(STATIC / "number_cards.css").read_text(encoding="utf-8"),
    js=(STATIC / "number_cards.js").read_text(encoding="utf-8"),
)


def number_cards(key: str, **data: Any) -> None:
    """Draw it outside of what reruns while the slider moves.

    `data`: names and helps of the numbers, and which of the texts is `first`; values and changes, all texts at rest as
    `words.budget` makes them; sweep, both of them for every step of the slider, or none; follows, the slider's key, or
    none; turn, which of the slider's messages they answer.
    """
    _cards(key=key, data={**data, "tones": TONES, "event": EVENT, "line": LINE, "cell": CELL})
