"""Numbers for Prometheus, beside those of Streamlit at the same address: reruns, jobs, and what others add.

Visits are Streamlit's `active_sessions` and `session_events`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock
from time import perf_counter
from typing import get_args

from streamlit.proto.openmetrics_data_model_pb2 import Metric
from streamlit.runtime import Runtime
from streamlit.runtime.stats import HistogramStat, Stat

from mpd2.core.errors import UserError
from mpd2.lab.jobs.folder import State, Workshop, all_jobs

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, math.inf)  # seconds
RECENT = 1000  # reruns the p95 is of
RERUNS, RERUN_P95, JOBS = "mpd2_rerun_seconds", "mpd2_rerun_p95_seconds", "mpd2_jobs"


class Reruns:
    """How long the server worked on each page view of all visitors, from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts = [0] * len(BOUNDS)
        self._sum = 0.0
        self._recent: deque[float] = deque(maxlen=RECENT)

    def add(self, seconds: float) -> None:
        """Count one."""
        with self._lock:
            self._counts[bisect_left(BOUNDS, seconds)] += 1
            self._sum += seconds
            self._recent.append(seconds)

    def histogram(self) -> HistogramStat:
        """All of them since the start."""
        with self._lock:
            reached = tuple(accumulate(self._counts))
            spent = self._sum
        about = "Seconds of the server for a page view."
        return HistogramStat(
            RERUNS, tuple(zip(BOUNDS, reached, strict=True)), spent, reached[-1], unit="seconds", help=about
        )

    def p95(self) -> float:
        """What 95 % of the most recent stayed below; 0 before the first."""
        with self._lock:
            ordered = sorted(self._recent)
        return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else 0.0


@dataclass(frozen=True)
class Gauge:
    """A number that goes up and down; Streamlit's own takes whole ones alone."""

    family_name: str
    help: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    type: str = "gauge"
    unit: str = ""

    def to_metric_str(self) -> str:
        """Its line.

        >>> Gauge("jobs", "", 2, {"state": "done"}).to_metric_str()
        'jobs{state="done"} 2'
        """
        labels = ",".join(f'{name}="{value}"' for name, value in self.labels.items())
        return f"{self.family_name}{{{labels}}} {self.value}" if labels else f"{self.family_name} {self.value}"

    def marshall_metric_proto(self, metric: Metric) -> None:
        """The same for whoever asks for a protocol buffer."""
        for name, value in self.labels.items():
            metric.labels.add(name=name, value=value)
        metric.metric_points.add().gauge_value.double_value = self.value


class Numbers:
    """What is added to the numbers of Streamlit; `gauges` holds what other rooms want to show, by name."""

    def __init__(self) -> None:
        self.reruns = Reruns()
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def add_gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Show a number of one's own, before the server starts; it is asked for whenever somebody looks."""
        self.gauges[name] = (about, value)

    @property
    def stats_families(self) -> Sequence[str]:
        """The names of all numbers."""
        return (RERUNS, RERUN_P95, JOBS, *self.gauges)

    def get_stats(self, family_names: Sequence[str] | None = None) -> Mapping[str, Sequence[Stat]]:
        """The numbers that were asked for, or all."""
        asked = self.stats_families if family_names is None else family_names
        return {name: self._stats(name) for name in asked if name in self.stats_families}

    def _stats(self, name: str) -> Sequence[Stat]:
        if name == RERUNS:
            return [self.reruns.histogram()]
        if name == RERUN_P95:
            return [
                Gauge(name, f"95 % of the last {RECENT} page views took no longer.", self.reruns.p95(), unit="seconds")
            ]
        if name == JOBS:
            found = Counter(_states(Workshop.here()))
            return [Gauge(name, "Jobs by state.", found[state], {"state": state}) for state in get_args(State)]
        about, value = self.gauges[name]
        return [Gauge(name, about, value())]


NUMBERS = Numbers()
"""Those of this process."""


@contextmanager
def timed_rerun() -> Iterator[None]:
    """Count the block as one page view, however it ends."""
    start = perf_counter()
    try:
        yield
    finally:
        NUMBERS.reruns.add(perf_counter() - start)


def show_numbers() -> None:
    """Add them to Streamlit's; once, when the server has started."""
    Runtime.instance().stats_mgr.register_provider(NUMBERS)


def _states(place: Workshop) -> Iterator[State]:
    for job in all_jobs(place):
        with suppress(UserError):  # somebody has just removed it
            yield job.status.state
