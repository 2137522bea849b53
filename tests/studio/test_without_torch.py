"""Torch takes seconds to load and 170 MB: nobody waits for it on a page that computes no network."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mpd2.core.files import ROOT
from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.shell.registry import DEFAULT, PAGES

NETWORKS = {"case", "retrain"}  # explains what a network does; asks which devices can train one

WARM = """
import sys
from mpd2.studio import warm

warm.warm_up()
print("torch" in sys.modules)
"""

DRAW = """
import sys
from streamlit.testing.v1 import AppTest

for page in sys.argv[1:]:
    app = AppTest.from_file("mpd2/studio/main.py", default_timeout=120)
    app.switch_page(page)
    app.run()
    assert not app.exception, app.exception
    print(page, "torch" in sys.modules)
"""


def printed(script: str, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def nobodys_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path))


def test_the_server_is_ready_for_its_first_visitor_without_torch():
    assert printed(WARM) == ["False"]


def test_pages_that_compute_no_network_are_drawn_without_torch():
    files = [f"../../pages/{page.key}.py" for page in PAGES if page.key not in NETWORKS | {DEFAULT}]
    assert printed(DRAW, *files) == [f"{file} False" for file in files]
