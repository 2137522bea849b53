"""Everything measured of one photograph, and its row in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mpd2.core.manifest import Input
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field
from mpd2.imaging.outlines import Outlines, outlines_of_ellipses
from mpd2.imaging.quality import Quality

ROUTED = "vim"
"""The distance that a router sees; the others stand beside it."""
DISTANCES = {"vim": "vim_risk_z", "energy": "energy", "mahalanobis": "mahalanobis", "knn": "knn"}
"""The column of each distance."""
ELLIPSE = ("x", "y", "width", "height", "angle")
OUTLINE_COLUMNS = tuple(f"{part}_{name}" for part in ("disc", "cup") for name in ELLIPSE)
RESOLUTION = "resolution"
COLUMNS = (
    "logit_0", "logit_1", "vim_risk_z", "quality_risk", "vCDR", "hCDR", "aCDR", "decentration",
    "energy", "mahalanobis", "knn", *OUTLINE_COLUMNS, RESOLUTION, "flags",
)  # fmt: skip

INPUTS = (
    Input(
        column="vim_risk_z",
        title="image distance",
        means="How unlike its reference images a photograph looks to the AI (ViM, Wang et al. 2022); large is unlike.",
        role="risk",
        signal="distance",
    ),
    Input(
        column="quality_risk",
        title="quality risk",
        means="How likely it is that the photograph cannot be judged, 0 to 1.",
        role="risk",
        signal="quality",
        low=0.0,
        high=1.0,
    ),
    Input(
        column="vCDR",
        title="vertical CDR",
        means="Cup-to-disc ratio by height: how excavated the optic nerve head is.",
        role="structure",
        low=0.0,
        high=1.0,
    ),
    Input(
        column="aCDR",
        title="area CDR",
        means="Cup-to-disc ratio by area.",
        role="structure",
        low=0.0,
        high=1.0,
    ),
)
"""What a router sees of these besides the AI's answer: one distance, quality and two ratios."""

Row = dict[str, float | str]


@dataclass(frozen=True, eq=False)
class Measurement:
    """What the pipeline says of one photograph."""

    logits: tuple[float, float]  # the paper's ℓ
    probability: float  # the paper's p^ai
    distance: float | None  # standardised ViM: 0 is usual, 3 is strange; None without a reference
    distances: dict[str, float]  # by name, as in DISTANCES
    quality: Quality
    outlines: Outlines  # in pixels of the photograph
    field: Field
    notes: tuple[str, ...] = ()

    def row(self) -> Row:
        """Its row: numbers, and "" where something is not known."""
        ratios = self.outlines.ratios
        geometry: Row = {
            "vCDR": ratios.vertical if ratios else "",
            "hCDR": ratios.horizontal if ratios else "",
            "aCDR": ratios.area if ratios else "",
            "decentration": ratios.decentration if ratios else "",
        }
        distances: Row = {column: self.distances.get(name, "") for name, column in DISTANCES.items()}
        known: Row = {
            "logit_0": self.logits[0],
            "logit_1": self.logits[1],
            "quality_risk": self.quality.risk,
            "flags": ";".join(self.outlines.flags),
            **geometry,
            **distances,
            **row_of_outlines(self.outlines),
        }
        return {column: known[column] for column in COLUMNS}


def row_of_outlines(outlines: Outlines) -> Row:
    """The columns of both ellipses, in pixels and radians; "" where there is none."""
    row: Row = {
        f"{part}_{name}": "" if ellipse is None else float(getattr(ellipse, name))
        for part, ellipse in (("disc", outlines.disc), ("cup", outlines.cup))
        for name in ELLIPSE
    }
    return row | {RESOLUTION: "" if outlines.disc is None else outlines.resolution}


def outlines_of_row(row: Mapping[str, Any]) -> Outlines | None:
    """The way back: the outlines of a row, None if it has no disc."""
    disc, cup = _ellipse(row, "disc"), _ellipse(row, "cup")
    if disc is None:
        return None
    resolution = _number(row.get(RESOLUTION))
    flags = row.get("flags")
    seen = tuple(flags.split(";")) if isinstance(flags, str) and flags else ()
    return outlines_of_ellipses(disc, cup, 1.0 if resolution is None else resolution, seen)


def _ellipse(row: Mapping[str, Any], part: str) -> Ellipse | None:
    values = [_number(row.get(f"{part}_{name}")) for name in ELLIPSE]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(ELLIPSE):
        return None
    x, y, width, height, angle = numbers
    return Ellipse(x, y, width, height, angle) if width > 0 and height > 0 else None


def _number(value: Any) -> float | None:
    """A finite number, or None for an empty cell in any of its spellings."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < float("inf") else None
