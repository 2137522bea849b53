"""Calibration: predicted against observed, of glaucoma and of what readers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.clinical.calibration import Forecast, of_readers, of_truth, quality, reliability
from mpd2.evaluation.intervals import resample_weights
from mpd2.methods.plus.method import Plus

CASES = 4000


def forecast(slope: float = 1.0, intercept: float = 0.0, cases: int = CASES, seed: int = 0) -> Forecast:
    """Probabilities and events whose log-odds are a line in those predicted."""
    random = np.random.default_rng(seed)
    odds = random.normal(-0.5, 1.5, cases)
    came = random.random(cases) < expit(slope * odds + intercept)
    return Forecast("made-up", "Made up", expit(odds), came, np.arange(cases))


def drawn(cases: int = CASES, resamples: int = 400) -> np.ndarray:
    random = np.random.default_rng(1)
    return random.multinomial(cases, np.full(cases, 1 / cases), resamples).astype(float)


def row_of(made: Forecast) -> dict[str, float]:
    (row,) = quality([made], drawn(len(made.came))).to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_a_perfect_probability_has_no_error_beyond_chance() -> None:
    row = row_of(forecast())
    assert row["ece"] == pytest.approx(row["by_chance"], abs=0.01)
    for name, perfect in (("slope", 1.0), ("intercept", 0.0), ("apart", 0.0)):
        assert row[f"{name}_low"] < perfect < row[f"{name}_high"]
    curve = reliability([forecast()])
    assert curve["n"].sum() == CASES
    assert ((curve["low"] < curve["observed"]) & (curve["observed"] < curve["high"])).all()
    assert ((curve["low"] <= curve["predicted"]) & (curve["predicted"] <= curve["high"])).mean() >= 0.8
    assert curve["predicted"].is_monotonic_increasing


@pytest.mark.parametrize(("slope", "intercept"), [(0.5, 0.0), (1.7, -0.6)])
def test_slope_and_intercept_are_those_by_which_it_was_distorted(slope: float, intercept: float) -> None:
    made = forecast(slope, intercept)
    row = row_of(made)
    assert row["slope_low"] < slope < row["slope_high"]
    assert row["intercept_low"] < intercept < row["intercept_high"]
    reference = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(made.probability)[:, None], made.came)
    assert row["slope"] == pytest.approx(reference.coef_.item(), abs=1e-4)
    assert row["intercept"] == pytest.approx(reference.intercept_.item(), abs=1e-4)
    assert row["ece"] > 2 * row["by_chance"]


def test_a_resamples_line_is_as_if_it_were_fitted_anew() -> None:
    made, weights = forecast(0.7, cases=600), drawn(600, 200)
    row = quality([made], weights).iloc[0]
    anew = [
        LogisticRegression(C=np.inf).fit(logit(made.probability)[:, None], made.came, weight).coef_.item()
        for weight in weights
    ]
    low, high = np.quantile(anew, [0.025, 0.975])
    assert row["slope_low"] == pytest.approx(low, abs=0.02)
    assert row["slope_high"] == pytest.approx(high, abs=0.02)


def test_scores_and_bins_are_those_of_scikit_learn() -> None:
    made = forecast(0.7)
    row = row_of(made)
    assert row["brier"] == pytest.approx(brier_score_loss(made.came, made.probability))
    assert row["log_loss"] == pytest.approx(log_loss(made.came, made.probability))
    assert row["brier_low"] < row["brier"] < row["brier_high"]
    observed, predicted = calibration_curve(made.came, made.probability, n_bins=10, strategy="quantile")
    curve = reliability([made])
    assert curve["predicted"].to_numpy() == pytest.approx(predicted)
    assert curve["observed"].to_numpy() == pytest.approx(observed)


def test_fewer_cases_than_bins_make_fewer_bins_and_no_slope() -> None:
    few = Forecast("few", "Few", np.array([0.1, 0.5, 0.9]), np.array([False, True, True]), np.arange(3))
    assert reliability([few])["n"].tolist() == [1, 1, 1]
    assert np.isnan(quality([few], drawn(3))[["slope", "slope_low", "intercept_high"]].to_numpy()).all()


def test_a_certain_forecast_that_is_wrong_has_finite_log_odds() -> None:
    made = forecast(cases=200)
    sure = replace(made, probability=np.where(np.arange(200) < 5, 1.0, made.probability))
    assert np.isfinite(quality([sure], drawn(200))["slope"]).all()


def test_calibration_without_truth_is_refused(small_cohort: Cohort) -> None:
    blind = replace(small_cohort, truth=np.full(len(small_cohort), UNKNOWN))
    with pytest.raises(UserError, match="whose truth is known"):
        of_truth("ai", "AI", blind.ai_probability, blind)


def test_a_reader_is_judged_by_the_answer_given_the_truth_on_cases_they_have_read(small_cohort: Cohort) -> None:
    n, m = small_cohort.decisions.shape
    answers = np.random.default_rng(0).random((n, m, 2))
    made = {each.name: each for each in of_readers(answers, small_cohort)}
    for j, reader in enumerate(small_cohort.manifest.readers):
        read = np.flatnonzero(small_cohort.available[:, j])
        assert made[reader.column].rows.tolist() == read.tolist()
        assert made[reader.column].came.tolist() == (small_cohort.decisions[read, j] == 1).tolist()
        expected = [answers[i, j, small_cohort.truth[i]] for i in read]
        assert made[reader.column].probability.tolist() == expected


def test_the_readers_of_mpd2_plus_say_what_its_models_expect(benchmark: Cohort) -> None:
    """On val: over all readers the mean distance is near what chance explains, and slopes are about 1."""
    val, costs = benchmark.subset(split="val"), benchmark.manifest.default_costs()
    method = Plus(draws=4)
    forecasts = of_readers(method.answers(method.fit(benchmark, costs, (42,)), val), val)
    rows = quality(forecasts, resample_weights(val, 200))
    assert len(rows) == benchmark.readers
    assert (rows["ece"] < 2.5 * rows["by_chance"] + 0.02).all()
    assert rows["slope"].median() == pytest.approx(1.0, abs=0.25)
