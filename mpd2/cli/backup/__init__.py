"""`backup`: everything people made, as one file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from mpd2.cli.arguments import describe

SUMMARY = "write own runs, workspaces, jobs, the clinic and settings into one file"


def add(command: ArgumentParser) -> None:
    """The arguments of `backup`."""
    describe(
        command,
        "Write everything that was made in the workshop (MPD2_WORKSHOP) into one new file: own runs, workspaces,\n"
        "jobs, studies of tuning, what the clinic uses and has seen, and the settings. The servers may go on\n"
        "meanwhile. Not in it: secrets, and the record, which has a backup of its own.",
        "backup /backups/mpd2-monday.zip",
        "backup --check /backups/mpd2-monday.zip",
    )
    command.add_argument(
        "out", type=Path, metavar="OUT", help="the file to write; one that is there is not overwritten"
    )
    command.add_argument("--check", action="store_true", help="write nothing: read OUT and compare every digest")


def run(args: Namespace) -> int:
    """Write it, or check one."""
    from mpd2.lab.backup import back_up, read_backup
    from mpd2.lab.jobs.folder import Workshop

    contents = read_backup(args.out) if args.check else back_up(Workshop.here(), args.out)
    print(f"{args.out}: {len(contents.files)} files of {contents.made:%Y-%m-%d %H:%M} UTC, version {contents.version}")
    return 0
