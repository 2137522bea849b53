"""A benchmark works in a place of its own."""

from __future__ import annotations

from mpd2.cli.bench.crowd.own_place import own_place
from mpd2.lab.jobs.folder import PLACE, Workshop


def test_it_works_in_a_place_of_its_own_and_gives_it_back(tmp_path, monkeypatch):
    monkeypatch.setenv(PLACE, "before")
    with own_place(str(tmp_path)) as place:
        assert place == Workshop.here() == Workshop(tmp_path / "jobs", tmp_path / "runs")
    assert Workshop.here().jobs.parent.name == "before"
    monkeypatch.delenv(PLACE)
    with own_place(str(tmp_path)):
        pass
    assert Workshop.here().jobs.name == "jobs"
