"""The rooms stay small, and docs/architecture.md names modules that are there."""

from __future__ import annotations

import re

import pytest
from places import ROOT

TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
HOPS = {"A case, from its row to the screen": "Fifteen", "Train, from the press to the loss curve": "Twelve"}
NUMBERS = {"Twelve": 12, "Fifteen": 15}


def folders(room):
    return [path for path in room.rglob("*") if path.is_dir() and (path / "__init__.py").is_file()]


def test_there_are_at_most_twelve_rooms_of_at_most_fifteen_modules():
    rooms = [path for path in (ROOT / "mpd2").iterdir() if (path / "__init__.py").is_file()]
    assert len(rooms) <= 12
    crowded = {
        folder.name: len(modules)
        for room in rooms
        for folder in (room, *folders(room))
        if len(modules := [path for path in folder.glob("*.py") if path.name != "__init__.py"]) > 15
    }
    assert not crowded


@pytest.mark.parametrize("heading", HOPS)
def test_a_walk_passes_modules_that_are_there_in_as_many_hops_as_it_says(heading):
    walk = TEXT.split(f"## {heading}")[1].split("\n## ")[0]
    modules = re.findall(r"^\| \d+ \| `([\w/]+)` \|", walk, re.M)
    places = [ROOT / name if name.startswith("pages/") else ROOT / "mpd2" / name for name in modules]
    assert not [place for place in places if not (place.with_suffix(".py").is_file() or place.is_dir())]
    assert f"\n{HOPS[heading]} hops" in walk
    assert len(modules) - 1 == NUMBERS[HOPS[heading]]


def test_every_room_is_in_the_picture():
    picture = (ROOT / "assets" / "rooms.svg").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "mpd2").iterdir() if (path / "__init__.py").is_file()]
    assert rooms
    assert not [room for room in rooms if f">{room}</t" not in picture]
