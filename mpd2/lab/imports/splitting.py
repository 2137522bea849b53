"""Which cases are to learn from, which to choose by and which to judge by, where a table does not say it itself.

Rows that belong together stay together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import Clusters, clusters_from
from mpd2.core.cohort import SPLITS, UNKNOWN
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.rng import Stream, stream
from mpd2.core.text import count, listed, percent
from mpd2.lab.imports.normalise import Normalised

SHARES = (0.45, 0.25, 0.30)  # of train, val and test


def split_at_random(table: Normalised, shares: tuple[float, float, float] = SHARES, seed: int = 0) -> Normalised:
    """A split at random, stratified: every part gets its share of the clusters of each cohort and truth."""
    _refuse_shares(shares)
    clusters, rows, classes = _clusters(table)
    _refuse_few(table, classes)
    random = stream(seed, Stream.SPLIT).random(len(clusters))
    order = np.lexsort((random, clusters.kind))
    split = _deal(order, rows, shares, {})
    if not _both_everywhere(split, classes):
        split = _deal(order, rows, shares, _reserved(np.argsort(random), classes))
    if not _both_everywhere(split, classes):
        raise UserError(f"split: too few {_word(table)}s for both classes to be in each of {listed(SPLITS)}")
    told = listed([f"{percent(share, 0)} {part}" for share, part in zip(shares, SPLITS, strict=True)])
    note = f"Split at random (number {seed}), stratified by cohort and truth: {told}."
    return _with(table, split[clusters.of], note)


def split_by_date(table: Normalised, shares: tuple[float, float, float] = SHARES) -> Normalised:
    """The oldest cases to learn from, the newest to judge by; a cluster goes where its latest row goes.

    Clusters of the same day go together, so that what is judged is younger than what was learned from.
    """
    _refuse_shares(shares)
    days = _days(table)
    clusters, rows, classes = _clusters(table)
    latest = np.zeros(len(clusters), np.int64)
    np.maximum.at(latest, clusters.of, days)
    when, at = np.unique(latest, return_inverse=True)
    if len(when) < len(SPLITS):
        raise UserError(f"split by date: found {len(when)} different dates, expected at least {len(SPLITS)}")
    until = np.cumsum(np.bincount(at, weights=rows)) / rows.sum()  # [D] share of rows up to a date
    ends = [int(np.argmin(np.abs(until - edge))) for edge in np.cumsum(shares)[:-1]]
    first = min(ends[0], len(when) - 3)
    second = min(max(ends[1], first + 1), len(when) - 2)
    split = np.where(at <= first, 0, np.where(at <= second, 1, 2))
    for part, name in enumerate(SPLITS):
        for truth, there in enumerate(classes.T):
            if not (there & (split == part)).any():
                answer = table.manifest.task.answers[truth]
                raise UserError(f"split by date: no case of {name} would be {answer}; split at random, or by a column")
    edges = [pd.Timestamp(int(when[end]) * 10**9).date().isoformat() for end in (first, second)]
    note = f"Split by date: train up to {edges[0]}, val up to {edges[1]}, test later."
    return _with(table, split[clusters.of], note)


def _with(table: Normalised, split: Ints, note: str) -> Normalised:
    frame = table.frame.copy()
    frame[table.manifest.row.split] = np.array(SPLITS, object)[split]
    return replace(table, frame=frame, notes=(*table.notes, note))


def _clusters(table: Normalised) -> tuple[Clusters, Floats, Bools]:
    """The clusters of a table, the rows of each, [G], and whether a negative and a positive are among them, [G, 2]."""
    frame, manifest = table.frame, table.manifest
    group = manifest.groups.column if manifest.groups else ""
    cluster = pd.factorize(frame[group])[0] if group else np.arange(len(frame))
    source = pd.factorize(frame[manifest.row.cohort])[0] if manifest.row.cohort else np.zeros(len(frame), int)
    truth = np.array(pd.to_numeric(frame[manifest.row.truth], errors="coerce").fillna(UNKNOWN), np.int64)
    clusters = clusters_from(cluster.astype(np.int64), source.astype(np.int64), truth, int(source.max()) + 1)
    classes = np.zeros((len(clusters), 2), bool)
    known = truth != UNKNOWN
    classes[clusters.of[known], truth[known]] = True
    return clusters, np.bincount(clusters.of).astype(float), classes


def _deal(order: Ints, rows: Floats, shares: tuple[float, ...], given: Mapping[int, int]) -> Ints:
    """Clusters in order, each to the part that lacks most rows of its share, [G]; some are `given` already."""
    parts = np.full(len(order), -1)
    have = [0.0] * len(shares)
    for cluster, part in given.items():
        parts[cluster] = part
        have[part] += rows[cluster]
    total = sum(have)
    sizes = rows.tolist()
    for cluster in order.tolist():
        if cluster in given:
            continue
        total += sizes[cluster]
        lack = [share * total - there for share, there in zip(shares, have, strict=True)]
        part = lack.index(max(lack))
        parts[cluster] = part
        have[part] += sizes[cluster]
    return parts


def _reserved(order: Ints, classes: Bools) -> dict[int, int]:
    """A cluster with a positive and, where that has none, one with a negative for every part."""
    given: dict[int, int] = {}
    rarer = int(classes[:, 1].sum() <= classes[:, 0].sum())
    for truth in (rarer, 1 - rarer):
        served = {part for cluster, part in given.items() if classes[cluster, truth]}
        lacking = [part for part in range(len(SPLITS)) if part not in served]
        free = [int(cluster) for cluster in order if classes[cluster, truth] and int(cluster) not in given]
        given |= dict(zip(free, lacking, strict=False))
    return given


def _both_everywhere(split: Ints, classes: Bools) -> bool:
    return all((classes & (split == part)[:, None]).any(0).all() for part in range(len(SPLITS)))


def _refuse_shares(shares: tuple[float, ...]) -> None:
    if len(shares) != len(SPLITS) or min(shares) <= 0 or abs(sum(shares) - 1) > 1e-6:
        given = ", ".join(f"{share:g}" for share in shares)
        raise UserError(f"split: found shares {given}, expected three above 0 that make 1")


def _refuse_few(table: Normalised, classes: Bools) -> None:
    if len(classes) < len(SPLITS):
        raise UserError(f"split: found {count(len(classes))} {_word(table)}s, expected at least {len(SPLITS)}")
    for truth, number in enumerate(classes.sum(0).tolist()):
        if number < len(SPLITS):
            answer = table.manifest.task.answers[truth]
            raise UserError(
                f"split: found {number} {_word(table)}{'' if number == 1 else 's'} with the truth {answer}, "
                f"expected at least {len(SPLITS)}, one for each of {listed(SPLITS)}"
            )


def _word(table: Normalised) -> str:
    """What is dealt out."""
    manifest = table.manifest
    return manifest.groups.word if manifest.groups else manifest.task.case


def _days(table: Normalised) -> Ints:
    """Seconds since 1970 of every row, [N]."""
    column = table.manifest.row.date
    if not column:
        raise UserError("split by date: no column of the table is a date")
    empty = np.flatnonzero((table.frame[column] == "").to_numpy())
    if len(empty):
        first, *rest = table.frame.index.to_numpy()[empty].tolist()
        raise TableError("table", [Problem(first, column, "an empty cell", "a date to split by", tuple(rest))])
    when = pd.to_datetime(table.frame[column], format="ISO8601")
    return when.to_numpy("datetime64[s]").astype(np.int64)
