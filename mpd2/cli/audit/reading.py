"""The record verified and shown."""

from __future__ import annotations

import zipfile
from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

from mpd2.cli.audit.operator import operator
from mpd2.cli.output import aligned, print_json
from mpd2.clinic.access.actions import Action
from mpd2.clinic.installation import record_place
from mpd2.clinic.record.backup import verify_backup
from mpd2.clinic.record.copies import read_export
from mpd2.clinic.record.entry import Entry, canonical
from mpd2.clinic.record.reading import found, verified
from mpd2.clinic.record.search import Search, checked_time
from mpd2.clinic.record.verify import Verdict, as_json, verify
from mpd2.core.errors import UserError

SHORT = 12  # characters of a pseudonym


def verify_record(args: Namespace) -> int:
    """Whether it is whole; 1 if it is not."""
    verdict = _of_file(args.file) if args.file else verified(args.against, by=operator())
    if args.json:
        print_json(as_json(verdict))
    else:
        print(verdict.in_words())
    return 0 if verdict.whole else 1


def _of_file(path: Path) -> Verdict:
    if zipfile.is_zipfile(path):
        return verify_backup(path)
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            return verify(read_export(lines, path.name))
    except OSError as error:
        raise UserError(f"{path.name}: cannot be read: {error.strerror}") from None


def show_record(args: Namespace) -> int:
    """Entries, the newest first."""
    if args.action and args.action not in set(Action):
        raise UserError(f"--action: found {args.action!r}, expected one of: {', '.join(sorted(Action))}")
    search = Search(
        args.case, args.person, args.action, checked_time(args.since), checked_time(args.until), args.refused
    )
    record_place()
    entries = found(search, args.before, args.limit, by=operator())
    if args.json:
        print_json([asdict(entry) for entry in entries])
    else:
        print(aligned([("number", "time", "who", "role", "action", "", "case", "about"), *map(_row, entries)]))
    return 0


def _row(entry: Entry) -> tuple[object, ...]:
    about = " ".join(filter(None, [entry.reason, canonical(entry.about) if entry.about else ""]))
    granted = "" if entry.granted else "refused"
    return entry.number, entry.time, entry.actor, entry.role, entry.action, granted, entry.case[:SHORT], about
