"""`restore`: put back what `backup` wrote."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mpd2.cli.arguments import describe

SUMMARY = "put back what `backup` wrote, all of it or nothing"


def add(command: ArgumentParser) -> None:
    """The arguments of `restore`."""
    describe(
        command,
        "Put back everything from a file of `backup`, after every digest in it was compared; all of it or nothing.\n"
        "Stop the servers first. A workshop that is not empty is left alone; with --replace its folders are put\n"
        "aside, and removed by nobody but you. Settings are written beside them, to compare with those in use.",
        "restore /backups/mpd2-monday.zip",
        "restore /backups/mpd2-monday.zip --replace",
    )
    command.add_argument("file", type=Path, metavar="FILE", help="what `backup` wrote")
    command.add_argument("--replace", action="store_true", help="put aside what is in the workshop now")


def run(args: Namespace) -> int:
    """Put it back."""
    from mpd2.lab.backup import restore
    from mpd2.lab.jobs.folder import Workshop

    aside = restore(args.file, Workshop.here(), args.replace)
    print(f"{args.file}: restored")
    for folder in aside:
        print(f"what was there before: {folder}")
    return 0
