"""The posterior: what it learns, and how well it is calibrated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.errors import EmptyCohort
from mpd2.evaluation.clinical.calibration import of_truth, quality
from mpd2.methods.plus.posterior import fit_posterior, fit_scaler, predict_posterior


@pytest.fixture(scope="module")
def learned(benchmark: Cohort) -> tuple[np.ndarray, Cohort]:
    """P(positive) of the val cases, learned from train, and these cases."""
    train, val = benchmark.subset(split="train"), benchmark.subset(split="val")
    scaler = fit_scaler(train)
    coefficients = fit_posterior(train, scaler, np.ones((len(train), 1)))
    return predict_posterior(coefficients, scaler, val), val


def told(probability: np.ndarray, cohort: Cohort) -> pd.DataFrame:
    """How good a probability of glaucoma is, for all cases and in each cohort."""
    strata = {"all": np.ones(len(cohort), bool)}
    strata |= {entry.key: cohort.sources == entry.key for entry in cohort.manifest.cohorts}
    parts = [
        quality([of_truth(key, key, probability[rows], cohort.rows(rows))], np.ones((1, rows.sum())))
        for key, rows in strata.items()
    ]
    return pd.concat(parts).set_index("name")


def test_on_val_it_is_calibrated_about_as_well_as_chance_allows(learned: tuple[np.ndarray, Cohort]) -> None:
    rows = told(*learned)
    assert rows.index.tolist() == ["all", "refuge", "chaksu", "origa"]
    assert rows.loc["all", "n"] == 885
    assert (rows["ece"] < 2.5 * rows["by_chance"] + 0.02).all()


def test_on_val_it_knows_more_than_the_ai_that_it_rests_on(learned: tuple[np.ndarray, Cohort]) -> None:
    probability, val = learned
    ours, theirs = (told(p, val) for p in (probability, val.ai_probability))
    assert (ours["log_loss"] < theirs["log_loss"]).all()
    assert (ours["ece"] < theirs["ece"]).all()


def test_the_mean_of_several_models_is_the_mean_of_their_probabilities(benchmark: Cohort) -> None:
    train = benchmark.subset(split="train")
    scaler = fit_scaler(train)
    weights = np.random.default_rng(0).integers(0, 3, (len(train), 2)).astype(float)
    coefficients = fit_posterior(train, scaler, weights)
    alone = [predict_posterior(one[None], scaler, train) for one in coefficients]
    assert predict_posterior(coefficients, scaler, train) == pytest.approx(np.mean(alone, axis=0))


def test_nothing_is_learned_from_no_case(small_cohort: Cohort) -> None:
    with pytest.raises(EmptyCohort):
        fit_scaler(small_cohort.rows(np.array([], int)))


def test_a_cohort_with_its_own_part_is_told_better_and_a_new_one_by_what_all_share(benchmark: Cohort) -> None:
    train, val = benchmark.subset(split="train"), benchmark.subset(split="val")
    losses = {}
    for by_cohort in (True, False):
        scaler = fit_scaler(train, by_cohort)
        coefficients = fit_posterior(train, scaler, np.ones((len(train), 1)))
        losses[by_cohort] = told(predict_posterior(coefficients, scaler, val), val).loc["all", "log_loss"]
        if by_cohort:
            entries = tuple(entry.model_copy(update={"key": f"new {entry.key}"}) for entry in val.manifest.cohorts)
            moved = replace(val, manifest=val.manifest.model_copy(update={"cohorts": entries}))
            shared = replace(scaler, cohorts=())
            common = coefficients[:, -28:]
            new = predict_posterior(coefficients, scaler, moved)
            np.testing.assert_allclose(new, predict_posterior(common, shared, val))
    assert losses[True] < losses[False]
