"""Work spread over processes and machines by Dask. What is done does not depend on who does it, or on how many do.

Work is a function of what all items share and of one item. A worker that is lost costs the items it had not finished:
the scheduler gives them to others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mpd2.core.errors import UserError

if TYPE_CHECKING:
    from distributed import Client

Shared = TypeVar("Shared")
Item = TypeVar("Item")
Result = TypeVar("Result")
Work = Callable[[Shared, Item], Result]

REACHED = 10.0  # seconds to wait for a scheduler's answer
AHEAD = 2  # items given to each worker before it has finished the last one


class Pool(Protocol):
    """Whoever does the work."""

    def as_done(self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]) -> Iterator[Result]:
        """The results as they come."""

    def in_order(self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items, of which only a few are held at a time."""


class Here:
    """This process, one item after another."""

    def as_done(self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]) -> Iterator[Result]:
        """The same as in order."""
        return self.in_order(work, shared, items)

    def in_order(self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]) -> Iterator[Result]:
        """One result after another."""
        return (work(shared, item) for item in items)


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def as_done(self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]) -> Iterator[Result]:
        """The results as they come."""
        from distributed import as_completed

        given = self._given(shared)
        futures = as_completed([self.client.submit(work, given, item, pure=False) for item in items])
        return (self._result(future) for future in futures)

    def in_order(self, work: Work[Shared, Item, Result], shared: Shared, items: Iterable[Item]) -> Iterator[Result]:
        """The results in the order of the items, of which only a few are held at a time."""
        given, ahead = self._given(shared), AHEAD * max(1, len(self.client.scheduler_info()["workers"]))
        waiting: deque[Any] = deque()
        for item in items:
            waiting.append(self.client.submit(work, given, item, pure=False))
            if len(waiting) >= ahead:
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _given(self, shared: Shared) -> Any:
        """What all items share, sent once; as the result of a task, it is made again if who holds it dies."""
        return self.client.submit(_itself, shared, pure=False)

    @staticmethod
    def _result(future: Any) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker:
            raise UserError(
                "cluster: the same piece of work ended several workers one after another; see their logs, and whether "
                "they have enough memory"
            ) from None
        except CancelledError:
            raise UserError("cluster: the scheduler is gone; start it again, and give the same command") from None


@contextmanager
def pool(scheduler: str | None, workers: int) -> Iterator[Pool]:
    """The cluster of a scheduler; without its address, so many processes on this machine, or this one alone."""
    if scheduler is None and workers == 1:
        yield Here()
        return
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise UserError("cluster: Dask is not installed here: pip install -r requirements-cluster.txt") from None
    if scheduler is None:
        local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        with local, Client(local) as client:
            yield Cluster(client)
        return
    try:
        client = Client(scheduler, timeout=REACHED)
    except (OSError, ValueError):
        raise UserError(
            f"scheduler: no answer from {scheduler}; expected the address that `dask scheduler` prints, "
            "such as tcp://host:8786"
        ) from None
    with client:
        if not client.scheduler_info()["workers"]:
            raise UserError(f"scheduler: {scheduler} has no workers; start one: python -m dask worker {scheduler}")
        yield Cluster(client)


def _itself(shared: Shared) -> Shared:
    return shared
