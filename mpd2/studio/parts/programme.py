"""The programme in which results are told: prevalence, minutes and prices, as the user knows them and the link says."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import streamlit as st

from mpd2.core.manifest import Manifest
from mpd2.core.text import capital, percent
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, MINUTES, Programme
from mpd2.studio.parts import widgets
from mpd2.studio.shell import session

PREVALENCE, READING, CURRENCY, PRICE, WORK_UP, YEAR = "prevalence", "minutes", "currency", "price", "work_up", "year"
"""Keys of the session and names in the URL."""

TOLD = "told"  # under which a report finds what was chosen last
LETTERS = ("Lu", "Ll", "Sc")  # kinds of characters that a currency may be written with
HELP = {
    PREVALENCE: "Share of positives among those you screen. Empty: as among the cases shown.",
    READING: "How long a reader takes for one case.",
    PRICE: "What one reading costs you. Empty: no money is counted.",
    WORK_UP: "What following up one false alarm costs you, if you know it.",
    YEAR: "How many you screen in a year. Empty: results are for 1,000.",
}


@dataclass(frozen=True)
class Told:
    """How results are told."""

    programme: Programme
    currency: str
    year: int | None  # people screened


UNASKED = Told(AS_COUNTED, "", None)


def editor(prevalence: float, manifest: Manifest) -> Told:
    """A button behind which the programme can be edited; `prevalence`: that of the cases shown.

    Money begins as the manifest has it: its currency and, where a unit of cost is worth something in it, the mean fee.
    """
    task = manifest.task
    usual = None if task.unit is None else round(float(manifest.fees.mean()) * task.unit, 2)
    with st.popover("Your programme", icon=":material/edit:", key="programme"):
        there = 0 < prevalence < 1  # with positives or negatives alone no other prevalence can be told
        with st.container(horizontal=True, vertical_alignment="bottom"):
            own = st.number_input("Prevalence, %", 0.1, 99.0, None, 0.5, key=PREVALENCE, bind="query-params",
                                  width=150, placeholder=percent(prevalence), disabled=not there,
                                  help=HELP[PREVALENCE])  # fmt: skip
            minutes = st.number_input("Minutes a reading", 0.5, 120.0, MINUTES, 0.5, key=READING, bind="query-params",
                                      width=150, help=HELP[READING])  # fmt: skip
            year = widgets.whole_number(f"{capital(task.people)} a year", 1, 10_000_000, None, 1000, key=YEAR,
                                        width=150, help=HELP[YEAR])  # fmt: skip
        with st.container(horizontal=True, vertical_alignment="bottom"):
            currency = st.text_input(
                "Currency", plain(task.currency)[:4] or "€", max_chars=4, key=CURRENCY, bind="query-params", width=150
            )
            price = st.number_input("Price of a reading", 0.0, 1e6, usual, 1.0, key=PRICE, bind="query-params",
                                    width=150, help=HELP[PRICE])  # fmt: skip
            work_up = st.number_input("Price of a work-up", 0.0, 1e6, None, 10.0, key=WORK_UP, bind="query-params",
                                      width=150, help=HELP[WORK_UP])  # fmt: skip
    chosen = Programme(own / 100 if there and own is not None else None, minutes, price or 0.0, work_up or 0.0)
    told = Told(chosen, plain(currency or ""), year)
    session.along()[TOLD] = told
    return told


def plain(currency: str) -> str:
    """A currency without anything but letters and signs of money, however it was typed.

    >>> plain("€"), plain("<b>"), plain("US$")
    ('€', 'b', 'US$')
    """
    return "".join(letter for letter in currency if unicodedata.category(letter) in LETTERS)
