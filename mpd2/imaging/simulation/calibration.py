"""The law whose margins are those of a table: prevalence, the AI's and the readers' error rates, the measurements.

    cohort = load_cohort(Path("data/glaucoma/glaucoma.csv"))
    law = calibrate(cohort, (cohort.sources == "refuge") & (cohort.split == "train"))

The rates are matched exactly (but for a half case more of each kind, so that none is 0). Means and covariances of the
measurements are those of the cases the AI was not trained on: how a detector scores the images it was fitted on says
nothing about others. A value more than four robust standard deviations out, such as a failed outline, counts as four.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import norm

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.imaging.simulation.law import (
    COLUMNS,
    EVIDENCE,
    SEEN,
    VERTICAL,
    WRONG_SIDE,
    Law,
    Site,
    to_coordinates,
)

CAMERAS = ("A", "B", "C")
QUALITY_SLOPE = 0.3  # chosen: a fit to the benchmark's readings gave about 0, where an effect would be expected
FELLOW = 0.6  # chosen: the benchmark does not say which eyes are of one patient
NODES = 40  # of the quadrature over a normal variable
FAR = 4.0  # robust standard deviations
ROBUST = 1.4826  # a standard deviation in median absolute deviations
DECIMALS = 6
RATIO_REACH = 2.0  # log-odds of a ratio beyond which an outline has failed: 0.12 to 0.88
NEVER = 0.0  # stands for the rate of a reader who never reads at a site


def calibrate(cohort: Cohort, learned: Bools) -> Law:
    """The law of a cohort's margins; `learned` marks the cases the AI was trained on, [N]."""
    coordinates = coordinates_of(cohort)
    ratio_slope = _ratio_slopes(cohort, coordinates, ~learned)
    blank = Law((), cohort.readers, QUALITY_SLOPE, ratio_slope, FELLOW)
    sites = [_site(cohort, coordinates, learned, place, blank) for place in range(len(cohort.manifest.cohorts))]
    made = f"mpd2.imaging.simulation.calibration.calibrate of the table with fingerprint {cohort.fingerprint}"
    return Law(tuple(sites), cohort.readers, QUALITY_SLOPE, ratio_slope, FELLOW, made)


def coordinates_of(cohort: Cohort) -> Floats:
    """The law's coordinates of every case, [N, Q]; a horizontal ratio that is missing is as the vertical one."""
    seen = np.column_stack([cohort.column(name) for name in COLUMNS[:SEEN]])
    drawn = cohort.drawn[:, 0] if cohort.drawn.shape[1] else np.full(len(cohort), np.nan)
    horizontal = np.where(np.isnan(drawn), cohort.column("vCDR"), drawn)
    return to_coordinates(np.column_stack([seen, horizontal]))


def _site(cohort: Cohort, coordinates: Floats, learned: Bools, place: int, law: Law) -> Site:
    here = cohort.source == place
    kinds = [here & (cohort.truth == label) for label in (0, 1)]
    moments = [_moments(coordinates[kind & ~learned]) for kind in kinds]
    for (mean, covariance), kind in zip(moments, kinds, strict=True):
        says_positive = _rate(int(cohort.ai_label[kind].sum()), int(kind.sum()))
        mean[EVIDENCE] = np.sqrt(covariance[EVIDENCE, EVIDENCE]) * norm.ppf(says_positive)
    error = [
        [_level(cohort, kind, label, reader, moments[label], law) for reader in range(cohort.readers)]
        for label, kind in enumerate(kinds)
    ]
    rosters = Counter(cohort.available[here] @ (1 << np.arange(cohort.readers)))
    letter = CAMERAS[place % len(CAMERAS)]
    return Site(
        key=f"site-{chr(ord('a') + place)}",
        name=f"Site {chr(ord('A') + place)}",
        camera=letter,
        share=round(float(here.mean()), DECIMALS),
        prevalence=round(float(cohort.truth[here].mean()), DECIMALS),
        mean=tuple(tuple(np.round(mean, DECIMALS).tolist()) for mean, _ in moments),
        covariance=tuple(tuple(map(tuple, np.round(both, DECIMALS).tolist())) for _, both in moments),
        error=tuple(map(tuple, error)),
        rosters=tuple(sorted((int(roster), times) for roster, times in rosters.items())),
    )


def _moments(values: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance, [N, Q] to [Q] and [Q, Q], far values drawn in."""
    middle = np.median(values, axis=0)
    reach = FAR * ROBUST * np.median(np.abs(values - middle), axis=0)
    near = values.clip(middle - reach, middle + reach)
    return near.mean(0), np.cov(near.T)


def _rate(times: int, of: int) -> float:
    """A share, with half a case more of each kind: never 0 or 1."""
    return (times + 0.5) / (of + 1)


def _level(cohort: Cohort, kind: Bools, label: int, reader: int, moments: tuple[Floats, Floats], law: Law) -> float:
    """The log-odds at which a reader's errors come out as often as in the table: E expit(level + slopes · x) = rate."""
    words = cohort.decisions[kind, reader]
    read = words != UNKNOWN
    if not read.any():
        return NEVER
    rate = _rate(int((words[read] != label).sum()), int(read.sum()))
    mean, covariance = moments
    slope = law.slopes[label]
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    effect = slope @ mean + np.sqrt(slope @ covariance @ slope) * nodes
    found = brentq(lambda level: float(weights @ expit(level + effect) / weights.sum()) - rate, -40.0, 40.0)
    return round(float(found), DECIMALS)


def _ratio_slopes(cohort: Cohort, coordinates: Floats, used: Bools) -> tuple[float, float]:
    """By how much a misleading ratio raises the log-odds of errors given y: one slope for all readers, levels apart.

    The likeliest slope given a level for each reader and cohort; never below 0.
    """
    slopes = []
    for label in (0, 1):
        rows, readers = np.nonzero((cohort.decisions != UNKNOWN) & (used & (cohort.truth == label))[:, None])
        wrong = (cohort.decisions[rows, readers] != label).astype(float)
        level = np.unique(cohort.source[rows] * cohort.readers + readers, return_inverse=True)[1]
        hard = WRONG_SIDE[label] * coordinates[rows, VERTICAL].clip(-RATIO_REACH, RATIO_REACH)
        slopes.append(round(max(0.0, _common_slope(hard, wrong, level)), DECIMALS))
    return slopes[0], slopes[1]


def _common_slope(hard: Floats, wrong: Floats, level: Ints) -> float:
    """The slope of a logistic regression with a level for each group, all a little drawn to 0, [R] each."""
    groups = int(level.max()) + 1

    def loss(given: Floats) -> tuple[float, Floats]:
        odds = given[0] * hard + given[1:][level]
        apart = expit(odds) - wrong
        value = float(np.logaddexp(0, odds).sum() - wrong @ odds + 0.005 * given @ given)
        return value, np.concatenate([[apart @ hard], np.bincount(level, apart, groups)]) + 0.01 * given

    return float(minimize(loss, np.zeros(1 + groups), jac=True, method="L-BFGS-B").x[0])
