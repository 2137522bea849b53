"""`audit`: read the record of what was done, verify it, take it elsewhere, and erase what is past its time."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from mpd2.cli.arguments import add_json, count, describe

SUMMARY = "read, verify, back up and erase the record of what was done"


def add(command: ArgumentParser) -> None:
    """The arguments of `audit`: a deed, and those of the deed."""
    describe(
        command,
        "The record of an installation: who did what, when, and about which case. It is kept where the settings, the\n"
        "file that the environment variable MPD2_SETTINGS names, have a table [record]; docs/record.md says more.",
        "audit verify",
        "audit show --person ada --since 2026-03-01",
        "audit backup --out record.zip",
    )
    deeds = command.add_subparsers(dest="deed", metavar="DEED", required=True)
    for deed, (summary, add_arguments, _) in DEEDS.items():
        add_arguments(deeds.add_parser(deed, help=summary, formatter_class=RawDescriptionHelpFormatter))


def run(args: Namespace) -> int:
    """Do what was asked for."""
    module = import_module(f"mpd2.cli.audit.{DEEDS[args.deed][2]}")
    code: int = getattr(module, f"{args.deed}_record")(args)
    return code


def _add_verify(command: ArgumentParser) -> None:
    describe(
        command,
        "Say whether the record is what was written; if not, which entry is the first that is broken, and what is\n"
        "wrong. Exit code 0: whole; 1: broken. A missing end shows only against a checkpoint, and a record that was\n"
        "written anew together with its keys only against checkpoints kept elsewhere: --against.",
        "audit verify",
        "audit verify --against /mnt/elsewhere/checkpoints",
        "audit verify --file record.jsonl",
    )
    command.add_argument(
        "--against", type=Path, metavar="FOLDER", help="with public.pem and checkpoints.jsonl kept elsewhere"
    )
    command.add_argument("--file", type=Path, metavar="FILE", help="an export or a backup in place of the record")
    add_json(command)


def _add_show(command: ArgumentParser) -> None:
    describe(
        command,
        "Print entries, the newest first.",
        "audit show --case r455",
        "audit show --action 'override a route' --since 2026-03-01 --until 2026-04-01",
        "audit show --refused --json",
    )
    command.add_argument("--case", default="", metavar="ID", help="about this case: its id, or its pseudonym")
    command.add_argument("--person", default="", metavar="ID", help="by this person")
    command.add_argument("--action", default="", metavar="ACTION", help="such as 'sign in' or 'override a route'")
    command.add_argument("--since", default="", metavar="TIME", help="UTC: 2026-03-01 or 2026-03-01T09:30")
    command.add_argument("--until", default="", metavar="TIME", help="UTC, itself not included")
    command.add_argument("--refused", action="store_true", help="only what was not allowed")
    command.add_argument("--before", type=count, metavar="NUMBER", help="only older entries than this one")
    command.add_argument("--limit", type=count, default=50, help="at most so many (default: 50)")
    add_json(command)


def _add_export(command: ArgumentParser) -> None:
    describe(
        command,
        "Write the whole record as JSON lines with its checkpoints and public key, so that others can verify it with\n"
        "what docs/record.md says alone. Cases stand in it by pseudonyms.",
        "audit export --out record.jsonl",
    )
    _add_out(command, "file to write")


def _add_backup(command: ArgumentParser) -> None:
    describe(
        command,
        "Write the record, its checkpoints and its keys into one file. Whoever has it can sign as this installation:\n"
        "keep it like a key.",
        "audit backup --out record.zip",
    )
    _add_out(command, "file to write")


def _add_restore(command: ArgumentParser) -> None:
    describe(
        command,
        "Put a backup in the place of the record, after verifying it. A record that is there stays unless --replace\n"
        "is given, and is then kept in a folder beside the new one. Stop the server first.",
        "audit restore record.zip",
        "audit restore record.zip --replace",
    )
    command.add_argument("file", type=Path, metavar="FILE", help="a backup")
    command.add_argument("--replace", action="store_true", help="in place of the record that is there")


def _add_erase(command: ArgumentParser) -> None:
    describe(
        command,
        "Erase every entry older than retention_days of the settings; a signed tombstone stands in its place, and the\n"
        "erasure is an entry itself. With --case: destroy one case's key, so that nobody can tell any more which\n"
        "entries are about it.",
        "audit erase",
        "audit erase --case r455 --reason 'asked for by the patient' --yes",
    )
    command.add_argument("--case", metavar="ID", help="the id of a case")
    command.add_argument("--reason", default="", help="why, for the record")
    command.add_argument("--yes", action="store_true", help="do not ask")


def _add_out(command: ArgumentParser, words: str) -> None:
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help=words)
    command.add_argument("--force", action="store_true", help="replace a file that is there")


DEEDS: dict[str, tuple[str, Callable[[ArgumentParser], None], str]] = {
    "verify": ("say whether the record is whole", _add_verify, "reading"),
    "show": ("print entries", _add_show, "reading"),
    "export": ("write everything in a form that others can verify", _add_export, "keeping"),
    "backup": ("write a backup", _add_backup, "keeping"),
    "restore": ("bring a backup back", _add_restore, "keeping"),
    "erase": ("erase what is past its time, or one case's key", _add_erase, "keeping"),
}
"""What can be done: summary, arguments, and the module that does it."""
