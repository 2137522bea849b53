"""How well a photograph can be judged: parts that can be measured, the probability they give, and where it is bad.

Every part is 0 (bad) to 1 (good) and says one thing. They are measured in a copy of fixed size, so that a photograph's
resolution changes little, and relative to its own brightness and colour, so that one fault does not pass for another.
The probability is logistic in the parts with weights of 0 or more: a better part never makes a photograph worse. It is
never a reason to leave a photograph out without a word.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image
from scipy import ndimage, optimize, special

from mpd2.core.arrays import Bools, Floats, frozen
from mpd2.core.errors import UserError
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field

PARTS = ("field", "focus", "illumination", "contrast", "haze", "disc")
DEFAULT = Path(__file__).with_name("quality.json")
WORKING = 320  # pixels of the square in which parts are measured
FINE, COARSE = 1.0, 3.0  # pixels: a sharp edge is steep at both scales, a blurred one at the second alone
BACKGROUND = 9.0  # pixels: wider than any vessel
UNLIT = 0.15  # below this share of the bright parts a place shows nothing
DARKEST = 6 / 255
RIDGE = 1e-4  # keeps weights finite where parts tell usable photographs apart without error

Plane = NDArray[np.float32]  # [WORKING, WORKING]


@dataclass(frozen=True)
class Quality:
    """What was found of one photograph."""

    good: float  # probability that it can be judged
    parts: dict[str, float]  # by PARTS, each 0 to 1

    @property
    def risk(self) -> float:
        """The paper's r^qual: probability that it cannot be judged."""
        return 1 - self.good

    @property
    def worst(self) -> str:
        """The part that is worst."""
        return min(self.parts, key=self.parts.__getitem__)


@dataclass(frozen=True, eq=False)
class QualityModel:
    """Logistic in the parts: good = σ(intercept + weights · parts)."""

    weights: Floats  # [P], 0 or more, by PARTS
    intercept: float

    def __post_init__(self) -> None:
        if np.shape(self.weights) != (len(PARTS),) or not np.isfinite(self.weights).all() or min(self.weights) < 0:
            raise UserError(f"Weights of quality: expected {len(PARTS)} numbers of 0 or more, for {', '.join(PARTS)}.")
        object.__setattr__(self, "weights", frozen(self.weights, float))

    def good(self, parts: Floats) -> Floats:
        """Probability that each photograph can be judged, [...] from parts [..., P]."""
        return special.expit(self.intercept + np.asarray(parts) @ self.weights)

    def to_json(self) -> dict[str, float | dict[str, float]]:
        """As plain numbers, by part."""
        return {"intercept": self.intercept, "weights": dict(zip(PARTS, self.weights.tolist(), strict=True))}

    @staticmethod
    def from_json(entries: dict[str, object]) -> QualityModel:
        """The way back; a UserError says which part has no weight."""
        weights, intercept = entries.get("weights"), entries.get("intercept")
        if not isinstance(weights, dict) or set(weights) != set(PARTS) or not isinstance(intercept, int | float):
            raise UserError(f"A model of quality: expected an intercept and a weight for each of {', '.join(PARTS)}.")
        return QualityModel(np.array([weights[part] for part in PARTS], float), float(intercept))

    @staticmethod
    def default() -> QualityModel:
        """Fitted on rendered photographs with known faults, by `fit_default_quality`."""
        return _default()


@lru_cache(maxsize=1)
def _default() -> QualityModel:
    return QualityModel.from_json(json.loads(DEFAULT.read_text(encoding="utf-8")))


def fit_quality(parts: Floats, usable: Bools) -> QualityModel:
    """The model most likely to have made `usable` [N] from parts [N, P], with weights of 0 or more."""
    usable = np.asarray(usable, bool)
    if len(parts) != len(usable) or usable.all() or not usable.any():
        raise UserError(
            f"Quality is fitted on usable and unusable photographs: found {int(usable.sum())} of {len(usable)} usable, "
            f"with parts of {len(parts)}."
        )
    design = np.column_stack([np.asarray(parts, float), np.ones(len(parts))])  # [N, P + 1]
    ridge = RIDGE * np.append(np.ones(len(PARTS)), 0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        score = design @ weights
        misfit = np.logaddexp(0, score) - usable * score
        slope = design.T @ (special.expit(score) - usable) / len(usable)
        return float(misfit.mean() + (ridge * weights**2).sum() / 2), slope + ridge * weights

    bounds = [(0, None)] * len(PARTS) + [(None, None)]
    found = optimize.minimize(loss, np.zeros(len(PARTS) + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    return QualityModel(found.x[:-1], float(found.x[-1]))


def assess(pixels: NDArray[np.uint8], field: Field, disc: Ellipse | None, model: QualityModel) -> Quality:
    """Quality of a photograph [H, W, 3]; `disc` is its outline in the photograph's pixels, None if none was found."""
    parts = parts_of(pixels, field, disc)
    return Quality(float(model.good(parts)), dict(zip(PARTS, parts.tolist(), strict=True)))


def parts_of(pixels: NDArray[np.uint8], field: Field, disc: Ellipse | None) -> Floats:
    """The parts of a photograph, [P] by PARTS."""
    view = _View.of(pixels, field)
    if not view.lit.any():
        return np.zeros(len(PARTS))
    sharp, sharp_flat, wide, wide_flat = (
        energy[where].mean() for energy in view.edges for where in view.edges_and_flats
    )
    detail = np.sqrt(max(sharp - sharp_flat, 0) / max(wide - wide_flat, 1e-9))
    found = {
        "field": min(1.0, view.lit.sum() / (np.pi / 4 * WORKING**2)),
        "focus": float(_sharpness(detail)),
        "illumination": float(_brightness(view.light.mean(where=view.lit)) * _falling(view.unevenness, 0.5, 3)),
        "contrast": float(_rising(view.vessel_contrast, 0.09, 2.5)),
        "haze": float(_clearness(view.veil.mean(where=view.lit))),
        "disc": view.disc_contrast(disc),
    }
    return np.array([found[part] for part in PARTS])


def quality_map(pixels: NDArray[np.uint8], field: Field, cells: int = 16) -> Floats:
    """Where a photograph is good and where bad, [cells, cells] 0 to 1 over the square of the field; NaN outside of it.

    A place is as good as the worst of its light, its haze and its sharpness; sharpness is that of the edges around it.
    """
    view = _View.of(pixels, field)
    around = 3 * WORKING // cells
    sharp, wide = (ndimage.uniform_filter(np.where(view.lit, energy, 0), around) for energy in view.edges)
    noise = [energy[view.edges_and_flats[1]].mean() if view.lit.any() else 0.0 for energy in view.edges]
    detail = np.sqrt(np.maximum(sharp - noise[0], 0) / np.maximum(wide - noise[1], 1e-7))
    good = np.minimum(np.minimum(_brightness(view.light), _clearness(view.veil)), _sharpness(detail))
    good = np.where(view.lit, good, 0)
    cell = np.arange(WORKING) * cells // WORKING
    index = (cell[:, None] * cells + cell[None, :])[view.inside]
    counts = np.bincount(index, minlength=cells**2)
    sums = np.bincount(index, weights=good[view.inside], minlength=cells**2)
    enough = counts > (WORKING / cells) ** 2 / 4
    return np.where(enough, sums / np.maximum(counts, 1), np.nan).reshape(cells, cells)


def _rising(value: ArrayLike, half: float, steepness: float) -> Floats:
    """0 at 0, one half at `half`, towards 1 beyond."""
    power = (np.maximum(np.asarray(value, float), 0) / half) ** steepness
    return power / (1 + power)


def _falling(value: ArrayLike, half: float, steepness: float) -> Floats:
    return 1 - _rising(value, half, steepness)


def _brightness(light: ArrayLike) -> Floats:
    return _rising(light, 0.28, 3)


def _clearness(veil: ArrayLike) -> Floats:
    return _falling(veil, 0.42, 5)


def _sharpness(detail: ArrayLike) -> Floats:
    return _rising(detail, 1.85, 5)


@dataclass(frozen=True, eq=False)
class _View:
    """A photograph's square at working size."""

    colours: NDArray[np.float32]  # [WORKING, WORKING, 3] 0 to 1
    inside: Bools  # [WORKING, WORKING] the field
    scale: float  # working pixels to one of the photograph
    left: float  # the square's corner in the photograph
    top: float

    @staticmethod
    def of(pixels: NDArray[np.uint8], field: Field) -> _View:
        """Cut, shrink and put into the middle of black what may reach beyond the photograph."""
        height, width = field.inside.shape
        scale = WORKING / field.side
        left, top = max(field.left, 0), max(field.top, 0)
        right, bottom = min(field.left + field.side, width), min(field.top + field.side, height)
        at = (round(scale * (left - field.left)), round(scale * (top - field.top)))
        size = (max(1, round(scale * (right - left))), max(1, round(scale * (bottom - top))))
        here = np.s_[top:bottom, left:right]
        colours = Image.new("RGB", (WORKING, WORKING))
        part = Image.fromarray(np.ascontiguousarray(pixels[here]))
        colours.paste(part.resize(size, Image.Resampling.BOX, reducing_gap=2.0), at)
        inside = Image.new("L", (WORKING, WORKING))
        inside.paste(Image.fromarray(field.inside[here].astype(np.uint8)).resize(size, Image.Resampling.NEAREST), at)
        return _View(
            np.asarray(colours, np.float32) / np.float32(255), np.asarray(inside) > 0, scale, field.left, field.top
        )

    @cached_property
    def green(self) -> Plane:
        """The colour in which vessels show best, with what lies outside of the field filled in by the mean."""
        green = self.colours[..., 1]
        return np.where(self.lit, green, green.mean(where=self.lit) if self.lit.any() else 0)

    @cached_property
    def light(self) -> Plane:
        """Brightness: the brightest colour, a little smoothed."""
        return ndimage.uniform_filter(self.colours.max(-1), 5)

    @cached_property
    def lit(self) -> Bools:
        """Where the field shows anything at all."""
        if not self.inside.any():
            return self.inside
        return self.inside & (self.light > max(DARKEST, UNLIT * float(np.quantile(self.light[self.inside], 0.9))))

    @cached_property
    def middle(self) -> Bools:
        """What is lit and not near an edge of it, where edges are the eye's own; all that is lit if that is little."""
        inner = ndimage.distance_transform_edt(np.pad(self.lit, 1))[1:-1, 1:-1] > 3 * COARSE
        return inner if inner.any() else self.lit

    @cached_property
    def smooth(self) -> Plane:
        """Green without vessels."""
        weight = ndimage.gaussian_filter(self.lit.astype(np.float32), BACKGROUND)
        filled = ndimage.gaussian_filter(np.where(self.lit, self.green, 0), BACKGROUND)
        return np.divide(filled, np.maximum(weight, 1e-3), dtype=np.float32)

    @cached_property
    def edges(self) -> tuple[Plane, Plane]:
        """Energy of the slope of green relative to its surroundings, at a fine and at a coarse scale."""
        relative = np.where(self.lit, self.green / np.maximum(self.smooth, 1e-3), 1).astype(np.float32)
        fine, coarse = (ndimage.gaussian_filter(relative, width) for width in (FINE, COARSE))
        return _slope_energy(fine), _slope_energy(coarse)

    @cached_property
    def edges_and_flats(self) -> tuple[Bools, Bools]:
        """The steepest tenth of places at the coarse scale, vessels and the disc; and the flattest, which is noise."""
        steep = self.edges[1]
        low, high = np.quantile(steep[self.middle], [0.2, 0.9])
        return self.middle & (steep >= high), self.middle & (steep <= low)

    @cached_property
    def unevenness(self) -> float:
        """Variation of brightness at large, as a share of its mean."""
        coarse = ndimage.uniform_filter(np.where(self.lit, self.light, 0), WORKING // 8)
        share = ndimage.uniform_filter(self.lit.astype(np.float32), WORKING // 8)
        large = (coarse / np.maximum(share, 1e-3))[self.lit]
        return float(large.std() / max(float(large.mean()), 1e-3))

    @cached_property
    def vessel_contrast(self) -> float:
        """How much darker than their surroundings the darkest twentieth of places are, less what is noise."""
        fine = ndimage.gaussian_filter(self.green, FINE)
        darker = (1 - fine / np.maximum(self.smooth, 1e-3))[self.middle]
        return float(np.quantile(darker, 0.95) - np.quantile(darker, 0.5))

    @cached_property
    def veil(self) -> Plane:
        """The dark channel: the least colour around a place as a share of its brightness; scattered light is white."""
        least = ndimage.minimum_filter(ndimage.uniform_filter(self.colours.min(-1), 3), 5)
        return np.divide(least, np.maximum(self.light, 1e-2), dtype=np.float32)

    def disc_contrast(self, disc: Ellipse | None) -> float:
        """How far the disc stands out from what is around it, times the share of it that is seen; 0 without one."""
        if disc is None:
            return 0.0
        here = disc.moved(-self.left, -self.top).scaled(self.scale)
        radius = here.radius(np.arange(WORKING)[None, :], np.arange(WORKING)[:, None])
        within, around = (radius < 0.92) & self.lit, (radius > 1.12) & (radius < 1.5) & self.lit
        if not within.any() or not around.any():
            return 0.0
        inner, outer = float(self.green[within].mean()), float(self.green[around].mean())
        seen = min(1.0, within.sum() / (0.92**2 * here.area))
        return float(seen * _rising(inner / max(outer, 1e-3) - 1, 0.22, 2.5))


def _slope_energy(plane: Plane) -> Plane:
    down, across = np.gradient(plane)
    return np.add(down**2, across**2, dtype=np.float32)
