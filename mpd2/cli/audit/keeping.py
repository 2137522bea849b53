"""The record taken elsewhere, brought back, and erased where its time is over."""

from __future__ import annotations

from argparse import Namespace

from mpd2.cli.audit.operator import operator
from mpd2.cli.output import agreed
from mpd2.cli.workspace.sharing import check_free
from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.authorise import authorise
from mpd2.clinic.installation import record_place
from mpd2.clinic.record.backup import back_up, restore
from mpd2.clinic.record.copies import write_export
from mpd2.clinic.record.reading import open_record
from mpd2.clinic.record.retention import erase_case, erase_expired, expired
from mpd2.core.files import replacing
from mpd2.core.text import numbered


def export_record(args: Namespace) -> int:
    """Everything, as JSON lines."""
    check_free(args.out, args.force)
    record = open_record()
    authorise(operator(), Action.EXPORT_RECORD, file=args.out.name)
    with replacing(args.out) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        entries = write_export(record, file)
    print(f"{args.out}: {numbered(entries, 'entry', 'entries')}; `audit verify --file` reads it")
    return 0


def backup_record(args: Namespace) -> int:
    """One file with everything, keys too."""
    check_free(args.out, args.force)
    entries = back_up(open_record(), operator(), args.out)
    print(f"{args.out}: {numbered(entries, 'entry', 'entries')} with the keys; keep it like a key")
    return 0


def restore_record(args: Namespace) -> int:
    """A backup in the place of the record."""
    options, folder = record_place()
    entries = restore(options, folder, args.file, operator(), args.replace)
    print(f"{args.file}: whole; {numbered(entries, 'entry', 'entries')} restored")
    return 0


def erase_record(args: Namespace) -> int:
    """What is past its time, or one case's key."""
    record = open_record()
    if args.case:
        words = "The key of this case is destroyed: nobody can tell any more which entries are about it."
        if not agreed(words, args.yes):
            return 1
        erase_case(record, operator(), args.case, args.reason)
        print("its key is erased; older backups still have it")
        return 0
    first, last = expired(record)
    if last < first:
        print("no entry is past its time")
        return 0
    if not agreed(f"{numbered(last - first + 1, 'entry', 'entries')} from {first} to {last} are erased.", args.yes):
        return 1
    print(
        f"{numbered(erase_expired(record, operator()), 'entry', 'entries')} erased; a signed tombstone stands for them"
    )
    return 0
