"""Who still works on a trial: workers give signs of life, and whoever sees none for a while takes over.

A sign is a counter kept with the trial. Whether it moves is judged by the watcher's own clock, so the clocks of
machines that share a study need not agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic

from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

SIGN = "sign_of_life"


@dataclass(frozen=True)
class Vigil:
    """How often a worker gives a sign, and after how long without one it is taken for dead; in seconds."""

    every: float = 5.0
    dead_after: float = 45.0


@contextmanager
def alive(trials: Sequence[Trial], vigil: Vigil) -> Iterator[None]:
    """Give signs of life for these trials until the block ends."""
    done = Event()

    def beat() -> None:
        count = 0
        while not done.wait(vigil.every):
            count += 1
            for trial in trials:
                try:
                    trial.set_user_attr(SIGN, count)
                except UpdateFinishedTrialError:
                    continue  # told already, or taken over by others
                except StorageInternalError:
                    return  # whoever trains will notice too

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@dataclass
class Watcher:
    """Remembers when each running trial last gave a new sign."""

    vigil: Vigil
    _seen: dict[int, tuple[int | None, float]] = field(default_factory=dict)  # by number: last sign, and when it came

    def dead(self, running: Sequence[FrozenTrial]) -> list[FrozenTrial]:
        """The trials among those running whose worker has been silent for too long."""
        now = monotonic()
        seen = {}
        for trial in running:
            sign = trial.user_attrs.get(SIGN)
            before = self._seen.get(trial.number)
            seen[trial.number] = before if before and before[0] == sign else (sign, now)
        self._seen = seen
        return [trial for trial in running if now - seen[trial.number][1] > self.vigil.dead_after]


def give_back(study: Study, trial: Trial | FrozenTrial) -> bool:
    """End an unfinished trial as failed and queue its settings again; false if somebody else has ended it."""
    try:
        study.tell(trial.number, state=TrialState.FAIL)
    except (ValueError, UpdateFinishedTrialError):  # ValueError: of a trial that is no longer running
        return False
    study.enqueue_trial(trial.params)
    return True
