"""The benchmark of the record measures a record that is whole."""

from __future__ import annotations

import json

from mpd2.cli import main


def test_it_fills_a_record_with_genuine_entries_and_says_how_fast_it_is(capsys, tmp_path):
    assert main(["bench", "record", "--entries", "300", "--appends", "20", "--folder", str(tmp_path), "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)
    assert measured["whole"]
    assert measured["entries"] == 320
    for part in ("empty", "full"):
        assert measured[part]["per_second"] > 0
        assert measured[part]["p50_milliseconds"] <= measured[part]["p95_milliseconds"]
    assert measured["search_milliseconds"]["case"] > 0
    assert not list(tmp_path.iterdir())


def test_without_json_it_says_so_in_words(capsys, tmp_path):
    assert main(["bench", "record", "--entries", "50", "--appends", "5", "--folder", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "appends, full" in out
    assert "55 entries verified in " in out
