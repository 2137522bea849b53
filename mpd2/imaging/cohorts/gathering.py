"""Cases of several cohorts side by side: their files looked at, their splits published or drawn."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

import numpy as np

from mpd2.core.arrays import Ints
from mpd2.core.cohort import SPLITS
from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.imaging.cohorts.adapter import Adapter, CaseFiles, Left, Shares, adapters
from mpd2.imaging.cohorts.masks import Masks, picture_size

NO_MASK = "no mask of disc and cup"


@dataclass(frozen=True)
class Case:
    """One case, its cohort and its split."""

    files: CaseFiles
    cohort: str
    split: str


@dataclass(frozen=True, eq=False)
class Gathered:
    """What is in the folders."""

    folder: Path  # in which all photographs are
    cohorts: tuple[Adapter, ...]
    cases: tuple[Case, ...]
    left: tuple[Left, ...]

    @property
    def names(self) -> list[str]:
        """Each photograph's file within the folder."""
        return [case.files.image.relative_to(self.folder).as_posix() for case in self.cases]

    @property
    def truth(self) -> Ints:
        """[N]."""
        return np.array([case.files.truth for case in self.cases], np.int64)

    @property
    def split(self) -> np.ndarray:
        """[N] str."""
        return np.array([case.split for case in self.cases])

    def rows(self, readings: str) -> Ints:
        """The places of the cases whose cohort has such readings."""
        keys = {adapter.key for adapter in self.cohorts if adapter.readings == readings}
        return np.array([row for row, case in enumerate(self.cases) if case.cohort in keys], np.int64)

    def of(self, cohort: str) -> Ints:
        """The places of a cohort's cases."""
        return np.array([row for row, case in enumerate(self.cases) if case.cohort == cohort], np.int64)

    def without(self, left: Sequence[Left], ids: Iterable[str]) -> Gathered:
        """The same without some cases, and why."""
        gone = set(ids)
        kept = tuple(case for case in self.cases if case.files.id not in gone)
        return replace(self, cases=kept, left=(*self.left, *left))


def gather(folders: Mapping[str, Path], seed: int = 0) -> Gathered:
    """The cases in folders, by the keys of their cohorts, and everything that is left out."""
    known = adapters()
    unknown = sorted(set(folders) - set(known))
    if unknown or not folders:
        raise UserError(f"cohorts: found {', '.join(unknown) or 'none'}, expected some of {', '.join(known)}")
    given = tuple(adapter for key, adapter in known.items() if key in folders)
    cases: list[Case] = []
    left: list[Left] = []
    for adapter in given:
        folder = folders[adapter.key].resolve()
        found = adapter.cases(folder)
        usable, lost = looked_at(found.cases, folder, needs_mask=adapter.panel is not None)
        left += [replace(each, what=f"{adapter.name} {each.what}") for each in (*found.left, *lost)]
        drawn = splits_of(usable, adapter, seed)
        cases += [Case(files, adapter.key, split) for files, split in zip(usable, drawn, strict=True)]
    if not cases:
        raise UserError("no case is left of the folders; the reasons:\n" + "\n".join(each.words for each in left[:20]))
    return Gathered(_common(folders.values()), given, tuple(cases), tuple(left))


def looked_at(cases: Sequence[CaseFiles], folder: Path, needs_mask: bool) -> tuple[list[CaseFiles], list[Left]]:
    """Cases whose photograph opens, with the masks that fit it; only heads of files are read."""
    kept, left = [], []
    for case in cases:
        try:
            size = picture_size(case.image)
        except UserError as error:
            left.append(Left(case.image.relative_to(folder).as_posix(), f"photograph {error}"))
            continue
        fitting: dict[int, Masks] = {}
        for annotator, drawn in case.masks.items():
            if problem := drawn.problem(size):
                left.append(Left(drawn.disc.relative_to(folder).as_posix(), problem, case=False))
            else:
                fitting[annotator] = drawn
        if not fitting:
            left.append(Left(case.image.relative_to(folder).as_posix(), NO_MASK, case=needs_mask))
        if fitting or not needs_mask:
            kept.append(replace(case, masks=fitting))
    return kept, left


def splits_of(cases: Sequence[CaseFiles], adapter: Adapter, seed: int) -> list[str]:
    """The published split of each case, else one drawn for its pool; what other cohorts there are does not matter."""
    found = [case.split or "" for case in cases]
    pools = sorted({case.pool for case in cases if case.split is None})
    for pool in pools:
        rows = [row for row, case in enumerate(cases) if case.split is None and case.pool == pool]
        shares = adapter.shares.get(pool)
        if shares is None:
            raise UserError(
                f"{adapter.name}: found cases of {pool!r} without a split, expected shares to divide them by"
            )
        random = stream(seed, Stream.SPLIT, crc32(f"{adapter.key}/{pool}".encode()))
        truth = np.array([cases[row].truth for row in rows], np.int64)
        patients = [cases[row].patient or cases[row].id for row in rows]
        for row, split in zip(rows, divided(truth, patients, shares, random), strict=True):
            found[row] = split
    return found


def divided(truth: Ints, patients: Sequence[str], shares: Shares, random: np.random.Generator) -> list[str]:
    """Splits in these shares for either truth, [N]; a patient is never divided and counts as ill if one case is.

    Patients come in random order, those with most cases first, and each goes where most is lacking.
    """
    rows_of: dict[str, list[int]] = defaultdict(list)
    for row, patient in enumerate(patients):
        rows_of[patient].append(row)
    found = np.full(len(patients), "", dtype="<U5")
    for ill in (1, 0):
        groups = [rows for rows in rows_of.values() if int(truth[rows].max()) == ill]
        order = sorted(random.permutation(len(groups)).tolist(), key=lambda place: -len(groups[place]))
        lacking = np.array(shares) * sum(map(len, groups))  # [3] cases
        for place in order:
            split = int(lacking.argmax())
            found[groups[place]] = SPLITS[split]
            lacking[split] -= len(groups[place])
    return [str(split) for split in found]


def _common(folders: Iterable[Path]) -> Path:
    """The folder that holds them all, or the only one itself."""
    return Path(os.path.commonpath([folder.resolve() for folder in folders]))
