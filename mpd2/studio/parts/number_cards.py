"""A grid of numbers that follows a live slider in the browser: what each of its places comes to is sent beforehand.

Where it could not be worked out beforehand, the numbers follow what the slider hears from the server.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from mpd2.present.words.answer import BETTER_WORD, WORSE_WORD
from mpd2.present.words.budget import CELL, LINE
from mpd2.studio.parts.live_slider import HEARD

HTML = '<div id="frame"><div id="cards"></div><p id="status" role="status"></p></div>'

CSS = """
#frame { container-type: inline-size; position: relative; }
#cards { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 1rem; font-family: var(--st-font);
  color: var(--st-text-color); font-variant-numeric: tabular-nums; }
.card { position: relative; padding: calc(1rem - 1px); border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); font-size: 0.875rem; line-height: 1.5; }
.head { display: flex; align-items: center; gap: 0.35rem; }
.value { font-size: var(--st-metric-value-font-size); font-weight: var(--st-metric-value-font-weight);
  line-height: 1.35; white-space: nowrap; }
.line { min-height: 1lh; }
.line:empty[data-text="more"] { display: none; }
.change { font-weight: 600; }
.sense { color: var(--st-gray-text-color); }
.sense.good { color: var(--st-green-text-color); }
.sense.bad { color: var(--st-red-text-color); }
.help { width: 1rem; height: 1rem; padding: 0; border: 1px solid currentColor; border-radius: 50%; background: none;
  color: var(--st-gray-text-color); font: 600 0.65rem/1 var(--st-font); cursor: help; }
.help:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.tip { position: absolute; z-index: 10; top: 2.75rem; left: 0.5rem; right: 0.5rem; padding: 0.5rem 0.75rem;
  visibility: hidden; background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); box-shadow: 0 4px 16px rgb(0 0 0 / 16%); }
.help:hover + .tip, .help:focus-visible + .tip { visibility: visible; }
#status { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
@container (max-width: 40rem) {
  #cards { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.75rem; }
  .card { padding: calc(0.75rem - 1px); font-size: 0.8rem; }
  .sense { display: block; min-height: 1lh; }
}
"""

JS = (
    """
const known = new WeakMap();
const TEXTS = 3;  // of a number's figure, and of its change

const made = (tag, kind, more = {}) => Object.assign(document.createElement(tag), { className: kind, ...more });
const write = (part, text) => { if (part.textContent !== text) part.textContent = text; };

const card = (name, help, position) => {
  const whole = made("div", "card");
  whole.setAttribute("role", "group");
  whole.setAttribute("aria-labelledby", `name-${position}`);
  const head = made("div", "head");
  const button = made("button", "help", { type: "button", textContent: "?" });
  button.setAttribute("aria-label", `Help on ${name}`);
  button.setAttribute("aria-describedby", `tip-${position}`);
  button.onkeydown = (event) => { if (event.key === "Escape") button.blur(); };
  const tip = made("div", "tip", { id: `tip-${position}`, textContent: help });
  tip.setAttribute("role", "tooltip");
  head.append(made("span", "name", { id: `name-${position}`, textContent: name }), button, tip);
  const value = made("div", "value");
  const [span, more, apart, ends] = [0, 1, 2, 3].map(() => made("div", "line"));
  more.dataset.text = "more";
  const [change, sense] = [made("span", "change"), made("span", "sense")];
  apart.append(change, " ", sense);
  whole.append(head, value, span, more, apart, ends);
  return { whole, figure: [value, span, more], change: [change, ends, sense] };
};

export default function ({ data, parentElement }) {
  const part = (id) => parentElement.querySelector("#" + id);
  const grid = part("cards");
  let here = known.get(grid);
  if (!here) {
    here = { cards: [], names: "", heard: null };
    known.set(grid, here);
  }
  here.data = data;
  if (here.names !== data.names.join()) {
    here.names = data.names.join();
    here.cards = data.names.map((name, position) => card(name, data.helps[position], position));
    grid.replaceChildren(...here.cards.map((each) => each.whole));
  }
  if (data.follows === null) here.heard = null;

  const place = (lines) => lines.split("LINE")[here.heard.place].split("CELL");
  const texts = () => {
    if (!here.heard || here.heard.turn <= here.data.turn) return here.data;  // the server has been told of it
    const { figures, changes } = here.data.course ?? {};
    if (figures) return { figures: place(figures), changes: place(changes) };
    return here.heard.figures ? here.heard : here.data;
  };
  const show = () => {
    const { figures, changes } = texts();
    here.cards.forEach(({ figure, change }, position) => {
      figure.forEach((each, text) => write(each, figures[TEXTS * position + text]));
      change.forEach((each, text) => write(each, changes[TEXTS * position + text]));
      const sense = change[TEXTS - 1];
      sense.className = `sense ${here.data.tones[sense.textContent] ?? ""}`;
    });
    if (figures === here.data.figures) {  // at rest: while a hand moves, the slider itself says where it is
      write(part("status"), `${here.data.names[0]} ${figures[0]}, ${changes[0]} ${changes[TEXTS - 1]}`);
    }
  };
  const hear = ({ detail }) => {
    const told = here.data.course ? "place" in detail : "figures" in detail;
    if (detail.slider !== here.data.follows || !told) return;
    here.heard = detail;
    show();
  };
  window.removeEventListener("HEARD", here.hear);
  window.addEventListener("HEARD", hear);
  here.hear = hear;
  show();
  return () => window.removeEventListener("HEARD", here.hear);
}
""".replace("HEARD", HEARD)
    .replace('"LINE"', repr(LINE))
    .replace('"CELL"', repr(CELL))
)

_cards = st.components.v2.component("mpd2_number_cards", html=HTML, css=CSS, js=JS)
TONES = {BETTER_WORD: "good", WORSE_WORD: "bad"}


def number_cards(key: str, **data: Any) -> None:
    """Draw it outside of what reruns while the slider moves.

    `data`: names and helps of the numbers; figures and changes, their texts at rest as `words.budget` makes them;
    course, both of them for every place of the slider, or none; follows, the slider's key, or none; turn, which of
    the slider's messages they answer.
    """
    _cards(key=key, data={**data, "tones": TONES})
