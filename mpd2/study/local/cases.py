"""Local cases: those of the place that uses a run, with what turned out, joined to those the run learned from.

A case is dealt by a hash of its group's name, or its own, and by nothing else: later cases leave the earlier ones where
they are, so that none is learned from today and judged by tomorrow. Truth is not asked, hence each kind of case is
divided in the same shares but for chance, and the cases judged by are a random part of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import pandas as pd

from mpd2.core.arrays import Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.files import short_hash
from mpd2.core.manifest import Manifest
from mpd2.core.state import PROBABILITY
from mpd2.core.table_file import cohort_from_cells, fingerprint, table_bytes
from mpd2.core.table_file.building import availability_columns
from mpd2.core.table_file.cells import as_text, folded

LEARN, CHOOSE = 1 / 2, 1 / 6  # shares of the local cases to learn from and to choose by; the rest is held out
FEWEST = 30  # local cases with an outcome, below which nothing could be said of a new run


@dataclass(frozen=True, eq=False)
class LocalCases:
    """Local cases with their outcome, dealt, and what was left out."""

    cohort: Cohort
    waiting: int  # rows without an outcome yet, left out


def dealt(keys: Sequence[str], known: Mapping[str, str] | None = None) -> np.ndarray:
    """Train, val or test (held out) for each group's name, the same at any time; those that are `known` stay there.

    >>> dealt(["a", "b", "a"]).tolist() == [*dealt(["a"]), *dealt(["b"]), *dealt(["a"])]
    True
    """
    there = known or {}
    return np.array([there.get(key) or _split(key) for key in keys], str)


def _split(key: str) -> str:
    place = int.from_bytes(sha256(key.encode()).digest()[:8]) / 2**64
    return "train" if place < LEARN else "val" if place < LEARN + CHOOSE else "test"


def local_cases(frame: pd.DataFrame, learned: Cohort, name: str, groups: Mapping[str, str] | None = None) -> LocalCases:
    """The rows of a table that have an outcome, as cases that can be joined to those `learned` from.

    All that is wrong is said by row of the file called `name`. `groups` is the split of each group of the table that
    was learned from, by its name: a patient who is there already stays where they are.
    """
    manifest, cells = learned.manifest, as_text(frame)
    row = manifest.row
    cells.index = pd.RangeIndex(2, len(cells) + 2)
    grouping = manifest.groups.column if manifest.groups else row.case
    gone = [column for column in (row.case, row.truth, grouping) if column not in cells]
    if gone:
        raise TableError(name, [Problem(None, column, "no such column", "the table's columns") for column in gone])
    taken = cells[row.case].isin(learned.ids)
    if taken.any():
        found = [Problem(int(at), row.case, str(cells[row.case][at]), TAKEN) for at in cells.index[taken]]
        raise TableError(name, folded(found))
    told = cells[row.truth] != ""
    if told.sum() < FEWEST:
        raise UserError(f"{name}: found {told.sum()} cases with an outcome, expected at least {FEWEST}")
    rows = cells[told]
    split = dealt(rows[grouping].tolist(), groups if manifest.groups else None)
    rows = rows.assign(**{row.split: split})
    identity = fingerprint(table_bytes(rows), manifest)
    return LocalCases(cohort_from_cells(rows, name, manifest, identity, "routing"), int((~told).sum()))


TAKEN = "an id that the table learned from does not have"


def joined(learned: Cohort, local: Cohort) -> Cohort:
    """The cases of both to learn from and to choose by; what was held out of either is in neither.

    It has a fingerprint of its own, for what is learned from it is not what either teaches.
    """
    if local.manifest.columns != learned.manifest.columns or local.layout != learned.layout:
        raise UserError("local cases: found other readers or inputs than those of the table, expected the same")
    manifest = _both(learned.manifest, local.manifest)
    keys = [entry.key for entry in manifest.cohorts]
    first, second = (cases.rows(cases.split != "test") for cases in (learned, local))
    offset = int(first.cluster.max(initial=-1)) + 1 - int(second.cluster.min(initial=0))

    def both(name: str) -> np.ndarray:
        return np.concatenate([getattr(first, name), getattr(second, name)])

    aligned = ("ids", "split", "state", "absent", "drawn", "truth", "decisions", "available")
    whole = replace(
        first,
        manifest=manifest,
        fingerprint=short_hash([learned.fingerprint, "local", local.fingerprint]),
        source=np.concatenate([_places(first, keys), _places(second, keys)]),
        cluster=np.concatenate([first.cluster, second.cluster + offset]),
        **{name: both(name) for name in aligned},
    )
    return whole.refilled()


def held_out(local: Cohort) -> Cohort:
    """The local cases nothing was learned from or chosen by; only readers whose answer is known can be asked."""
    cases = local.subset(split="test")
    return cases.with_available(cases.decisions != UNKNOWN)


def as_frame(cohort: Cohort, groups: Sequence[str] | None = None) -> pd.DataFrame:
    """The cases as a table of their manifest, as `local_cases` reads it.

    `groups` names each case's group, [N]; else groups are named after the first of their cases here.
    """
    manifest, row = cohort.manifest, cohort.manifest.row
    columns: dict[str, object] = {row.case: cohort.ids.astype(object), row.truth: _bits(cohort.truth)}
    if row.cohort:
        columns[row.cohort] = cohort.sources.astype(object)
    if manifest.groups:
        _, first, of = np.unique(cohort.cluster, return_index=True, return_inverse=True)
        named = cohort.ids[first][of.reshape(-1)] if groups is None else np.array(groups, str)
        columns[manifest.groups.column] = named.astype(object)
    for column in manifest.ai.columns:
        columns[column] = cohort.column(_score_of(column, manifest))
    for each in manifest.inputs:
        place = cohort.layout.position(each.column)
        words = {number: word for word, number in each.codes.items()}
        numbers = cohort.state[:, place].astype(object)
        cells = np.array([words.get(number, "") for number in numbers], object) if words else numbers
        columns[each.column] = _emptied(cells, cohort.absent[:, place])
    columns |= dict(zip(manifest.columns, _bits(cohort.decisions).T, strict=True))
    columns |= dict(zip(availability_columns(manifest), cohort.available.astype(int).T, strict=True))
    return pd.DataFrame(columns)


def _score_of(column: str, manifest: Manifest) -> str:
    """The variable of the state that holds a column of the AI."""
    return PROBABILITY if column == manifest.ai.probability else column


def _bits(values: Ints) -> np.ndarray:
    """Whole numbers, none where they are UNKNOWN."""
    return _emptied(values.astype(object), values == UNKNOWN)


def _emptied(cells: np.ndarray, absent: np.ndarray) -> np.ndarray:
    """The cells, with nothing where there was nothing."""
    kept = cells.copy()
    kept[absent] = None
    return kept


def _both(first: Manifest, second: Manifest) -> Manifest:
    """The first manifest with the second's further cohorts."""
    there = {entry.key for entry in first.cohorts}
    more = tuple(entry for entry in second.cohorts if entry.key not in there)
    return first.but(cohorts=(*first.cohorts, *more)) if more else first


def _places(cases: Cohort, keys: Sequence[str]) -> Ints:
    places = np.array([keys.index(entry.key) for entry in cases.manifest.cohorts])
    return places[cases.source]
