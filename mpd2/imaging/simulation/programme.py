"""Cases drawn from a law: their truth, measurements, readers on hand and what these say; as a table and as a cohort."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import SPLITS, UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.rng import Stream, stream
from mpd2.core.table_file import fingerprint, table_bytes
from mpd2.imaging.simulation.law import COLUMNS, SEEN, Law, on_hand, to_columns, to_coordinates
from mpd2.imaging.simulation.manifest import FILE, PATIENT

SHARES = (0.5, 0.2, 0.3)  # of the patients in train, val and test
MOST = 10_000_000  # cases
TRUTH, MEASURED, ROSTER, WORDS = range(4)  # what is drawn, each from a stream of its own


@dataclass(frozen=True, eq=False)
class Programme:
    """N cases of a law in the order they were drawn: both eyes of a patient are next to each other."""

    law: Law
    seed: int
    source: Ints  # [N] site
    patient: Ints  # [N]
    split: np.ndarray  # [N] str
    truth: Ints  # [N]
    columns: Floats  # [N, Q] the law's COLUMNS, five decimals
    available: Bools  # [N, M]
    words: Ints  # [N, M] what each reader on hand says, UNKNOWN of others
    files: np.ndarray | None = None  # [N] str, the name of its photograph, "" where there is none
    besides: pd.DataFrame | None = None  # [N] further columns of the table

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def ids(self) -> np.ndarray:
        """The name of each case, [N]."""
        return np.char.mod("s%07d", np.arange(1, len(self) + 1))

    @property
    def coordinates(self) -> Floats:
        """The law's coordinates of what is measured, [N, Q]."""
        return to_coordinates(self.columns)

    def coordinates_of(self, row: int) -> Floats:
        """The same of one case, [Q]."""
        return np.asarray(to_coordinates(self.columns[row : row + 1])[0])

    def with_states(self, rows: Ints, columns: Floats) -> Programme:
        """The same cases with other measurements of some of them, [n] and [n, Q]."""
        changed = self.columns.copy()
        changed[rows] = columns
        return replace(self, columns=changed)

    def frame(self, manifest: Manifest) -> pd.DataFrame:
        """The table, a row a case."""
        row = manifest.row
        keys = np.array([entry.key for entry in manifest.cohorts])
        words: dict[str, Any] = {
            column: pd.array(np.where(said == UNKNOWN, 0, said), dtype="Int8")
            for column, said in zip(manifest.columns, self.words.T, strict=True)
        }
        for column, said in zip(words.values(), self.words.T, strict=True):
            column[said == UNKNOWN] = pd.NA
        table = pd.DataFrame(
            {
                row.case: self.ids,
                row.cohort: keys[self.source],
                row.split: self.split,
                PATIENT: np.char.mod("p%07d", self.patient + 1),
                row.truth: self.truth.astype(np.int8),
                **words,
                **dict(zip(COLUMNS, self.columns.T, strict=True)),
                **({FILE: self.files} if self.files is not None else {}),
            }
        )
        return table if self.besides is None else pd.concat([table, self.besides], axis=1)

    def table(self, manifest: Manifest) -> bytes:
        """The same as a file of the kind the manifest names."""
        frame = self.frame(manifest)
        if manifest.table.endswith(".csv"):
            return table_bytes(frame)
        data = io.BytesIO()
        frame.to_parquet(data, index=False, compression="zstd")
        return data.getvalue()

    def cohort(self, manifest: Manifest, table: bytes = b"") -> Cohort:
        """The cases as every function takes them: those that would be read from the table."""
        layout = manifest.layout
        columns = dict(zip(COLUMNS[:SEEN], self.columns.T, strict=False))
        state = np.column_stack([columns.get(name, np.zeros(len(self))) for name in layout.names])
        return Cohort(
            manifest=manifest,
            fingerprint=fingerprint(table, manifest),
            ids=self.ids,
            source=self.source,
            split=self.split,
            cluster=self.patient,
            state=layout.completed(state),
            absent=np.zeros_like(state, bool),
            drawn=self.columns[:, SEEN:],
            truth=self.truth,
            decisions=self.words,
            available=self.available,
        )


def draw(law: Law, n: int, seed: int, shares: tuple[float, ...] = SHARES) -> Programme:
    """So many cases; what is drawn depends on law, n and seed alone. `shares` are of train, val and test."""
    if not 1 <= n <= MOST:
        raise UserError(f"cases: found {n}, expected 1 to {MOST:,}")
    patient = np.arange(n) // 2
    of_truth = stream(seed, Stream.SIMULATION, TRUTH)
    sizes = np.array([site.share for site in law.sites])
    source = of_truth.choice(len(sizes), patient[-1] + 1, p=sizes / sizes.sum())[patient]
    truth = _diseased(law, source, patient, of_truth)
    coordinates = _measured(law, source, truth, seed)
    columns = to_columns(coordinates)
    available = _rosters(law, source, stream(seed, Stream.SIMULATION, ROSTER))
    words = _words(law, to_coordinates(columns), source, truth, stream(seed, Stream.SIMULATION, WORDS))
    return Programme(
        law=law,
        seed=seed,
        source=source,
        patient=patient,
        split=_splits(int(patient[-1]) + 1, seed, shares)[patient],
        truth=truth,
        columns=columns,
        available=available,
        words=np.where(available, words, UNKNOWN),
    )


def _diseased(law: Law, source: Ints, patient: Ints, random: np.random.Generator) -> Ints:
    """Which eyes are: those whose latent normal is below the site's prevalence; a patient's two go together, [N]."""
    shared = random.standard_normal(patient[-1] + 1)[patient]
    own = random.standard_normal(len(patient))
    latent = np.sqrt(law.fellow) * shared + np.sqrt(1 - law.fellow) * own
    limits = np.asarray(norm.ppf([site.prevalence for site in law.sites]))
    return (latent < limits[source]).astype(np.int64)


def _measured(law: Law, source: Ints, truth: Ints, seed: int) -> Floats:
    """The coordinates given site and truth, [N, Q]."""
    size = len(law.slopes[0])
    coordinates = stream(seed, Stream.SIMULATION, MEASURED).standard_normal((len(source), size))
    for place, site in enumerate(law.sites):
        for label in (0, 1):
            here = (source == place) & (truth == label)
            lower = np.linalg.cholesky(np.array(site.covariance[label]))
            coordinates[here] = coordinates[here] @ lower.T + np.array(site.mean[label])
    return coordinates


def _rosters(law: Law, source: Ints, random: np.random.Generator) -> Bools:
    """Who is on hand, by the rosters of each site, [N, M]."""
    chosen = np.zeros(len(source), np.int64)
    for place, site in enumerate(law.sites):
        here = source == place
        rosters, times = np.array(site.rosters).T
        chosen[here] = rosters[random.choice(len(rosters), int(here.sum()), p=times / times.sum())]
    return on_hand(chosen, law.readers)


def _words(law: Law, coordinates: Floats, source: Ints, truth: Ints, random: np.random.Generator) -> Ints:
    """What each reader would say, [N, M]."""
    words = np.empty((len(source), law.readers), np.int64)
    for label in (0, 1):
        here = truth == label
        wrong = law.wrong(coordinates[here], source[here], label)
        words[here] = np.where(random.random(wrong.shape) < wrong, 1 - label, label)
    return words


def _splits(patients: int, seed: int, shares: tuple[float, ...]) -> np.ndarray:
    """The split of each patient, dealt at random in fixed shares, [P] str."""
    ends = np.round(np.cumsum(shares) / sum(shares) * patients)
    place = np.searchsorted(ends, np.arange(patients), side="right")
    return np.array(SPLITS)[stream(seed, Stream.SPLIT).permutation(place)]
