"""What all charts share: names of metrics, and how a method is drawn wherever it appears."""

from __future__ import annotations

import altair as alt

from mpd2.present.charts.kit.theme import AI, OTHER, READER, ROUTER, Mark

Figure = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart

METRIC_NAMES = {
    "Acc": "accuracy",
    "Prec": "precision",
    "F1": "F1",
    "Sens": "sensitivity",
    "Spec": "specificity",
    "MCC": "MCC",
    "Defer": "share deferred",
    "Consults": "readings a case",
    "ClinicalCost": "clinical cost",
    "ExpertCost": "expert cost",
    "TotalCost": "total cost",
    "Routed": "cases sent",
    "Top1": "busiest reader's share",
    "Top2": "two busiest readers' share",
    "EntropyCollapse": "entropy collapse",
    "NEff": "effective readers",
    "Gini": "Gini index",
    "Share": "share kept by the AI",
    "DeferSoft": "soft deferral",
    "DeferHard": "hard deferral",
    "HHI": "concentration (HHI)",
    "LoadCV": "unevenness (CV)",
    "DeadFrac": "idle readers",
    "EffExp": "effective readers, soft",
    "Entropy": "evenness (entropy)",
    "Target": "target",
    "GapSoft": "soft deferral less target",
    "GapHard": "hard deferral less target",
}
"""Every metric in words, as in a sentence."""


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
