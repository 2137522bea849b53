"""Records to test with: made quickly, closed when the block ends, and read as whoever verifies them does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mpd2.clinic.access.actions import Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.record.copies import stored
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.verify import Verdict, verify
from mpd2.clinic.settings import RecordOptions

ADMIN = Actor("ada", "Ada", Role.ADMIN, visit="v1")
READER = Actor("rhea", "Rhea", Role.READER, visit="v2")


@contextmanager
def kept(options: RecordOptions, folder: Path) -> Iterator[RecordLog]:
    """A record, open."""
    record = RecordLog(options, folder)
    try:
        yield record
    finally:
        record.close()


def act(record: RecordLog, number: int = 1, by: Actor = ADMIN, action: Action = Action.ROUTE_CASE) -> None:
    """Write so many entries about a few cases."""
    for at in range(number):
        record.append(
            by, action, granted=True, case=f"case-{at % 5}", reason="", about={"choice": "ai", "score": 0.25 * at}
        )


def checked(options: RecordOptions, folder: Path, against: Path | None = None) -> Verdict:
    """What verifying finds."""
    with stored(options, folder, against) as copy:
        return verify(copy)


def write_on(storage: str, folder: Path, number: int = 10**9) -> None:
    """Append entries one after another, and say the number of each once it is acknowledged."""
    with kept(RecordOptions(storage=storage, checkpoint_every=7), folder) as record:
        for _ in range(number):
            act(record)
            print(record.length(), flush=True)


if __name__ == "__main__":
    write_on(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
