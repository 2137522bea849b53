"""How good a pipeline is on rendered photographs that it never saw, every figure with its n and interval.

What is reached here says nothing about real eyes: the photographs show what their renderer draws, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from mpd2.core.arrays import Bools, Floats
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.intervals import percentiles
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.measurement import Measurement
from mpd2.imaging.photograph import Photograph
from mpd2.imaging.pipeline import Pipeline
from mpd2.imaging.simulation.render import FRAME
from mpd2.imaging.small.examples import Example, Part, Tell, draw, log_odds, silent

RESAMPLES = 1000
AT_ONCE = 16  # photographs in memory
AT_LEAST = {"auc": 0.95, "disc_dice": 0.95, "cup_dice": 0.88}
AT_MOST = {"vcdr_error": 0.04}
TITLES = {
    "auc": "AUC of the classifier",
    "best_auc": "AUC of the true ratio, the most there is to reach",
    "disc_dice": "Dice of the disc, mean",
    "cup_dice": "Dice of the cup, mean",
    "vcdr_error": "error of vCDR, mean absolute",
    "vcdr_bias": "error of vCDR, mean",
    "foreign_auroc": "AUROC of the distance (ViM), an unknown camera against known ones",
    "usual_distance": "distance (ViM) of known cameras, median",
}


@dataclass(frozen=True)
class Figure:
    """A number, its 95 % interval over eyes (bootstrap), of how many, and what it has to reach."""

    value: float
    low: float
    high: float
    n: int
    at_least: float | None = None
    at_most: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the number is what it has to be; None where nothing is asked of it."""
        if self.at_least is None and self.at_most is None:
            return None
        low = -np.inf if self.at_least is None else self.at_least
        high = np.inf if self.at_most is None else self.at_most
        return bool(low <= self.value <= high)


@dataclass(frozen=True)
class Judgement:
    """All figures of a pipeline."""

    figures: dict[str, Figure]
    eyes: int
    foreign: int
    not_measured: int  # eyes without a ratio: their Dice is 0 where an outline is missing, their error is not counted
    seed: int

    @property
    def reached(self) -> bool:
        """Whether every figure is what it has to be."""
        return all(figure.reached is not False for figure in self.figures.values())

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        rounded = {
            name: _rounded(asdict(figure)) | {"reached": figure.reached} for name, figure in self.figures.items()
        }
        counts = {"eyes": self.eyes, "foreign": self.foreign, "not_measured": self.not_measured, "seed": self.seed}
        return {"reached": self.reached, **counts, "figures": rounded}


def judge(pipeline: Pipeline, eyes: int = 400, foreign: int = 200, seed: int = 0, tell: Tell = silent) -> Judgement:
    """Measure rendered photographs of known cameras, and of the one nobody learnt from, through the whole pipeline."""
    known, strange = draw(eyes, Part.JUDGED, seed), draw(foreign, Part.FOREIGN, seed)
    found = _measured(pipeline, known, tell)
    diseased, ratio = np.array([each.diseased for each in known]), np.array([each.ratio for each in known])
    odds = np.array([each.logits[1] - each.logits[0] for each in found])
    best = np.array([log_odds(float(each)) for each in ratio])
    error = np.array([_vertical(each) for each in found]) - ratio  # NaN where there is no ratio
    there = ~np.isnan(error)
    figures = {
        "auc": _resampled(auc, (odds, diseased), seed),
        "best_auc": _resampled(auc, (best, diseased), seed),
        "disc_dice": _mean(_dice([m.outlines.disc for m in found], [e.eye.disc for e in known]), seed),
        "cup_dice": _mean(_dice([m.outlines.cup for m in found], [e.eye.cup for e in known]), seed),
        "vcdr_error": _mean(np.abs(error[there]), seed),
        "vcdr_bias": _mean(error[there], seed),
    }
    if pipeline.reference is not None and foreign:
        usual, other = (np.array([m.distance for m in of], float) for of in (found, _measured(pipeline, strange, tell)))
        is_other = np.repeat([False, True], [len(usual), len(other)])
        figures["foreign_auroc"] = _resampled(auc, (np.concatenate([usual, other]), is_other), seed)
        figures["usual_distance"] = _resampled(lambda values: float(np.median(values)), (usual,), seed)
    return Judgement(figures | _goals(figures), eyes, foreign, int((~there).sum()), seed)


def auc(scores: Floats, positive: Bools) -> float:
    """The chance that a positive scores higher than a negative, ties by half; NaN without one of either.

    >>> auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))
    0.875
    """
    many, others = int(positive.sum()), int((~positive).sum())
    if not many or not others:
        return float("nan")
    return float((rankdata(scores)[positive].sum() - many * (many + 1) / 2) / (many * others))


def dice(first: Ellipse | None, second: Ellipse) -> float:
    """Twice what two outlines share over what they have, in pixels of the rendered frame; 0 without the first."""
    if first is None:
        return 0.0
    one, other = first.mask(FRAME, FRAME), second.mask(FRAME, FRAME)
    return float(2 * (one & other).sum() / max(one.sum() + other.sum(), 1))


def as_markdown(judgement: Judgement) -> str:
    """The figures as a table."""
    lines = [
        "| on held-out rendered photographs | value | 95 % interval | n | to reach |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, figure in judgement.figures.items():
        goal = f"≥ {figure.at_least:g}" if figure.at_least else f"≤ {figure.at_most:g}" if figure.at_most else ""
        ends = f"{figure.low:.3f} to {figure.high:.3f}"
        lines.append(f"| {TITLES[name]} | {figure.value:.3f} | {ends} | {figure.n} | {goal} |")
    return "\n".join(lines) + "\n"


def _measured(pipeline: Pipeline, examples: Sequence[Example], tell: Tell) -> list[Measurement]:
    found: list[Measurement] = []
    for first in range(0, len(examples), AT_ONCE):
        some = examples[first : first + AT_ONCE]
        found += pipeline.measure([Photograph(example.photograph()) for example in some])
        tell(f"{len(found)} of {len(examples)} photographs measured")
    return found


def _vertical(measurement: Measurement) -> float:
    ratios = measurement.outlines.ratios
    return float("nan") if ratios is None else ratios.vertical


def _dice(found: Sequence[Ellipse | None], true: Sequence[Ellipse]) -> Floats:
    return np.array([dice(one, other) for one, other in zip(found, true, strict=True)])


def _mean(values: Floats, seed: int) -> Figure:
    return _resampled(lambda some: float(some.mean()) if len(some) else float("nan"), (values,), seed)


def _resampled(statistic: Callable[..., float], columns: tuple[np.ndarray, ...], seed: int) -> Figure:
    """A statistic of columns [N] with its bootstrap interval over rows."""
    n, random = len(columns[0]), stream(seed, Stream.BOOTSTRAP)
    samples = [statistic(*(column[rows] for column in columns)) for rows in random.integers(n, size=(RESAMPLES, n))]
    low, high = percentiles(np.array(samples))
    return Figure(statistic(*columns), float(low), float(high), n)


def _goals(figures: dict[str, Figure]) -> dict[str, Figure]:
    return {
        name: Figure(figure.value, figure.low, figure.high, figure.n, AT_LEAST.get(name), AT_MOST.get(name))
        for name, figure in figures.items()
    }


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Four decimals, and None where there is no number."""
    return {
        name: None if value is None or np.isnan(value) else round(value, 4) if isinstance(value, float) else value
        for name, value in values.items()
    }
