"""Workers that wait for a job."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

from mpd2.lab.jobs import worker_pool


def test_a_worker_stays_with_its_version_when_the_link_it_was_started_by_is_moved(tmp_path, monkeypatch):
    programs, name = Path(sys.executable).parent, Path(sys.executable).name
    current = tmp_path / "current"
    current.symlink_to(programs)
    worker_pool.let_go()
    monkeypatch.setattr(sys, "executable", str(current / name))
    worker = worker_pool.next_worker()
    started = worker.process.args[0]
    worker.dismiss()
    assert started == str(programs.resolve() / name)


def test_how_a_worker_ended_is_known_though_it_lets_go_of_its_job_a_moment_before(monkeypatch):
    script = "import os, time; time.sleep(0.3); os.kill(os.getpid(), 9)"
    process = subprocess.Popen([sys.executable, "-c", script])
    monkeypatch.setitem(worker_pool._working, process.pid, process)
    assert worker_pool.how_it_ended(process.pid) == "its process was ended by SIGKILL"
    assert process.returncode == -signal.SIGKILL
    assert worker_pool.how_it_ended(process.pid) == "its process is gone"


def test_a_worker_that_does_not_end_is_still_asked_later(monkeypatch):
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=theirs)
    monkeypatch.setattr(worker_pool, "ENDING", 0.1)
    monkeypatch.setitem(worker_pool._working, process.pid, process)
    assert worker_pool.how_it_ended(process.pid) == "its process does not end"
    ours.send(b"\n")
    process.wait()
    worker_pool.reap_finished()
    assert process.pid not in worker_pool._working
    ours.close()
    theirs.close()
