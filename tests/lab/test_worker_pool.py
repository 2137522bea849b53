"""Workers that wait for a job."""

from __future__ import annotations

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
