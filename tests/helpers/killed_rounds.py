"""A series of rounds that is killed while it writes its third: `python killed_rounds.py DATA`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tiny_study import die, tiny_study

from mpd2.study.reproduce import Standing, play
from mpd2.study.rounds import Deal, Ledger, Round

ROUNDS = [Round(method, Deal(number)) for number in (0, 1) for method in ("ai", "mao")]
WHOLE = 2


def ledger_in(data: Path) -> Ledger:
    """The ledger of a tiny study."""
    return Ledger(tiny_study(data), (42,))


def die_writing(standing: Standing) -> None:
    """Let putting the next findings in their place be the last thing that is tried."""
    if standing.step > WHOLE:
        os.replace = lambda *paths: die()


if __name__ == "__main__":
    play(ledger_in(Path(sys.argv[1])), ROUNDS, die_writing)
