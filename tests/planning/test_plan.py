"""Any budget, roster and capacity without training anew."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import RULES, Policy, choose
from mpd2.planning import assignment
from mpd2.planning.plan import Plan, plan, reroute, soft_price
from mpd2.planning.roster_and_limits import Limits

SHARES = st.floats(0, 1)
EVERY_RULE = pytest.mark.parametrize("rule", RULES)
FEW = cohorts(readers=st.integers(1, 3), cases=st.integers(1, 5))


@st.composite
def wishes(draw: st.DrawFn, cohort: Cohort) -> Limits:
    """Any limits the cohort's clinic may have."""
    columns = cohort.manifest.columns
    numbers = st.integers(0, len(cohort))
    capacity = draw(st.dictionaries(st.sampled_from(columns), numbers))
    budget = draw(st.none() | SHARES)
    by_cohort = draw(st.booleans())
    return Limits(
        budget=budget,
        soft=budget is not None and draw(st.booleans()),
        by_cohort=by_cohort,
        total=draw(st.none() | numbers),
        capacity=tuple(capacity.items()),
        away=tuple(draw(st.sets(st.sampled_from(columns)))),
        reserve=0 if by_cohort else draw(st.integers(0, 3)),
    )


def scores(cohort: Cohort, seed: int) -> np.ndarray:
    """Preferences without a tie, so that there is one best plan."""
    return np.random.default_rng(seed).normal(size=cohort.available.shape) * 3


def sent(made: Plan, cohort: Cohort) -> set[str]:
    return set(cohort.ids[made.action > 0])


# ---------------------------------------------------------------------------------- budget


@EVERY_RULE
@settings(max_examples=40)
@given(cohort=cohorts(), data=st.data(), by_cohort=st.booleans(), soft=st.booleans())
def test_a_larger_budget_never_takes_a_case_back(rule, cohort, data, by_cohort, soft):
    policy = data.draw(policies(cohort))
    saving = data.draw(st.none() | st.just(scores(cohort, 1)))
    small, large = sorted(data.draw(st.tuples(SHARES, SHARES)))
    few, more = (
        reroute(policy, cohort, rule, Limits(budget=share, soft=soft, by_cohort=by_cohort), saving=saving)
        for share in (small, large)
    )
    assert sent(few, cohort) <= sent(more, cohort)
    both = (few.action > 0) & (more.action > 0)
    np.testing.assert_array_equal(few.action[both], more.action[both])


@EVERY_RULE
@settings(max_examples=60)
@given(cohort=cohorts(), data=st.data())
def test_without_limits_and_at_its_own_rate_a_policy_decides_as_trained(rule, cohort, data):
    policy = data.draw(policies(cohort))
    own = choose(policy, rule)
    hard = Limits(budget=float((own > 0).mean()))
    soft = Limits(budget=float(policy.defer.mean()), soft=True)
    saving = data.draw(st.none() | st.just(scores(cohort, 1)))
    for limits in (Limits(), hard, soft):
        made = reroute(policy, cohort, rule, limits, saving=saving)
        np.testing.assert_array_equal(made.action, own)
        assert made.gap == 0
    for key in np.unique(cohort.source):
        mine = cohort.rows(cohort.source == key)
        theirs = own[cohort.source == key]
        limits = Limits(budget=float((theirs > 0).mean()), by_cohort=True)
        part = Policy(*(x[cohort.source == key] for x in (policy.defer, policy.allocation, policy.available)))
        np.testing.assert_array_equal(reroute(part, mine, rule, limits).action, theirs)


@settings(max_examples=60)
@given(cohorts(), st.integers(0, 999), SHARES)
def test_a_hard_budget_is_met_to_the_case_wherever_there_are_readers(cohort, seed, share):
    made = plan(scores(cohort, seed), cohort, Limits(budget=share))
    wanted = int(share * len(cohort) + 0.5)
    assert len(sent(made, cohort)) == min(wanted, int(cohort.available.any(-1).sum()))


@settings(max_examples=60)
@given(hnp.arrays(float, st.integers(1, 30), elements=st.floats(0.001, 0.999)), SHARES)
def test_a_soft_price_gives_the_mean_probability_asked_for(defer, share):
    price = soft_price(defer, share)
    shifted = 1 / (1 + np.exp(-(np.log(defer / (1 - defer)) - price)))
    assert shifted.mean() == pytest.approx(share, abs=1e-6)


@settings(max_examples=60)
@given(cohorts(), st.integers(0, 999), SHARES)
def test_who_is_sent_is_worth_more_than_the_price_and_who_stays_is_not(cohort, seed, share):
    preference = scores(cohort, seed)
    made = plan(preference, cohort, Limits(budget=share))
    best = np.where(cohort.available, preference, -np.inf).max(-1)
    went, wanted = made.action > 0, int(share * len(cohort) + 0.5)
    if went.sum() == wanted < np.isfinite(best).sum():  # else everybody goes who can
        assert (best[went] > made.price[went]).all()
        assert (best[~went] <= made.price[~went]).all()


# ---------------------------------------------------------------------------------- roster


@EVERY_RULE
@settings(max_examples=40)
@given(cohort=cohorts(), data=st.data())
def test_nobody_absent_is_ever_asked_and_without_anybody_the_ai_decides(rule, cohort, data):
    policy = data.draw(policies(cohort))
    limits = data.draw(wishes(cohort))
    made = reroute(policy, cohort, rule, limits)
    asked = made.action[made.action > 0] - 1
    assert cohort.available[made.action > 0, asked].all()
    assert not set(np.array(cohort.manifest.columns)[asked]) & set(limits.away)
    nobody = reroute(policy, cohort, rule, Limits(budget=1.0, away=cohort.manifest.columns))
    assert (nobody.action == 0).all()
    assert "No reader is there" in nobody.notes[-1]


# ---------------------------------------------------------------------------------- capacity


def allowed(action: np.ndarray, cohort: Cohort, limits: Limits, urgent: np.ndarray) -> bool:
    """Whether an assignment keeps every limit but the exact budget; plain loops over the definition."""
    went = action > 0
    load = [int((action == j + 1).sum()) for j in range(cohort.readers)]
    capacity = dict(limits.capacity)
    places = [len(cohort)]
    if all(column in capacity for column in cohort.manifest.columns):
        places.append(sum(capacity.values()))
    if any(load[j] > capacity.get(column, len(cohort)) for j, column in enumerate(cohort.manifest.columns)):
        return False
    if limits.total is not None:
        places.append(limits.total)
        if went.sum() > limits.total:
            return False
    if limits.budget is not None and not limits.soft:
        parts = [cohort.source == key for key in set(cohort.source)] if limits.by_cohort else [went | True]
        counts = [int(limits.budget * part.sum() + 0.5) for part in parts]
        places.append(sum(counts))
        if any(went[part].sum() > count for part, count in zip(parts, counts, strict=True)):
            return False
    return not limits.reserve or (went & ~urgent).sum() <= max(min(places) - limits.reserve, 0)


@settings(max_examples=150)
@given(st.data(), FEW, st.integers(0, 999))
def test_a_plan_is_as_good_as_the_best_of_all_assignments(data, cohort, seed):
    limits = data.draw(wishes(cohort).filter(lambda made: not made.soft))
    preference = scores(cohort, seed)
    urgent = data.draw(hnp.arrays(bool, len(cohort)))
    made = plan(preference, cohort, limits, urgent)
    assert allowed(made.action, cohort, limits, urgent)

    open_to = cohort.available & limits.present(cohort.manifest)
    best = (-1, -np.inf)
    for chosen in product(range(cohort.readers + 1), repeat=len(cohort)):
        action = np.array(chosen)
        went = np.flatnonzero(action)
        if open_to[went, action[went] - 1].all() and allowed(action, cohort, limits, urgent):
            value = preference[went, action[went] - 1].sum()
            best = max(best, (len(went) if limits.budget is not None else 0, value))
    assert (int((made.action > 0).sum()) if limits.budget is not None else 0) == best[0]
    assert made.value == pytest.approx(best[1], abs=1e-6)
    assert made.gap == pytest.approx(0, abs=1e-6)


@settings(max_examples=60)
@given(st.data(), cohorts(readers=st.integers(1, 6), cases=st.integers(1, 25)), st.integers(0, 999))
def test_no_limit_is_ever_exceeded_and_the_gap_by_prices_is_honest(data, cohort, seed):
    limits = data.draw(wishes(cohort).filter(lambda made: not made.soft))
    urgent = data.draw(hnp.arrays(bool, len(cohort)))
    preference = scores(cohort, seed)
    exact = plan(preference, cohort, limits, urgent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "EXACT_PAIRS", -1)
        priced = plan(preference, cohort, limits, urgent)
    for made in (exact, priced):
        assert allowed(made.action, cohort, limits, urgent)
    if (exact.action > 0).sum() == (priced.action > 0).sum():
        assert exact.value <= priced.value + priced.gap + 1e-6


@settings(max_examples=60)
@given(st.data(), cohorts(), st.integers(0, 999))
def test_the_order_of_cases_and_of_readers_does_not_matter(data, cohort, seed):
    limits = data.draw(wishes(cohort).filter(lambda made: not made.soft))
    urgent = data.draw(hnp.arrays(bool, len(cohort)))
    preference = scores(cohort, seed)
    made = plan(preference, cohort, limits, urgent)
    order = np.array(data.draw(st.permutations(range(len(cohort)))))
    shuffled = plan(preference[order], cohort.rows(order), limits, urgent[order])
    np.testing.assert_array_equal(shuffled.action, made.action[order])

    turn = np.array(data.draw(st.permutations(range(cohort.readers))))
    turned = with_readers(cohort, turn)
    names = np.array(["ai", *cohort.manifest.columns])
    others = np.array(["ai", *turned.manifest.columns])
    np.testing.assert_array_equal(others[plan(preference[:, turn], turned, limits, urgent).action], names[made.action])


def with_readers(cohort: Cohort, turn: np.ndarray) -> Cohort:
    """The same cohort with its readers in another order."""
    manifest = cohort.manifest.model_copy(update={"readers": tuple(cohort.manifest.readers[j] for j in turn)})
    return replace(cohort, manifest=manifest, decisions=cohort.decisions[:, turn], available=cohort.available[:, turn])


def test_a_large_worklist_is_planned_by_prices_almost_as_well_as_exactly(small_cohort):
    random = np.random.default_rng(3)
    cohort = small_cohort.rows(random.integers(0, len(small_cohort), 1500))
    preference = random.normal(size=cohort.available.shape) * 3
    limits = Limits(budget=0.4, capacity=tuple((column, 40) for column in cohort.manifest.columns))
    exact = plan(preference, cohort, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "EXACT_PAIRS", 0)
        priced = plan(preference, cohort, limits)
    assert (priced.action > 0).sum() == (exact.action > 0).sum()
    assert priced.value >= 0.99 * exact.value


# ---------------------------------------------------------------------------------- what cannot be


def test_a_wish_that_cannot_be_met_is_explained(small_cohort):
    preference = scores(small_cohort, 0)
    first = small_cohort.manifest.columns[0]
    others = tuple(small_cohort.manifest.columns[1:])
    made = plan(preference, small_cohort, Limits(budget=0.9, capacity=((first, 2),), away=others, reserve=5))
    assert (made.action > 0).sum() <= 2
    assert "The budget is" in made.notes[0]
    assert "no more places" in made.notes[0]
    assert "nobody who could read them" in made.notes[0]
    assert "5 places are kept for urgent cases, of which there are 0" in made.notes[1]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"budget": np.nan}, "budget: found nan"),
        ({"budget": 1.5}, "expected a share from 0 to 1"),
        ({"soft": True}, "a soft budget needs its share"),
        ({"total": -1}, "total: found -1"),
        ({"capacity": (("reader", -3),)}, "reader: found -3"),
        ({"capacity": (("reader", 2.5),)}, "reader: found 2.5"),
        ({"capacity": (("reader", np.nan),)}, "reader: found nan"),
        ({"reserve": np.inf}, "reserve: found inf"),
        ({"budget": 0.2, "by_cohort": True, "reserve": 2}, "keep one of the two"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_in_words(wish, words):
    with pytest.raises(UserError, match=words):
        Limits(**wish)


def test_an_unknown_reader_and_a_nan_are_refused(small_cohort):
    with pytest.raises(UserError, match="reader: found stranger, expected some of"):
        plan(scores(small_cohort, 0), small_cohort, Limits(away=("stranger",)))
    with pytest.raises(UserError, match="found a reader twice"):
        Limits(capacity=(("one", 1), ("one", 2)))
    broken = scores(small_cohort, 0)
    broken[0, 0] = np.nan
    with pytest.raises(UserError, match="no NaN"):
        plan(broken, small_cohort, Limits())
