"""How well probabilities are calibrated: what was predicted against what came about.

Of a case it is the AI's probability that it is positive, a posterior, or error rates; of a reader it is what a model
says the reader will say, given the truth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import design_effect
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates.logistic import fit_logistic, sigmoid
from mpd2.core.errors import UserError
from mpd2.evaluation.intervals import percentiles, wilson
from mpd2.evaluation.metrics import readings

BINS = 10
DRAWN = 200  # events drawn to see what chance alone does
FEWEST = 10  # cases with and without the event below which nothing is said of slope and intercept
CERTAIN = 1e-6  # as near as a probability comes to 0 or 1 before its log-odds are taken
VANISHING = 1e-6  # penalty on the slope

SUMMARIES = ("apart", "brier", "slope", "intercept")
"""What `quality` tells with intervals; see there."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """K probabilities of the same kind of event, at most one a case, and where it came about."""

    name: str
    title: str  # as shown
    probability: Floats  # [K]
    came: Bools  # [K]
    rows: Ints  # [K] positions of the cases they are about
    cluster: Ints | None = None  # [K] which of these belong together; none: every case stands alone


def of_truth(name: str, title: str, probability: Floats, cohort: Cohort) -> Forecast:
    """P(positive) of every case, [N], against the truth."""
    if (cohort.truth == UNKNOWN).any():
        raise UserError("calibration can only be judged on cases whose truth is known")
    return Forecast(name, title, probability, cohort.truth == 1, np.arange(len(cohort)), cohort.cluster)


def of_readers(answers: Floats, cohort: Cohort) -> list[Forecast]:
    """P(a reader says positive | the truth) against what was said, for each reader who has read any of the cases.

    `answers`, [N, M, 2]: P(reader says positive | truth 0, 1).
    """
    of_truth = answers[np.arange(len(cohort)), :, cohort.truth]  # [N, M]
    read = readings(cohort) & (cohort.truth != UNKNOWN)[:, None]
    return [
        Forecast(
            reader.column, reader.name, of_truth[rows, j], cohort.decisions[rows, j] == 1, rows, cohort.cluster[rows]
        )
        for j, reader in enumerate(cohort.manifest.readers)
        if len(rows := np.flatnonzero(read[:, j]))
    ]


def reliability(forecasts: Iterable[Forecast], bins: int = BINS) -> pd.DataFrame:
    """Predicted against observed shares, in bins of about as many cases each.

    Columns: name, title, bin, predicted (mean), observed, low, high (Wilson's interval of 95 %, by the design
    effect of a bin's clusters), n.
    """
    return pd.concat([_curve(forecast, bins) for forecast in forecasts], ignore_index=True)


def quality(forecasts: Iterable[Forecast], weights: Floats, bins: int = BINS) -> pd.DataFrame:
    """How good each forecast is, with intervals on the shared resamples `weights`, [R, N].

    Columns: name, title, n, events; ece, the mean distance of predicted and observed shares over bins, and by_chance,
    what a perfectly calibrated forecast would show on as many cases; log_loss; and with low and high: apart, the share
    observed less the mean predicted; brier; slope and intercept of the log-odds of the event on those predicted, 1 and
    0 if calibrated, a slope below 1 where predictions are too extreme.
    """
    return pd.DataFrame([_row(forecast, weights[:, forecast.rows], bins) for forecast in forecasts])


def _row(forecast: Forecast, weights: Floats, bins: int) -> dict[str, object]:
    predicted, came = forecast.probability, forecast.came.astype(float)
    drawn = np.random.default_rng(0).random((DRAWN, len(predicted))) < predicted
    sure = np.clip(np.where(forecast.came, predicted, 1 - predicted), 1e-12, 1.0)
    row: dict[str, object] = {
        "name": forecast.name,
        "title": forecast.title,
        "n": len(came),
        "events": int(came.sum()),
        "ece": float(_ece(predicted, came, bins)),
        "by_chance": float(_ece(predicted, drawn, bins).mean()),
        "log_loss": float(-np.log(sure).mean()),
    }
    each = np.column_stack([came - predicted, (predicted - came) ** 2])  # [K, 2]
    line, lines = _recalibration(forecast, weights)
    values = np.append(each.mean(0), line)
    samples = np.column_stack([weights @ each / np.maximum(weights.sum(1), 1)[:, None], lines])  # [R, 4]
    low, high = percentiles(samples)
    for place, name in enumerate(SUMMARIES):
        row |= {name: float(values[place]), f"{name}_low": float(low[place]), f"{name}_high": float(high[place])}
    return row


def _recalibration(forecast: Forecast, weights: Floats) -> tuple[Floats, Floats]:
    """Slope and intercept of logit P(event) on the log-odds predicted, [2], and of each resample, [R, 2].

    A resample's are one Newton step away from those of all cases, which is as near as resampling can tell.
    """
    came = forecast.came.astype(float)
    if min(came.sum(), len(came) - came.sum()) < FEWEST:
        return np.full(2, np.nan), np.full((len(weights), 2), np.nan)
    sure = np.clip(forecast.probability, CERTAIN, 1 - CERTAIN)
    odds = np.log(sure / (1 - sure))
    line = fit_logistic(odds[:, None], came[:, None], np.ones((len(came), 1)), VANISHING)[0]
    rates = sigmoid(line[0] * odds + line[1])
    design = np.column_stack([odds, np.ones(len(odds))])  # [K, 2]
    gradient = weights @ ((came - rates)[:, None] * design)  # [R, 2]
    products = (design[:, :, None] * design[:, None, :]).reshape(len(odds), 4)
    curvature = (weights @ ((rates * (1 - rates))[:, None] * products)).reshape(-1, 2, 2)
    step = np.linalg.solve(curvature + VANISHING * np.eye(2), gradient[..., None])[..., 0]
    return line, line + step


def _curve(forecast: Forecast, bins: int) -> pd.DataFrame:
    place = _places(forecast.probability, bins)
    n, came = np.bincount(place), np.bincount(place, forecast.came)
    low, high = wilson(came, n, _effects(forecast, place))
    return pd.DataFrame({
        "name": forecast.name,
        "title": forecast.title,
        "bin": np.arange(len(n)) + 1,
        "predicted": np.bincount(place, forecast.probability) / n,
        "observed": came / n,
        "low": low,
        "high": high,
        "n": n,
    })  # fmt: skip


def _effects(forecast: Forecast, place: Ints) -> Floats:
    """The design effect of each bin's clusters, [bins]."""
    cluster = np.arange(len(place)) if forecast.cluster is None else forecast.cluster
    bins = [place == each for each in range(place.max() + 1)]
    return np.array([design_effect(forecast.came[inside].astype(float), cluster[inside]) for inside in bins])


def _ece(predicted: np.ndarray, came: np.ndarray, bins: int) -> Floats:
    """Of one set of events, [K], or of several, [R, K]."""
    place = _places(predicted, bins)
    apart = (came - predicted) @ (place[:, None] == np.arange(bins))  # [..., bins]
    return np.abs(apart).sum(-1) / len(predicted)


def _places(predicted: np.ndarray, bins: int) -> Ints:
    """The bin of every case, about as many cases in each."""
    place = np.empty(len(predicted), np.int64)
    place[np.argsort(predicted, kind="stable")] = (
        np.arange(len(predicted)) * min(bins, len(predicted)) // len(predicted)
    )
    return place
