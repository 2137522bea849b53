"""The map: every case a point in the plane, cases that look alike to a router side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError
from scipy.spatial import cKDTree

import mpd2
from mpd2.core.arrays import Floats, Ints, frozen
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import levelled
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.core.files import digest, replacing_folder
from mpd2.core.manifest import Record

FEWEST = 3  # different cases a map can be made of
PLACED_BY = 8  # nearest cases that draw a new one to its place; more of them reach across gaps in the map
TINY = 1e-9  # a distance that counts as none
MINKOWSKI = {"euclidean": 2.0, "manhattan": 1.0}  # the exponents of the metrics
RECORD, COORDINATES = "map.json", "coordinates.parquet"


class MapParameters(Record):
    """What a map is made with; the defaults fill the plane and keep the AI's errors in one region."""

    neighbours: int = Field(50, ge=2, le=1000, description="cases next to which each case is to lie")
    min_distance: float = Field(0.5, ge=0, le=1, description="how close points may lie; larger spreads them evenly")
    metric: Literal["euclidean", "manhattan"] = Field("euclidean", description="distance between standardised states")
    seed: int = Field(0, ge=0, lt=2**32, description="stream of the layout")


@dataclass(frozen=True, eq=False)
class Space:
    """Where likeness is measured: the state in standard deviations, levelled off so no outlier stretches the map."""

    means: Floats  # [S] of the training states
    scales: Floats  # [S]

    def points(self, state: Floats) -> Floats:
        """Any states in this space, [K, S]; what is no state is refused."""
        if state.ndim != 2 or state.shape[1] != len(self.means):
            raise UserError(f"state: found shape {state.shape}, expected a row a case and {len(self.means)} columns")
        odd = np.argwhere(~np.isfinite(state))
        if len(odd):
            row, column = odd[0]
            raise UserError(
                f"case {row + 1}, column {column + 1} of the state: found {state[row, column]}, expected a number"
            )
        with np.errstate(over="ignore"):  # what overflows levels off all the same
            return levelled(state, self.means, self.scales)


@dataclass(frozen=True, eq=False)
class Map:
    """N cases in the plane. Row i is the same case in every array."""

    parameters: MapParameters
    fingerprint: str  # of the table it was made from
    space: Space
    ids: np.ndarray  # [N] str
    points: Floats  # [N, S] the cases in `space`
    coordinates: Floats  # [N, 2] without unit: only nearness has a meaning, not direction or scale

    def of(self, cohort: Cohort) -> Floats:
        """The coordinates of some of the map's own cases, [n, 2], in the order of `cohort`."""
        rows = pd.Index(self.ids).get_indexer(pd.Index(cohort.ids))
        if (rows < 0).any():
            raise UserError(f"case {cohort.ids[rows < 0][0]} is not on the map; place it by its state")
        return self.coordinates[rows]

    def place(self, state: Floats) -> Floats:
        """Where new cases belong, [K, S] to [K, 2]: the weighted mean of their nearest cases' coordinates.

        A neighbour's weight falls exponentially with how much farther it is than the nearest, as UMAP's does, and with
        the distance itself, so that a case of the map comes to lie on its own point. Leaving one out, a case of the
        benchmark lands 2.5 % of the map's spread from where UMAP put it (median; 9 % at the 99th percentile).
        """
        k = min(PLACED_BY, len(self.ids))
        rows, distances = _neighbours(self.points, self.space.points(state), k, self.parameters.metric)  # [K, k]
        beyond = distances - distances[:, :1]
        typical = np.maximum(beyond.mean(-1, keepdims=True), TINY)
        weights = np.exp(-beyond / typical) / np.maximum(distances, TINY)
        weights /= weights.sum(-1, keepdims=True)
        return (weights[:, :, None] * self.coordinates[rows]).sum(1)


def fit_map(cohort: Cohort, parameters: MapParameters) -> Map:
    """Lay out all cases of a table with UMAP; the same seed gives the same map on the same machine.

    States are standardised on the training cases alone, but all splits are laid out together. No truth and no reader
    is looked at, and nothing is learned from a map. Laid out after the training cases, a case unlike any of them would
    be drawn on top of the least different ones, and the map would hide the very shift it should show: on the benchmark,
    the later cases of the cohort that shifts most keep their neighbours better when all are laid out together
    (trustworthiness .96 against .94). The layout starts from the first two principal axes, to keep the large picture.
    """
    space = _space(cohort.subset(split="train"))
    points = space.points(cohort.state)
    different = len(np.unique(points, axis=0))
    if different < FEWEST:
        raise UserError(f"map: found {different} different cases, expected at least {FEWEST}")
    # umap takes seconds to import and more to compile: only whoever makes a map waits for it.
    from threadpoolctl import threadpool_limits
    from umap import UMAP

    with threadpool_limits(1):  # the order of sums, and with it the map, must not hang on the number of threads
        coordinates = UMAP(
            n_neighbors=min(parameters.neighbours, len(cohort) - 1),
            min_dist=parameters.min_distance,
            metric=parameters.metric,
            init="pca",
            random_state=parameters.seed,
            n_jobs=1,
        ).fit_transform(points)
    return Map(parameters, cohort.fingerprint, space, cohort.ids, frozen(points), frozen(coordinates, np.float64))


def nearest(cohort: Cohort, state: Floats, k: int) -> tuple[Ints, Floats]:
    """The `k` cases most like each of the states [K, S], nearest first: rows of `cohort` and distances, both [K, k].

    Distances are Euclidean, in standard deviations of `cohort` that level off at REACH.
    """
    if not 1 <= k <= len(cohort):
        raise UserError(f"similar cases: found {k} asked for, expected 1 to {len(cohort)}, as many as there are")
    space = _space(cohort)
    return _neighbours(space.points(cohort.state), space.points(state), k, "euclidean")


class MapRecord(Record):
    """What is written beside the coordinates."""

    format: Literal[1]
    parameters: MapParameters
    fingerprint: str
    version: str
    coordinates: str  # SHA-256 of their file


def save_map(layout: Map, folder: Path) -> None:
    """Write a map, all or nothing. States are not in it: they are in the table."""
    with replacing_folder(folder) as draft:
        x, y = layout.coordinates.T.astype(np.float32)
        pd.DataFrame({"case_id": layout.ids, "x": x, "y": y}).to_parquet(draft / COORDINATES, index=False)
        record = MapRecord(
            format=1,
            parameters=layout.parameters,
            fingerprint=layout.fingerprint,
            version=mpd2.__version__,
            coordinates=digest(draft / COORDINATES),
        )
        (draft / RECORD).write_text(record.model_dump_json(indent=1), encoding="utf-8")


def load_map(folder: Path, cohort: Cohort) -> Map:
    """Read the map of all cases of a table, in their order; any other table or a damaged file is refused."""
    record = _read_record(folder)
    if record.fingerprint != cohort.fingerprint:
        raise UserError(
            f"{folder}: made from table {record.fingerprint}, the table here is {cohort.fingerprint}; make its own map"
        )
    if not (folder / COORDINATES).is_file():
        raise UserError(f"{folder}: {COORDINATES} is missing; make the map anew")
    if digest(folder / COORDINATES) != record.coordinates:
        raise UserError(f"{folder / COORDINATES}: damaged or changed since the map was made; make the map anew")
    cases = pd.read_parquet(folder / COORDINATES).set_index("case_id")
    if set(cases.index) != set(cohort.ids):
        raise UserError(f"{folder}: a map of {len(cases)} cases, given {len(cohort)}; load it with the whole table")
    space = _space(cohort.subset(split="train"))
    points = frozen(space.points(cohort.state))
    coordinates = frozen(cases.loc[cohort.ids, ["x", "y"]], np.float64)
    return Map(record.parameters, record.fingerprint, space, cohort.ids, points, coordinates)


def _read_record(folder: Path) -> MapRecord:
    path = folder / RECORD
    if not path.is_file():
        raise UserError(f"{folder}: there is no map here (no {RECORD})")
    try:
        return MapRecord.model_validate_json(path.read_bytes())
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()]
        raise UserError(f"{path}: not a map this version can read: {'; '.join(lines)}") from None


def _space(cohort: Cohort) -> Space:
    if not len(cohort):
        raise EmptyCohort("likeness cannot be measured without cases")
    spread = cohort.state.std(0)
    return Space(cohort.state.mean(0), np.where(spread > TINY, spread, 1.0))  # a constant tells no cases apart


def _neighbours(points: Floats, queries: Floats, k: int, metric: str) -> tuple[Ints, Floats]:
    """The k nearest of N points to each of K queries: rows and distances, both [K, k]."""
    distances, rows = cKDTree(points).query(queries, np.arange(1, k + 1), p=MINKOWSKI[metric])
    return np.asarray(rows, np.int64), np.asarray(distances)
