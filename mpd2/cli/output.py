"""How results and progress are printed: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from mpd2.core.errors import UserError

EVERY = 10.0  # seconds between two lines of progress


def print_json(value: object) -> None:
    """Strict JSON: what has no value must already be None."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def say(text: str) -> None:
    """Tell whoever waits what is going on."""
    print(text, file=sys.stderr, flush=True)


def agreed(words: str, yes: bool) -> bool:
    """Say what will be done and ask whether to; where nobody can answer, that has to be said beforehand."""
    say(words)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise UserError("nobody is there to ask: give --yes to go on; nothing was changed")
    say("Go on? [y/N] ")
    if input().strip().lower() in ("y", "yes"):
        return True
    say("nothing was changed")
    return False


def now_and_then(every: float = EVERY) -> Callable[[str], None]:
    """`say`, but at most once in so many seconds; what comes sooner is left out."""
    last = monotonic()

    def tell(text: str) -> None:
        nonlocal last
        if monotonic() - last >= every:
            last = monotonic()
            say(text)

    return tell


@contextmanager
def if_interrupted(words: Callable[[], str]) -> Iterator[None]:
    """Say what was kept, what was lost and how to go on, if the work is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        say(words())
        raise


def aligned(rows: Sequence[Sequence[object]]) -> str:
    """Rows as text, their columns under one another.

    >>> print(aligned([("", "train", "val"), ("north", 10, 5)]))
           train  val
    north  10     5
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells)
