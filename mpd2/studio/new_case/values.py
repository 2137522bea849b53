"""From what was measured of a photograph to a case that a run can be asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mpd2.core.arrays import Bools
from mpd2.core.cohort import Cohort
from mpd2.core.manifest import Manifest
from mpd2.imaging.measurement import Measurement
from mpd2.studio.parts import case_controls


def takes_photographs(manifest: Manifest) -> bool:
    """Whether the cases of a table are photographs: it names their files, or ratios that are measured on them."""
    return manifest.photographs is not None or manifest.drawing is not None


def measured_values(measurement: Measurement, manifest: Manifest) -> dict[str, float]:
    """What was measured of the inputs a run sees, by variable; what is not in it has to be entered by hand."""
    negative, positive = measurement.logits
    scores = manifest.layout.scores
    values = {scores[0]: negative, scores[1]: positive} if len(scores) == 2 else {scores[0]: positive - negative}
    row = measurement.row()
    found = {each.column: row[each.column] for each in manifest.inputs if each.column in row}
    return values | {name: float(value) for name, value in found.items() if value != ""}


def not_measured(case: Cohort, values: Mapping[str, float]) -> list[str]:
    """The inputs that nobody has measured, in the order of the state."""
    return [name for name in case.layout.measured if name not in values]


def case_of(
    typical: Cohort, values: Mapping[str, float], measurement: Measurement, available: Bools, cohort: str
) -> Cohort:
    """The case with these inputs, roster, [M], and cohort; what is drawn and not routed on is the photograph's too."""
    made = case_controls.with_values(typical, values, available, cohort)
    row = measurement.row()
    drawn = [[float(row[name]) if row.get(name, "") != "" else np.nan for name in typical.manifest.drawn]]
    return replace(made, drawn=np.array(drawn, float).reshape(1, -1))
