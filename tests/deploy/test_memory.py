"""Threads share few arenas of the C library, so that free space in them is used again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from mpd2.studio.server.memory import ARENAS

CROWDED = """
import ctypes, sys
from threading import Barrier, Thread
{first}
together = Barrier(33)
def work():
    kept = bytearray(5000)  # more than Python has room of its own for
    together.wait()
    together.wait()
threads = [Thread(target=work) for _ in range(32)]
for each in threads:
    each.start()
together.wait()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
told = ctypes.c_void_p(library.fopen(sys.argv[1].encode(), b"w"))
library.malloc_info(0, told)
library.fclose(told)
together.wait()
"""
SHARED = "from mpd2.studio.server.memory import share_arenas; share_arenas()"
AS_SERVED = "import app"


def arenas(first: str, told: Path) -> int:
    """How many arenas a process has that starts many threads."""
    subprocess.run([sys.executable, "-c", CROWDED.format(first=first), str(told)], cwd=ROOT, check=True)
    return told.read_text().count("<heap ")


@pytest.mark.parametrize("first", [SHARED, AS_SERVED])
def test_threads_of_a_server_share_arenas(first, tmp_path):
    assert arenas(first, tmp_path / "shared.xml") <= ARENAS < arenas("", tmp_path / "own.xml")
