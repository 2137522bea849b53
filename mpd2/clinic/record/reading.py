"""The record read by somebody: each look, verification and file is allowed or refused, and written down itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed, authorise, may, refusal
from mpd2.clinic.installation import kept_record, record_place
from mpd2.clinic.record.copies import stored
from mpd2.clinic.record.entry import Entry
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.search import PAGE, Search
from mpd2.clinic.record.verify import Verdict, verify
from mpd2.core.errors import UserError

PSEUDONYM = re.compile("[0-9a-f]{64}")


def found(search: Search, before: int | None = None, limit: int = PAGE, *, by: Actor) -> list[Entry]:
    """The newest entries that fit a search, or those before a number."""
    narrowed = {key: value for key, value in asdict(search).items() if value}
    if not PSEUDONYM.fullmatch(search.case):  # an id, which the record holds by its pseudonym alone
        narrowed.pop("case", None)
    authorise(by, Action.SEE_RECORD, case=None if "case" in narrowed else search.case or None, search=narrowed)
    return open_record().search(search, before, limit)


def history(case: str, before: int | None = None, *, by: Actor) -> list[Entry]:
    """What was done about one case, for those who may see it; that they see it is written elsewhere."""
    if not may(by, Action.SEE_CASE):
        raise NotAllowed(refusal(by, Action.SEE_CASE))
    return open_record().search(Search(case=case), before)


def verified(against: Path | None = None, *, by: Actor) -> Verdict:
    """Whether the record is what was written, also where it takes no new entry because it is not."""
    if not may(by, Action.VERIFY_RECORD):
        authorise(by, Action.VERIFY_RECORD)
    options, folder = record_place()
    with stored(options, folder, against) as copy:
        verdict = verify(copy)
    try:
        authorise(by, Action.VERIFY_RECORD, whole=verdict.whole, last=verdict.last)
    except UserError:
        if verdict.whole:
            raise
    return verdict


def exported(make: Callable[[], bytes], entries: int, *, by: Actor) -> bytes:
    """A file with entries of the record."""
    authorise(by, Action.EXPORT_RECORD, entries=entries)
    return make()


def open_record() -> RecordLog:
    """The record of this installation; `UserError` if none is kept."""
    record = kept_record()
    if record is None:
        record_place()
        raise UserError("record: none is kept here")
    return record
