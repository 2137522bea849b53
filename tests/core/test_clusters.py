"""Rows that belong together are never divided, and count as what they are worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from any_table import Shape, made_up
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.clusters import RARE, clusters_of, design_effect, effective_cases
from mpd2.core.clusters.splits import leave_cohort_out, resplit
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import stratified_folds
from mpd2.evaluation.guarantee import redrawn
from mpd2.evaluation.intervals import resample_weights
from mpd2.methods.plus.posterior import bootstraps


@st.composite
def clustered(draw: st.DrawFn) -> Cohort:
    """Cases in clusters of any sizes, side by side or not, in one cohort or several."""
    shape = Shape(
        rows=draw(st.integers(40, 150)),
        readers=1,
        roles=(),
        cohorts=draw(st.integers(1, 4)),
        per_cluster=draw(st.integers(1, 5)),
        across=draw(st.booleans()),
        ai="logit",
    )
    cohort = made_up(shape, seed=draw(st.integers(0, 9)))
    if draw(st.booleans()):  # every second cluster joins the one before it where both are in the same split
        joined = cohort.cluster - cohort.cluster % 2
        first = np.array([cohort.split[cohort.cluster == number][0] for number in range(cohort.cluster.max() + 1)])
        cohort = replace(cohort, cluster=np.where(first[joined] == cohort.split, joined, cohort.cluster))
    return cohort.rows(np.random.default_rng(draw(st.integers(0, 9))).permutation(len(cohort)))


def undivided(values: np.ndarray, cluster: np.ndarray) -> bool:
    """Whether the rows of each cluster have the same, [N] or [N, ...]."""
    _, first, of = np.unique(cluster, return_index=True, return_inverse=True)
    return bool(np.array_equal(values, values[first][of.reshape(-1)]))


@given(clustered(), st.integers(0, 5))
def test_no_cluster_is_divided_by_resplits_folds_resamples_or_draws(cohort: Cohort, seed: int) -> None:
    assert undivided(cohort.split, cohort.cluster)
    assert undivided(resplit(cohort, seed).split, cohort.cluster)
    assert undivided(stratified_folds(cohort, 3, seed), cohort.cluster)
    assert undivided(resample_weights(cohort, 5, seed).T, cohort.cluster)
    assert undivided(bootstraps((seed,), 3, cohort), cohort.cluster)
    assert undivided(redrawn(len(cohort), len(cohort) // 2, 5, seed, cohort.cluster).T, cohort.cluster)


@given(clustered(), st.integers(0, 5), st.integers(0, 8))
def test_a_cohort_left_out_shares_no_cluster_between_its_splits(cohort: Cohort, number: int, local: int) -> None:
    key = cohort.manifest.cohorts[0].key
    pool = int(((cohort.sources == key) & (cohort.split != "test")).sum())
    parted = leave_cohort_out(cohort, key, min(local, pool), number)
    assert undivided(parted.split, parted.cluster)
    judged = parted.split == "test"
    assert (parted.sources[judged] == key).all()
    assert not set(parted.cluster[judged]) & set(parted.cluster[~judged])


@given(clustered(), st.integers(0, 5))
def test_a_resplit_deals_as_many_clusters_of_each_kind_to_each_split(cohort: Cohort, number: int) -> None:
    clusters, parted = clusters_of(cohort), resplit(cohort, number)
    for kind in np.unique(clusters.kind):
        some = clusters.first[clusters.kind == kind]
        assert sorted(parted.split[some]) == sorted(cohort.split[some])


@given(clustered(), st.integers(0, 3))
def test_resamples_keep_their_number_of_clusters_and_rows_stand_alone_if_asked(cohort: Cohort, seed: int) -> None:
    weights, clusters = resample_weights(cohort, 4, seed), clusters_of(cohort)
    assert (weights[:, clusters.first].sum(1) == len(clusters)).all()
    alone = resample_weights(cohort, 4, seed, by_cluster=False)
    assert (alone.sum(1) == len(cohort)).all()
    assert np.array_equal(alone, resample_weights(replace(cohort, cluster=np.arange(len(cohort))), 4, seed))


def test_clusters_of_rare_sizes_are_drawn_with_others_and_not_always_once() -> None:
    sizes = np.arange(1, 31)  # no two clusters alike
    cohort = made_up(Shape(rows=int(sizes.sum()), readers=1, roles=(), cohorts=1, ai="logit"))
    cohort = replace(cohort, cluster=np.repeat(sizes, sizes), split=np.full(len(cohort), "test"))
    assert len(sizes) >= RARE
    assert resample_weights(cohort, 50).std(0).min() > 0
    assert len(set(clusters_of(cohort).cohorts)) == 1


def test_rows_that_always_go_together_count_once_and_lone_rows_for_themselves() -> None:
    random = np.random.default_rng(0)
    of_five = np.repeat(np.arange(200), 5)
    same = np.repeat(random.random(200) < 0.3, 5).astype(float)
    apart = (random.random(1000) < 0.3).astype(float)
    assert effective_cases(of_five) == 200
    assert effective_cases(np.array([])) == 0
    assert design_effect(same, of_five) == pytest.approx(5)
    assert design_effect(apart, of_five) == pytest.approx(1, abs=0.3)
    assert design_effect(same, np.arange(1000)) == 1
    assert design_effect(np.ones(1000), of_five) == 5


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=40))
def test_a_design_effect_lies_between_independent_rows_and_rows_that_go_together(rows: list[tuple[int, bool]]) -> None:
    cluster, values = np.array([number for number, _ in rows]), np.array([float(value) for _, value in rows])
    assert 1 <= design_effect(values, cluster) <= len(rows) / effective_cases(cluster) + 1e-9


def test_intervals_of_rows_that_go_together_are_wider_by_the_design_effect() -> None:
    cohort = made_up(Shape(rows=900, readers=1, roles=(), cohorts=1, per_cluster=6, ai="logit"))
    copied = cohort.rows(np.repeat(np.arange(0, 900, 6), 6))  # six times the same
    copied = replace(copied, cluster=np.repeat(np.arange(150), 6))
    right = (copied.truth == copied.ai_label).astype(float)
    spread = [(resample_weights(copied, 400, by_cluster=kind) @ right / 900).std() for kind in (True, False)]
    assert spread[0] / spread[1] == pytest.approx(6**0.5, rel=0.15)
