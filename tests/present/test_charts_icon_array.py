"""The picture of a thousand people: everybody is drawn once, where and as what the numbers say."""

from __future__ import annotations

import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pandas as pd
import pytest
from charts import SVG
from contrasts import PART, TEXT, contrast
from gallery import ALONE, PEOPLE, PICTURES
from places import ROOT
from strategies import TASK

from mpd2.present.charts.icon_array import COLUMNS, PITCH, ROWS, before_and_after, icon_array, in_words, looks
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import ON_DARK, READER

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
LARGEST = 60_000  # bytes


def paths(svg: str) -> Iterator[tuple[str, ET.Element]]:
    for path in ET.fromstring(svg).iter(f"{SVG}path"):
        if path.get("class"):
            yield path.get("class", ""), path


LOOKS = looks(TASK)


def places(svg: str) -> dict[str, list[tuple[int, int]]]:
    """Column and row of everybody by outcome, and of those read."""
    found: dict[str, list[tuple[int, int]]] = {}
    for name, path in paths(svg):
        middles = re.findall(r"M([\d.]+) ([\d.]+)", path.get("d", ""))
        found.setdefault(name, []).extend((int(float(x) // PITCH), int(float(y) // PITCH)) for x, y in middles)
    return found


def totals(people: pd.DataFrame) -> dict[str, int]:
    return people.groupby("outcome")["people"].sum().to_dict()


@pytest.mark.parametrize("people", [PEOPLE, ALONE])
def test_everybody_is_drawn_once_as_what_became_of_them(people: pd.DataFrame) -> None:
    drawn = places(icon_array(people, TASK))
    assert {outcome: len(drawn[outcome]) for outcome in LOOKS} == totals(people)
    everybody = [place for outcome in LOOKS for place in drawn[outcome]]
    assert len(everybody) == len(set(everybody)) == COLUMNS * ROWS == 1000
    assert all(0 <= x < COLUMNS and 0 <= y < ROWS for x, y in everybody)


def test_those_on_the_readers_ground_are_those_who_were_read() -> None:
    drawn = places(icon_array(PEOPLE, TASK))
    read = set(drawn["read"])
    expected = PEOPLE[PEOPLE["who"] == "reader"].set_index("outcome")["people"]
    assert {outcome: len(read & set(drawn[outcome])) for outcome in LOOKS} == expected.to_dict()
    assert "read" not in places(icon_array(ALONE, TASK))


def test_the_sick_stand_left_of_the_healthy() -> None:
    drawn = places(icon_array(PEOPLE, TASK))
    last = max(x for outcome in ("found", "missed") for x, _ in drawn[outcome])
    assert last <= min(x for outcome in ("alarm", "cleared") for x, _ in drawn[outcome])


def test_every_outcome_has_a_colour_and_a_shape_of_its_own() -> None:
    shapes = {(look.path, look.stroke) for look in LOOKS.values()}
    assert len(shapes) == len({look.colour for look in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_mark_can_be_seen_and_every_text_be_read(scheme: str) -> None:
    ground = THEME[scheme]["backgroundColor"]
    assert all(
        contrast(colour, ground) >= PART for colour in [*(look.colour for look in LOOKS.values()), READER.colour]
    )
    ink = THEME[scheme]["textColor"]
    texts = ET.fromstring(before_and_after([("AI", ALONE)], "Title", TASK, ink)).iter(f"{SVG}text")
    assert {text.get("fill") for text in texts} == {ink}
    assert contrast(ink, ground) >= TEXT


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_in_words_what_it_shows_and_is_light(name: str) -> None:
    svg = PICTURES[name]()
    title = ET.fromstring(svg).find(f"{SVG}title").text
    assert in_words(PEOPLE, TASK) in title
    assert "137 glaucomas found, 13 glaucomas missed, 58 false alarms" in title
    assert "315 read by a reader" in title
    assert len(svg.encode()) < LARGEST


def test_a_file_has_a_title_the_numbers_and_a_legend() -> None:
    svg = before_and_after([("AI <alone>", ALONE), ("MPD²+", PEOPLE)], "A thousand people & their results", TASK)
    texts = ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]
    assert texts[:2] == ["A thousand people & their results", "AI <alone>"]
    assert "11 glaucomas missed, 224 false alarms, 0 read by a reader" in texts
    assert "13 glaucomas missed, 58 false alarms, 315 read by a reader" in texts
    assert texts[-5:] == [*(look.one for look in LOOKS.values()), "read by a reader"]


@pytest.mark.parametrize("background", ["white", "#10181a"])
def test_it_becomes_a_file_on_its_ground(background: str) -> None:
    svg = before_and_after([("AI", ALONE)], "Title", TASK, ON_DARK)
    assert render(svg, "png", background).startswith(b"\x89PNG")
    rect = ET.fromstring(render(svg, "svg", background)).find(f"{SVG}rect")
    assert rect is not None
    assert rect.get("fill") == background
