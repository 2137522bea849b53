"""A link that somebody else made shows words: no picture is loaded, no number stops a page."""

from __future__ import annotations

import re

import pytest

PICTURE = "![x](http://elsewhere.example/x.png)"
SHOWN = re.compile(r"(?<!\\)!\[|(?<!\\)\]\(http")
WORDS = {
    "case": ("case", "pin", "whatif", "order"),
    "budget": ("total", "missed", "fees", "away", "at_most", "urgent", "day", "per_day", "budget", "alarm", "a"),
    "overview": ("run", "workspace", "cohorts", "view", "currency", "point"),
    "readers": ("readers_topic", "capacity"),
    "map": ("region",),
}
NUMBERS = {
    "overview": ("prevalence", "minutes", "price", "work_up", "year", "floor"),
    "budget": ("budget", "day", "per_day", "total", "missed", "alarm", "urgent", "reserve"),
    "readers": ("capacity",),
    "robustness": ("plan_prevalence", "plan_cases"),
}


def texts(page) -> list[str]:
    kinds = ("markdown", "caption", "warning", "error", "info", "subheader")
    return [str(element.value) for kind in kinds for element in getattr(page, kind)]


@pytest.mark.parametrize(("key", "names"), WORDS.items(), ids=WORDS)
def test_a_picture_in_a_link_is_shown_as_its_letters(open_page, key, names):
    page = open_page(key, **dict.fromkeys(names, PICTURE))
    assert not page.exception
    assert not [text for text in texts(page) if SHOWN.search(text)]


@pytest.mark.parametrize("value", ["inf", "1e999", "nan"])
@pytest.mark.parametrize(("key", "names"), NUMBERS.items(), ids=NUMBERS)
def test_a_number_that_is_none_does_not_stop_a_page(open_page, key, names, value):
    page = open_page(key, **dict.fromkeys(names, value))
    assert not page.exception
