"""Is the record what was written? The first entry that is not is named, and what is wrong with it said in words.

What cannot be found is said too: entries after the last checkpoint can be cut off, or written anew, by somebody who can
write to the database, and leave a whole chain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from mpd2.clinic.record.checkpoints import RESTORED, Place
from mpd2.clinic.record.entry import Entry, digest, is_time, now, read_time
from mpd2.clinic.record.keys import PublicKey
from mpd2.clinic.record.log import CLOCK_BACK, FORGOTTEN, TOLERANCE
from mpd2.clinic.record.signed import Damaged, Signed
from mpd2.clinic.record.tombstones import read_tombstone
from mpd2.core.errors import UserError
from mpd2.core.text import numbered

What = Literal["storage", "changed", "missing", "order", "clock", "checkpoint", "tail", "tombstone", "replaced"]


@dataclass(frozen=True)
class Problem:
    """Something that is not as it was written."""

    what: What
    number: int | None  # of the entry; None if it is about no single one
    words: str


@dataclass(frozen=True)
class Copy:
    """A record to verify, wherever it is kept."""

    id: str
    public: PublicKey
    rows: Iterable[Entry | Damaged]  # in order
    tombstones: list[str] = field(default_factory=list)  # lines
    places: list[Place] = field(default_factory=list)  # of checkpoints
    flaws: list[str] = field(default_factory=list)  # of the storage
    with_key: frozenset[str] | None = None  # pseudonyms of cases that can still be found by their ids; None: not known


@dataclass
class Verdict:
    """What verifying found."""

    entries: int = 0  # that were read
    last: int = 0  # number of the last one
    erased: int = 0  # entries that a tombstone stands for
    signed: int = 0  # number of the last entry that a checkpoint holds fast
    signed_at: str = ""
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what is as it was written, and still worth knowing
    cases: set[str] = field(default_factory=set)  # pseudonyms of which no entry says that their key was erased

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def first_broken(self) -> int | None:
        """The first entry with something wrong."""
        return min((each.number for each in self.problems if each.number is not None), default=None)

    def in_words(self) -> str:
        """The verdict, a sentence a line."""
        lines = [each.words for each in sorted(self.problems, key=lambda each: each.number or 0)]
        if self.whole:
            lines = [f"The record is whole: {numbered(self.entries, 'entry', 'entries')}, each tied to the one before."]
        else:
            where = "" if self.first_broken is None else f" The first broken entry is {self.first_broken}."
            lines.insert(0, f"The record is broken.{where}")
        if self.erased:
            erased = numbered(self.erased, "entry was", "entries were")
            lines.append(f"{erased} erased before them; signed tombstones stand in their place.")
        return "\n".join([*lines, *self.notes, self._what_is_not_shown()])

    def _what_is_not_shown(self) -> str:
        if not self.signed:
            return "There is no checkpoint: whether an end is missing, or all was written anew, cannot be told."
        after = self.last - self.signed
        held = f"Entries up to {self.signed} are held fast by a checkpoint of {self.signed_at}."
        if after <= 0:
            return f"{held} An entry written after it and cut off since would not show."
        return (
            f"{held} The {numbered(after, 'entry', 'entries')} after it could have been written anew, and further ones "
            "cut off, without a trace: a missing end shows only against a checkpoint."
        )


def verify(copy: Copy) -> Verdict:
    """Walk the whole record, a batch of it in memory at a time."""
    verdict = Verdict()
    verdict.problems += [
        Problem("storage", None, f"The storage is not as it should be: {flaw}.") for flaw in copy.flaws
    ]
    after, hash_ = _tombstones(copy, verdict)
    marks = _checkpoints(copy, verdict)
    for number in sorted(marks):
        if number < after:
            verdict.signed, verdict.signed_at = number, str(marks[number].says["time"])
    if after in marks and marks[after].says["hash"] != hash_:
        verdict.problems.append(_not_the_signed_one(after, marks[after]))
    if _walk(copy, verdict, _Before(after, "", hash_), marks):
        verdict.problems += _tail(verdict, marks)
        verdict.problems += _lost_keys(copy, verdict)
    return verdict


@dataclass(frozen=True)
class _Before:
    """What the next entry follows."""

    number: int
    time: str
    hash: str


def _tombstones(copy: Copy, verdict: Verdict) -> tuple[int, str]:
    """Number and hash of the last erased entry; without any, those that the first entry follows."""
    number, hash_ = 0, copy.id
    for line in copy.tombstones:
        try:
            stone = read_tombstone(line)
        except Damaged as error:
            verdict.problems.append(Problem("tombstone", number + 1, f"The tombstone after entry {number} {error}."))
            continue
        says = stone.says
        if not copy.public.has_signed(stone.text, stone.signature) or says["record"] != copy.id:
            words = f"The tombstone for entries {says['first']} to {says['last']} is not signed with the record's key."
            verdict.problems.append(Problem("tombstone", says["first"], words))
        if says["first"] != number + 1 or says["previous"] != hash_:
            words = f"The tombstone for entries {says['first']} to {says['last']} does not follow entry {number}."
            verdict.problems.append(Problem("tombstone", number + 1, words))
        number, hash_ = says["last"], says["hash"]
    verdict.erased = number
    return number, hash_


def _checkpoints(copy: Copy, verdict: Verdict) -> dict[int, Signed]:
    """The checkpoints that hold, by number; those that are forged or damaged are problems."""
    marks: dict[int, Signed] = {}
    for place in copy.places:
        held: dict[int, Signed] = {}
        for at in place.damaged:
            words = f"Line {at} of the checkpoints {place.name} is damaged."
            verdict.problems.append(Problem("checkpoint", None, words))
        if place.torn:
            verdict.notes.append(f"The last line of the checkpoints {place.name} ends in the middle and is left out.")
        if not place.lines and any(other.lines for other in copy.places):
            verdict.notes.append(f"There is no checkpoint {place.name}: see whether it can be written to.")
        for each in place.lines:
            number = each.says["number"]
            if not copy.public.has_signed(each.text, each.signature):
                words = f"The checkpoint of entry {number} {place.name} is forged: the record's key has not signed it."
                verdict.problems.append(Problem("checkpoint", number, words))
            elif each.says["record"] != copy.id:
                words = f"The checkpoint of entry {number} {place.name} is of another record: this one was replaced."
                verdict.problems.append(Problem("replaced", number, words))
            else:
                if each.says["kind"] == RESTORED:
                    held = _after_a_restore(held, each, verdict)
                verdict.problems += _contradiction(held.get(number), each)
                held[number] = each
        for number, each in held.items():
            verdict.problems += _contradiction(marks.get(number), each)
        marks.update(held)
    return marks


def _contradiction(one: Signed | None, other: Signed) -> list[Problem]:
    """Two checkpoints of the same entry that both hold and differ: the record was written on from an older state."""
    if one is None or one.says["hash"] == other.says["hash"]:
        return []
    number, times = other.says["number"], f"{one.says['time']} and {other.says['time']}"
    return [Problem("checkpoint", number, f"Two different entries {number} were signed, at {times}.")]


def _after_a_restore(held: dict[int, Signed], restored: Signed, verdict: Verdict) -> dict[int, Signed]:
    """The checkpoints of what a restored backup holds; what it lacked is lost, and said to be."""
    number, lost = restored.says["number"], max(held, default=0)
    if lost > number:
        note = (
            f"A backup was restored at {restored.says['time']} whose last entry was {number}: what had been written by "
            f"then, up to entry {lost} or more, is lost."
        )
        if note not in verdict.notes:
            verdict.notes.append(note)
    return {each: mark for each, mark in held.items() if each <= number}


def _walk(copy: Copy, verdict: Verdict, before: _Before, marks: dict[int, Signed]) -> bool:
    """Every entry against the one before, up to the first that is broken; whether there was none."""
    verdict.last = before.number
    latest = now()
    try:
        for row in copy.rows:
            problem = _judge(row, before, marks)
            if problem is not None:
                verdict.problems.append(problem)
                return False
            assert isinstance(row, Entry)
            verdict.notes += _clock_notes(row, latest)
            verdict.cases.add(row.case)
            verdict.cases.discard(row.about.get(FORGOTTEN, ""))
            before = _Before(row.number, row.time, row.hash)
            verdict.entries, verdict.last = verdict.entries + 1, row.number
            if row.number in marks:
                verdict.signed, verdict.signed_at = row.number, str(marks[row.number].says["time"])
    except UserError as error:
        words = f"After entry {before.number} the record cannot be read: {error}."
        verdict.problems.append(Problem("storage", before.number + 1, words))
        return False
    return True


def _judge(row: Entry | Damaged, before: _Before, marks: dict[int, Signed]) -> Problem | None:
    """What is wrong with an entry, given the one before."""
    if isinstance(row, Damaged):
        return Problem("changed", before.number + 1, f"{str(row)[:1].upper()}{str(row)[1:]}.")
    number, expected = row.number, before.number + 1
    if number > expected:
        gone = f"Entry {expected} is" if number == expected + 1 else f"Entries {expected} to {number - 1} are"
        return Problem("missing", expected, f"{gone} missing: entry {number} follows entry {before.number}.")
    if number < expected:
        words = f"Entry {number} is there twice, or not in its place: it follows entry {before.number}."
        return Problem("order", number, words)
    if digest(row.text()) != row.hash:
        return Problem("changed", number, f"Entry {number} was changed: its content no longer has its hash.")
    if row.previous != before.hash:
        words = f"Entry {number} does not follow entry {before.number}: it was written after another one."
        return Problem("order", number, words)
    if number in marks and marks[number].says["hash"] != row.hash:
        return _not_the_signed_one(number, marks[number])
    if not is_time(row.time):
        return Problem("clock", number, f"Entry {number} was changed: its time is none that is written here.")
    if row.time < before.time and CLOCK_BACK not in row.about:
        words = f"Entry {number} is of {row.time}, before entry {before.number} of {before.time}, and does not say why."
        return Problem("clock", number, words)
    return None


def _clock_notes(row: Entry, latest: str) -> list[str]:
    """What the times of an entry tell of the clock."""
    notes = []
    if CLOCK_BACK in row.about:
        notes.append(f"At entry {row.number} the clock had gone back by {row.about[CLOCK_BACK]} s, to {row.time}.")
    if row.time > latest and (read_time(row.time) - read_time(latest)).total_seconds() > TOLERANCE:
        notes.append(f"Entry {row.number} is of {row.time}, which is still to come: a clock is wrong.")
    return notes


def _not_the_signed_one(number: int, mark: Signed) -> Problem:
    signed = f"Entry {number} is not the one that was signed at {mark.says['time']}"
    words = f"{signed}: it, or anything before it, was written anew."
    return Problem("checkpoint", number, words)


def _tail(verdict: Verdict, marks: dict[int, Signed]) -> list[Problem]:
    """Entries that were signed and are not there."""
    beyond = max(marks, default=0)
    if beyond <= verdict.last:
        return []
    words = (
        f"Entries {verdict.last + 1} to {beyond} are missing at the end: entry {beyond} was signed at "
        f"{marks[beyond].says['time']}."
    )
    return [Problem("tail", verdict.last + 1, words)]


def _lost_keys(copy: Copy, verdict: Verdict) -> list[Problem]:
    """Cases that nobody finds any more by their ids, though no entry says that this was wanted."""
    lost = verdict.cases - {""} - (verdict.cases if copy.with_key is None else copy.with_key)
    if not lost:
        return []
    many = numbered(len(lost), "case")
    words = f"{many} cannot be found by id any more: keys are gone, and no entry says who erased them."
    return [Problem("storage", None, words)]


def as_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain values."""
    return {
        "whole": verdict.whole,
        "entries": verdict.entries,
        "last": verdict.last,
        "erased": verdict.erased,
        "signed": verdict.signed,
        "signed_at": verdict.signed_at or None,
        "first_broken": verdict.first_broken,
        "problems": [{"what": each.what, "number": each.number, "words": each.words} for each in verdict.problems],
        "notes": verdict.notes,
        "words": verdict.in_words(),
    }
