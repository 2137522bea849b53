"""The sentence and the numbers say what the tables say, whichever way they fall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from places import DATA

from mpd2.core.manifest import load_manifest
from mpd2.present.words.answer import best_other, errors, headline, in_words, key_numbers
from mpd2.study.tables import StudyTables

LEVELS = {
    "ai": {"Defer": 0.0, "ClinicalCost": 0.4, "TotalCost": 0.4, "Sens": 0.93, "Spec": 0.72, "Top1": np.nan},
    "studio": {"Defer": 0.3, "ClinicalCost": 0.1, "TotalCost": 0.2, "Sens": 0.85, "Spec": 0.96, "Top1": 0.3},
    "mao": {"Defer": 0.4, "ClinicalCost": 0.12, "TotalCost": 0.25, "Sens": 0.8, "Spec": 0.97, "Top1": 0.5},
    "oracle": {"Defer": 0.2, "ClinicalCost": 0.0, "TotalCost": 0.04, "Sens": 1.0, "Spec": 1.0, "Top1": 0.1},
}
TITLES = {"ai": "AI only", "studio": "MPD² (studio)", "mao": "Mao two-stage", "oracle": "Oracle"}


def figures(run: str = "studio", half: float = 0.01, **changed: Mapping[str, float]) -> StudyTables:
    """Tables of four methods on 899 cases; every interval reaches `half` to either side."""
    levels = {name: {**values, **changed.get(name, {})} for name, values in LEVELS.items()}

    def row(name: str, metric: str, value: float, column: str) -> dict[str, object]:
        ends = {"low": value - half, "high": value + half}
        return {"method": name, "title": TITLES[name], "metric": metric, column: value, "n": 899} | ends

    flat = [(name, metric, value) for name, values in levels.items() for metric, value in values.items()]
    apart = [(name, metric, value - levels[run][metric]) for name, metric, value in flat if name != run]
    tables = {
        "overall": pd.DataFrame([row(*cell, "value") for cell in flat if cell[1] != "Top1"]),
        "collapse": pd.DataFrame([row(*cell, "value") for cell in flat if cell[1] == "Top1"]),
        "paired": pd.DataFrame([row(*cell, "difference") for cell in apart]).assign(reference=run),
    }
    return StudyTables(tables, load_manifest(DATA / "glaucoma.toml"))


def test_the_sentence_has_share_costs_difference_interval_and_n() -> None:
    text = headline(figures(), "studio")
    assert text.startswith("Sending 30.0\xa0% of cases to a reader cuts clinical cost from 0.400 to 0.100 (difference ")
    assert "−0.300, 95\xa0% interval −0.310 to −0.290, n = 899" in text
    assert text.endswith("total cost goes from 0.400 to 0.200 (−0.200, −0.210 to −0.190): it pays.")


@pytest.mark.parametrize(
    ("clinical", "total", "half", "does", "pays"),
    [
        (0.1, 0.5, 0.01, "cuts clinical cost from", "it does not pay"),
        (0.5, 0.6, 0.01, "raises clinical cost from", "it does not pay"),
        (0.39, 0.41, 0.1, "does not clearly change clinical cost, from", "too close to call"),
        (0.1, 0.39, 0.1, "cuts clinical cost from", "too close to call"),
    ],
)
def test_the_sentence_is_honest_when_it_does_not_pay(
    clinical: float, total: float, half: float, does: str, pays: str
) -> None:
    text = headline(figures(half=half, studio={"ClinicalCost": clinical, "TotalCost": total}), "studio")
    assert does in text
    assert text.endswith(f": {pays}.")


def test_a_run_that_asks_nobody_is_told_by_its_own_cost() -> None:
    text = headline(figures("ai"), "ai")
    assert text.startswith("No case is sent to a reader")
    assert "0.400 (95\xa0% interval 0.390 to 0.410, n = 899)" in text
    assert errors(figures("ai"), "ai") == ""


def test_the_oracle_is_never_praised_without_saying_what_it_knows() -> None:
    assert headline(figures("oracle"), "oracle").startswith("With the answers in hand, which no clinic has, sending")


def test_a_gain_in_one_kind_of_error_does_not_hide_a_loss_in_the_other() -> None:
    text = errors(figures(), "studio")
    assert "fewer false alarms (specificity from 72.0\xa0% to 96.0\xa0%) but more glaucomas are missed" in text
    assert " and fewer glaucomas" in errors(figures(studio={"Sens": 0.99}), "studio")
    assert "glaucomas" not in errors(figures(half=0.1), "studio")


def test_the_best_other_is_deployable_and_not_the_run_itself() -> None:
    assert best_other(figures(), "studio") == "mao"
    assert best_other(figures("mao"), "mao") == "studio"


def test_every_number_has_its_interval_and_differences_to_the_ai_and_the_best_other() -> None:
    total, clinical, sensitivity, deferred, busiest = key_numbers(figures(), "studio")
    assert (total.value, total.span) == ("0.200", "0.190 to 0.210")
    assert [(apart.against, apart.change, apart.span, apart.sense) for apart in total.differences] == [
        ("AI only", "−0.200", "−0.210 to −0.190", "better"),
        ("Mao two-stage", "−0.050", "−0.060 to −0.040", "better"),
    ]
    assert clinical.differences[0].sense == "better"
    assert [apart.sense for apart in sensitivity.differences] == ["worse", "better"]
    assert sensitivity.differences[0].change == "−8.0 points"
    assert [apart.sense for apart in deferred.differences] == ["", ""]
    assert [apart.against for apart in busiest.differences] == ["Mao two-stage"]
    assert busiest.differences[0].span == "−22.0 to −18.0"  # not paired: the two intervals add up


def test_a_difference_whose_interval_holds_0_is_within_chance() -> None:
    total, *_ = key_numbers(figures(half=0.3), "studio")
    assert {apart.sense for apart in total.differences} == {"within chance"}


def test_the_ai_is_not_compared_with_itself() -> None:
    *_, busiest = numbers = key_numbers(figures("ai"), "ai")
    assert [apart.against for apart in numbers[0].differences] == ["MPD² (studio)"]
    assert (busiest.value, busiest.span, busiest.differences) == ("–", "", ())


def test_words_that_name_no_metric_stay() -> None:
    assert in_words("Without Rank-JS: F1 +0.01, DeferSoft -0.2") == "Without Rank-JS: F1 +0.01, soft deferral −0.2"
