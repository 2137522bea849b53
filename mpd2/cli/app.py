"""`app`: start the dashboard."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from mpd2.cli.arguments import describe
from mpd2.core.files import INSTALLED, ROOT

SUMMARY = "start the dashboard"


def add(command: ArgumentParser) -> None:
    """The arguments of `app`."""
    describe(
        command,
        "Start the dashboard and print its address; Ctrl-C ends it. It answers this machine alone unless told\n"
        "otherwise, which takes a login (docs/access.md). Trainings and own runs are kept in the folder that the\n"
        f"environment variable MPD2_WORKSHOP names, else in {'the current folder' if INSTALLED else ROOT}.",
        "app",
        "app --port 8600",
        "app --address 0.0.0.0",
    )
    command.add_argument("--port", type=int, help="port to listen on (default: 8501, or the next that is free)")
    command.add_argument("--address", help="address to listen on; any but 127.0.0.1, the default, takes a login")


def run(args: Namespace) -> int:
    """Become the server."""
    options = {"--server.port": args.port, "--server.address": args.address}
    chosen = [part for name, value in options.items() if value is not None for part in (name, str(value))]
    # -P: nothing in the current folder is imported by accident
    os.execv(sys.executable, [sys.executable, "-P", "-m", "streamlit", "run", str(ROOT / "app.py"), *chosen])
