"""The sentence and the numbers say what the tables say, whichever way they fall."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from places import DATA

from mpd2.core.manifest import load_manifest
from mpd2.present.words.answer import best_other, errors, headline, in_words, key_numbers, rival
from mpd2.study.tables import StudyTables

LEVELS = {
    "ai": {"Defer": 0.0, "ClinicalCost": 0.4, "TotalCost": 0.4, "Sens": 0.93, "Spec": 0.72, "Top1": np.nan},
    "studio": {"Defer": 0.3, "ClinicalCost": 0.1, "TotalCost": 0.2, "Sens": 0.85, "Spec": 0.96, "Top1": 0.3},
    "mao": {"Defer": 0.4, "ClinicalCost": 0.12, "TotalCost": 0.25, "Sens": 0.8, "Spec": 0.97, "Top1": 0.5},
    "oracle": {"Defer": 0.2, "ClinicalCost": 0.0, "TotalCost": 0.04, "Sens": 1.0, "Spec": 1.0, "Top1": 0.1},
}
TITLES = {"ai": "AI only", "studio": "MPD² (studio)", "mao": "Mao two-stage", "oracle": "Oracle"}


def study(run: str = "studio", half: float = 0.01, **changed: Mapping[str, float]) -> StudyTables:
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
    return StudyTables(tables, load_manifest(DATA / "manifest.toml"))


def test_the_sentence_has_share_costs_difference_interval_and_n() -> None:
    assert headline(study(), "studio") == (
        "Sending 30.0\xa0% of cases to a reader lowers total cost from 0.400 to 0.200 per case, fees included "
        "(difference −0.200, 95\xa0% interval −0.210 to −0.190, n = 899)."
    )


@pytest.mark.parametrize(
    ("total", "half", "does"),
    [
        (0.2, 0.01, "lowers total cost from 0.400 to 0.200 per case"),
        (0.5, 0.01, "raises total cost from 0.400 to 0.500 per case"),
        (0.39, 0.1, "does not clearly change total cost, from 0.400 to 0.390 per case"),
        (0.41, 0.1, "does not clearly change total cost, from 0.400 to 0.410 per case"),
    ],
)
def test_the_sentence_tells_which_way_total_cost_goes(total: float, half: float, does: str) -> None:
    text = headline(study(half=half, studio={"TotalCost": total}), "studio")
    assert does in text
    assert "pay" not in text  # which total cost alone cannot tell


@pytest.mark.parametrize(
    ("own", "half", "words"),
    [
        (0.30, 0.01, "is cheaper still (difference −0.050, 95\xa0% interval −0.060 to −0.040)"),
        (0.20, 0.01, "costs more (difference +0.050, 95\xa0% interval +0.040 to +0.060)"),
        (0.24, 0.02, "does not clearly differ (difference +0.010, 95\xa0% interval −0.010 to +0.030)"),
    ],
)
def test_the_cheapest_other_method_is_never_kept_quiet(own: float, half: float, words: str) -> None:
    text = rival(study(half=half, studio={"TotalCost": own}), "studio")
    assert text == f"The cheapest other method, Mao two-stage, {words}."


def test_a_run_that_asks_nobody_is_told_by_its_own_cost() -> None:
    text = headline(study("ai"), "ai")
    assert text.startswith("No case is sent to a reader")
    assert "0.400 per case (95\xa0% interval 0.390 to 0.410, n = 899)" in text
    assert errors(study("ai"), "ai") == ""


def test_the_oracle_is_never_praised_without_saying_what_it_knows() -> None:
    assert headline(study("oracle"), "oracle").startswith("With the answers in hand, which no clinic has, sending")


def test_a_gain_in_one_kind_of_error_does_not_hide_a_loss_in_the_other() -> None:
    text = errors(study(), "studio")
    assert "fewer false alarms (specificity 72.0\xa0% → 96.0\xa0%) but more glaucomas are missed" in text
    assert " and fewer glaucomas" in errors(study(studio={"Sens": 0.99}), "studio")
    assert "glaucoma" not in errors(study(half=0.1), "studio")


def test_the_best_other_is_deployable_and_not_the_run_itself() -> None:
    assert best_other(study(), "studio") == "mao"
    assert best_other(study("mao"), "mao") == "studio"


def test_every_number_has_its_interval_and_differences_to_the_ai_and_the_best_other() -> None:
    sensitivity, specificity, sent, total, busiest = key_numbers(study(), "studio")
    assert (total.value, total.span) == ("0.200", "0.190 to 0.210")
    assert [(apart.against, apart.change, apart.span, apart.sense) for apart in total.differences] == [
        ("AI only", "−0.200", "−0.210 to −0.190", "better"),
        ("Mao two-stage", "−0.050", "−0.060 to −0.040", "better"),
    ]
    assert [apart.sense for apart in specificity.differences] == ["better", "worse"]
    assert [apart.sense for apart in sensitivity.differences] == ["worse", "better"]
    assert sensitivity.differences[0].change == "−8.0 points"
    assert [apart.sense for apart in sent.differences] == ["", ""]
    assert [apart.against for apart in busiest.differences] == ["Mao two-stage"]
    assert busiest.differences[0].span == "−22.0 to −18.0"  # not paired: the two intervals add up


def test_a_difference_whose_interval_holds_0_is_within_chance() -> None:
    sensitivity, *_ = key_numbers(study(half=0.3), "studio")
    assert {apart.sense for apart in sensitivity.differences} == {"within chance"}


def test_the_ai_is_not_compared_with_itself() -> None:
    *_, busiest = numbers = key_numbers(study("ai"), "ai")
    assert [apart.against for apart in numbers[0].differences] == ["MPD² (studio)"]
    assert (busiest.value, busiest.span, busiest.differences) == ("–", "", ())


def test_words_that_name_no_metric_stay() -> None:
    assert in_words("Without Rank-JS: F1 +0.01, DeferSoft -0.2") == "Without Rank-JS: F1 +0.01, soft deferral −0.2"
