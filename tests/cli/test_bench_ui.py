"""The benchmark of the dashboard: what it prints, and what it says where it cannot run. Browsers are in `browser`."""

import os
from time import process_time

import pytest

from mpd2.cli import parser
from mpd2.cli.bench.as_text import describe_ui
from mpd2.cli.bench.ui import Server, Step, bench_ui, browsing, medians, spreads
from mpd2.cli.bench.watch import Moment
from mpd2.core.errors import UserError


def moment(rest: float) -> Moment:
    return Moment(rest, rest + 0.1, 1000 * rest, rest / 5)


STEPS = [
    Step("open", "risk", moment(0.8)),
    Step("open", "map", moment(1.6)),
    Step("switch", "map", moment(0.25)),
    Step("switch", "risk", moment(0.35)),
    Step("change", "risk", moment(0.02)),
]
TIMINGS = {
    "setting": {"pages": 3, "visits": 2},
    "start_seconds": 4.2,
    "first_view": {"rest_seconds": 1.25, "drawn_seconds": 1.5, "kilobytes": 61.0},
    **spreads(STEPS),
    "pages": {"map": medians(STEPS[1:3]), "risk": medians(STEPS[3:]), "about": {}},
    "megabytes": {"after_first_round": 512.4, "after_visits": None},
}


def test_times_sizes_and_memory_are_printed_in_words():
    text = describe_ui(TIMINGS)
    assert "first view          1.25        1.50      61    –" in text
    assert "go to another page  0.30        0.40      300   0.06" in text
    assert "  map               0.25        0.35      250  0.05" in text
    assert "  about             –           –         –    –" in text
    assert "after first round  512" in text
    assert "after visits       –" in text


def test_what_visitors_do_is_timed_apart_and_slow_ones_stand_out():
    found = spreads([*STEPS, *(Step("switch", "case", moment(seconds)) for seconds in (0.3, 0.3, 0.3, 4.0))])
    assert set(found) == {"open", "switch", "change"}
    assert found["switch"]["rest_seconds"]["p50"] == pytest.approx(0.3)
    assert found["switch"]["rest_seconds"]["p95"] > 1


def test_the_memory_of_a_process_is_known_where_the_system_says_it():
    size = Server("", os.getpid(), 0.0).megabytes()
    assert size is None or size > 10


def test_what_a_process_computes_is_known_where_the_system_says_it():
    server = Server("", os.getpid(), 0.0)

    def work() -> Moment:
        end = process_time() + 0.2
        while process_time() < end:
            pass
        return moment(1.0)

    took = server.timed(work).cpu_seconds
    assert server.cpu_seconds() is None or took > 0.1


def test_a_measure_that_is_not_known_is_left_out():
    found = spreads([*STEPS, Step("open", "risk", Moment(0.8, 0.9, 800))])
    assert "cpu_seconds" not in found["open"]
    assert found["switch"]["cpu_seconds"]["p50"] == pytest.approx(0.06)


def test_without_a_browser_it_says_how_to_get_one(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="make system"), browsing():
        pass


def test_the_number_of_visits_can_be_chosen():
    assert parser().parse_args(["bench", "ui", "--visits", "3", "--json"]).visits == 3
    with pytest.raises(SystemExit):
        parser().parse_args(["bench", "ui", "--visits", "0"])


def test_a_workspace_can_be_chosen_and_one_that_is_not_there_is_said_before_anything_starts():
    assert parser().parse_args(["bench", "ui", "--workspace", "ecg"]).workspace == "ecg"
    with pytest.raises(UserError, match="found 'nowhere', expected one of glaucoma"):
        bench_ui(1, "nowhere")
