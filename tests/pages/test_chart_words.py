"""What a chart's alternative text says it shows is what the chart shows."""

import json
import re

import pytest

from mpd2.evaluation.metrics import METRICS

LABELS = {
    METRICS[name].label.lower() for name in ("TotalCost", "ClinicalCost", "ExpertCost", "F1", "MCC", "Sens", "Spec")
}
PAGES = [
    ("overview", {}),
    ("risk", {}),
    ("robustness", {"resplit_metric": "MCC"}),
    ("robustness", {"robustness_topic": "unseen", "new_cohort": "origa"}),
    ("about", {"part": "reproduction"}),
    ("ablations", {}),
    ("ablations", {"study": "budget"}),
    ("case", {}),
    ("budget", {}),
    ("readers", {}),
    ("readers", {"readers_topic": "workload"}),
    ("readers", {"readers_topic": "agreement"}),
]
SAME = {"κ": "kappa", "glaucoma": ""}


def words(text: str) -> set[str]:
    """The words that say what something is about, without their endings."""
    for sign, name in SAME.items():
        text = text.replace(sign, name)
    return {word[:6] for word in re.findall(r"[A-Za-z][\w²]{3,}|F1|AI", text)}


def named(spec: dict) -> str:
    """All titles of a chart: its own, and those of axes and legends."""

    def titles(part: object) -> list[str]:
        if isinstance(part, list):
            return [title for each in part for title in titles(each)]
        if not isinstance(part, dict):
            return []
        own = part.get("title")
        found = [own] if isinstance(own, str) else [own["text"]] if isinstance(own, dict) and "text" in own else []
        return found + [title for name, each in part.items() if name != "tooltip" for title in titles(each)]

    return " ".join(titles(spec))


@pytest.mark.parametrize(("key", "query"), PAGES, ids=lambda part: part if isinstance(part, str) else "")
def test_the_alternative_text_names_what_the_chart_measures(open_page, key, query):
    page = open_page(key, **query)
    charts = page.get("vega_lite_chart")
    assert charts
    for chart in charts:
        spec, alt = json.loads(chart.proto.spec), chart.proto.alt
        shown = named(spec)
        if shown:
            assert words(shown.lower()) & words(alt.lower()), (shown, alt)
        for label in LABELS:
            whole = re.compile(rf"\b{re.escape(label)}\b")
            if whole.search(shown.lower()):
                assert whole.search(alt.lower()), (label, alt)
            if whole.search(alt.lower()):
                assert whole.search(chart.proto.spec.lower()), (label, shown)
