"""The story of a case says what its figures say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.evaluation import explain
from mpd2.present.words import case as narrative
from mpd2.training.anatomy import fit_anatomy


def edited(train: Cohort, **values: float) -> Cohort:
    case = explain.typical_case(train)
    return explain.variants(case, explain.changed(case.state[0], values)[None])


def actions(reader_cost: float, chosen: str, there: bool = True) -> pd.DataFrame:
    return pd.DataFrame({
        "action": ["ai", "reader"], "who": ["AI", "Reader"], "wrong": [0.3, 0.05], "fee": [0.0, 0.2],
        "expected_cost": [0.5, reader_cost], "available": [True, there], "chosen": [chosen == "ai", chosen != "ai"],
    })  # fmt: skip


def test_agreement_and_contradiction_of_ai_and_anatomy_are_told(train: Cohort) -> None:
    anatomy = fit_anatomy(train)
    agreed = edited(train, logit_0=-3.0, logit_1=3.0, vCDR=0.85, aCDR=0.65)
    against = edited(train, logit_0=-3.0, logit_1=3.0, vCDR=0.3, aCDR=0.2)
    told = [narrative.story(case, actions(0.3, "reader"), train, anatomy) for case in (agreed, against)]
    assert "says glaucoma and is sure (probability of glaucoma over 0.99); the cup-to-disc ratios agree" in told[0]
    assert "the cup-to-disc ratios speak against it" in told[1]


@pytest.mark.parametrize(("margin", "manner"), [(3.0, "and is sure"), (1.5, "and is fairly sure"), (0.2, "but wavers")])
def test_how_sure_the_ai_is_follows_its_probability(train: Cohort, margin: float, manner: str) -> None:
    case = edited(train, logit_0=margin, logit_1=0.0)
    assert f"The AI says healthy {manner}" in narrative.story(case, actions(0.3, "ai"), train, fit_anatomy(train))


def test_a_photograph_unlike_any_is_far_and_a_poor_one_is_poor(train: Cohort) -> None:
    case = edited(train, vim_risk_z=1e3, quality_risk=1.0)
    told = narrative.story(case, actions(0.3, "reader"), train, fit_anatomy(train))
    assert "far from what the AI was trained on, farther than 100\N{NO-BREAK SPACE}%" in told
    assert "poorer than 100\N{NO-BREAK SPACE}%" in told
    near = narrative.story(edited(train, vim_risk_z=-9.0), actions(0.3, "reader"), train, fit_anatomy(train))
    assert "close to what the AI was trained on, farther than 0\N{NO-BREAK SPACE}%" in near


@pytest.mark.parametrize(
    ("table", "ending"),
    [
        (actions(0.3, "reader"), "the AI in 30 of 100: a reading is worth the fee of 0.20."),
        (actions(0.6, "reader"), "a reading is not worth the fee of 0.20 by this estimate, yet one is asked for."),
        (actions(0.3, "ai"), "a reading is worth the fee of 0.20, yet the case stays with the AI."),
        (actions(0.6, "ai"), "a reading is not worth the fee of 0.20 by this estimate."),
        (actions(0.3, "ai", there=False), "the AI is expected to be wrong in 30 of 100 such cases."),
    ],
)  # fmt: skip
def test_the_ending_weighs_a_reading_against_its_fee(train: Cohort, table: pd.DataFrame, ending: str) -> None:
    assert narrative.story(explain.typical_case(train), table, train, fit_anatomy(train)).endswith(ending)


def test_a_cup_almost_as_high_as_the_disc_but_of_small_area_is_doubted(train: Cohort) -> None:
    case = replace(edited(train, vCDR=0.92, aCDR=0.22), horizontal_cdr=np.array([0.8]))
    assert narrative.doubtful_segmentation(case, train)
    usual = [narrative.doubtful_segmentation(train.rows(np.array([row])), train) for row in range(0, 200, 10)]
    assert sum(usual) <= 1


def test_without_a_width_nothing_is_doubted(train: Cohort) -> None:
    widthless = replace(train, horizontal_cdr=np.full(len(train), np.nan))
    assert not narrative.doubtful_segmentation(explain.typical_case(train), train)
    assert not narrative.doubtful_segmentation(train.rows(np.array([0])), widthless)
