"""The command line: every command is a module here that adds its arguments (`add`) and does its work (`run`).

A command imports what is heavy inside its functions, so that help waits for neither torch nor pandas.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module

import mpd2
from mpd2.cli.arguments import PROGRAM
from mpd2.core.errors import UserError

COMMANDS = (
    "app",
    "check",
    "train",
    "evaluate",
    "route",
    "reproduce",
    "resplit",
    "tune",
    "sweep",
    "workspace",
    "clinic",
    "imaging",
    "build",
    "simulate",
    "backup",
    "restore",
    "audit",
    "bench",
)
EXIT_CODES = "exit codes: 0 done, 1 something to put right (the message says what), 2 wrong usage, 130 interrupted"


def parser() -> ArgumentParser:
    """The whole command line."""
    root = ArgumentParser(
        prog=PROGRAM,
        description="Learning to defer: when to trust the AI, and which reader to ask when not.\n"
        "Research software, not a medical device.",
        epilog=EXIT_CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"mpd2 {mpd2.__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"mpd2.cli.{name}")
        module.add(commands.add_parser(name, help=module.SUMMARY, formatter_class=RawDescriptionHelpFormatter))
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 if all went well, 1 for the user's mistake and 130 if interrupted."""
    args = parser().parse_args(argv)
    try:
        if getattr(args, "workspace", None) is not None:
            import_module("mpd2.cli.inputs").open_workspace(args)
        code: int = import_module(f"mpd2.cli.{args.command}").run(args)
        sys.stdout.flush()
        return code
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough, as in `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
