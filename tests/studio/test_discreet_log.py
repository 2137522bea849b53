"""Of an error the log says where it arose, never what it says."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from mpd2.core.files import ROOT

MARKER = "ZEBRA-7431"
BEGIN = """
import logging, sys, threading, warnings
from mpd2.studio.shell import discreet_log
discreet_log.install()
cell = sys.argv[1]

def stumble():
    try:
        float(cell)
    except ValueError as error:
        raise RuntimeError(cell) from error
"""
WAYS = {
    "logged by Streamlit": """
        from streamlit.error_util import _log_uncaught_app_exception
        try:
            stumble()
        except RuntimeError as error:
            _log_uncaught_app_exception(error)
    """,
    "logged by anybody": """
        try:
            stumble()
        except RuntimeError as error:
            logging.getLogger("anybody").exception("it failed: %s", error)
            logging.getLogger("anybody").error(error)
    """,
    "not caught": "stumble()",
    "not caught in a thread": """
        thread = threading.Thread(target=stumble)
        thread.start()
        thread.join()
    """,
    "not caught at an end": """
        class Cell:
            def __del__(self):
                stumble()
        Cell()
    """,
    "a warning": "warnings.warn(cell + ' stumble RuntimeError ValueError')",
}


@pytest.mark.parametrize("way", WAYS)
def test_what_an_error_says_is_never_written(way: str) -> None:
    code = BEGIN + textwrap.dedent(WAYS[way])
    environment = {**os.environ, "PYTHONWARNINGS": "always"}
    ran = subprocess.run(
        [sys.executable, "-c", code, MARKER], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    written = ran.stdout + ran.stderr
    assert MARKER not in written
    expected = ["UserWarning"] if way == "a warning" else ["stumble", "ValueError", "RuntimeError"]
    assert [word for word in expected if word in written] == expected
