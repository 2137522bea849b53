"""What all charts share: names of metrics, and how a method is drawn wherever it appears."""

from __future__ import annotations

import altair as alt

from mpd2.theme import AI, OTHER, READER, ROUTER, Mark

Figure = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart

METRIC_NAMES = {
    "TotalCost": "total cost",
    "Defer": "share deferred",
    "ClinicalCost": "clinical cost",
    "ExpertCost": "expert cost",
    "F1": "F1",
    "MCC": "MCC",
}


def mark_of(method: str, active: str) -> Mark:
    """How a method is drawn wherever it appears."""
    if method == active:
        return ROUTER
    return {"ai": AI, "mean-reader": READER}.get(method, OTHER)


def method_scales(methods: list[str], active: str) -> tuple[alt.Scale, alt.Scale]:
    """Colour and shape of every method, the same in all charts."""
    marks = [mark_of(method, active) for method in methods]
    colour = alt.Scale(domain=methods, range=[mark.colour for mark in marks])
    shape = alt.Scale(domain=methods, range=[mark.shape for mark in marks])
    return colour, shape
