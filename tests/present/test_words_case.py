"""The story of a case says what its numbers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from any_table import Shape, made_up
from strategies import TASK

from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation import explain
from mpd2.present.words import case as words
from mpd2.training.anatomy import fit_anatomy

REASON = "Of 100 such cases 41 are glaucoma."


def edited(train: Cohort, **values: float) -> Cohort:
    case = explain.typical_case(train)
    return explain.copies_with(case, explain.changed(case, values)[None])


def test_agreement_and_contradiction_of_ai_and_anatomy_are_told(train: Cohort) -> None:
    anatomy = fit_anatomy(train)
    agreed = edited(train, logit_0=-3.0, logit_1=3.0, vCDR=0.85, aCDR=0.65)
    against = edited(train, logit_0=-3.0, logit_1=3.0, vCDR=0.3, aCDR=0.2)
    stories = [words.story(case, REASON, train, anatomy) for case in (agreed, against)]
    assert "says glaucoma and is sure (probability of glaucoma over 0.99)" in stories[0]
    assert "vertical CDR and area CDR agree" in stories[0]
    assert "vertical CDR and area CDR speak against it" in stories[1]


@pytest.mark.parametrize(("margin", "manner"), [(3.0, "and is sure"), (1.5, "and is fairly sure"), (0.2, "but wavers")])
def test_how_sure_the_ai_is_follows_its_probability(train: Cohort, margin: float, manner: str) -> None:
    case = edited(train, logit_0=margin, logit_1=0.0)
    assert f"The AI says healthy {manner}" in words.story(case, REASON, train, fit_anatomy(train))


def test_a_photograph_unlike_any_is_far_and_a_poor_one_is_poor(train: Cohort) -> None:
    case = edited(train, vim_risk_z=1e3, quality_risk=1.0)
    stories = words.story(case, REASON, train, fit_anatomy(train))
    assert "far from what the AI was trained on, farther than 100\N{NO-BREAK SPACE}%" in stories
    assert "poorer than 100\N{NO-BREAK SPACE}%" in stories
    near = words.story(edited(train, vim_risk_z=-9.0), REASON, train, fit_anatomy(train))
    assert "close to what the AI was trained on, farther than 0\N{NO-BREAK SPACE}%" in near


def test_the_story_ends_with_the_reason_of_the_model_that_decides(train: Cohort) -> None:
    assert words.story(explain.typical_case(train), REASON, train, fit_anatomy(train)).endswith(REASON)


ACTIONS = pd.DataFrame({"who": ["AI", "Anna"], "chosen": [True, False]})


def test_the_headline_says_whom_to_ask_or_the_answer_and_where_it_is_not_the_ais(train: Cohort) -> None:
    case = edited(train, logit_0=-3.0, logit_1=3.0)  # the AI says glaucoma
    kept, asked = (Decisions(np.array([[reader]]), np.array([1])) for reader in (NOBODY, 0))
    assert words.headline(case, ACTIONS, kept) == "Keep it: glaucoma"
    other = Decisions(np.array([[NOBODY]]), np.array([0]))
    assert words.headline(case, ACTIONS, other) == "Keep it: healthy, against the AI's answer"
    assert words.headline(case, ACTIONS.assign(chosen=[False, True]), asked) == "Ask Anna"


def test_a_cup_almost_as_high_as_the_disc_but_of_small_area_is_doubted(train: Cohort) -> None:
    case = replace(edited(train, vCDR=0.92, aCDR=0.22), drawn=np.array([[0.8]]))
    assert words.doubtful_segmentation(case, train)
    usual = [words.doubtful_segmentation(train.rows(np.array([row])), train) for row in range(0, 200, 10)]
    assert sum(usual) <= 1


def test_without_a_width_nothing_is_doubted(train: Cohort) -> None:
    widthless = replace(train, drawn=np.full((len(train), 1), np.nan))
    assert not words.doubtful_segmentation(explain.typical_case(train), train)
    assert not words.doubtful_segmentation(train.rows(np.array([0])), widthless)


READERS = pd.DataFrame({
    "action": ["ai", "a", "b"], "who": ["AI", "Anna", "Ben"], "share": [0.1, 0.6, 0.3],
    "expected_cost": [0.5, 0.21, 0.24], "fee": [0.0, 0.18, 0.1], "wrong": [0.3, 0.09, 0.12], "says": [1.0, 0.37, 0.4],
    "if_positive": [0.4, 0.85, 0.8], "if_negative": [0.1, 0.04, 0.05],
    "chosen": [False, True, False], "runner_up": [False, False, True],
})  # fmt: skip


def test_the_reader_is_weighed_against_the_next_in_line() -> None:
    told = words.why_this_reader(READERS, TASK)
    assert told.startswith("Why Anna and not Ben: expected cost if asked first: Anna 0.21, of it 0.18 as fee")
    assert "wrong in 9 of 100 such cases; Ben 0.24, of it 0.10 as fee, wrong in 12 of 100" in told
    assert told.endswith("Anna says glaucoma of 37; 85 in 100 of those have glaucoma, and 4 in 100 of the others.")
    assert "all the same" not in told


def test_a_run_that_prefers_a_dearer_reader_is_told_to() -> None:
    told = words.why_this_reader(READERS.assign(expected_cost=[0.5, 0.27, 0.24]), TASK)
    assert "The run prefers Anna all the same, with 60\N{NO-BREAK SPACE}% of its decision against 30" in told


def test_without_another_reader_nobody_is_weighed_and_a_kept_case_has_no_reader_to_tell_of() -> None:
    assert "no other reader can be asked" in words.why_this_reader(READERS.assign(runner_up=False), TASK)
    assert words.why_this_reader(READERS.assign(chosen=[True, False, False]), TASK) == ""


def test_who_decided_is_told_with_both_probabilities_where_the_ai_is_overruled(train: Cohort) -> None:
    case, costs = edited(train, logit_0=-1.0, logit_1=1.0), train.manifest.default_costs()  # the AI says glaucoma
    names = [reader.name for reader in train.manifest.readers]

    def told(readers: list[int], label: int) -> str:
        return words.who_decided(case, Decisions(np.array([readers]), np.array([label])), 0.12, costs)

    assert told([NOBODY], 1).startswith("The AI's own word decides, with nobody asked: its probability of glaucoma is")
    against = told([NOBODY], 0)
    assert "The recalibrated rule decides against the AI, with nobody asked" in against
    assert "at 0.12, the AI at 0.88, and the rule says glaucoma from 0.43 on" in against
    assert told([0, NOBODY], 0) == f"A reader decides: {names[0]}."
    assert told([0, 2], 1) == f"Readers decide: {names[0]} and {names[2]}."


def test_a_measurement_that_may_be_missing_is_named_once_and_where_it_is_missing_not_at_all() -> None:
    cohort = made_up(Shape(roles=("structure", "structure"), missing=(True, False)))
    train, column = cohort.subset(split="train"), cohort.layout.position("x0")
    there, gone = (int(np.flatnonzero(train.absent[:, column] == absent)[0]) for absent in (False, True))
    told = [words.story(train.rows(np.array([row])), REASON, train, fit_anatomy(train)) for row in (there, gone)]
    assert "; x0 and x1 " in told[0]
    assert "; x1 " in told[1]
    assert "missing" not in told[0] + told[1]
