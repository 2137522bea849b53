"""MPD²+ taken apart: the figures of every variant, and what they count."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_problem

from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.metrics import evaluate
from mpd2.methods.plus.method import Plus
from mpd2.study.analyses.plus_ablation import (
    MEASURES,
    OVERRULED,
    RELABELLED,
    VARIANTS,
    estimates_of,
    overruled,
    variants,
    weighed,
)

COHORT = toy_problem(600).cohort
COSTS = COHORT.manifest.default_costs()
RUN = Plus(draws=2).fit(COHORT, COSTS, (42, 43))


def test_the_parts_are_weighed_on_val_and_only_operating_points_are_read_on_test() -> None:
    rows = variants(RUN, COHORT, COSTS)
    assert set(rows.query("split == 'test'")["title"]) == {"MPD²+", "MPD²+, thorough"}
    assert set(rows.query("split == 'val'")["title"]) == {variant.title for variant in VARIANTS.values()}
    assert rows.groupby("method")["metric"].apply(tuple).map(lambda told: told == MEASURES).all()


def test_the_figures_are_those_of_the_decisions_under_the_costs_as_they_are() -> None:
    val = COHORT.subset(split="val")
    rows = variants(RUN, COHORT, COSTS).query("method == 'thorough-val'").set_index("metric")
    made = VARIANTS["thorough"].decide(RUN, val, COSTS)
    counted = evaluate(val, made, COSTS)
    for metric in ("TotalCost", "ExpertCost", "Consults", "MCC"):
        assert rows.loc[metric, "value"] == pytest.approx(counted[metric].mean())
        assert rows.loc[metric, "low"] <= rows.loc[metric, "value"] <= rows.loc[metric, "high"]


def test_whoever_is_thorough_asks_more() -> None:
    val = COHORT.subset(split="val")
    asked = [(VARIANTS[name].decide(RUN, val, COSTS).consulted != NOBODY).mean() for name in ("full", "thorough")]
    assert asked[0] < asked[1]


def test_a_reader_is_overruled_where_the_label_is_not_that_readers_word() -> None:
    cases = COHORT.rows(np.flatnonzero(COHORT.available.all(1))[:4])
    first, second = cases.decisions[:, 0], cases.decisions[:, 1]
    consulted = np.array([[0, NOBODY], [0, NOBODY], [0, 1], [NOBODY, NOBODY]])
    label = np.array([first[0], 1 - first[1], second[2], 1 - cases.ai_label[3]])
    made = Decisions(consulted[None], label[None])
    sent, against = overruled(made, cases)
    assert sent.tolist() == [[True, True, True, False]]
    assert against.tolist() == [[False, True, bool(first[2] != second[2]), False]]
    measures = dict(zip(MEASURES, estimates_of(made, cases, COSTS, np.ones((3, 4)))["value"], strict=True))
    assert measures[OVERRULED] == pytest.approx(against.sum() / 3)
    assert measures[RELABELLED] == 1.0


def test_errors_weigh_more_and_fees_what_they_did() -> None:
    heavy = weighed(COSTS, 2.0)
    assert heavy.false_negative == 2 * COSTS.false_negative
    assert heavy.fees == COSTS.fees
    assert heavy.false_positive == 2 * COSTS.false_positive
