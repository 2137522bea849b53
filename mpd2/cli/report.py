"""What a run's decisions cost, as text."""

from __future__ import annotations

from collections.abc import Mapping

from mpd2.cli.output import aligned
from mpd2.evaluation.intervals import LEVEL
from mpd2.evaluation.metrics import COUNTED
from mpd2.evaluation.reports import Report


def as_text(metrics: Report) -> str:
    """A column for all cases and for each cohort, two lines a metric."""
    strata = {"all cases": metrics["overall"]} | metrics["cohorts"]
    rows = [("", *strata), ("n", *(stratum["n"] for stratum in strata.values()))]
    for name in COUNTED:
        cells = [stratum["metrics"][name] for stratum in strata.values()]
        rows += [(name, *map(_level, cells)), ("", *map(_interval, cells))]
    routers = len(metrics["seeds"])
    what = f"mean ± sd over {routers} routers" if routers > 1 else f"the router of seed {metrics['seeds'][0]}"
    return (
        f"{aligned(rows)}\n\n{what}, {metrics['rule']} rule; in brackets the {LEVEL:.0%} bootstrap interval over cases"
    )


def _level(cell: Mapping[str, float | None]) -> str:
    mean, sd = cell["mean"], cell["sd"]
    if mean is None:
        return "none"
    return f"{mean:.3f}" if sd is None else f"{mean:.3f} ± {sd:.3f}"


def _interval(cell: Mapping[str, float | None]) -> str:
    low, high = cell["low"], cell["high"]
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
