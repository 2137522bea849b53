"""Numbers for whoever watches the server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.stats import StatsManager

from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.server import numbers
from mpd2.studio.server.numbers import JOBS, RERUN_P95, RERUNS, Numbers, timed_rerun

SECONDS = st.lists(st.floats(0, 100, allow_nan=False), min_size=1, max_size=50)


@given(SECONDS)
def test_every_page_view_is_counted_once(taken):
    watched = Numbers()
    for seconds in taken:
        watched.reruns.add(seconds)
    histogram = watched.reruns.histogram()
    assert histogram.observation_count == len(taken)
    assert [count for _, count in histogram.buckets] == [
        sum(each <= bound for each in taken) for bound, _ in histogram.buckets
    ]


@given(SECONDS)
def test_ninety_five_of_a_hundred_page_views_are_not_longer_than_the_p95(taken):
    watched = Numbers()
    for seconds in taken:
        watched.reruns.add(seconds)
    p95 = watched.reruns.p95()
    assert p95 in taken
    assert sum(seconds <= p95 for seconds in taken) >= 0.95 * len(taken)
    assert sum(seconds < p95 for seconds in taken) < 0.95 * len(taken)


def test_a_page_view_that_fails_is_counted_too(monkeypatch):
    monkeypatch.setattr(numbers, "NUMBERS", Numbers())
    with pytest.raises(ValueError, match="on the way"), timed_rerun():
        raise ValueError("on the way")
    assert numbers.NUMBERS.reruns.histogram().observation_count == 1


def test_streamlit_prints_them_with_what_others_add(monkeypatch, tmp_path):
    monkeypatch.setenv(PLACE, str(tmp_path))
    watched, manager = Numbers(), StatsManager()
    watched.add_gauge("mpd2_record_entries", "Entries of the record.", lambda: 7)
    manager.register_provider(watched)
    stats = manager.get_stats()
    assert set(stats) == {RERUNS, RERUN_P95, JOBS, "mpd2_record_entries"}
    assert stats["mpd2_record_entries"][0].to_metric_str() == "mpd2_record_entries 7"
    assert [stat.to_metric_str() for stat in stats[JOBS]][:2] == [
        'mpd2_jobs{state="queued"} 0',
        'mpd2_jobs{state="running"} 0',
    ]
    assert stats[RERUN_P95][0].to_metric_str() == "mpd2_rerun_p95_seconds 0.0"
