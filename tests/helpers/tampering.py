"""Tampering with a record at random, as somebody would who can write to its storage and has not its signing key.

`python tests/helpers/tampering.py 10000` says of each kind how many were found, and of those that were not, why not.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from records import ADMIN, act, checked, kept
from sqlalchemy import create_engine, insert, select, text

from mpd2.clinic.record import checkpoints
from mpd2.clinic.record.entry import Entry, canonical, digest
from mpd2.clinic.record.keys import open_keys
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.retention import erase_expired
from mpd2.clinic.record.schema import ENTRIES
from mpd2.clinic.record.signed import signed
from mpd2.clinic.record.storage import FILE
from mpd2.clinic.record.verify import Verdict
from mpd2.clinic.settings import RecordOptions
from mpd2.core.errors import UserError

Row = dict[str, Any]
EVERY, ERASED, OLD, LAST = 10, 12, 31, 47  # entries: between checkpoints, behind a tombstone, in the older copy, in all
PRISTINE, STONES = "pristine", "SELECT * FROM tombstones"
TEXTS = ("time", "actor", "role", "visit", "action", "case", "reason", "about")
NOTHING_CHANGED = "nothing of the record was changed"
KEYS_OF_CASES = "only what leads from the id of a case to its entries was changed, which needs the id to be checked"
TABLES_ALONE = "no entry was changed and no trigger, but how the file describes its tables"
AFTER_THE_LAST = "only entries after the last checkpoint were touched, and their hashes worked out anew"
CUT_IN_BOTH = "checkpoints were cut off in the second place too, so that nothing speaks of the entries"
REASONS = (NOTHING_CHANGED, KEYS_OF_CASES, TABLES_ALONE, AFTER_THE_LAST, CUT_IN_BOTH)


@dataclass(frozen=True)
class Scene:
    """A record with its two places of checkpoints, before or after somebody was there."""

    home: Path
    address: str = ""  # of PostgreSQL; nothing for a file

    @property
    def folder(self) -> Path:
        return self.home / "record"

    @property
    def second(self) -> Path:
        return self.home / "second"

    @property
    def file(self) -> Path:
        return self.folder / FILE

    @property
    def options(self) -> RecordOptions:
        return RecordOptions(storage=self.address, second_place=self.second, checkpoint_every=EVERY)

    def rows(self) -> list[Row]:
        """Every entry as the storage has it, without looking at it closely."""
        if self.address:
            engine = create_engine(self.address)
            with engine.connect() as connection:
                found = [dict(row._mapping) for row in connection.execute(select(ENTRIES).order_by(ENTRIES.c.number))]
            engine.dispose()
            return found
        with closing(sqlite3.connect(self.file)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute("SELECT * FROM entries ORDER BY number")]

    def put(self, rows: list[Row]) -> None:
        """Write other entries in place of those that are there, past the triggers, which are there again afterwards."""
        if self.address:
            engine = create_engine(self.address)
            with engine.begin() as connection:
                connection.execute(text("SET LOCAL session_replication_role = replica"))
                connection.execute(text("DELETE FROM entries"))
                if rows:
                    connection.execute(insert(ENTRIES), rows)
            engine.dispose()
            return
        with closing(sqlite3.connect(self.file, isolation_level=None)) as connection:
            guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            connection.execute("BEGIN")
            for name, _ in guards:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute("DELETE FROM entries")
            places = ", ".join("?" * len(ENTRIES.c))
            values = [[row[column.name] for column in ENTRIES.c] for row in rows]
            connection.executemany(f"INSERT INTO entries VALUES ({places})", values)
            for _, sql in guards:
                connection.execute(sql)
            connection.execute("COMMIT")


def make_scene(home: Path, address: str = "") -> Scene:
    """A record with a tombstone at its beginning, checkpoints, and some entries after the last of them."""
    scene = Scene(home, address)
    record = RecordLog(scene.options, scene.folder, lambda: "2020-05-01T10:00:00.000000Z")
    act(record, ERASED)
    record.close()
    with kept(scene.options, scene.folder) as record:
        erase_expired(record, ADMIN, days=30)
        act(record, OLD - record.length())
    if not address:
        shutil.copytree(scene.folder, home / "older")
        shutil.copytree(scene.second, home / "older-second")
        with kept(RecordOptions(), home / "other") as other:
            act(other, LAST)
    with kept(scene.options, scene.folder) as record:
        act(record, LAST - record.length())
    assert checked(scene.options, scene.folder).whole
    return scene


def resealed(rows: list[Row], start: int, random: Random | None = None) -> list[Row]:
    """The same entries from a place on with numbers, previous hashes and hashes that fit one another again."""
    rows = [dict(row) for row in rows]
    for at in range(start, len(rows)):
        row = rows[at]
        if at:
            row["number"], row["previous"] = rows[at - 1]["number"] + 1, rows[at - 1]["hash"]
        row["hash"] = _hash(row)
    return rows


def _hash(row: Row) -> str:
    values = {name: value for name, value in row.items() if name != "hash"}
    values |= {"about": json.loads(row["about"]), "granted": row["granted"] == 1}
    return digest(Entry(**values).text())


def _other(value: str, name: str, random: Random) -> str:
    """A text that is a little different, and still could stand there."""
    if name == "about":
        return canonical(json.loads(value) | {"choice": random.choice(["reader", "rule"]), "by": random.random()})
    if not value:
        return random.choice("abc")
    at = random.randrange(len(value))
    return value[:at] + chr((ord(value[at]) ^ 1 << random.randrange(4)) or 65) + value[at + 1 :]


def flip(scene: Scene, random: Random) -> None:
    """Change a field of an entry; leave the hash, or work out its own, or all that follow."""
    rows = scene.rows()
    at = random.randrange(len(rows))
    name = random.choice((*TEXTS, "granted", "previous", "hash"))
    rows[at][name] = 1 - rows[at][name] if name == "granted" else _other(rows[at][name], name, random)
    effort = random.randrange(3)
    if effort == 1:
        rows[at]["hash"] = _hash(rows[at])
    scene.put(resealed(rows, at) if effort == 2 else rows)


def drop(scene: Scene, random: Random) -> None:
    """Take out some entries; leave the gap, or close it."""
    rows = scene.rows()
    at = random.randrange(len(rows))
    del rows[at : at + random.randint(1, 3)]
    if random.random() < 0.5 and at < len(rows):
        if at == 0:
            rows[0] |= {"number": ERASED + 1, "previous": scene.rows()[0]["previous"]}
        rows = resealed(rows, at)
    scene.put(rows)


def swap(scene: Scene, random: Random) -> None:
    """Let two entries change places; leave the hashes, or work them out anew."""
    rows = scene.rows()
    one, two = sorted(random.sample(range(len(rows)), 2))
    places = ("number", "previous", "hash") if random.random() < 0.5 else ("number",)
    kept_there = [{name: rows[at][name] for name in places} for at in (one, two)]
    rows[one], rows[two] = rows[two] | kept_there[0], rows[one] | kept_there[1]
    scene.put(resealed(rows, one) if random.random() < 0.5 else rows)


def slip_in(scene: Scene, random: Random) -> None:
    """Put in an entry that nobody wrote; move the others on, with or without their hashes."""
    rows = scene.rows()
    at = random.randint(1, len(rows))
    new = dict(random.choice(rows)) | {"actor": random.choice(["mallory", "ada"]), "time": rows[at - 1]["time"]}
    new |= {"number": rows[at - 1]["number"] + 1, "previous": rows[at - 1]["hash"]}
    new["hash"] = _hash(new)
    rest = [row | {"number": row["number"] + 1} for row in rows[at:]]
    rows = [*rows[:at], new, *rest]
    scene.put(resealed(rows, at) if random.random() < 0.5 else rows)


def truncate(scene: Scene, random: Random) -> None:
    """Cut off the end; its checkpoints too, in one place or in both."""
    rows = scene.rows()
    left = random.randrange(len(rows))
    scene.put(rows[:left])
    last = rows[left - 1]["number"] if left else ERASED
    for place in ((), (scene.folder,), (scene.folder, scene.second))[random.randrange(3)]:
        _cut(place / checkpoints.FILE, last)


def _cut(path: Path, last: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if json.loads(line)["checkpoint"]["number"] <= last))


def replace_file(scene: Scene, random: Random) -> None:
    """Put another file in the record's place: an older copy, another record, nothing; with its checkpoints or not."""
    for end in ("-wal", "-shm"):
        scene.file.with_name(FILE + end).unlink(missing_ok=True)
    source = scene.home / random.choice(["older", "other"])
    how = random.randrange(5)
    if how == 0:
        scene.file.unlink()
        return
    if how == 1:
        scene.file.write_bytes(random.randbytes(random.choice([0, 10, 5000])))
        return
    shutil.copy(source / FILE, scene.file)
    if how == 3:
        shutil.copy(source / checkpoints.FILE, scene.folder / checkpoints.FILE)
    if how == 4:
        for name in ("keys", checkpoints.FILE):  # all that is beside the record
            path = scene.folder / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            copy = shutil.copytree if (source / name).is_dir() else shutil.copy
            copy(source / name, path)


def turn_back_the_clock(scene: Scene, random: Random) -> None:
    """Write as if it were earlier: on a clock that was put back, or into entries that are there."""
    if random.random() < 0.3:
        when = f"202{random.randrange(6)}-0{random.randint(1, 9)}-01T10:00:00.000000Z"
        record = RecordLog(scene.options, scene.folder, lambda: when)
        act(record, random.randint(1, 3))
        record.close()
        return
    rows = scene.rows()
    at = random.randrange(len(rows))
    rows[at]["time"] = f"2025-0{random.randint(1, 9)}-01T10:00:00.000000Z"
    scene.put(resealed(rows, at) if random.random() < 0.5 else rows)


def forge(scene: Scene, random: Random) -> None:
    """Write the record anew from a place on and sign it with a key of one's own, or change what was signed."""
    path = scene.folder / checkpoints.FILE
    lines = path.read_text().splitlines()
    how = random.randrange(3)
    if how == 0:  # a letter of a line
        at = random.randrange(len(lines))
        place = random.randrange(len(lines[at]))
        lines[at] = lines[at][:place] + chr(ord(lines[at][place]) ^ 1 << random.randrange(3)) + lines[at][place + 1 :]
        path.write_text("\n".join(lines) + "\n")
        return
    rows = scene.rows()
    at = random.randrange(len(rows))
    rows[at]["reason"] = "forged"
    rows = resealed(rows, at)
    scene.put(rows)
    hashes = {row["number"]: row["hash"] for row in rows}
    keys = open_keys(scene.home / "mallory")
    made = []
    for line in lines:
        says = json.loads(line)["checkpoint"]
        says["hash"] = hashes.get(says["number"], says["hash"])
        fake = signed("checkpoint", says, keys)
        made.append((fake if how == 1 else replace(fake, signature=json.loads(line)["signature"])).line)
    path.write_text("\n".join(made) + "\n")


def flip_a_bit(scene: Scene, random: Random) -> None:
    """Change one bit of the file."""
    content = bytearray(scene.file.read_bytes())
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    scene.file.write_bytes(content)


def move_the_tombstone(scene: Scene, random: Random) -> None:
    """Let the tombstone stand for more entries than were erased, and erase them."""
    rows = scene.rows()
    many = random.randint(1, len(rows) - 1)
    with closing(sqlite3.connect(scene.file, isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        [line] = connection.execute("SELECT line FROM tombstones").fetchone()
        stone = json.loads(line)
        stone["tombstone"] |= {"last": rows[many - 1]["number"], "hash": rows[many - 1]["hash"]}
        if random.random() < 0.5:
            fake = signed("tombstone", stone["tombstone"], open_keys(scene.home / "mallory")).line
        else:
            fake = f'{{"tombstone":{canonical(stone["tombstone"])},"signature":"{stone["signature"]}"}}'
        connection.execute("UPDATE tombstones SET last = ?, line = ?", (rows[many - 1]["number"], fake))
        for _, sql in guards:
            connection.execute(sql)
    scene.put(rows[many:])


ROWS: tuple[Callable[[Scene, Random], None], ...] = (flip, drop, swap, slip_in, truncate, turn_back_the_clock, forge)
FILES: tuple[Callable[[Scene, Random], None], ...] = (replace_file, flip_a_bit, move_the_tombstone)


def judged(scene: Scene) -> Verdict | str:
    """What verifying says; that nothing can be verified is a finding too."""
    try:
        return checked(scene.options, scene.folder)
    except UserError as error:
        return str(error)


def is_found(verdict: Verdict | str) -> bool:
    """Whether anything was noticed: a problem, or a clock that went back."""
    return isinstance(verdict, str) or not verdict.whole or any("clock" in note for note in verdict.notes)


def why_not_found(scene: Scene, before: list[Row]) -> str:
    """Why a tampering could not be found, judged by what is in the storage alone; an error if it could have been."""
    after = scene.rows()
    if after == before:
        return NOTHING_CHANGED if scene.address else _changed_beside(scene)
    left = [path / checkpoints.FILE for path in (scene.folder, scene.second)]
    marks = [json.loads(line)["checkpoint"]["number"] for path in left for line in path.read_text().splitlines()]
    held = max(marks)
    same = [row for row in before if row["number"] <= held] == [row for row in after if row["number"] <= held]
    assert same, f"entries up to {held} were changed, and it was not found"
    return AFTER_THE_LAST if held == LAST // EVERY * EVERY else CUT_IN_BOTH


def _changed_beside(scene: Scene) -> str:
    """What of a file was changed whose entries are as they were."""
    untouched = Scene(scene.home.with_name(PRISTINE)).file
    for reason, query in ((KEYS_OF_CASES, "SELECT * FROM case_keys"), (TABLES_ALONE, "SELECT * FROM sqlite_master")):
        if _bytes(scene.file, query) != _bytes(untouched, query):
            return reason
    assert _bytes(scene.file, STONES) == _bytes(untouched, STONES), "a tombstone was changed, and it was not found"
    return NOTHING_CHANGED


def _bytes(file: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        connection.text_factory = bytes
        return sorted(connection.execute(query).fetchall(), key=repr)


def tamper(scene: Scene, kind: Callable[[Scene, Random], None], random: Random, before: list[Row]) -> str:
    """What became of one tampering: nothing if it was found, else why it was not."""
    kind(scene, random)
    return "" if is_found(judged(scene)) else why_not_found(scene, before)


def many(number: int, seed: int = 0) -> Counter[tuple[str, str]]:
    """So many tamperings with a file, each with a fresh copy, by kind and outcome."""
    outcomes: Counter[tuple[str, str]] = Counter()
    with TemporaryDirectory() as place:
        pristine = make_scene(Path(place) / PRISTINE)
        before = pristine.rows()
        for at in range(number):
            random = Random(f"{seed}:{at}")
            home = Path(place) / "copy"
            shutil.copytree(pristine.home, home)
            kind = random.choice((*ROWS, *FILES))
            try:
                outcomes[kind.__name__, tamper(Scene(home), kind, random, before)] += 1
            except AssertionError as error:
                raise AssertionError(f"tampering {at} with seed {seed}, {kind.__name__}: {error}") from None
            shutil.rmtree(home)
    return outcomes


if __name__ == "__main__":
    for (name, reason), times in sorted(many(int(sys.argv[1]), *map(int, sys.argv[2:])).items()):
        print(f"{name:20} {times:6} {'found' if not reason else f'not found: {reason}'}")
