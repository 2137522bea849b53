"""The benchmark of the dashboard: what it prints, and what it says where it cannot run. Browsers are in `browser`."""

import os

import pytest

from mpd2.bench.ui import Server, browsing
from mpd2.cli.arguments import parser
from mpd2.cli.bench import describe_ui
from mpd2.errors import UserError

FOUND = {
    "setting": {"pages": 8, "visits": 50},
    "start_seconds": 4.2,
    "first_view_seconds": 1.25,
    "open_seconds": {"p50": 0.8, "p95": 1.6},
    "switch_seconds": {"p50": 0.3, "p95": 0.9},
    "megabytes": {"after_first_view": 512.4, "after_visits": None},
}


def test_times_and_memory_are_printed_in_words():
    told = describe_ui(FOUND)
    assert "go to another page  0.30    0.90" in told
    assert "after first view  512" in told
    assert "after visits      –" in told


def test_the_memory_of_a_process_is_known_where_the_system_says_it():
    size = Server("", os.getpid(), 0.0).megabytes()
    assert size is None or size > 10


def test_without_a_browser_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="make system"), browsing():
        pass


def test_the_number_of_visits_can_be_chosen():
    assert parser().parse_args(["bench", "ui", "--visits", "3", "--json"]).visits == 3
    with pytest.raises(SystemExit):
        parser().parse_args(["bench", "ui", "--visits", "0"])
