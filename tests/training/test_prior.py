"""The hierarchical prior, against a plain-loop reading of its equations."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import cohorts

from mpd2.core.cohort import UNKNOWN
from mpd2.training.config import PAPER, Prior
from mpd2.training.groups import fit_groups
from mpd2.training.prior import FLOOR, GLOBAL_LABELS, capped, competence, geometric_profile, group_prior, share_cap

DECAY = PAPER.objective.rank_decay
SHARES = st.floats(0, 1)
PRIORS = st.builds(
    Prior,
    sharpness=st.floats(0.1, 5),
    uniform_global=SHARES,
    uniform_family=SHARES,
    uniform_group=SHARES,
    family_count=st.floats(0, 60),
    group_count=st.floats(0, 60),
    global_share=SHARES,
    ceiling=SHARES,
    slack=st.floats(0, 0.5),
)
COHORTS = cohorts(readers=st.integers(1, 30), cases=st.integers(1, 40))


@pytest.fixture(scope="module")
def prior(train, groups):
    return group_prior(train, groups, train.manifest.default_costs(), PAPER.prior, DECAY)


def slow_prior(cohort, groups, costs, config, decay):
    """The equations one by one, with a loop for every index."""
    readers, assigned = range(cohort.readers), groups.assign(cohort).tolist()

    def present(cases):
        return {j for j in readers if any(cohort.available[i, j] for i in cases)}

    def nu_hat(cases, uniform, labels):
        weight = {}
        for j in readers:
            read = [i for i in cases if cohort.available[i, j] and cohort.truth[i] != UNKNOWN]
            read = [i for i in read if cohort.decisions[i, j] != UNKNOWN]
            if len(read) < labels:
                continue
            sick = [cohort.decisions[i, j] for i in read if cohort.truth[i] == 1]
            well = [cohort.decisions[i, j] for i in read if cohort.truth[i] == 0]
            fnr, fpr = (sick.count(0) + 1) / (len(sick) + 2), (well.count(1) + 1) / (len(well) + 2)
            badness = config.cost_false_negative * fnr + config.cost_false_positive * fpr + costs.fees[j]
            weight[j] = math.exp(-config.sharpness * badness)
        total = sum(weight.values())
        return {j: (1 - uniform) * w / total + uniform / len(weight) for j, w in weight.items()}

    def normalised(weight):
        total = sum(weight.values())
        return {j: w / total for j, w in weight.items()} if total > 0 else weight

    def cut(share):
        k = len(share)
        if k == 0:
            return share
        rate = decay[min(max(k - 2, 0), len(decay) - 1)]
        top = 1 / sum(rate**t for t in range(k))
        cap = max(min(config.ceiling, top + config.slack), 1 / k)
        at_cap = set()
        while any(share[j] > cap + 1e-12 for j in share if j not in at_cap):
            at_cap |= {j for j in share if share[j] > cap + 1e-12}
            free = sum(share[j] for j in share if j not in at_cap)
            left = 1 - len(at_cap) * cap
            share = {j: cap if j in at_cap else w * left / free for j, w in share.items()}
        return share

    overall = nu_hat(range(len(cohort)), config.uniform_global, 5)
    result = np.zeros((len(groups), cohort.readers))
    for g, f in enumerate(groups.family_of):
        in_family = [i for i, h in enumerate(assigned) if groups.family_of[h] == f]
        in_group = [i for i, h in enumerate(assigned) if h == g]
        a_f = len(in_family) / (len(in_family) + config.family_count)
        a_g = len(in_group) / (len(in_group) + config.group_count)
        a_fam = max(0.0, 1 - a_g - config.global_share)
        family, own = nu_hat(in_family, config.uniform_family, 3), nu_hat(in_group, config.uniform_group, 2)
        p_f = {j: a_f * family.get(j, 0) + (1 - a_f) * overall.get(j, 0) for j in present(in_family)}
        p_f = normalised(p_f)
        p_g = {
            j: a_g * own.get(j, 0) + a_fam * p_f[j] + config.global_share * overall.get(j, 0) for j in present(in_group)
        }
        p_g = normalised({j: max(w, FLOOR) for j, w in normalised(p_g).items()})
        for j, w in cut(p_g).items():
            result[g, j] = w
    return result


@settings(max_examples=60)
@given(COHORTS, PRIORS)
def test_it_is_what_the_equations_say(cohort, config):
    groups, costs = fit_groups(cohort), cohort.manifest.default_costs()
    expected = slow_prior(cohort, groups, costs, config, DECAY)
    np.testing.assert_allclose(group_prior(cohort, groups, costs, config, DECAY), expected, atol=1e-9)


def test_it_is_what_the_equations_say_on_the_benchmark(train, groups, prior):
    costs = train.manifest.default_costs()
    np.testing.assert_allclose(prior, slow_prior(train, groups, costs, PAPER.prior, DECAY), atol=1e-12)
    sharp = Prior(sharpness=10.0, uniform_global=0.0, uniform_family=0.0, uniform_group=0.0, ceiling=0.25)
    expected = slow_prior(train, groups, costs, sharp, DECAY)
    assert (expected == 0.25).sum() > 10  # here the cap bites
    np.testing.assert_allclose(group_prior(train, groups, costs, sharp, DECAY), expected, atol=1e-9)


@settings(max_examples=60)
@given(COHORTS, PRIORS)
def test_mass_is_on_every_reader_a_group_ever_has_on_no_other_and_below_the_cap(cohort, config):
    groups = fit_groups(cohort)
    prior = group_prior(cohort, groups, cohort.manifest.default_costs(), config, DECAY)
    assigned = groups.assign(cohort)
    present = np.array([cohort.available[assigned == g].any(0) for g in range(len(groups))])
    assert ((prior > 0) == present).all()
    np.testing.assert_allclose(prior.sum(-1), present.any(-1), atol=1e-12)
    assert (prior <= share_cap(present.sum(-1), cohort.readers, config, DECAY)[:, None]).all()


@settings(max_examples=30)
@given(st.data())
def test_renumbering_the_readers_renumbers_the_prior(data):
    cohort, config = data.draw(COHORTS), data.draw(PRIORS)
    order = np.array(data.draw(st.permutations(range(cohort.readers))))
    groups, costs = fit_groups(cohort), cohort.manifest.default_costs()
    moved = replace(
        cohort,
        manifest=cohort.manifest.model_copy(update={"readers": tuple(cohort.manifest.readers[j] for j in order)}),
        decisions=cohort.decisions[:, order],
        available=cohort.available[:, order],
    )
    moved_groups = replace(groups, masks=groups.masks[:, order])
    moved_costs = replace(costs, fees=tuple(costs.fees[j] for j in order))
    before = group_prior(cohort, groups, costs, config, DECAY)
    after = group_prior(moved, moved_groups, moved_costs, config, DECAY)
    np.testing.assert_allclose(after, before[:, order], atol=1e-9)


def overall(cohort, costs):
    return competence(cohort, np.ones((1, len(cohort))), costs, PAPER.prior, 0.3, GLOBAL_LABELS)[0]


def test_a_reader_who_errs_less_for_no_more_money_gets_no_less(train):
    costs = replace(train.manifest.default_costs(), fees=(0.2,) * train.readers)
    wrong = train.available & (train.decisions != train.truth[:, None])
    before = overall(train, costs)
    for reader in range(train.readers):
        decisions = train.decisions.copy()
        decisions[wrong[:, reader], reader] = train.truth[wrong[:, reader]]
        after = overall(replace(train, decisions=decisions), costs)
        assert after[reader] > before[reader]
        assert after[reader] == after.max()


def test_a_dearer_reader_gets_less(train):
    costs = train.manifest.default_costs()
    dearer = replace(costs, fees=(costs.fees[0] + 0.5, *costs.fees[1:]))
    assert overall(train, dearer)[0] < overall(train, costs)[0]


def test_without_pseudo_counts_a_group_speaks_for_itself_and_with_endless_ones_its_family_does(train, groups):
    costs = train.manifest.default_costs()
    group = groups.assign(train)
    in_group = np.eye(len(groups))[:, group]
    in_family = np.eye(len(groups))[:, groups.family_of[group]][groups.family_of]
    loose = Prior(ceiling=1.0, slack=1.0, global_share=0.0, family_count=0.0, group_count=0.0)
    stiff = loose.model_copy(update={"group_count": 1e12})
    for config, members, uniform, labels in ((loose, in_group, 0.333, 2), (stiff, in_family, 0.245, 3)):
        expected = competence(train, members, costs, config, uniform, labels)
        prior = group_prior(train, groups, costs, config, DECAY)
        alike = ((expected > 0) == (prior > 0)).all(-1)  # in the others somebody has read too little
        assert alike.sum() >= 9
        np.testing.assert_allclose(prior[alike], expected[alike], atol=1e-9)


def test_fees_beyond_all_measure_leave_the_shares_as_they_were(train):
    costs = train.manifest.default_costs()
    dear = replace(costs, fees=tuple(fee + 1e6 for fee in costs.fees))
    np.testing.assert_allclose(overall(train, dear), overall(train, costs), atol=1e-9)


def test_a_reading_by_somebody_who_is_not_available_does_not_count(train):
    costs, never = train.manifest.default_costs(), np.arange(train.readers) > 0
    assert overall(train.with_available(never), costs)[0] == 0
    half = np.arange(len(train)) % 2 == 0
    absent = train.with_available(half[:, None] | never)
    silent = replace(absent, decisions=np.where(absent.available, absent.decisions, UNKNOWN))
    assert (overall(absent, costs) == overall(silent, costs)).all()
    assert (overall(absent, costs) != overall(train, costs)).any()


def test_readers_nobody_could_judge_share_evenly(small_cohort):
    unread = replace(small_cohort, truth=np.full(len(small_cohort), UNKNOWN))
    groups = fit_groups(unread)
    prior = group_prior(unread, groups, unread.manifest.default_costs(), PAPER.prior, DECAY)
    support = prior > 0
    np.testing.assert_allclose(prior, support / support.sum(-1, keepdims=True))


def test_a_reader_nobody_could_judge_keeps_a_foot_in_the_door(small_cohort):
    decisions = small_cohort.decisions.copy()
    decisions[:, 0] = UNKNOWN
    cohort = replace(small_cohort, decisions=decisions)
    groups = fit_groups(cohort)
    prior = group_prior(cohort, groups, cohort.manifest.default_costs(), PAPER.prior, DECAY)[:, 0]
    assert (prior[prior > 0] < 2 * FLOOR).all()
    assert (prior > 0).any()


def test_a_group_that_never_has_a_reader_has_no_prior(small_cohort):
    alone = small_cohort.with_available(np.zeros(small_cohort.readers, bool))
    prior = group_prior(alone, fit_groups(alone), alone.manifest.default_costs(), PAPER.prior, DECAY)
    assert (prior == 0).all()


def test_groups_without_a_training_case_have_no_prior(benchmark, groups):
    few = benchmark.rows(np.arange(3))
    config = Prior(family_count=0.0, group_count=0.0)
    prior = group_prior(few, groups, few.manifest.default_costs(), config, DECAY)
    assert sorted(set(np.flatnonzero(prior.sum(-1)))) == sorted(set(groups.assign(few)))


@pytest.mark.parametrize(
    ("readers", "ceiling", "slack", "expected"),
    [(1, 0.3, 0.0, 1.0), (2, 0.3, 0.0, 0.5), (2, 0.9, 0.01, 1 / 1.67 + 0.01), (5, 0.3, 0.0, 0.3), (0, 0.3, 0.0, 1.0)],
)
def test_the_cap_is_the_geometric_top_share_plus_slack_within_reason(readers, ceiling, slack, expected):
    config = Prior(ceiling=ceiling, slack=slack)
    np.testing.assert_allclose(share_cap(np.array([readers]), 5, config, DECAY), expected)


def test_the_geometric_profile_itself_passes_its_own_cap_untouched():
    profile = geometric_profile(DECAY, 8)
    cap = share_cap(np.arange(9), 8, Prior(ceiling=1.0, slack=0.0), DECAY)
    np.testing.assert_allclose(capped(profile, cap), profile, atol=1e-12)


@given(hnp.arrays(float, st.tuples(st.just(3), st.integers(1, 12)), elements=st.floats(0.01, 1)), st.floats(0, 1))
def test_what_is_cut_off_goes_to_the_others_in_proportion(weights, cap):
    share = weights / weights.sum(-1, keepdims=True)
    limit = np.full(3, max(cap, 1 / share.shape[-1]))
    result = capped(share, limit)
    np.testing.assert_allclose(result.sum(-1), 1)
    assert (result <= limit[:, None]).all()
    growth = result / share
    free = result < limit[:, None] - 1e-9
    most = np.broadcast_to(growth.max(-1, keepdims=True), growth.shape)
    np.testing.assert_allclose(growth[free], most[free])


# The truncated geometric profile


DECAYS = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6).map(tuple)


@settings(max_examples=30)
@given(DECAYS, st.integers(1, 30))
def test_every_entry_is_the_papers_formula(decay, readers):
    profile = geometric_profile(decay, readers)
    assert profile.shape == (readers + 1, readers)
    for k in range(2, readers + 1):
        rate = decay[min(k - 2, len(decay) - 1)]
        expected = [(1 - rate) * rate ** (t - 1) / (1 - rate**k) for t in range(1, k + 1)]
        np.testing.assert_allclose(profile[k, :k], expected, rtol=1e-9)
        assert (profile[k, k:] == 0).all()


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6).map(tuple), st.integers(1, 30))
def test_each_row_is_a_falling_distribution_over_its_ranks(decay, readers):
    profile = geometric_profile(decay, readers)
    np.testing.assert_allclose(profile.sum(-1), [0.0] + [1.0] * readers)
    assert (np.diff(profile, axis=-1) <= 0).all()


def test_nobody_gets_nothing_and_a_lone_reader_everything():
    profile = geometric_profile((0.7,), 3)
    assert profile[0].tolist() == [0, 0, 0]
    assert profile[1].tolist() == [1, 0, 0]


@pytest.mark.parametrize(("decay", "expected"), [(0.0, [1, 0, 0, 0]), (1.0, [0.25] * 4)])
def test_the_ends_of_the_range_are_one_reader_and_uniform(decay, expected):
    assert geometric_profile((decay,), 4)[4].tolist() == expected


def test_the_last_decay_serves_all_larger_numbers():
    short, long = geometric_profile((0.6, 0.8), 9), geometric_profile((0.6,) + (0.8,) * 7, 9)
    assert (short == long).all()
