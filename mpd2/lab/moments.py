"""Which moment of the clinic pages show: now, or, where a great many cases are kept, one of the last half minute.

A figure is a function of a set of rows all the same: of those that were there at its moment, which is said beside it.
What somebody has just done is on their page at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Lock, RLock
from time import monotonic
from typing import Any, TypeVar

import pandas as pd

from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.core.cache import unchanging
from mpd2.core.errors import UserError
from mpd2.lab.shadowing import Shadow

FEW = 5_000  # cases up to which everything is worked out anew after every row
EVERY = 20.0  # seconds after which figures are followed by newer ones, worked out while the old ones are shown
OLDEST = 120.0  # seconds; nobody is shown older ones

Made = TypeVar("Made")
log = logging.getLogger(__name__)


class Findings:
    """What follows from the rows of one moment: worked out when it is first asked for, and kept with the moment."""

    def __init__(self, snapshot: Snapshot, begun: float | None = None) -> None:
        self.snapshot = snapshot
        self.begun = monotonic() if begun is None else begun  # when the rows were read
        self.at = datetime.now(UTC)
        self._made: dict[Hashable, Any] = {}
        self._asked: dict[Hashable, Callable[[Findings], Any]] = {}
        self._making = RLock()

    @property
    def version(self) -> int:
        """Of the store, when the rows were read."""
        return self.snapshot.version

    def once(self, what: Hashable, make: Callable[[Findings], Made]) -> Made:
        """What `make` finds, which knows of no moment but the one that it is given; nobody may change it."""
        self._asked[what] = make
        return self._of(what, make)

    def followed_by(self, snapshot: Snapshot, begun: float) -> Findings:
        """The same of a later moment, with all that was asked of this one."""
        after = Findings(snapshot, begun)
        for what, make in list(self._asked.items()):
            after._of(what, make)
        return after

    def _of(self, what: Hashable, make: Callable[[Findings], Made]) -> Made:
        with self._making:
            if what not in self._made:
                made = make(self)
                if isinstance(made, pd.DataFrame):
                    unchanging(made)
                self._made[what] = made
            found: Made = self._made[what]
            return found


@dataclass(frozen=True, eq=False)
class Moment:
    """What is shown."""

    shadow: Shadow
    rows: Findings  # of all the rows there are
    figures: Findings  # the same, or for a short while of some of the rows
    seen: float  # when these were all the rows there were

    def beside(self, other: Moment | None) -> Moment:
        """The newer of rows and of figures of both."""
        if other is None or other.shadow is not self.shadow:
            return self
        rows, figures = (
            max((getattr(each, part) for each in (other, self)), key=lambda found: found.version)
            for part in ("rows", "figures")
        )
        return Moment(self.shadow, rows, figures, max(self.seen, other.seen))


class Moments:
    """The newest moment of this process, for all who look."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: Moment | None = None
        self._coming: Future[None] | None = None
        self._pool = ThreadPoolExecutor(1, "clinic")

    def shown(self, shadow: Shadow, wrote: int = 0) -> Moment:
        """What to show now; with all rows up to the version that somebody `wrote` and expects to see."""
        begun, version, held = monotonic(), shadow.store.version(), self._held
        if held is None or held.shadow is not shadow or len(held.rows.snapshot) <= FEW:
            return self._now(shadow, begun)
        if held.rows.version == version:
            held = self._keep(replace(held, seen=begun))
        elif held.rows.version < wrote or begun - held.seen > OLDEST:
            held = self._keep(replace(held, rows=Findings(shadow.snapshot(), begun), seen=begun))
        age = begun - held.figures.begun
        if held.figures.version < version and age > EVERY:
            coming = self._follow(held)
            if age > OLDEST:
                coming.result()
                return self._held or held
        return held

    def _now(self, shadow: Shadow, begun: float) -> Moment:
        """Everything as of now; what was worked out before is kept where nothing was added."""
        snapshot, held = shadow.snapshot(), self._held
        if held is not None and held.rows.snapshot is snapshot:
            return held
        found = Findings(snapshot, begun)
        return self._keep(Moment(shadow, found, found, begun), anew=True)

    def _keep(self, made: Moment, anew: bool = False) -> Moment:
        """Hold a moment, or of it what is newer than what is held."""
        with self._lock:
            held = self._held
            if held is not None and held.shadow is not made.shadow and not anew:
                return made  # another run is in use by now
            self._held = made.beside(held)
            return self._held

    def _follow(self, before: Moment) -> Future[None]:
        """Begin to work out the next moment, unless that is going on."""
        with self._lock:
            if self._coming is None or self._coming.done():
                self._coming = self._pool.submit(self._work_out, before)
            return self._coming

    def _work_out(self, before: Moment) -> None:
        begun = monotonic()
        try:
            found = before.figures.followed_by(before.shadow.snapshot(), begun)
        except Exception as error:  # which nobody may be waiting for
            said = error if isinstance(error, UserError) else type(error).__name__
            log.warning("clinic: newer figures cannot be worked out: %s", said)
            raise
        self._keep(Moment(before.shadow, found, found, begun))


MOMENTS = Moments()
