"""How much new cases differ from those a router learned from, one input at a time."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.errors import EmptyCohort
from mpd2.core.text import capital, decimal, percent
from mpd2.evaluation.intervals import TAILS

BINS = 24
SLIGHT, CLEAR, LARGE = 0.2, 0.5, 0.8  # standardised differences, by Cohen's rule of thumb
CHANCE = 1.358  # Kolmogorov's 95 % point: beyond it over √(n m / (n + m)) a distance is no accident

AS_IN_TRAINING = "as in training"


def shift(cases: Cohort, training: Cohort) -> pd.DataFrame:
    """Each input of `cases` against `training`.

    Columns: input, title, mean, training_mean, difference (of the means, in standard deviations of the training
    cases), low, high (its interval), distance (Kolmogorov-Smirnov: the largest gap between the two cumulative shares,
    0 to 1), by_chance (the distance that 5 % of samples of this size exceed without any shift), outside (share of
    cases below or above every training case), verdict, n, n_training.
    """
    if not len(cases) or not len(training):
        raise EmptyCohort(f"shift: found {len(cases)} cases and {len(training)} to compare with, expected some of both")
    n, m = len(cases), len(training)
    mean, training_mean = cases.state.mean(0), training.state.mean(0)  # [8]
    spread, training_spread = cases.state.std(0), training.state.std(0)
    unit = np.where(training_spread > 0, training_spread, 1.0)
    difference = (mean - training_mean) / unit
    error = np.sqrt(spread**2 / n + training_spread**2 / m) if n > 1 else np.nan  # one case has no spread
    half = NormalDist().inv_cdf(TAILS[1]) * error / unit
    distance = kolmogorov_smirnov(cases.state, training.state)
    by_chance = min(1.0, CHANCE * float(np.sqrt(1 / n + 1 / m)))
    outside = ((cases.state < training.state.min(0)) | (cases.state > training.state.max(0))).mean(0)
    return pd.DataFrame(
        {
            "input": cases.layout.names,
            "title": [capital(title) for title in cases.layout.titles.values()],
            "mean": mean,
            "training_mean": training_mean,
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
            "distance": distance,
            "by_chance": by_chance,
            "outside": outside,
            "verdict": _verdicts(difference, distance > by_chance),
            "n": n,
            "n_training": m,
        }
    )


def kolmogorov_smirnov(first: Floats, second: Floats) -> Floats:
    """The largest distance between two samples' cumulative shares, of each column, [N, K] and [L, K] -> [K].

    >>> kolmogorov_smirnov(np.array([[1.0], [2.0]]), np.array([[2.0], [3.0]])).tolist()
    [0.5]
    """
    values = np.concatenate([first, second])
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    below = (order < len(first)).cumsum(0)  # of the first sample, whole numbers so that nothing is lost to rounding
    gap = below / len(first) - (np.arange(1, len(values) + 1)[:, None] - below) / len(second)
    last_of_ties = np.concatenate([ranked[1:] != ranked[:-1], np.ones((1, values.shape[1]), bool)])
    return np.abs(np.where(last_of_ties, gap, 0.0)).max(0)


def sentences(rows: pd.DataFrame) -> list[str]:
    """The rows of `shift` in words, the largest distance first; inputs as in training are named last, together."""
    ranked = rows.sort_values("distance", ascending=False)
    moved = ranked[ranked["verdict"] != AS_IN_TRAINING]
    changed = [
        f"{row['title']} is {row['verdict']}: {decimal(row['mean'], 2)} on average "
        f"against {decimal(row['training_mean'], 2)}"
        + (f"; {_share(row['outside'])} of the cases are outside the range of training." if row["outside"] > 0 else ".")
        for row in moved.to_dict("records")
    ]
    still = ranked.loc[ranked["verdict"] == AS_IN_TRAINING, "title"].tolist()
    return changed + ([f"{AS_IN_TRAINING.capitalize()}: {', '.join(still)}."] if still else [])


def distributions(cases: Cohort, training: Cohort, name: str) -> pd.DataFrame:
    """One input of both as shares of cases in BINS of equal width over the range of both.

    Columns: who (`cases` or `training`), start, end, share, n.
    """
    parts = {"cases": cases.column(name), "training": training.column(name)}
    edges = np.histogram_bin_edges(np.concatenate(list(parts.values())), BINS)
    rows = [
        pd.DataFrame({"who": who, "start": edges[:-1], "end": edges[1:], "n": len(values)}).assign(
            share=np.histogram(values, edges)[0] / len(values)
        )
        for who, values in parts.items()
    ]
    return pd.concat(rows, ignore_index=True)


def _share(value: float) -> str:
    return f"under {percent(0.01)}" if value < 0.01 else percent(value, 0)


def _verdicts(difference: Floats, beyond_chance: np.ndarray) -> list[str]:
    """How each input has moved, in words."""
    size = np.abs(difference)
    degree = np.select([size < SLIGHT, size < CLEAR, size < LARGE], ["", "somewhat ", "clearly "], "much ")
    side = np.where(difference > 0, "larger than in training", "smaller than in training")
    moved = np.where(size < SLIGHT, "spread differently than in training", np.char.add(degree, side))
    return np.where(beyond_chance, moved, AS_IN_TRAINING).tolist()
