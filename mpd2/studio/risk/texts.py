"""The words of the Risk page."""

from __future__ import annotations

from mpd2.core.manifest import Manifest
from mpd2.core.text import listed
from mpd2.evaluation.curves import risk_signals

SIGNALS = {"reliability": "AI reliability risk", "structural": "Structural risk"}


def signals(manifest: Manifest) -> dict[str, str]:
    """What each way to call a case hard ranks cases by, in a sentence."""
    layout, means = manifest.layout, risk_signals(manifest.layout)
    names = {name: listed([layout.titles[variable] for variable in means[name]]) for name in SIGNALS if name in means}
    told = {
        "reliability": "How little the AI can be trusted: mean rank of {names}.",
        "structural": f"How much it looks like {manifest.task.positive}: mean rank of {{names}}.",
    }
    return {name: told[name].format(names=each) for name, each in names.items()}


STRATA = "Cases are ranked from easy to hard and cut into this many groups of equal size."
BANDS = "In 95 % of up to 2,000 resamples of the cases, drawn within each cohort, the cost lies inside the band."
METHODS = "The mean available reader is the average over all readers who have read a case."
NOTE = (
    "{signal} All strata have the same number of cases. Clinical cost counts wrong final answers, not fees: a missed "
    "positive costs {missed:g}, a false alarm {alarm:g}. Green diamonds: the active run; orange squares: the AI alone; "
    "blue triangles: the mean available reader. Click a point to list its cases."
)
ALT = "Clinical cost of {methods} methods in {strata} strata of risk. {words}"
