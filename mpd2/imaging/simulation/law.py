"""The law of a simulated programme: every density in closed form, so that what is best can be computed.

A case comes from a site c (its camera) and is diseased, y = 1, with that site's prevalence. What is measured of its eye
and photograph is, in the coordinates below, one Gaussian for each site and y: P(y | z) is then a ratio of two Gaussian
densities. A reader is wrong with a probability whose log-odds are linear in how poor the photograph is and in how far
the vertical ratio lies towards, or past, the wrong side of what parts the two kinds of eyes. Given y, z and site,
readers err independently of each other; who is on hand depends on the site alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from mpd2.core.arrays import Bools, Floats, Ints

FITTED = Path(__file__).with_name("law.json")
"""The law whose margins are the benchmark's; `calibration.calibrate` made it of the benchmark's table."""

COORDINATES = ("evidence", "sum", "distance", "quality", "vertical", "area", "horizontal")
"""logit_1 − logit_0, logit_1 + logit_0, the image distance as it is, the log-odds of quality risk and of the ratios.

The last one is drawn and never routed on.
"""
SEEN = 6  # coordinates that are part of the state
EVIDENCE, QUALITY, VERTICAL = (COORDINATES.index(name) for name in ("evidence", "quality", "vertical"))
COLUMNS = ("logit_0", "logit_1", "vim_risk_z", "quality_risk", "vCDR", "aCDR", "hCDR")
"""The columns of a table, which the coordinates become one to one."""
EDGE = 1e-5  # how near a share comes to 0 and 1; tables have five decimals
WRONG_SIDE = np.array([1.0, -1.0])  # a large ratio misleads about the healthy, a small one about the diseased


@dataclass(frozen=True)
class Site:
    """Where cases come from: a camera, its patients and the readers on hand. M readers, Q coordinates."""

    key: str
    name: str
    camera: str  # one of those that photographs are rendered with
    share: float  # of all cases
    prevalence: float  # P(y = 1)
    mean: tuple[tuple[float, ...], ...]  # [2, Q] of the coordinates given y
    covariance: tuple[tuple[tuple[float, ...], ...], ...]  # [2, Q, Q]
    error: tuple[tuple[float, ...], ...]  # [2, M] log-odds of a reader's error given y, at coordinates of 0
    rosters: tuple[tuple[int, int], ...]  # who is on hand (bit j: reader j), and in how many of the cases it rests on

    def density(self, seen: Floats, label: int) -> Floats:
        """log p(z | y, site) in the coordinates, [N, SEEN] to [N]; the constant that both labels share is left out."""
        lower = np.linalg.cholesky(np.array(self.covariance[label])[:SEEN, :SEEN])
        apart = np.linalg.solve(lower, (seen - np.array(self.mean[label])[:SEEN]).T)  # [SEEN, N]
        return np.asarray(-0.5 * (apart**2).sum(0) - np.log(np.diag(lower)).sum())

    def log_odds(self, seen: Floats) -> Floats:
        """log-odds of P(y = 1 | z, site), [N, SEEN] to [N]."""
        return np.asarray(logit(self.prevalence) + self.density(seen, 1) - self.density(seen, 0))


@dataclass(frozen=True)
class Law:
    """All sites, and by how much a hard case raises the log-odds of a reader's error."""

    sites: tuple[Site, ...]
    readers: int  # M
    quality_slope: float  # a unit of the quality coordinate
    ratio_slope: tuple[float, float]  # a unit of the vertical coordinate towards the wrong side, given y
    fellow: float  # correlation between a patient's two eyes of what makes them diseased
    made: str = ""  # how, in words

    @cached_property
    def slopes(self) -> Floats:
        """Of the log-odds of an error in each coordinate given y, [2, Q]."""
        slopes = np.zeros((2, len(COORDINATES)))
        slopes[:, QUALITY] = self.quality_slope
        slopes[:, VERTICAL] = WRONG_SIDE * np.array(self.ratio_slope)
        return slopes

    def positive(self, coordinates: Floats, source: Ints) -> Floats:
        """P(y = 1 | z, site), [N]."""
        odds = np.zeros(len(source))
        for place, site in enumerate(self.sites):
            here = source == place
            odds[here] = site.log_odds(coordinates[here, :SEEN])
        return np.asarray(expit(odds))

    def wrong(self, coordinates: Floats, source: Ints, label: int) -> Floats:
        """P(each reader is wrong | y = label, z, site), [N, M]; whoever never reads at a site is not defined there."""
        level = np.array([site.error[label] for site in self.sites])[source]  # [N, M]
        return np.asarray(expit(level + (coordinates @ self.slopes[label])[:, None]))

    def says(self, coordinates: Floats, source: Ints) -> Floats:
        """P(each reader says positive | y, z, site), [N, M, 2], y last."""
        false_alarm, miss = (self.wrong(coordinates, source, label) for label in (0, 1))
        return np.stack([false_alarm, 1 - miss], axis=-1)

    def to_json(self) -> str:
        """As text; `law_from` reads it back as the same."""
        return json.dumps(asdict(self), indent=None, separators=(",", ":"), allow_nan=False) + "\n"


def law_from(text: str) -> Law:
    """The law that `to_json` wrote."""
    given: Mapping[str, Any] = json.loads(text)
    sites = tuple(Site(**{name: _tuples(value) for name, value in site.items()}) for site in given["sites"])
    return Law(**{**{name: _tuples(value) for name, value in given.items()}, "sites": sites})


@cache
def fitted_law() -> Law:
    """The law with the benchmark's margins, which needs no table of anybody."""
    return law_from(FITTED.read_text(encoding="utf-8"))


def to_columns(coordinates: Floats) -> Floats:
    """The coordinates as the columns of a table, with five decimals, [N, Q]."""
    evidence, total, distance = coordinates[:, :3].T
    logits = np.column_stack([total - evidence, total + evidence]) / 2
    shares = expit(coordinates[:, 3:]).clip(EDGE, 1 - EDGE)
    return np.round(np.column_stack([logits, distance, shares]), 5)


def to_coordinates(columns: Floats) -> Floats:
    """The way back, [N, Q] or fewer of the last columns."""
    negative, positive, distance = columns[:, :3].T
    shares = logit(columns[:, 3:].clip(EDGE, 1 - EDGE))
    return np.column_stack([positive - negative, positive + negative, distance, shares])


def on_hand(rosters: Sequence[int] | NDArray[np.int64], readers: int) -> Bools:
    """Who is on hand by the bits of a number, [N] to [N, M].

    >>> on_hand([5], 3).tolist()
    [[True, False, True]]
    """
    return (np.asarray(rosters, np.int64)[:, None] >> np.arange(readers) & 1).astype(bool)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
