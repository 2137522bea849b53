"""Asking: it agrees with a plain expectimax, and what must hold at the ends does hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import made_up_manifest

from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import NOBODY, apply_actions
from mpd2.evaluation.metrics import tally
from mpd2.methods.plus import asking
from mpd2.methods.plus.asking import CHAIN, CHEAPER, Outlook, chain, continuations, decide, enquire, first_gain, ways

INSIDE = st.floats(0.02, 0.98)


@st.composite
def outlooks(draw: st.DrawFn, readers: int = 3, cases: int = 4, fuse: bool = True) -> Outlook:
    """What might be believed of a few cases, in two members."""
    return Outlook(
        prior=draw(hnp.arrays(float, (2, cases), elements=INSIDE)),
        answers=draw(hnp.arrays(float, (2, cases, readers, 2), elements=INSIDE)),
        available=draw(hnp.arrays(bool, (cases, readers))),
        kept=draw(hnp.arrays(np.int64, cases, elements=st.integers(-1, 1))),
        fuse=fuse,
    )


def costs_of(readers: int = 3, fee: float | None = None) -> Costs:
    fees = np.linspace(0.05, 0.2, readers) if fee is None else np.full(readers, fee)
    return Costs(2.0, 1.5, tuple(fees.tolist()))


def words_of(outlook: Outlook, seed: int = 0) -> np.ndarray:
    said = np.random.default_rng(seed).integers(0, 2, outlook.available.shape)
    return np.where(outlook.available, said, UNKNOWN)


def brute_force(prior: float, answers: Floats, there: list[int], costs: Costs, left: int, label: int, fuse: bool):
    """The least expected cost from here, and that of asking each reader next, by the textbook."""
    wrong = {1: costs.false_positive * (1 - prior), 0: costs.false_negative * prior}
    stop = min(wrong.values()) if label == CHEAPER else wrong[label]
    asking = {}
    for reader in there if left else []:
        expected = costs.fees[reader]
        for answer in (0, 1):
            healthy, sick = (rate if answer else 1 - rate for rate in answers[reader])
            probability = (1 - prior) * healthy + prior * sick
            rest = [other for other in there if other != reader]
            ends = CHEAPER if fuse else answer
            least, _ = brute_force(prior * sick / probability, answers, rest, costs, left - 1, ends, fuse)
            expected += probability * least
        asking[reader] = expected
    return min([stop, *asking.values()]), asking


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 3])
@given(data=st.data())
@settings(max_examples=15)
def test_the_gain_of_asking_is_that_of_a_brute_force_expectimax(limit: int, fuse: bool, data: st.DataObject) -> None:
    outlook = data.draw(outlooks(fuse=fuse))
    gains = first_gain(outlook, costs_of(), limit)
    for member, case in np.ndindex(outlook.prior.shape):
        there = np.flatnonzero(outlook.available[case]).tolist()
        prior, label = float(outlook.prior[member, case]), int(outlook.kept[case])
        about = (prior, outlook.answers[member, case], there, costs_of())
        now, _ = brute_force(*about, 0, label, fuse)
        _, asking = brute_force(*about, limit, label, fuse)
        expected = [now - asking[j] if j in asking else -np.inf for j in range(3)]
        assert gains[member, case] == pytest.approx(expected, abs=1e-9)


@given(outlooks(), st.integers(1, 3))
def test_a_reader_is_asked_first_where_that_gains_most_and_only_if_it_gains(outlook: Outlook, limit: int) -> None:
    gains = first_gain(outlook, costs_of(), limit)
    first = decide(outlook, words_of(outlook), costs_of(), limit).consulted[..., 0]
    gained = np.where(first == NOBODY, 0.0, np.take_along_axis(gains, np.maximum(first, 0)[..., None], -1)[..., 0])
    assert np.allclose(gained, np.maximum(gains.max(-1), 0.0), atol=1e-12)


@given(outlooks(), st.integers(1, 3))
def test_decisions_are_the_endings_of_whom_is_asked_first(outlook: Outlook, limit: int) -> None:
    made = decide(outlook, words_of(outlook), costs_of(), limit)
    ends = continuations(outlook, words_of(outlook), costs_of(), limit)
    again = apply_actions(made.consulted[..., 0] + 1, None, ends)
    assert np.array_equal(again.label, made.label)
    assert np.array_equal(again.consulted, made.consulted)


@given(outlooks(), st.integers(1, 3))
def test_nobody_absent_is_asked_and_nobody_twice(outlook: Outlook, limit: int) -> None:
    consulted = decide(outlook, words_of(outlook), costs_of(fee=0.0), limit).consulted
    for member, case in np.ndindex(outlook.prior.shape):
        asked = consulted[member, case][consulted[member, case] != NOBODY]
        assert len(set(asked)) == len(asked)
        assert outlook.available[case, asked].all()


@given(outlooks(), st.integers(1, 3))
def test_with_fees_beyond_all_stakes_nobody_is_asked(outlook: Outlook, limit: int) -> None:
    made = decide(outlook, words_of(outlook), costs_of(fee=1e9), limit)
    assert not made.deferred.any()
    sick = 2.0 * outlook.prior >= 1.5 * (1 - outlook.prior)
    assert np.array_equal(made.label, np.where(outlook.kept == CHEAPER, sick, outlook.kept))


def test_nothing_is_followed_where_less_is_at_stake_than_the_cheapest_fee(monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[int] = []
    plain = asking._asking_chunk

    def counted(enquiries: asking._Enquiries, askable: Bools, terms: asking._Terms, depth: int) -> Floats:
        followed.append(int(askable.sum()))
        return plain(enquiries, askable, terms, depth)

    monkeypatch.setattr(asking, "_asking_chunk", counted)
    prior = np.array([0.01, 0.99, 0.3])  # at stake are 0.02, 0.015 and 0.6
    outlook = Outlook(prior, np.full((3, 3, 2), [0.2, 0.8]), np.ones((3, 3), bool), np.full(3, CHEAPER))
    made = decide(outlook, words_of(outlook), costs_of(fee=0.1), 1)
    assert made.deferred.tolist() == [False, False, True]
    assert followed == [3]


@given(outlooks(), st.integers(1, 3), st.integers(0, 99))
def test_free_and_perfect_readers_cost_nothing(outlook: Outlook, limit: int, seed: int) -> None:
    everybody = np.ones_like(outlook.available)
    perfect = np.broadcast_to(np.array([0.0, 1.0]), outlook.answers.shape)
    truth = np.random.default_rng(seed).integers(0, 2, len(everybody))
    words = np.repeat(truth[:, None], 3, axis=1)
    sure = replace(outlook, answers=perfect, available=everybody)
    made = decide(sure, words, costs_of(fee=0.0), limit)
    assert (made.label == truth).all()


@given(outlooks(), st.permutations(range(3)))
def test_the_order_of_answers_does_not_matter(outlook: Outlook, order: list[int]) -> None:
    """Where readers who cost nothing are all heard, the label is the same in whatever order their columns stand."""
    everybody = np.ones_like(outlook.available)
    here = replace(outlook, available=everybody)
    there = replace(here, answers=here.answers[:, :, order])
    words = words_of(here)
    one, other = decide(here, words, costs_of(fee=0.0), 3), decide(there, words[:, order], costs_of(fee=0.0), 3)
    everything = ((one.consulted != NOBODY) & (other.consulted != NOBODY)).all(-1)  # [E, N] all three were heard
    assert np.array_equal(one.label[everything], other.label[everything])


@given(outlooks())
def test_one_more_reader_never_makes_asking_worse(outlook: Outlook) -> None:
    one, two, three = (first_gain(outlook, costs_of(), limit) for limit in (1, 2, 3))
    assert (two >= one - 1e-12).all()
    assert (three >= two - 1e-12).all()


def simulated(cases: int = 20_000) -> tuple[Outlook, Cohort]:
    """Cases whose truths and answers are drawn as the outlook says."""
    random = np.random.default_rng(5)
    outlook = Outlook(
        prior=random.uniform(0, 1, cases),
        answers=np.sort(random.uniform(0, 1, (cases, 3, 2)), axis=-1),
        available=random.random((cases, 3)) < 0.8,
        kept=np.full(cases, CHEAPER),
    )
    truth = (random.random(cases) < outlook.prior).astype(int)
    rate = np.take_along_axis(outlook.answers, truth[:, None, None], -1)[..., 0]
    words = np.where(outlook.available, random.random(rate.shape) < rate, UNKNOWN)
    nothing, drawn = np.zeros((cases, 8)), np.full((cases, 1), np.nan)
    names, split = np.arange(cases).astype(str), np.full(cases, "test")
    about = (made_up_manifest(3), "simulated", names, np.zeros(cases, int), split, np.arange(cases))
    return outlook, Cohort(*about, nothing, nothing > 0, drawn, truth, words, outlook.available)


def test_where_beliefs_are_true_the_cost_is_the_one_expected() -> None:
    outlook, cohort = simulated()
    gains = first_gain(outlook, costs_of(), 3)
    stop = np.minimum(2.0 * outlook.prior, 1.5 * (1 - outlook.prior))
    expected = stop - np.maximum(gains.max(-1), 0.0)
    cases = tally(cohort, decide(outlook, cohort.decisions, costs_of(), 3), costs_of()).cases
    paid = cases[:, -1] + cases[:, -2]  # clinical cost and fees
    assert paid.mean() == pytest.approx(expected.mean(), abs=4 * paid.std() / np.sqrt(len(paid)))
    assert paid.mean() < stop.mean()


@given(outlooks(), st.integers(1, 3), st.integers(0, 2), st.integers(0, 9))
def test_an_enquiry_that_is_heard_out_ends_as_the_continuations_do(
    outlook: Outlook, limit: int, first: int, seed: int
) -> None:
    together, words = outlook.together(), words_of(outlook, seed)
    ends = continuations(together, words, costs_of(), limit)
    begun = np.where(outlook.available[:, first], first, NOBODY)
    found = enquire(together, begun, words, np.zeros(words.shape, bool), costs_of(), limit)
    batch = apply_actions(begun + 1, None, ends)
    assert np.array_equal(found.label, batch.label)
    assert np.array_equal(found.consulted, batch.consulted)
    assert (found.waiting == NOBODY).all()


@given(outlooks(), st.integers(1, 3), st.integers(0, 9))
def test_answers_that_come_one_at_a_time_end_where_all_at_once_do(outlook: Outlook, limit: int, seed: int) -> None:
    together, words = outlook.together(), words_of(outlook, seed)
    first = decide(together, words, costs_of(), limit).consulted[:, 0]
    nobody, said = np.zeros(words.shape, bool), np.full(words.shape, UNKNOWN)
    for _ in range(limit + 1):
        found = enquire(together, first, said, nobody, costs_of(), limit)
        waits = np.flatnonzero(found.waiting != NOBODY)
        assert (found.label[waits] == UNKNOWN).all()
        said[waits, found.waiting[waits]] = words[waits, found.waiting[waits]]
    whole = enquire(together, first, words, nobody, costs_of(), limit)
    assert np.array_equal(found.label, whole.label)
    assert np.array_equal(found.consulted, whole.consulted)


@given(outlooks(), st.integers(1, 3), st.integers(0, 9))
def test_whoever_declines_is_never_counted_as_asked(outlook: Outlook, limit: int, seed: int) -> None:
    together, words = outlook.together(), words_of(outlook, seed)
    declined = np.random.default_rng(seed).random(words.shape) < 0.5
    heard = np.where(declined, UNKNOWN, words)
    first = np.where(outlook.available.any(-1), outlook.available.argmax(-1), NOBODY)
    found = enquire(together, first, heard, declined, costs_of(), limit)
    row, step = np.nonzero(found.consulted != NOBODY)
    assert not declined[row, found.consulted[row, step]].any()
    assert (found.waiting == NOBODY).all()
    assert (found.label != UNKNOWN).all()


def test_an_enquiry_waits_for_a_word_that_is_not_there() -> None:
    outlook, cohort = simulated(200)
    unheard = np.full_like(cohort.decisions, UNKNOWN)
    made = decide(outlook, unheard, costs_of(), 3)
    assert made.deferred.any()
    assert np.array_equal(made.label == UNKNOWN, made.deferred)
    assert (made.consulted[:, 1:] == NOBODY).all()


def test_the_chain_tells_what_is_decided() -> None:
    outlook, cohort = simulated(60)
    made = decide(outlook, cohort.decisions, costs_of(), 3)
    names = [reader.name for reader in cohort.manifest.readers]
    for case in range(60):
        row = np.array([case])
        one = Outlook(outlook.prior[row], outlook.answers[row], outlook.available[row], outlook.kept[row])
        steps = chain(one, cohort.rows(row), costs_of(), 3, prevalence=0.3)
        assert tuple(steps) == CHAIN
        asked = [names[j] for j in made.consulted[case] if j != NOBODY]
        assert steps["next"].iloc[1:-1].tolist() == [f"ask {name}" for name in asked]
        assert steps["next"].iloc[-1] == f"decide: {['healthy', 'glaucoma'][made.label[case]]}"
        assert steps["probability"].iloc[:2].tolist() == pytest.approx([0.3, outlook.prior[case]])


def test_with_many_readers_only_as_far_is_looked_as_can_be_followed() -> None:
    assert ways(12, 3) <= 12_000 < ways(30, 3)
    readers, random = 30, np.random.default_rng(3)
    outlook = Outlook(
        random.uniform(0, 1, 5), random.uniform(0, 1, (5, readers, 2)), np.ones((5, readers), bool), np.full(5, CHEAPER)
    )
    two, three = (first_gain(outlook, costs_of(readers), limit) for limit in (2, 3))
    assert np.array_equal(two, three)
