"""The words of the New case page."""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.text import decimal, listed, percent
from mpd2.imaging.outlines import CupToDisc
from mpd2.imaging.quality import Quality
from mpd2.imaging.rim import Rim

WAYS = {"photograph": "From a photograph", "hand": "By hand"}
DECIDED = "Decided {point}; nothing here is added to the table."
UPLOAD = (
    "JPEG, PNG, TIFF or DICOM. It is read in memory, is written nowhere, and is forgotten when another is dropped or "
    "the visit ends. Of a DICOM file only its pixels, the side, the spacing of its pixels and the device are looked at."
)
DROP_ONE = (
    "Drop a {case} above: disc and cup are outlined and can be corrected, its numbers are measured, and what would be "
    "done with it is said as on Case."
)
NO_MODELS = (
    "The networks that measure a {case} are not installed, so its numbers have to be entered by hand. Whoever looks "
    "after this server can install them:"
)
BY_HAND = "Enter what is known of one {case}. It begins at the median of every input, with every reader there."
NOT_MEASURED = (
    "{names} could not be measured and {have} to be entered by hand; until then the median of the training cases "
    "stands for {it}."
)
NO_REFERENCE = " The distance needs the reference images of the networks, which are not here."
HINT = (
    "Drag an outline to move it, its dots to size it, the white dot to turn it. With keys: Tab to an outline, arrows "
    "move it, Shift and arrows size it, R and Shift R turn it."
)
ALT = "The {case} within its field of view. {said}"
NO_OUTLINES = "No disc and cup were found."
DRAW = "Draw the outlines"
BACK = "Outlines as found"
CORRECTED = "The outlines were corrected by hand; the numbers and the decision are those of the correction."
SHOWN = {"ruler": "Ruler", "rim": "Rim", "quality": "Poor parts"}
VIEWS = {"disc": "Disc", "whole": "Whole"}
SHOWN_HELP = (
    "Ruler: a tenth of the disc's height between two ticks, the thick part is the cup. Rim: its width by hour of a "
    "clock, in disc radii, thin ones in orange. Poor parts: where focus, light or contrast are poor."
)
TO_CASE = "Open these numbers on Case"
TO_CASE_HELP = "Under What if, where the case can be changed further. The link carries the numbers and nothing else."

PARTS = {
    "field": "field of view", "focus": "focus", "illumination": "illumination", "contrast": "contrast",
    "haze": "clearness", "disc": "visibility of the disc",
}  # fmt: skip
GOOD, FAIR = 0.7, 0.4  # a part of the quality is good, or fair, from here on
POOR_CELL = 0.4  # a cell of the map of quality is poor below
ROWS, COLUMNS = ("upper", "middle", "lower"), ("left", "centre", "right")
STRANGE = 0.05  # share of the training cases at least as far away, below which a photograph is called strange


MARGIN = "How far careful people differ on one photograph, and what measuring adds."


def ratio(value: float, margin: float) -> str:
    """A ratio with its margin.

    >>> ratio(0.62, 0.11)
    '0.62 ± 0.11'
    """
    return f"{decimal(value, 2)} ± {decimal(margin, 2)}"


def area_margin(ratios: CupToDisc) -> float:
    """± of the area ratio: people differ by the same margin in height and in width, whose product it follows."""
    return float(ratios.area * np.hypot(ratios.margin / ratios.vertical, ratios.margin / ratios.horizontal))


def rim(found: Rim) -> str:
    """Where the rim is thinnest, and how it runs where the eye's side is known."""
    said = found.sentences()
    return " ".join(said if found.quadrants else said[:1])


def quality(found: Quality, cells: Floats | None) -> str:
    """How good a photograph is, by its parts, and where it is poor; `cells`: the map of quality, [K, K]."""
    levels: dict[str, list[str]] = {"good": [], "fair": [], "poor": []}
    for part, value in found.parts.items():
        name = "good" if value >= GOOD else "fair" if value >= FAIR else "poor"
        levels[name].append(PARTS.get(part, part))
    said = [f"{listed(names)} {level}" for level, names in levels.items() if names]
    where = "" if cells is None else poor_places(cells)
    return f"**Quality {percent(found.good, 0)}** that it can be judged: {'; '.join(said)}{where and f'; {where}'}."


def poor_places(cells: Floats) -> str:
    """Where the map of quality, [K, K], is poor: in which ninths of the field; empty where nowhere.

    >>> poor_places(np.where(np.add.outer(range(9), range(9)) < 3, 0.1, 0.9))
    'poor in the upper left'
    """
    thirds = np.minimum(np.arange(len(cells)) * 3 // len(cells), 2)
    known = ~np.isnan(cells)
    poor = known & (np.nan_to_num(cells, nan=1.0) < POOR_CELL)
    places = []
    for row, above in enumerate(ROWS):
        for column, beside in enumerate(COLUMNS):
            here = (thirds[:, None] == row) & (thirds[None, :] == column)
            if poor[here].sum() > known[here].sum() / 3:
                places.append("centre" if row == column == 1 else f"{above} {beside}")
    if len(places) > 5:
        return "poor nearly everywhere"
    return f"poor in the {listed(places)}" if places else ""


def distance(value: float, train: Floats) -> str:
    """How far a photograph is from what the AI was trained on, held against the training cases, [N]."""
    share = float(np.mean(train >= value))
    if share >= STRANGE:
        return f"**Distance** like {percent(share, 0)} of the training cases: so many are as far or farther."
    much = "none" if share == 0 else f"only {percent(share, 1)}"
    return f"**Distance** unlike the training cases: {much} of them are as far from what the AI was trained on."
