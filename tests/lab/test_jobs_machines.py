"""A workshop that several machines share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.errors import UserError
from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import Building, Job, Order, Status, Workshop


def test_cancelling_a_job_of_another_machine_ends_nobody_here(tmp_path):
    place = Workshop(tmp_path / "jobs", tmp_path / "runs")
    job = Job(place.jobs / "2026-one")
    order = {"kind": "build", "title": "ours", "building": Building(workspace="ours"), "table": Path("cases.csv")}
    job.write(Order(**order, cost_false_negative=1, cost_false_positive=1, fingerprint="0"))
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
    ) as bystander:
        job.write(Status(state="running", process=bystander.pid, machine="elsewhere"))
        with job.held(), pytest.raises(UserError, match="elsewhere works on it; cancel it there"):
            queue.cancel(job, place, by=LOCAL)
        assert bystander.poll() is None
        bystander.communicate(b"\n")
    assert bystander.returncode == 0
    assert job.status.state == "running"
