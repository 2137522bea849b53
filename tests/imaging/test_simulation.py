"""A simulated programme: its law has the benchmark's margins, and its tables are tables like any other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.manifest_text import to_toml
from mpd2.core.table_file import read_cohort
from mpd2.imaging.simulation.calibration import calibrate, coordinates_of
from mpd2.imaging.simulation.law import COLUMNS, EVIDENCE, SEEN, VERTICAL, fitted_law, law_from, to_coordinates
from mpd2.imaging.simulation.manifest import simulated_manifest
from mpd2.imaging.simulation.margins import margins
from mpd2.imaging.simulation.programme import Programme, draw

MANY = 200_000
RATE, SHARE = 0.02, 0.01  # how far error rates and prevalence may be from the benchmark's
READER = 0.03  # readers of few cases: half a case more of each kind moves a rate of 30 readings by 0.02
MEANS = {"vCDR": 0.01, "aCDR": 0.01, "quality_risk": 0.01, "vim_risk_z": 0.2}
SPREADS = {"vCDR": 0.01, "aCDR": 0.015, "quality_risk": 0.03, "vim_risk_z": 0.2}  # failed outlines count as less far


@pytest.fixture(scope="module")
def learned(benchmark: Cohort) -> np.ndarray:
    return (benchmark.sources == "refuge") & (benchmark.split == "train")


@pytest.fixture(scope="module")
def many() -> Programme:
    return draw(fitted_law(), MANY, seed=5)


def cohort_of(programme: Programme) -> Cohort:
    return programme.cohort(simulated_manifest(programme.law, "Simulated", "cases.csv"))


def test_the_law_that_is_shipped_is_the_one_made_of_the_benchmark(benchmark: Cohort, learned: np.ndarray) -> None:
    made, shipped = calibrate(benchmark, learned), fitted_law()
    assert made.made == shipped.made
    for one, other in zip(made.sites, shipped.sites, strict=True):
        assert one.rosters == other.rosters
        for name in ("share", "prevalence", "mean", "covariance", "error"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)
    np.testing.assert_allclose(made.ratio_slope, shipped.ratio_slope, atol=1e-3)
    assert law_from(shipped.to_json()) == shipped


def test_error_rates_and_prevalence_of_many_cases_are_the_benchmarks(many: Programme, benchmark: Cohort) -> None:
    drawn = margins(cohort_of(many))
    for was, now in zip(margins(benchmark).values(), drawn.values(), strict=True):
        assert now["prevalence"] == pytest.approx(was["prevalence"], abs=SHARE)
        assert now["cases"] / MANY == pytest.approx(was["cases"] / len(benchmark), abs=SHARE)
        assert now["ai"] == pytest.approx(was["ai"], abs=RATE)
        assert len(now["readers"]) == len(was["readers"])
        for one, other in zip(now["readers"].values(), was["readers"].values(), strict=True):
            assert one == pytest.approx(other, abs=READER)


def test_measurements_of_many_cases_are_spread_as_in_the_benchmark(
    many: Programme, benchmark: Cohort, learned: np.ndarray
) -> None:
    drawn = margins(cohort_of(many))
    for was, now in zip(margins(benchmark.rows(~learned)).values(), drawn.values(), strict=True):
        for name, by_label in was["measured"].items():
            for label, spread in by_label.items():
                found = now["measured"][name][label]
                assert found["mean"] == pytest.approx(spread["mean"], abs=MEANS[name]), (name, label)
                assert found["sd"] == pytest.approx(spread["sd"], abs=SPREADS[name]), (name, label)


def test_the_posterior_is_how_often_cases_like_these_are_diseased(many: Programme) -> None:
    positive = many.law.positive(many.coordinates, many.source)
    edges = np.array([0.0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98, 1.0])
    band = np.digitize(positive, edges[1:-1])
    for place in range(len(edges) - 1):
        of = band == place
        error = 4 * np.sqrt(positive[of].mean() * (1 - positive[of].mean()) / of.sum())
        assert of.sum() > 500
        assert many.truth[of].mean() == pytest.approx(positive[of].mean(), abs=error)


def test_the_posterior_is_the_ratio_of_two_densities() -> None:
    law = fitted_law()
    case = draw(law, 6, seed=1)
    for row in range(6):
        site = law.sites[case.source[row]]
        one, other = (
            multivariate_normal(site.mean[label][:SEEN], np.array(site.covariance[label])[:SEEN, :SEEN]).pdf(
                case.coordinates_of(row)[:SEEN]
            )
            for label in (1, 0)
        )
        expected = site.prevalence * one / (site.prevalence * one + (1 - site.prevalence) * other)
        assert law.positive(case.coordinates, case.source)[row] == pytest.approx(expected, rel=1e-9)


def test_readers_err_as_often_as_their_own_probabilities_say_and_independently(many: Programme) -> None:
    says = many.law.says(many.coordinates, many.source)
    at_b = np.flatnonzero((many.source == 1) & (many.truth == 0))
    chance = says[at_b, 7:12, 0]
    apart = (many.words[at_b, 7:12] - chance) / np.sqrt(chance * (1 - chance))
    assert np.abs(apart.mean(0)).max() < 4 / np.sqrt(len(at_b))
    together = np.corrcoef(apart.T) - np.eye(5)
    assert np.abs(together).max() < 0.03


def test_poor_photographs_and_misleading_ratios_are_read_worse(many: Programme) -> None:
    law, low = fitted_law(), many.coordinates[:50].copy()
    for label, towards in ((0, 1.0), (1, -1.0)):
        easy = law.wrong(low, many.source[:50], label)
        for moved in ("quality", "vertical"):
            hard = low.copy()
            place = {"quality": 3, "vertical": VERTICAL}[moved]
            hard[:, place] += 0.5 if moved == "quality" else 0.5 * towards
            assert (law.wrong(hard, many.source[:50], label) > easy).all()


def test_the_same_seed_draws_the_same_and_another_does_not() -> None:
    one, again, other = (draw(fitted_law(), 500, seed) for seed in (3, 3, 4))
    for name in ("source", "truth", "columns", "available", "words", "split"):
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))
    assert (one.columns != other.columns).any()


def test_both_eyes_of_a_patient_are_in_one_split_and_tend_to_be_alike(many: Programme) -> None:
    left, right = np.arange(0, MANY, 2), np.arange(1, MANY, 2)
    assert (many.patient[left] == many.patient[right]).all()
    assert (many.split[left] == many.split[right]).all()
    assert (many.source[left] == many.source[right]).all()
    assert np.corrcoef(many.truth[left], many.truth[right])[0, 1] > 0.2
    shares = [float((many.split == split).mean()) for split in ("train", "val", "test")]
    assert shares == pytest.approx([0.5, 0.2, 0.3], abs=1e-4)


@pytest.mark.parametrize("table", ["cases.csv", "cases.parquet"])
def test_a_table_read_back_is_the_cohort_that_was_drawn(table: str) -> None:
    programme = draw(fitted_law(), 301, seed=2)
    manifest = parse_manifest(to_toml(simulated_manifest(programme.law, "Simulated", table)))
    data = programme.table(manifest)
    read, made = read_cohort(data, table, manifest), programme.cohort(manifest, data)
    assert read.fingerprint == made.fingerprint
    for name in ("ids", "source", "split", "cluster", "truth", "decisions", "available", "absent"):
        np.testing.assert_array_equal(getattr(read, name), getattr(made, name))
    np.testing.assert_allclose(read.state, made.state, rtol=0, atol=1e-12)
    np.testing.assert_allclose(read.drawn, made.drawn, rtol=0, atol=1e-12)


def test_the_manifest_says_of_every_site_that_it_is_simulated() -> None:
    manifest = simulated_manifest(fitted_law(), "Simulated", "cases.csv")
    assert manifest.simulated
    assert {entry.readings for entry in manifest.cohorts} == {"simulated"}
    assert "No patient" in manifest.assumptions[0]


def test_absent_readers_say_nothing_and_columns_are_in_range(many: Programme) -> None:
    assert ((many.words == UNKNOWN) == ~many.available).all()
    assert many.available.any(-1).all()
    shares = many.columns[:, COLUMNS.index("quality_risk") :]
    assert (shares > 0).all()
    assert (shares < 1).all()


def test_coordinates_come_back_from_columns(many: Programme) -> None:
    logits = many.columns[:, 1] - many.columns[:, 0]
    np.testing.assert_allclose(to_coordinates(many.columns)[:, EVIDENCE], logits, atol=1e-9)


def test_coordinates_of_a_cohort_are_those_of_its_programme() -> None:
    programme = draw(fitted_law(), 50, seed=1)
    np.testing.assert_allclose(coordinates_of(cohort_of(programme)), programme.coordinates, atol=1e-9)


def test_no_cases_and_too_many_are_refused() -> None:
    with pytest.raises(UserError, match="cases: found 0, expected 1 to 10,000,000"):
        draw(fitted_law(), 0, seed=1)
