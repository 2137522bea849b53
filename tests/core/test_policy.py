"""From soft to hard."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import cohorts, policies

from mpd2.core import policy as core_policy
from mpd2.core.cohort import UNKNOWN
from mpd2.core.policy import NOBODY, ROUNDING, RULES, Policy, best_actions, choose, preferences, route

EVERY_RULE = pytest.mark.parametrize("rule", RULES)
ANY_COHORT = cohorts(readers=st.integers(1, 30))


def one_case(defer, allocation, available=None) -> Policy:
    allocation = np.array([allocation], float)
    available = np.ones_like(allocation, bool) if available is None else np.array([available])
    return Policy(np.array([defer], float), allocation, available)


@pytest.mark.parametrize(
    ("defer", "allocation", "joint", "staged"),
    [
        (0.3, [1.0, 0.0], 0, 0),  # too little deferral for either rule
        (0.6, [0.9, 0.1], 1, 1),  # 0.54 for the first reader against 0.4 for the AI
        (0.6, [0.5, 0.5], 0, 1),  # spread thin: 0.3 each against 0.4
        (0.6, [0.1, 0.9], 2, 2),
        (0.5, [1.0, 0.0], 0, 0),  # a tie under both rules
        (1.0, [0.5, 0.5], 1, 1),  # a tie among readers goes to the first
        (0.0, [1.0, 0.0], 0, 0),
    ],
)
def test_each_rule_by_example(defer, allocation, joint, staged):
    policy = one_case(defer, allocation)
    assert choose(policy, "joint").tolist() == [joint]
    assert choose(policy, "staged").tolist() == [staged]


@settings(max_examples=60)
@given(ANY_COHORT, st.data())
def test_the_joint_rule_takes_the_largest_action_and_ties_go_to_the_ai(cohort, data):
    policy = data.draw(policies(cohort))
    for chosen, actions in zip(choose(policy, "joint"), policy.actions, strict=True):
        best = actions[1:].argmax() + 1
        assert chosen == (best if actions[best] > actions[0] + ROUNDING else 0)


@settings(max_examples=60)
@given(ANY_COHORT, st.data())
def test_the_staged_rule_defers_above_one_half_to_the_largest_share(cohort, data):
    policy = data.draw(policies(cohort))
    for i, (d, shares) in enumerate(zip(policy.defer, policy.allocation, strict=True)):
        expected = 1 + shares.tolist().index(max(shares)) if d > 0.5 and cohort.available[i].any() else 0
        assert choose(policy, "staged")[i] == expected


@EVERY_RULE
@settings(max_examples=40)
@given(cohort=ANY_COHORT, seed=st.integers(0, 999))
def test_no_policy_however_wrong_reaches_an_absent_reader(rule, cohort, seed):
    random = np.random.default_rng(seed)
    wild = Policy(random.random(len(cohort)) * 1.2, random.random(cohort.available.shape), cohort.available)
    for policy in (wild, Policy(wild.defer, 0 * wild.allocation, wild.available)):
        action = choose(policy, rule)
        assert cohort.available[action > 0, action[action > 0] - 1].all()
        assert (action[~cohort.available.any(-1)] == 0).all()


@EVERY_RULE
@settings(max_examples=40)
@given(cohort=ANY_COHORT, data=st.data(), price=st.floats(-3, 3))
def test_a_price_on_deferral_is_taken_off_every_preference(rule, cohort, data, price):
    policy = data.draw(policies(cohort))
    dearer = policy.defer / (policy.defer + (1 - policy.defer) * np.exp(price))
    before = preferences(policy, rule)
    after = preferences(Policy(dearer, policy.allocation, policy.available), rule)
    plain = cohort.available & (np.abs(policy.defer - 0.5) < 0.499)[:, None]  # far from where single precision ends
    np.testing.assert_allclose(after[plain], (before - price)[plain], atol=1e-3)
    assert (before[~cohort.available] == -np.inf).all()
    assert np.isfinite(before[cohort.available]).all()


@settings(max_examples=40)
@given(ANY_COHORT, st.data())
def test_under_a_smaller_roster_the_others_share_what_the_absent_had(cohort, data):
    policy = data.draw(policies(cohort))
    present = data.draw(hnp.arrays(bool, cohort.readers))
    smaller = policy.under(present)
    np.testing.assert_array_equal(smaller.available, cohort.available & present)
    np.testing.assert_allclose(smaller.allocation.sum(-1), smaller.available.any(-1))
    assert (smaller.allocation[~smaller.available] == 0).all()
    for i, left in enumerate(smaller.available):
        expected = policy.allocation[i, left]
        if expected.sum() > 0:
            np.testing.assert_allclose(smaller.allocation[i, left], expected / expected.sum())
        assert smaller.defer[i] == (policy.defer[i] if left.any() else 0)
    same = policy.under(np.ones(cohort.readers, bool))
    np.testing.assert_allclose(same.actions, policy.actions)
    assert (choose(policy.under(np.zeros(cohort.readers, bool))) == 0).all()


@EVERY_RULE
@settings(max_examples=25)
@given(cohort=ANY_COHORT, data=st.data())
def test_whoever_is_asked_decides_and_otherwise_the_ai(rule, cohort, data):
    policy = data.draw(policies(cohort))
    decisions = route(policy, cohort, rule)
    action = choose(policy, rule)
    assert decisions.consulted.shape == (len(cohort), 1)
    for i, chosen in enumerate(action):
        reader = decisions.consulted[i, 0]
        assert reader == (NOBODY if chosen == 0 else chosen - 1)
        assert decisions.label[i] == (cohort.ai_label[i] if chosen == 0 else cohort.decisions[i, reader])
        assert decisions.deferred[i] == (chosen > 0)
        assert decisions.label[i] != UNKNOWN


@EVERY_RULE
@settings(max_examples=15)
@given(cohort=ANY_COHORT, data=st.data())
def test_a_population_is_routed_member_by_member(rule, cohort, data):
    members = [data.draw(policies(cohort)) for _ in range(3)]
    defer, allocation = (np.stack([getattr(m, part) for m in members]) for part in ("defer", "allocation"))
    together = Policy(defer, allocation, cohort.available)
    decisions = route(together, cohort, rule)
    for e, member in enumerate(members):
        alone = route(member, cohort, rule)
        np.testing.assert_array_equal(decisions.consulted[e], alone.consulted)
        np.testing.assert_array_equal(decisions.label[e], alone.label)
        np.testing.assert_array_equal(together.member(e).actions, member.actions)


@EVERY_RULE
@settings(max_examples=25)
@given(cohort=ANY_COHORT, data=st.data())
def test_cases_decided_a_few_at_a_time_are_decided_as_all_at_once(rule, cohort, data):
    policy = data.draw(policies(cohort))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_policy, "CHUNK", 3)
        np.testing.assert_array_equal(choose(policy, rule), best_actions(preferences(policy, rule)))


@settings(max_examples=25)
@given(ANY_COHORT, st.data())
def test_actions_are_a_distribution_with_the_ai_first(cohort, data):
    policy = data.draw(policies(cohort))
    np.testing.assert_allclose(policy.actions.sum(-1), 1)
    np.testing.assert_array_equal(policy.actions[:, 0], 1 - policy.defer)
    assert (policy.actions[:, 1:][~cohort.available] == 0).all()


@settings(max_examples=40)
@given(ANY_COHORT, st.integers(0, 999), st.sampled_from([np.nan, np.inf, -np.inf, 1e9]))
def test_a_policy_from_scores_is_their_softmax_over_who_is_there(cohort, seed, ignored):
    random = np.random.default_rng(seed)
    scores = random.integers(-3, 3, (2, len(cohort), 1 + cohort.readers)) * random.choice([1.0, 0.3, 7.0])
    scores[:, :, 1:][:, ~cohort.available] = ignored
    policy = Policy.from_scores(scores, cohort.available)
    for soft in (policy, policy.rounded()):
        action = choose(soft)
        for e, i in np.ndindex(action.shape):
            there = [0, *(1 + np.flatnonzero(cohort.available[i]))]
            weight = {a: np.exp(scores[e, i, a]) for a in there}
            shares = [weight.get(a, 0.0) / sum(weight.values()) for a in range(1 + cohort.readers)]
            np.testing.assert_allclose(soft.actions[e, i], shares, atol=2e-7)
            assert action[e, i] == max(there, key=weight.get)  # the first of equals, and the AI stands first


@settings(max_examples=25)
@given(ANY_COHORT, st.integers(0, 999))
def test_the_readers_shares_of_scores_are_a_distribution_however_little_is_deferred(cohort, seed):
    scores = np.random.default_rng(seed).normal(size=(len(cohort), 1 + cohort.readers)) * 300
    policy = Policy.from_scores(scores, cohort.available)
    somebody = cohort.available.any(-1)
    np.testing.assert_allclose(policy.allocation.sum(-1), somebody)
    assert (policy.allocation[~cohort.available] == 0).all()
    assert (policy.defer[~somebody] == 0).all()


@pytest.mark.parametrize("score", [-1e9, -800.0, 800.0, 1e9])
def test_extreme_scores_still_share_out_among_the_readers(score):
    policy = Policy.from_scores(np.array([[0.0, score, score]]), np.ones((1, 2), bool))
    assert policy.allocation.tolist() == [[0.5, 0.5]]
    assert policy.defer.tolist() == [float(score > 0)]


@settings(max_examples=25)
@given(ANY_COHORT, st.data())
def test_rounding_twice_is_rounding_once_and_moves_no_mass_to_the_absent(cohort, data):
    policy = data.draw(policies(cohort)).rounded()
    again = policy.rounded()
    np.testing.assert_array_equal(policy.defer, again.defer)
    np.testing.assert_array_equal(policy.allocation, again.allocation)
    np.testing.assert_array_equal(policy.allocation, policy.allocation.astype(np.float32))
    assert (policy.allocation[~cohort.available] == 0).all()
