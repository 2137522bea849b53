"""The posterior: what it learns, and how its calibration is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.evaluation.calibration import OVERALL, calibration_errors, reliability_curve
from mpd2.methods.plus.posterior import fit_posterior, fit_scaler, predict_posterior


@pytest.fixture(scope="module")
def learned(benchmark: Cohort) -> tuple[np.ndarray, Cohort]:
    """P(glaucoma) of the val cases, learned from train, and these cases."""
    train, val = benchmark.subset(split="train"), benchmark.subset(split="val")
    scaler = fit_scaler(train)
    coefficients = fit_posterior(train, scaler, np.ones((len(train), 1)))
    return predict_posterior(coefficients, scaler, val), val


def test_on_val_it_is_calibrated_about_as_well_as_chance_allows(learned: tuple[np.ndarray, Cohort]) -> None:
    rows = calibration_errors(*learned).set_index("cohort")
    assert rows.index.tolist() == [OVERALL, "refuge", "chaksu", "origa"]
    assert rows.loc[OVERALL, "n"] == 885
    assert (rows["ece"] < 2.5 * rows["by_chance"] + 0.02).all()


def test_on_val_it_knows_more_than_the_ai_that_it_rests_on(learned: tuple[np.ndarray, Cohort]) -> None:
    probability, val = learned
    ours, theirs = (calibration_errors(p, val).set_index("cohort") for p in (probability, val.ai_probability))
    assert (ours["log_loss"] < theirs["log_loss"]).all()
    assert (ours["ece"] < theirs["ece"]).all()


def test_the_mean_of_several_models_is_the_mean_of_their_probabilities(benchmark: Cohort) -> None:
    train = benchmark.subset(split="train")
    scaler = fit_scaler(train)
    weights = np.random.default_rng(0).integers(0, 3, (len(train), 2)).astype(float)
    coefficients = fit_posterior(train, scaler, weights)
    alone = [predict_posterior(one[None], scaler, train) for one in coefficients]
    assert predict_posterior(coefficients, scaler, train) == pytest.approx(np.mean(alone, axis=0))


def test_a_perfect_probability_has_no_error_beyond_chance(benchmark: Cohort) -> None:
    random = np.random.default_rng(0)
    probability = random.random(len(benchmark))
    cohort = replace(benchmark, truth=(random.random(len(benchmark)) < probability).astype(int))
    row = calibration_errors(probability, cohort).iloc[0]
    assert row["ece"] == pytest.approx(row["by_chance"], abs=0.01)
    curve = reliability_curve(probability, cohort).query("cohort == @OVERALL")
    assert curve["n"].sum() == len(cohort)
    assert ((curve["low"] < curve["observed"]) & (curve["observed"] < curve["high"])).all()
    assert ((curve["low"] <= curve["predicted"]) & (curve["predicted"] <= curve["high"])).mean() >= 0.7
    assert curve["predicted"].is_monotonic_increasing


def test_fewer_cases_than_bins_make_fewer_bins(small_cohort: Cohort) -> None:
    few = small_cohort.rows(np.arange(3))
    assert reliability_curve(np.array([0.1, 0.5, 0.9]), few).query("cohort == @OVERALL")["n"].tolist() == [1, 1, 1]


def test_calibration_without_truth_is_refused(small_cohort: Cohort) -> None:
    blind = replace(small_cohort, truth=np.full(len(small_cohort), UNKNOWN))
    with pytest.raises(UserError, match="whose truth is known"):
        calibration_errors(blind.ai_probability, blind)


def test_nothing_is_learned_from_no_case(small_cohort: Cohort) -> None:
    with pytest.raises(EmptyCohort):
        fit_scaler(small_cohort.rows(np.array([], int)))


def test_a_cohort_with_its_own_part_is_told_better_and_a_new_one_by_what_all_share(benchmark: Cohort) -> None:
    train, val = benchmark.subset(split="train"), benchmark.subset(split="val")
    losses = {}
    for by_cohort in (True, False):
        scaler = fit_scaler(train, by_cohort)
        coefficients = fit_posterior(train, scaler, np.ones((len(train), 1)))
        losses[by_cohort] = calibration_errors(predict_posterior(coefficients, scaler, val), val)["log_loss"].iloc[0]
        if by_cohort:
            entries = tuple(entry.model_copy(update={"key": f"new {entry.key}"}) for entry in val.manifest.cohorts)
            moved = replace(val, manifest=val.manifest.model_copy(update={"cohorts": entries}))
            shared = replace(scaler, cohorts=())
            common = coefficients[:, -28:]
            new = predict_posterior(coefficients, scaler, moved)
            np.testing.assert_allclose(new, predict_posterior(common, shared, val))
    assert losses[True] < losses[False]
