"""What page views needed for themselves is given back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest
from places import ROOT

BUSY = """
import sys
from pathlib import Path
from threading import Barrier, Thread
{first}

MEGABYTE, THREADS = 2**20, 8
ready, done = Barrier(THREADS + 1), Barrier(THREADS + 1)

def held():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024

def view():
    large = bytearray(30 * MEGABYTE)
    del large
    many = [bytearray(MEGABYTE // 8) for _ in range(160)]
    ready.wait()
    del many
    done.wait()
    done.wait()

before = held()
threads = [Thread(target=view) for _ in range(THREADS)]
for each in threads:
    each.start()
ready.wait()
done.wait()
print(held() - before)
done.wait()
"""
OURS = "from mpd2.studio.server.memory import give_back_memory; give_back_memory()"
AS_SERVED = "import app"


def kept_by(first: str) -> float:
    """Megabytes that a process keeps once its threads have let go of what they had."""
    line = [sys.executable, "-c", BUSY.format(first=first)]
    return float(subprocess.run(line, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)


@pytest.mark.parametrize("first", [OURS, AS_SERVED])
def test_what_threads_let_go_of_is_given_back(first):
    assert 2 * kept_by(first) < kept_by("")
