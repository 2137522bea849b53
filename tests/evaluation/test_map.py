"""The map of cases: where it puts them, where it puts new ones, and which maps it refuses to read."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from places import DATA, ROOT
from pydantic import ValidationError
from sklearn.manifold import trustworthiness
from strategies import STATE

from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.evaluation.map import Map, MapParameters, fit_map, load_map, nearest, save_map

SHIPPED = DATA / "map"
SMALL = MapParameters(neighbours=10, min_distance=0.1, seed=3)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def shipped(benchmark) -> Map:
    return load_map(SHIPPED, benchmark)


@pytest.fixture
def folder(shipped, tmp_path):
    """A map that a test may damage."""
    save_map(shipped, tmp_path / "map")
    return tmp_path / "map"


def spread(layout: Map) -> float:
    return float(np.sqrt(layout.coordinates.var(0).sum()))


def away(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.linalg.norm(left - right, axis=-1)


# The shipped map


def test_the_shipped_map_shows_every_case_of_the_benchmark_once(benchmark, shipped):
    assert shipped.fingerprint == benchmark.fingerprint
    assert shipped.ids.tolist() == benchmark.ids.tolist()
    assert shipped.coordinates.shape == (len(benchmark), 2)
    assert np.isfinite(shipped.coordinates).all()
    assert shipped.parameters == MapParameters()


def test_the_shipped_map_is_small():
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) < 100_000


def test_neighbours_on_the_shipped_map_are_neighbours_in_fact(shipped):
    some = np.random.default_rng(0).choice(len(shipped.ids), 800, replace=False)
    assert trustworthiness(shipped.points[some], shipped.coordinates[some], n_neighbors=15) > 0.97


def test_cases_that_are_not_for_training_keep_their_neighbours_too(benchmark, shipped):
    later = (benchmark.sources == "refuge") & (benchmark.split != "train")  # nothing in training is quite like them
    assert trustworthiness(shipped.points[later], shipped.coordinates[later], n_neighbors=15) > 0.955


def test_no_variable_reaches_further_than_another_however_far_out_of_range_it_is(shipped):
    assert np.ptp(shipped.points, axis=0).max() < 4
    assert np.ptp(shipped.points, axis=0).min() > 2


def test_the_coordinates_of_some_cases_come_in_their_own_order(benchmark, shipped):
    some = benchmark.rows(np.array([2000, 5, 77]))
    assert (shipped.of(some) == shipped.coordinates[[2000, 5, 77]]).all()


def test_a_case_that_is_not_on_the_map_is_named(benchmark, shipped):
    stranger = replace(benchmark.rows(np.array([0, 1])), ids=np.array([benchmark.ids[0], "nobody"]))
    with pytest.raises(UserError, match="case nobody is not on the map"):
        shipped.of(stranger)


# Placing new cases


def test_a_case_of_the_map_is_placed_on_its_own_point(benchmark, shipped):
    alone = nearest(benchmark, benchmark.state, 2)[1][:, 1] > 1e-6  # a twin would share the place
    assert alone.mean() > 0.99
    assert away(shipped.place(benchmark.state), shipped.coordinates)[alone].max() < 1e-4


def test_twins_are_placed_between_their_two_points(benchmark, shipped):
    twins = nearest(benchmark, benchmark.state, 2)[1][:, 1] == 0
    assert twins.any()
    assert away(shipped.place(benchmark.state), shipped.coordinates)[twins].max() < 0.05 * spread(shipped)


def test_a_case_the_map_has_not_seen_is_placed_close_to_where_it_would_have_been(benchmark, shipped):
    seen = np.arange(len(benchmark)) % 5 > 0
    without = replace(
        shipped, ids=shipped.ids[seen], points=shipped.points[seen], coordinates=shipped.coordinates[seen]
    )
    error = away(without.place(benchmark.state[~seen]), shipped.coordinates[~seen]) / spread(shipped)
    assert np.median(error) < 0.035
    assert np.quantile(error, 0.95) < 0.09


@settings(max_examples=50)
@given(state=hnp.arrays(float, st.tuples(st.integers(0, 5), st.just(len(STATE))), elements=FINITE))
def test_whatever_comes_is_placed_inside_the_map(shipped, state):
    placed = shipped.place(state)
    assert placed.shape == (len(state), 2)
    assert (placed >= shipped.coordinates.min(0) - 1e-6).all()
    assert (placed <= shipped.coordinates.max(0) + 1e-6).all()


def test_the_place_of_a_case_does_not_hang_on_the_company_it_comes_in(benchmark, shipped):
    state = benchmark.state[::100] + 0.01
    one_by_one = np.concatenate([shipped.place(row[None]) for row in state])
    assert np.allclose(shipped.place(state), one_by_one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("garbage", [np.nan, np.inf, -np.inf])
def test_a_state_that_is_no_number_is_refused_by_case_and_column(benchmark, shipped, garbage):
    state = benchmark.state[:3].copy()
    state[1, STATE.index("vCDR")] = garbage
    with pytest.raises(UserError, match=f"case 2, column 7 of the state: found {garbage}, expected a number"):
        shipped.place(state)


@pytest.mark.parametrize("shape", [(8,), (3, 7), (2, 3, 8)])
def test_a_state_of_another_shape_is_refused(shipped, shape):
    with pytest.raises(UserError, match="expected a row a case and 8 columns"):
        shipped.place(np.zeros(shape))


# The most similar cases


def test_the_nearest_cases_are_those_of_a_full_search(benchmark, train):
    state = benchmark.subset(split="val").state[:40]
    units = [2 * np.tanh((s - train.state.mean(0)) / train.state.std(0) / 2) for s in (state, train.state)]
    everyone = away(units[0][:, None], units[1])  # [40, N]
    rows, distances = nearest(train, state, 6)
    assert rows.shape == distances.shape == (40, 6)
    assert np.allclose(distances, np.sort(everyone, axis=1)[:, :6])
    assert np.allclose(np.take_along_axis(everyone, rows, axis=1), distances)


def test_a_training_case_is_most_like_itself(train):
    _, distances = nearest(train, train.state, 1)
    assert distances.shape == (len(train), 1)
    assert (distances == 0).all()


def test_a_variable_that_is_the_same_for_all_tells_no_cases_apart(train):
    state = train.state.copy()
    state[:, STATE.index("quality_risk")] = 0.1
    same = replace(train, state=state)
    rows, distances = nearest(same, state[:5], 3)
    assert (distances < 4).all()
    assert (rows[:, 0] == np.arange(5)).all()


@pytest.mark.parametrize("k", [0, 55])
def test_more_similar_cases_than_there_are_cannot_be_asked_for(small_cohort, k):
    with pytest.raises(UserError, match=f"found {k} asked for, expected 1 to 54"):
        nearest(small_cohort, small_cohort.state, k)


# Making a map: umap compiles for seconds at its first fit in a process, so few tests fit one


@pytest.fixture(scope="module")
def fitted(small_cohort) -> Map:
    return fit_map(small_cohort, SMALL)


def test_the_same_seed_gives_the_same_map_whatever_the_truth_and_the_readers_say(small_cohort, fitted):
    silent = replace(
        small_cohort,
        truth=1 - small_cohort.truth,
        decisions=np.full_like(small_cohort.decisions, UNKNOWN),
        available=np.zeros_like(small_cohort.available),
    )
    another_seed = SMALL.model_copy(update={"seed": 4})
    assert (fit_map(silent, SMALL).coordinates == fitted.coordinates).all()
    assert (fit_map(silent, another_seed).coordinates != fitted.coordinates).any()


def test_training_cases_alone_set_the_scale_but_every_case_finds_its_neighbours(small_cohort, fitted):
    train = small_cohort.subset(split="train")
    assert np.allclose(fitted.space.means, train.state.mean(0))
    assert np.allclose(fitted.space.scales, train.state.std(0))
    assert trustworthiness(fitted.points, fitted.coordinates, n_neighbors=5) > 0.9


def test_a_map_can_be_made_of_fewer_cases_than_neighbours(small_cohort):
    few = small_cohort.rows(np.flatnonzero(small_cohort.split == "train")[:4])
    layout = fit_map(few, MapParameters(metric="manhattan"))
    assert np.allclose(layout.place(few.state), layout.coordinates, atol=1e-6)


def test_a_map_needs_different_cases_and_some_for_training(small_cohort):
    with pytest.raises(UserError, match="found 1 different cases, expected at least 3"):
        fit_map(small_cohort.rows(np.zeros(20, int)), SMALL)
    with pytest.raises(EmptyCohort, match="split train"):
        fit_map(small_cohort.subset(split="val"), SMALL)


@pytest.mark.parametrize("wrong", [{"neighbours": 1}, {"min_distance": 2}, {"metric": "cosine"}, {"sed": 1}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(ValidationError):
        MapParameters(**wrong)


# Reading a map


def test_a_saved_map_is_the_same_when_read_again_in_any_order_of_cases(benchmark, shipped, folder):
    order = np.random.default_rng(0).permutation(len(benchmark))
    again = load_map(folder, benchmark.rows(order))
    assert again.parameters == shipped.parameters
    assert (again.coordinates == shipped.coordinates[order]).all()
    state = benchmark.state[:50] + 0.1
    assert np.allclose(again.place(state), shipped.place(state))


def test_arrays_of_a_map_cannot_be_changed(shipped):
    for values in (shipped.ids, shipped.points, shipped.coordinates):
        assert not values.flags.writeable


def test_a_map_of_another_table_is_refused(benchmark):
    with pytest.raises(UserError, match="the table here is another; make its own map"):
        load_map(SHIPPED, replace(benchmark, fingerprint="another"))


def test_a_map_is_not_read_for_a_part_of_its_table(benchmark):
    with pytest.raises(UserError, match="a map of 3195 cases, given 885"):
        load_map(SHIPPED, benchmark.subset(split="val"))


def test_a_folder_without_a_map_is_named(benchmark, tmp_path):
    with pytest.raises(UserError, match=r"there is no map here \(no map.json\)"):
        load_map(tmp_path / "nowhere", benchmark)


def test_a_missing_file_of_coordinates_is_named(benchmark, folder):
    (folder / "coordinates.parquet").unlink()
    with pytest.raises(UserError, match=r"coordinates.parquet is missing"):
        load_map(folder, benchmark)


def test_a_single_changed_byte_of_the_coordinates_is_noticed(benchmark, folder):
    file = folder / "coordinates.parquet"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(UserError, match=r"coordinates.parquet: damaged or changed"):
        load_map(folder, benchmark)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format"),
        ({"parameters": {"neighbours": -1}}, "parameters.neighbours"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_record_of_another_kind_is_refused_by_field(benchmark, folder, change, message):
    file = folder / "map.json"
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(UserError, match=f"map.json: not a map this version can read: {message}"):
        load_map(folder, benchmark)


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_damaged_record_is_refused(benchmark, folder, text):
    (folder / "map.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"map.json: not a map this version can read"):
        load_map(folder, benchmark)


def test_reading_a_map_and_placing_a_case_import_neither_umap_nor_what_it_needs():
    script = (
        "import sys; from pathlib import Path;"
        "from mpd2.core.table_file import load_cohort; from mpd2.evaluation.map import load_map;"
        "cohort = load_cohort(Path('data/glaucoma/glaucoma.csv'));"
        "load_map(Path('data/glaucoma/map'), cohort).place(cohort.state);"
        "print(sorted({'umap', 'numba', 'pynndescent', 'sklearn', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
