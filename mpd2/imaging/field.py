"""The field of view: the round part of a photograph that shows the eye, on a dark border.

It is looked for in a small copy of the photograph. What is brighter than the border, in one piece and without holes,
gives points on the edge; a circle through most of them is the field, and text burnt in beside or over its edge is not.
A field cut off above, below or at a side keeps its circle, so that photographs of one camera keep one scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import hypot

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from mpd2.core.arrays import Bools, Floats
from mpd2.core.rng import Stream, stream

WORKING_SIDE = 320  # pixels of the longer side of the small copy
CORNER = 1 / 24  # side of a patch of the border, as a share of the shorter side
PATCHES = (0.0, 0.15, 0.85, 1.0)  # where patches lie along each side
RISE = 0.12  # of the way from the border to the bright parts, where the field begins
NOISE = 4.0  # standard deviations of the border's noise that are no field
LEAST_BRIGHT = 4.0  # grey levels between border and bright parts, else nothing is told apart
BORDER = 0.25  # the border's level as a share of the bright parts', above which it may be part of the picture
NO_BORDER = 0.6  # and above which it is
WHOLE = 0.98  # a field of this share of the frame is all of it
LEAST_FIELD = 0.08  # a smaller one is no field
AGREEMENT = 0.93  # intersection over union of circle and bright part, for the circle to stand for it
STEP = 0.3  # of the way from the border to the field's middle, that the field begins with
TRIALS = 200  # circles tried


@dataclass(frozen=True, eq=False)
class Field:
    """Where a photograph shows the eye."""

    inside: NDArray[np.bool_]  # [H, W] the field of view
    left: int  # the square that holds it, in pixels of the photograph; it may reach beyond its edges
    top: int
    side: int


@dataclass(frozen=True)
class _Circle:
    """A circle; pixel (row r, column c) has its centre at (c, r)."""

    x: float
    y: float
    radius: float

    def contains(self, shape: tuple[int, int]) -> Bools:
        """[H, W] which pixels lie in it."""
        row, column = np.ogrid[: shape[0], : shape[1]]
        return (column - self.x) ** 2 + (row - self.y) ** 2 <= self.radius**2

    def scaled(self, k: float) -> _Circle:
        """The same in a photograph `k` times as large."""
        return _Circle((self.x + 0.5) * k - 0.5, (self.y + 0.5) * k - 0.5, self.radius * k)


def find_field(pixels: NDArray[np.uint8]) -> Field:
    """The field of view of [H, W, 3] pixels; all of them where no dark border is found."""
    height, width = pixels.shape[:2]
    brightness, factor = _small_brightness(pixels)  # [h, w]
    bright = _bright_part(brightness)  # [h, w]
    if bright is None:
        return _whole(height, width)
    circle = _circle_through(_edge_points(bright), brightness.shape)
    if circle is not None and _agreement(circle, bright) >= AGREEMENT:
        return _round_field(
            _at_the_step(circle, brightness).scaled(factor), _rows_and_columns(bright, factor), (height, width)
        )
    if bright.mean() > 1 - LEAST_FIELD:
        return _whole(height, width)
    return _odd_field(bright, (height, width))


def crop(pixels: NDArray[np.uint8], field: Field) -> NDArray[np.uint8]:
    """[side, side, 3] the square that holds the field, black outside of it."""
    height, width = pixels.shape[:2]
    square = np.zeros((field.side, field.side, 3), dtype=np.uint8)
    top, left = max(field.top, 0), max(field.left, 0)
    bottom, right = min(field.top + field.side, height), min(field.left + field.side, width)
    here = np.s_[top:bottom, left:right]
    there = np.s_[top - field.top : bottom - field.top, left - field.left : right - field.left]
    square[there] = np.where(field.inside[here][..., None], pixels[here], np.uint8(0))
    return square


def _small_brightness(pixels: NDArray[np.uint8]) -> tuple[Floats, float]:
    """The brightest channel of a small smooth copy, [h, w], and how many pixels one of its pixels is."""
    block = max(1, -(-max(pixels.shape) // WORKING_SIDE))
    small = np.asarray(Image.fromarray(pixels).reduce(block), dtype=np.float64)  # [h, w, 3]
    return ndimage.gaussian_filter(ndimage.median_filter(small.max(axis=-1), 3), 1.0), float(block)


def _bright_part(brightness: Floats) -> Bools | None:
    """[h, w] what is brighter than the border, in one piece without holes; None where there is no border."""
    level, noise = _border(brightness)
    bright = float(np.quantile(brightness, 0.9))
    if bright - level < max(LEAST_BRIGHT, NOISE * noise) or level > NO_BORDER * bright:
        return None
    threshold = level + max(RISE * (bright - level), NOISE * noise)
    part = ndimage.binary_opening(brightness > threshold, iterations=max(1, min(brightness.shape) // 80))
    pieces, count = ndimage.label(part)
    if not count:
        return None
    largest = 1 + int(np.argmax(np.bincount(pieces.ravel())[1:]))
    whole = np.asarray(ndimage.binary_fill_holes(pieces == largest), dtype=np.bool_)
    if not LEAST_FIELD < whole.mean() < WHOLE or (level > BORDER * bright and not _has_step(brightness, whole)):
        return None
    return whole


def _border(brightness: Floats) -> tuple[float, float]:
    """The border's level and noise: those of the darkest patch at the rim, as text may stand in the others."""
    side = max(3, int(CORNER * min(brightness.shape)))
    height, width = (length - side for length in brightness.shape)
    places = [(round(a * height), round(b * width)) for a, b in product(PATCHES, PATCHES) if {a, b} & {0.0, 1.0}]
    patches = np.array([brightness[row : row + side, column : column + side].ravel() for row, column in places])
    levels = np.median(patches, axis=1)  # [12]
    darkest = patches[np.argmin(levels)]
    return float(levels.min()), float(1.4826 * np.median(np.abs(darkest - levels.min())))


def _has_step(brightness: Floats, part: Bools) -> bool:
    """Whether it gets dark at once at the edge of a part, as at a border; a vignette gets dark slowly."""
    reach = max(2, min(brightness.shape) // 50)
    inner = part & ~ndimage.binary_erosion(part, iterations=2 * reach, border_value=1)
    outer = ndimage.binary_dilation(part, iterations=2 * reach) & ~part
    if not outer.any() or not inner.any():
        return False
    far = ~ndimage.binary_dilation(part, iterations=2 * reach)
    beyond = np.median(brightness[far]) if far.any() else np.median(brightness[outer])
    within = np.median(brightness[part])
    step = np.median(brightness[inner]) - np.median(brightness[outer])
    return bool(step > STEP * (within - beyond))


def _edge_points(part: Bools) -> Floats:
    """[K, 2] (x, y) on the edge of a part, but for where the frame itself cuts it."""
    edge = part & ~ndimage.binary_erosion(part, border_value=1)
    edge[[0, -1], :] = False
    edge[:, [0, -1]] = False
    row, column = np.nonzero(edge)
    return np.stack([column, row], axis=-1).astype(np.float64)


def _circle_through(points: Floats, shape: tuple[int, ...]) -> _Circle | None:
    """The circle near most of the points, the rest being text, a straight cut or a notch; None if there is none."""
    if len(points) < 12:
        return None
    random = stream(0, Stream.IMAGING)
    trials = points[random.integers(len(points), size=(TRIALS, 3))]  # [T, 3, 2]
    circles = _through_three(trials)  # [T, 3]
    diagonal = hypot(*shape)
    possible = (circles[:, 2] > 0.1 * diagonal) & (circles[:, 2] < 0.6 * diagonal)
    if not possible.any():
        return None
    circles = circles[possible]
    far = np.abs(np.hypot(points[:, 0] - circles[:, :1], points[:, 1] - circles[:, 1:2]) - circles[:, 2:])  # [T, K]
    tolerance = max(1.5, 0.008 * diagonal)
    best = circles[np.argmax((far < tolerance).sum(axis=1))]
    for _ in range(3):
        near = np.abs(np.hypot(points[:, 0] - best[0], points[:, 1] - best[1]) - best[2]) < tolerance
        best = _least_squares(points[near])
    if not 0.1 * diagonal < best[2] < 0.6 * diagonal:
        return None
    return _Circle(float(best[0]), float(best[1]), float(best[2]) + 0.5)  # the points are the last pixels inside


def _at_the_step(circle: _Circle, brightness: Floats) -> _Circle:
    """The circle of the same centre where it gets dark fastest; a threshold lies a little outside of that."""
    radii = circle.radius + np.arange(-4.0, 2.25, 0.25)  # [R]
    angle = np.linspace(0, 2 * np.pi, 360, endpoint=False)  # [A]
    x, y = circle.x + np.outer(radii, np.cos(angle)), circle.y + np.outer(radii, np.sin(angle))  # [R, A]
    height, width = brightness.shape
    within = ((x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)).all(axis=0)  # [A]
    if within.sum() < 12:
        return circle
    around = ndimage.map_coordinates(brightness, [y[:, within], x[:, within]], order=1)  # [R, A]
    step = int(np.argmax(-np.diff(np.median(around, axis=1))))
    return _Circle(circle.x, circle.y, float(radii[step : step + 2].mean()))


def _through_three(points: Floats) -> Floats:
    """[T, 3] (x, y, radius) of the circles through [T, 3, 2] points; radius 0 where three lie on a line."""
    a, b, c = points[:, 0], points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    cross = 2 * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    on_a_line = np.abs(cross) < 1e-9
    cross = np.where(on_a_line, 1.0, cross)
    bb, cc = (b**2).sum(axis=1), (c**2).sum(axis=1)
    x = (c[:, 1] * bb - b[:, 1] * cc) / cross
    y = (b[:, 0] * cc - c[:, 0] * bb) / cross
    return np.stack([a[:, 0] + x, a[:, 1] + y, np.where(on_a_line, 0.0, np.hypot(x, y))], axis=-1)


def _least_squares(points: Floats) -> Floats:
    """(x, y, radius) of the circle nearest to points, x² + y² = 2ax + 2by + c."""
    if len(points) < 3:
        return np.zeros(3)
    design = np.column_stack([2 * points, np.ones(len(points))])
    (a, b, c), *_ = np.linalg.lstsq(design, (points**2).sum(axis=1), rcond=None)
    return np.array([a, b, np.sqrt(max(c + a**2 + b**2, 0.0))])


def _agreement(circle: _Circle, part: Bools) -> float:
    """Intersection over union of a part and the circle, which is cut off where the part is."""
    rows, columns = _box(part)
    cut = np.zeros_like(part)
    cut[rows, columns] = True
    seen = circle.contains((part.shape[0], part.shape[1])) & cut
    return float((seen & part).sum() / max((seen | part).sum(), 1))


def _box(part: Bools) -> tuple[slice, slice]:
    """Rows and columns of the bulk of a part: a line of text that touches it is no more than a thin bit of a row."""
    ends = []
    for along in (1, 0):
        filled = part.sum(axis=along)
        used = np.flatnonzero(filled > 0.1 * filled.max())
        ends.append(slice(int(used[0]), int(used[-1]) + 1))
    return ends[0], ends[1]


def _rows_and_columns(part: Bools, factor: float) -> tuple[slice, slice]:
    """Rows and columns of a part in the photograph itself; open where it reaches the frame."""
    rows, columns = _box(part)
    scaled = []
    for used, length in zip((rows, columns), part.shape, strict=True):
        low = 0 if used.start <= 1 else int((used.start - 0.5) * factor)
        high = None if used.stop >= length - 1 else int(np.ceil((used.stop + 0.5) * factor))
        scaled.append(slice(low, high))
    return scaled[0], scaled[1]


def _round_field(circle: _Circle, cut: tuple[slice, slice], shape: tuple[int, int]) -> Field:
    """The field in a circle, cut to rows and columns."""
    kept = np.zeros(shape, dtype=np.bool_)
    kept[cut] = True
    left, top = int(np.floor(circle.x - circle.radius)), int(np.floor(circle.y - circle.radius))
    return Field(circle.contains(shape) & kept, left, top, int(np.ceil(2 * circle.radius)) + 1)


def _odd_field(part: Bools, shape: tuple[int, int]) -> Field:
    """A field of another shape than a circle, in the square around its middle."""
    rows = np.minimum(np.arange(shape[0]) * part.shape[0] // shape[0], part.shape[0] - 1)
    columns = np.minimum(np.arange(shape[1]) * part.shape[1] // shape[1], part.shape[1] - 1)
    inside = part[np.ix_(rows, columns)]  # [H, W]
    used = [np.flatnonzero(inside.any(axis=along)) for along in (1, 0)]
    (top, bottom), (left, right) = ((int(line[0]), int(line[-1]) + 1) for line in used)
    side = max(bottom - top, right - left)
    return Field(inside, (left + right - side) // 2, (top + bottom - side) // 2, side)


def _whole(height: int, width: int) -> Field:
    """All of a photograph as its field."""
    side = max(height, width)
    return Field(np.ones((height, width), dtype=np.bool_), (width - side) // 2, (height - side) // 2, side)
