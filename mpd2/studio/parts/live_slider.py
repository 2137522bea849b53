"""A slider that says where it is while it is dragged; Streamlit's own says so only once it is let go.

It sends one place at a time and the next only after the page has answered, so that a slow server is never asked to
draw what nobody will see. Other parts of the page hear of every place at once, as an event of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

NAME = "mpd2_live_slider"  # of the component
EVERY = 60  # milliseconds between two places at least
PATIENCE = 2000  # milliseconds after which an answer is no longer waited for
HEARD = "mpd2-slider"  # name of the event, with the slider's key, the place and the message that will carry it
REST = 300  # milliseconds after which a key is taken to be the last

HTML = """
<div class="slider">
  <div class="head"><label id="label" for="range"></label><output id="told" for="range" aria-live="off"></output></div>
  <input id="range" type="range" aria-labelledby="label">
  <div class="ends" aria-hidden="true"><span id="least"></span><span id="most"></span></div>
  <div id="notes"></div>
</div>
"""

CSS = """
.slider { font-family: var(--st-font); color: var(--st-text-color); padding: 0.1rem 0.15rem; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; font-size: 0.875rem; }
output { font-weight: 600; font-variant-numeric: tabular-nums; }
input { width: 100%; height: 1.75rem; margin: 0; accent-color: var(--st-primary-color); cursor: pointer; }
input:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; border-radius: 0.25rem; }
#notes { margin-top: 0.75rem; font-size: 0.875rem; line-height: 1.5; color: var(--st-gray-text-color); }
#notes > :last-child { min-height: 2lh; }  /* it grows and shrinks under the hand, and the page must not jump */
@media (max-width: 40rem) { #notes > :last-child { min-height: 3lh; } }
.ends { display: flex; justify-content: space-between; font-size: 0.75rem; opacity: 0.75; }
"""

JS = (
    """
const known = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  const part = (id) => parentElement.querySelector("#" + id);
  const range = part("range");
  let here = known.get(range);
  if (!here) {
    here = { turn: 0, waiting: false, wanted: null, sent: 0, timer: null, held: false, moved: false };
    known.set(range, here);
  }
  Object.assign(here, { data, setStateValue });

  part("label").textContent = data.label;
  part("least").textContent = data.least;
  part("most").textContent = data.most;
  const lines = data.notes.map((text) => Object.assign(document.createElement("div"), { textContent: text }));
  part("notes").replaceChildren(...lines);
  range.min = 0;
  range.max = data.max;
  range.step = 1;

  const tell = () => {
    const share = Number(range.value) / here.data.max;
    const digits = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
    const cases = Math.floor(share * here.data.cases + 0.5);
    const told = !here.moved ? here.data.said : digits.format(100 * share) + " % " + (here.data.soft
      ? "mean probability"
      : `= ${cases} of ${here.data.cases} cases (${digits.format(share * here.data.day)} a day at ${here.data.day})`);
    part("told").textContent = told;
    range.setAttribute("aria-valuetext", told);
  };
  const announce = (what) => {
    const detail = { slider: here.data.key, ...what };
    window.dispatchEvent(new CustomEvent("HEARD", { detail }));
  };
  const send = () => {
    clearTimeout(here.timer);
    if (here.wanted === null) return;
    const now = performance.now();
    const rest = here.waiting ? here.sent + PATIENCE - now : here.sent + EVERY - now;
    if (rest > 0) {
      here.timer = setTimeout(send, rest);
      return;
    }
    const { place, moving } = here.wanted;
    Object.assign(here, { turn: here.turn + 1, wanted: null, waiting: true, sent: now });
    here.setStateValue("place", { place, moving, turn: here.turn });
  };

  if (data.turn >= here.turn) {
    here.turn = data.turn;
    here.waiting = false;
  }
  if (!here.held && here.wanted === null && !here.waiting) {
    here.moved = false;
    range.value = data.place;
  }
  tell();
  if (data.numbers) announce({ ...data.numbers, turn: data.turn });
  send();

  const move = (moving) => {
    here.wanted = { place: Number(range.value), moving };
    send();
  };
  range.onpointerdown = () => { here.held = true; };
  range.onpointerup = range.onpointercancel = () => setTimeout(() => { here.held = false; });  // after `onchange`
  range.oninput = () => {
    here.moved = true;
    clearTimeout(here.rest);
    tell();
    announce({ place: Number(range.value), turn: here.turn + 1 });
    move(true);
  };
  range.onchange = () => {
    here.rest = setTimeout(() => move(false), here.held ? 0 : REST);  // keys are pressed several at a time
  };
  return () => clearTimeout(here.timer);
}
""".replace("EVERY", str(EVERY))
    .replace("PATIENCE", str(PATIENCE))
    .replace("REST", str(REST))
    .replace("HEARD", HEARD)
)

_slider = st.components.v2.component(NAME, html=HTML, css=CSS, js=JS)


class Place(NamedTuple):
    """Where the hand is."""

    place: float
    moving: bool  # whether it is still on the slider


def place_of(key: str) -> Place | None:
    """What the slider said last; none before the first time."""
    said = _said(key)
    return Place(float(said["place"]), bool(said["moving"])) if said else None


def turn_of(key: str) -> int:
    """Which of the slider's messages was the last."""
    said = _said(key)
    return int(said["turn"]) if said else 0


def live_slider(key: str, on_move: Callable[[], None], **data: Any) -> None:
    """Draw it last of all that follows it: that it is drawn tells the browser that the rest is there.

    `data`: label, least and most (the words at its ends), place and max (in steps), said (what the place means, while
    nobody moves it), to say so while it moves: cases, day (cases a day), soft; notes, lines to stand under it; and
    numbers for who listens, or none.
    """
    _slider(key=key, data={**data, "key": key, "turn": turn_of(key)}, default={"place": None}, on_place_change=on_move)


def _said(key: str) -> Mapping[str, Any] | None:
    return (st.session_state.get(key) or {}).get("place")
