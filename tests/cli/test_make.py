"""`make test` runs everything, whatever fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from places import ROOT


@pytest.mark.parametrize(("failing", "code"), [("--ignore=tests/browser", 2), ("0 tests/browser", 2), ("none", 0)])
def test_a_failure_hides_no_later_test(failing: str, code: int, tmp_path: Path) -> None:
    python, log = tmp_path / "python", tmp_path / "log"
    python.write_text(f'#!/bin/sh\necho "$*" >> {log}\ncase "$*" in *"{failing}") exit 1 ;; esac\n')
    python.chmod(0o755)
    line = ["make", "--old-file=lint", "--old-file=system", "test", f"PY={python}"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert log.read_text().splitlines() == [
        "-m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart=0 --ignore=tests/browser",
        "-m pytest -n 2 --dist loadfile --max-worker-restart=0 tests/browser",
    ]
