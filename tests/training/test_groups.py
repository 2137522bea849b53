"""Support families and the clusters inside them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import STATE, cohorts

from mpd2.core.errors import EmptyCohort
from mpd2.training.groups import (
    SMALLEST_CLUSTER,
    SMALLEST_FAMILY,
    cluster_centroids,
    distinct_masks,
    fit_groups,
    representation,
    support_families,
)

MASKS = st.tuples(st.integers(1, 40), st.integers(1, 30)).flatmap(lambda shape: hnp.arrays(bool, shape))


def test_the_benchmark_has_444_masks_in_15_families(benchmark):
    masks, _ = distinct_masks(benchmark.available)
    sizes = np.bincount(support_families(benchmark.available))
    assert len(masks) == 444
    assert sizes.tolist() == [1345, 1200, 141, 84, 65, 56, 49, 48, 47, 46, 39, 23, 21, 20, 11]


def test_the_training_cases_of_the_benchmark_give_12_families_and_20_groups(groups):
    assert groups.family_of.max() + 1 == 12
    assert len(groups) == 20


def test_the_order_of_the_cases_does_not_change_who_belongs_together(benchmark):
    shuffled = np.random.default_rng(0).permutation(len(benchmark))
    before, after = support_families(benchmark.available)[shuffled], support_families(benchmark.available[shuffled])
    assert len(np.unique(before)) == len(np.unique(after)) == len(np.unique(np.stack([before, after]), axis=1).T)


@settings(max_examples=40)
@given(MASKS)
def test_masks_and_pointers_rebuild_the_table(available):
    masks, which = distinct_masks(available)
    assert (masks[which] == available).all()
    assert len(np.unique(masks, axis=0)) == len(masks)
    assert (np.diff(np.bincount(which)) <= 0).all()


@settings(max_examples=40)
@given(MASKS)
def test_families_are_numbered_by_size_and_none_is_small_unless_alone(available):
    sizes = np.bincount(support_families(available))
    assert sizes.sum() == len(available)
    assert (np.diff(sizes) <= 0).all()
    assert len(sizes) == 1 or sizes.min() >= SMALLEST_FAMILY


@settings(max_examples=40)
@given(MASKS)
def test_cases_with_one_mask_are_one_family(available):
    _, which = distinct_masks(available)
    family = support_families(available)
    assert len(np.unique(np.stack([which, family]), axis=1).T) == which.max() + 1


def test_two_masks_part_where_they_differ_in_more_than_four_tenths_of_the_readers():
    near, far = np.arange(10) < 4, np.arange(10) < 5
    nobody = np.zeros((12, 10), bool)
    assert support_families(np.concatenate([nobody, np.tile(near, (10, 1))])).max() == 0
    assert support_families(np.concatenate([nobody, np.tile(far, (10, 1))])).tolist() == [0] * 12 + [1] * 10


def test_of_two_equal_families_the_first_to_occur_comes_first():
    nobody, everyone = np.zeros((10, 3), bool), np.ones((10, 3), bool)
    for available in ((nobody, everyone), (everyone, nobody)):
        assert support_families(np.concatenate(available)).tolist() == [0] * 10 + [1] * 10


def test_a_small_family_joins_the_nearest_large_one():
    nobody, half, most = (np.arange(20) < readers for readers in (0, 9, 18))
    far, near = [nobody] * 30, [most] * 20
    assert np.bincount(support_families(np.array(far + near + [half] * 10))).tolist() == [30, 20, 10]
    assert support_families(np.array(far + near + [half] * 9)).tolist() == [0] * 30 + [1] * 20 + [0] * 9
    half[9] = True
    assert support_families(np.array(far + near + [half] * 9)).tolist() == [0] * 30 + [1] * 29


def test_rare_masks_follow_the_most_similar_frequent_one(monkeypatch):
    monkeypatch.setattr("mpd2.training.groups.MOST_MASKS", 2)
    nobody, everyone = np.zeros(10, bool), np.ones(10, bool)
    few, many = np.arange(10) < 2, np.arange(10) < 8
    available = np.array([nobody] * 30 + [everyone] * 20 + [few] * 3 + [many] * 2)
    assert support_families(available).tolist() == [0] * 30 + [1] * 20 + [0] * 3 + [1] * 2


def test_a_seen_mask_keeps_its_family(train, groups):
    assert (groups.families(train) == support_families(train.available)).all()


def test_a_group_lies_in_one_family(benchmark, groups):
    assert (groups.family_of[groups.assign(benchmark)] == groups.families(benchmark)).all()


def test_an_unseen_mask_goes_to_the_family_of_the_most_similar_one(benchmark, groups):
    others = benchmark.rows(benchmark.split != "train")
    differences = (others.available[:, None, :] != groups.masks).sum(-1)
    assert (groups.families(others) == groups.mask_family[differences.argmin(-1)]).all()
    assert (differences.min(-1) > 0).any()


def test_a_family_is_split_only_into_clusters_with_enough_training_cases(train, groups):
    cases = np.bincount(groups.assign(train), minlength=len(groups))
    family_cases = np.bincount(groups.families(train))[groups.family_of]
    siblings = np.bincount(groups.family_of)[groups.family_of]
    split = siblings > 1
    assert split.any()
    assert (cases[split] >= np.maximum(SMALLEST_CLUSTER, 0.05 * family_cases[split])).all()


def test_centroids_are_the_means_of_their_training_cases(train, groups):
    rows, group = (representation(train) - groups.centre) / groups.scale, groups.assign(train)
    means = np.array([rows[group == g].mean(0) for g in range(len(groups))])
    np.testing.assert_allclose(groups.centroids, means, atol=1e-9)


def test_the_same_cases_give_the_same_groups_whatever_their_truth_readings_and_out_of_distribution_score(train, groups):
    state = train.state.copy()
    state[:, STATE.index("vim_risk_z")] = 0
    blind = replace(train, truth=1 - train.truth, decisions=np.zeros_like(train.decisions), state=state)
    assert (fit_groups(blind).centroids == groups.centroids).all()


def test_a_case_is_placed_without_regard_to_its_company(benchmark, groups):
    together = groups.assign(benchmark)
    alone = [groups.assign(benchmark.rows(np.array([i])))[0] for i in range(0, len(benchmark), 100)]
    assert together[::100].tolist() == alone
    assert groups.assign(benchmark.rows(np.array([], int))).shape == (0,)


@settings(max_examples=40)
@given(st.data(), st.integers(1, 30))
def test_any_cohort_can_be_learned_from_and_any_case_placed(data, readers):
    train, later = (data.draw(cohorts(readers=st.just(readers))) for _ in range(2))
    groups = fit_groups(train)
    assert np.isfinite(groups.centroids).all()
    for cohort in (train, later):
        group = groups.assign(cohort)
        assert group.shape == (len(cohort),)
        assert ((group >= 0) & (group < len(groups))).all()


def test_a_panel_that_is_always_there_is_one_family(small_cohort):
    panel = replace(small_cohort, available=np.ones_like(small_cohort.available))
    assert fit_groups(panel).family_of.max() == 0


def test_no_training_case_is_an_error_that_says_so(benchmark):
    with pytest.raises(EmptyCohort, match="no training case"):
        fit_groups(benchmark.rows(np.array([], int)))


@pytest.mark.parametrize("cases", [(30, 40, 50), (40, 50, 30), (50, 30, 40)])
def test_clear_clusters_are_found_largest_first(cases):
    corners = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    rows = np.repeat(corners, cases, axis=0) + np.random.default_rng(0).normal(scale=0.1, size=(120, 2))
    np.testing.assert_allclose(cluster_centroids(rows), corners[np.argsort(cases)[::-1]], atol=0.1)


@pytest.mark.parametrize(("cases", "clusters"), [((20, 20), 2), ((20, 19), 1), ((500, 26), 1), ((494, 26), 2)])
def test_no_cluster_has_fewer_than_20_cases_or_a_twentieth_of_its_family(cases, clusters):
    rows = np.repeat([[0.0], [9.0]], cases, axis=0)
    assert len(cluster_centroids(rows)) == clusters


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_repeated_cases_never_make_more_clusters_than_there_are_kinds(kinds):
    rows = np.tile(np.eye(3)[:kinds], (60, 1))
    assert len(cluster_centroids(rows)) == kinds
