"""The words of the Risk page."""

from __future__ import annotations

SIGNALS = {"reliability": "AI reliability risk", "structural": "Structural risk"}
STRATA = "Cases are ranked from easy to hard and cut into this many groups of equal size."
BANDS = "In 95 % of 2,000 resamples of the cases, drawn within each cohort, the cost lies inside the band."
METHODS = "The mean available reader is the average over all readers who have read a case."
NOTE = (
    "{signal} All strata have the same number of cases. Clinical cost counts wrong final answers, not fees: a missed "
    "glaucoma costs {missed:g}, a false alarm {alarm:g}. Green diamonds: the active run; orange squares: the AI alone; "
    "blue triangles: the mean available reader. Click a point to list its cases."
)
ALT = "Clinical cost of {methods} methods in {strata} strata of risk. {words}"
