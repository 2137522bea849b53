"""How far a job is, in words that every page uses."""

from __future__ import annotations

from mpd2.lab.jobs.folder import Status


def in_minutes(seconds: float) -> str:
    """A duration as people say it.

    >>> in_minutes(41.2), in_minutes(200)
    ('41 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def build_in_words(status: Status, before: str = "") -> str:
    """How far the building of a workspace is; `before` is what it has to wait for.

    >>> build_in_words(Status(), before="“Build skin”")
    'waiting for its turn, after “Build skin”'
    >>> build_in_words(Status(state="running", epoch=3, steps=12, stage="the tables", note="overall", seconds_left=70))
    'the tables: overall (3 of 12), about 70 s left'
    """
    if status.state == "queued":
        return "waiting for its turn" + (f", after {before}" if before else "")
    if status.state == "failed":
        return f"failed: {status.reason}"
    if status.state == "cancelled":
        return "stopped; what was made is kept"
    if status.state == "done":
        return " ".join([f"all built in {in_minutes(status.seconds)}", *status.warnings])
    if not status.steps:
        return "getting ready"
    left = "" if status.seconds_left is None else f", about {in_minutes(status.seconds_left)} left"
    return f"{status.stage}: {status.note} ({status.epoch} of {status.steps}){left}"


def build_share(status: Status) -> float:
    """How much of a build is done, 0 to 1."""
    return min(status.epoch / status.steps, 1.0) if status.steps else 0.0
