"""Files that are laid out in another way: cases and readings in one file, or a second file with a column a reader."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Ints
from mpd2.core.errors import Problem, TableError
from mpd2.core.manifest import MOST, Manifest
from mpd2.core.table_file.cells import SHOWN, shortened
from mpd2.core.text import count, listed
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.guessing import overlap
from mpd2.lab.imports.profiles import Profile
from mpd2.lab.imports.words import says

REPEATED = 1.2  # readings a case from which on rows can be readings
UNIQUE = 0.98  # share of readings that are the only one of their case by their reader


def arranged(
    cases: RawTable, readings: RawTable | None = None, manifest: Manifest | None = None
) -> tuple[RawTable, RawTable | None]:
    """The table of cases, and that of readings if there is one; as they were given if they are laid out like that.

    A single file with one row a reading is taken apart: what is the same in all rows of a case is the case's. A second
    file with one row a case and one column a reader is put beside the first. A manifest, if there is one, has the last
    word on whether there are readings in long form.
    """
    if manifest is not None and (manifest.long is None) == (readings is None):
        return cases, readings
    return _taken_apart(cases) if readings is None else _put_together(cases, readings)


def _profiles(table: RawTable) -> dict[str, Profile]:
    return {str(name): Profile(str(name), table.column(str(name))) for name in table.cells}


def _taken_apart(table: RawTable) -> tuple[RawTable, RawTable | None]:
    profiles = _profiles(table)
    who = [each for each in profiles.values() if 2 <= each.distinct <= MOST and _names_readers(each)]
    who = [each for each in who if not each.is_bit and each.complete and not (each.is_number and not each.is_whole)]
    for reader in who:
        for case in profiles.values():
            if case is not reader and _is_case(case) and _one_reading_each(case, reader):
                return _divided(table, case, reader, profiles)
    return table, None


def _names_readers(profile: Profile) -> bool:
    """Whether readers stand in a column: its name says so, or what stands there."""
    return bool(says(profile.name, "reader")) or all(says(word, "reader") for word in profile.words)


def _is_case(profile: Profile) -> bool:
    """Whether a column names cases that have several rows each."""
    named = says(profile.name, "case") or says(profile.name, "group")
    return bool(named and profile.complete and profile.distinct > 2 and profile.filled >= REPEATED * profile.distinct)


def _one_reading_each(case: Profile, reader: Profile) -> bool:
    pairs = case.column.codes * len(reader.column.texts) + reader.column.codes
    return len(np.unique(pairs)) >= UNIQUE * len(pairs)


def _divided(
    table: RawTable, case: Profile, reader: Profile, profiles: dict[str, Profile]
) -> tuple[RawTable, RawTable | None]:
    first = np.unique(case.column.codes, return_index=True)[1]  # [C] first row of each case
    same = [name for name, each in profiles.items() if _follows(each.column.codes, case.column.codes, first)]
    varying = [name for name in profiles if name not in same]
    answers = [name for name in varying if profiles[name].is_bit or profiles[name].bit_words]
    if reader.name in same or not [name for name in answers if name != reader.name]:
        return table, None
    rows = np.sort(first)
    ours = table.cells.iloc[rows][same]
    theirs = table.cells[[case.name, *varying]]
    note = (
        f"One row is one reading: {count(len(ours))} cases and {count(len(theirs))} readings are made of it; "
        f"{listed(varying)} are of the reading, all else is of the case."
    )
    return replace(table, cells=ours, notes=(*table.notes, note)), replace(table, cells=theirs)


def _follows(codes: Ints, case: Ints, first: Ints) -> bool:
    """Whether a column says the same in all rows of a case, [N], [N], [C]."""
    return bool((codes == codes[first][case]).all())


def _put_together(cases: RawTable, readings: RawTable) -> tuple[RawTable, RawTable | None]:
    ours, theirs = _profiles(cases), _profiles(readings)
    people = [each for each in theirs.values() if each.is_bit and each.distinct <= 2]
    named = [each for each in theirs.values() if not each.is_bit and each.distinct <= MOST and _names_readers(each)]
    shared = {(mine, their): overlap(ours[mine], theirs[their]) for mine in ours for their in theirs}
    (ids, key), share = max(shared.items(), key=lambda each: each[1])
    if share < 0.5 or theirs[key].distinct < len(readings) or not people or named:
        return cases, readings
    at = pd.Index(cases.cells[ids].astype(str)).get_indexer(pd.Index(readings.cells[key].astype(str)))  # [R]
    strangers = np.flatnonzero(at < 0)
    if len(strangers):
        found = shortened(str(readings.cells[key].iloc[strangers[0]]), SHOWN) or "an empty cell"
        first, *rest = readings.cells.index.to_numpy()[strangers].tolist()
        problem = Problem(first, key, found, f"a case of {cases.name}", tuple(rest), readings.name)
        raise TableError(readings.name, [problem])
    added: dict[str, np.ndarray] = {}
    for name in (name for name in theirs if name != key):
        cells = np.full(len(cases), "", object)
        cells[at] = readings.cells[name].to_numpy(object)
        added[_free(name, {*ours, *added})] = cells
    frame = pd.concat([cases.cells, pd.DataFrame(added, index=cases.cells.index, dtype=object)], axis=1)
    note = f"{count(len(added))} columns of {readings.name} are put beside the cases with the same {ids}."
    return replace(cases, cells=frame, notes=(*cases.notes, *readings.notes, note)), None


def _free(name: str, taken: set[str]) -> str:
    return next(free for free in (name, *(f"{name} ({n})" for n in range(2, len(taken) + 3))) if free not in taken)
