"""An explanation adds up, and what it says would happen does happen."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import STATE

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates import expectations, fit_errors
from mpd2.core.policy import choose, mean_policy, preferences
from mpd2.core.runs import Run
from mpd2.evaluation import explain
from mpd2.methods.base import COHORT
from mpd2.methods.registry import continuations_of, policy_of
from mpd2.training.config import Config
from mpd2.training.population import fit_routers

NUMBERS = st.floats(-3, 3)


@pytest.fixture(scope="module")
def train(small_cohort: Cohort) -> Cohort:
    return small_cohort.subset(split="train")


@pytest.fixture(scope="module")
def run(small_cohort: Cohort) -> Run:
    """Three small routers trained long enough to send some cases and keep others."""
    config = Config().but(
        rule="staged", network__width=8, objective__ai_cost="hard", training__learning_rate=1e-2,
        training__epochs=15, training__warm_up=0,
    )  # fmt: skip
    costs = small_cohort.manifest.default_costs()
    return fit_routers(small_cohort, costs, [config.but(seed=seed) for seed in range(3)], device="cpu")


def applied(run: Run) -> explain.Applied:
    return lambda cases: (policy_of(run, cases), continuations_of(run, cases))


def sends(run: Run, cases: Cohort) -> np.ndarray:
    return choose(mean_policy(policy_of(run, cases)), run.rule) > 0


def by_permutations(value: explain.Value, case: Floats, background: Floats) -> Floats:
    """The mean gain of each input over every order in which they can become known."""
    orders = list(permutations(range(len(case))))
    total = np.zeros(len(case))
    for order in orders:
        known = background.copy()
        for position in order:
            before = value(known).mean()
            known[:, position] = case[position]
            total[position] += value(known).mean() - before
    return total / len(orders)


@given(hnp.arrays(float, 3, elements=NUMBERS), hnp.arrays(float, (4, 3), elements=NUMBERS))
@settings(max_examples=30)
def test_shapley_values_agree_with_every_order_of_knowing(case: Floats, background: Floats) -> None:
    def value(states: Floats) -> Floats:
        return states[:, 0] * states[:, 1] + np.sin(states[:, 2]) * states[:, 0] + states[:, 1] ** 2

    values, base = explain.shapley(value, case, background)
    np.testing.assert_allclose(values, by_permutations(value, case, background), atol=1e-9)
    np.testing.assert_allclose(base, value(background).mean(), atol=1e-9)


def test_inputs_that_play_the_same_part_share_alike_and_an_unused_one_gets_nothing() -> None:
    values, _ = explain.shapley(lambda s: s[:, 0] * s[:, 1], np.array([2.0, 2.0, 5.0]), np.zeros((1, 3)))
    np.testing.assert_allclose(values, [2.0, 2.0, 0.0], atol=1e-12)


def test_attributions_add_up_to_every_routers_own_number(run: Run, small_cohort: Cohort, train: Cohort) -> None:
    case, grounds = small_cohort.rows(np.array([20])), explain.sending(applied(run), run.rule)
    found = explain.attribute(grounds, STATE, case, train, size=5)["sending"]
    assert found.values.shape == (3, len(STATE))
    np.testing.assert_allclose(found.total, preferences(policy_of(run, case), run.rule).max(-1)[:, 0], atol=1e-4)
    others = grounds(_as_if(case, explain.background(train, 5)))["sending"]
    np.testing.assert_allclose(found.base, others.mean(-1), atol=1e-4)


def _as_if(case: Cohort, others: Cohort) -> Cohort:
    """Other cases as if those who can read the one, and no others, could read them."""
    return replace(others, available=np.repeat(case.available, len(others), axis=0))


def test_a_case_nobody_can_read_has_no_decision_to_take_apart(run: Run, small_cohort: Cohort, train: Cohort) -> None:
    case = small_cohort.rows(np.array([20])).with_available(np.zeros(small_cohort.readers, bool))
    assert explain.attribute(explain.sending(applied(run), run.rule), STATE, case, train, size=5) == {}


def test_the_background_is_spread_over_cohorts_and_probabilities(train: Cohort) -> None:
    few = explain.background(train, 20)
    shares = [np.bincount(cases.source, minlength=3) / len(cases) for cases in (few, train)]
    np.testing.assert_allclose(*shares, atol=1 / 20)
    assert abs(few.ai_probability.mean() - train.ai_probability.mean()) < 0.05
    np.testing.assert_array_equal(few.ids, explain.background(train, 20).ids)
    assert sorted(explain.background(train, 10**6).ids) == sorted(train.ids)


def test_attributions_are_told_as_their_mean_and_spread(small_cohort: Cohort) -> None:
    inputs = ("vCDR", COHORT)
    told = explain.Attribution(inputs, np.array([[1.0] * 2, [3.0] * 2]), np.zeros(2))
    rows = explain.attribution_frame(told, small_cohort.rows(np.array([0])))
    assert rows[["adds", "least", "most"]].iloc[0].tolist() == [2.0, 1.0, 3.0]
    assert rows["value"].tolist() == [f"{small_cohort.column('vCDR')[0]:.2f}", small_cohort.manifest.cohorts[0].name]


def test_a_flip_changes_what_is_done_and_just_short_of_it_does_not(
    run: Run, small_cohort: Cohort, train: Cohort
) -> None:
    assert flips_tried(run, small_cohort.rows(np.arange(0, len(small_cohort), 6)), train) > 5


def flips_tried(run: Run, cases: Cohort, train: Cohort) -> int:
    """Run every flip of some cases again, and the point just short of it; how many there were."""
    tried = 0
    for position in range(len(cases)):
        case = cases.rows(np.array([position]))
        now = explain.done(applied(run), run.rule, case)[0]
        for row in explain.flips(applied(run), run.rule, case, train).itertuples():
            tried += 1
            width = np.ptp(train.column(row.variable)) + abs(row.now)
            short = row.flips_at - np.sign(row.change) * min(4e-3 * width, abs(row.flips_at - row.now))
            states = np.stack([explain.changed(case, {row.variable: v}) for v in (row.flips_at, short)])
            copies = explain.copies_with(case, states)
            there, before = explain.done(applied(run), run.rule, copies)
            assert there != now
            assert ((there > 1) != (now > 1)) == row.crosses == (sends(run, copies)[0] != (now > 1))
            assert ((before > 1) == (now > 1)) if row.crosses else before != there
            who = ["healthy", "glaucoma", *(reader.name for reader in case.manifest.readers)][there]
            assert row.then.endswith(who)
    return tried


def test_flips_stay_in_the_training_range_and_the_easiest_comes_first(run: Run, train: Cohort) -> None:
    found = [
        explain.flips(applied(run), run.rule, train.rows(np.array([row])), train) for row in range(0, len(train), 2)
    ]
    assert sum(map(len, found)) > 5
    for rows in found:
        for row in rows.itertuples():
            assert train.column(row.variable).min() <= row.flips_at <= train.column(row.variable).max()
        assert rows["change"].abs().is_monotonic_increasing
        assert not rows.duplicated(["variable", "crosses"]).any()


def test_whoever_is_away_is_not_asked_again(run: Run, small_cohort: Cohort) -> None:
    sent = small_cohort.rows(np.flatnonzero(sends(run, small_cohort))[:5])
    for position in range(len(sent)):
        case = sent.rows(np.array([position]))
        order = explain.stand_ins(applied(run), run.rule, case)
        assert order[0] == choose(mean_policy(policy_of(run, case)), run.rule)[0]
        assert len(set(order)) == len(order) <= 3
        assert all(action == 0 or case.available[0, action - 1] for action in order)


def test_without_readers_the_list_of_stand_ins_ends_with_the_ai(run: Run, small_cohort: Cohort) -> None:
    case = small_cohort.rows(np.array([0]))
    nobody = explain.copies_with(case, case.state, np.zeros(case.readers, bool))
    assert explain.stand_ins(applied(run), run.rule, nobody) == [0]


def test_an_edited_score_moves_probability_and_uncertainty_with_it(small_cohort: Cohort) -> None:
    state = explain.changed(small_cohort, {"logit_0": 0.0, "logit_1": 0.0, "vCDR": 0.9})
    assert state[STATE.index("prob_1")] == state[STATE.index("uncertainty")] == 0.5
    assert state[STATE.index("vCDR")] == 0.9
    assert state[STATE.index("aCDR")] == small_cohort.column("aCDR")[0]


def test_what_follows_from_the_scores_is_what_the_table_holds(small_cohort: Cohort) -> None:
    np.testing.assert_allclose(small_cohort.layout.completed(small_cohort.state), small_cohort.state, atol=1e-9)


def test_a_typical_case_can_be_routed_although_nothing_is_known_of_it(run: Run, train: Cohort) -> None:
    case = explain.typical_case(train)
    assert len(case) == 1
    assert case.available.all()
    assert (case.truth == UNKNOWN).all()
    assert (case.decisions == UNKNOWN).all()
    assert policy_of(run, case).defer.shape == (3, 1)


def test_actions_tell_shares_votes_and_costs_of_everybody(run: Run, small_cohort: Cohort, train: Cohort) -> None:
    case, costs = small_cohort.rows(np.array([30])), small_cohort.manifest.default_costs()
    policy, expected = policy_of(run, case), expectations(fit_errors(train).predict(case), case, costs)
    label = int(case.ai_label[0])
    rows, overruled = (
        explain.actions_frame(policy, case, run.rule, expected, costs, kept) for kept in (label, 1 - label)
    )
    assert (rows["who"].iloc[0], overruled["who"].iloc[0]) == ("AI", "rule")
    assert rows["share"].sum() == pytest.approx(1)
    assert rows["votes"].sum() == 3
    assert rows["chosen"].sum() == 1
    assert (rows.loc[~rows["available"], "share"] == 0).all()
    assert ((rows["least"] <= rows["share"] + 1e-9) & (rows["share"] <= rows["most"] + 1e-9)).all()
    assert rows["expected_cost"].notna().tolist() == rows["available"].tolist()
    there = rows["available"].to_numpy()
    np.testing.assert_array_equal(rows["expected_cost"][there], expected.cost[0, there])
    np.testing.assert_array_equal(rows["wrong"], expected.wrong[0])
    readers = rows[rows["available"] & (rows["action"] != "ai") & ~rows["chosen"]]
    assert rows["runner_up"].sum() == 1
    assert rows["share"][rows["runner_up"]].item() == readers["share"].max()


def test_a_value_is_flagged_outside_its_cohort_and_beyond_all_training_cases(train: Cohort) -> None:
    case = train.rows(np.array([0]))
    others = train.rows(train.source != case.source[0])
    column = STATE.index("vim_risk_z")
    own = train.state[train.source == case.source[0], column]
    assert own.max() < others.column("vim_risk_z").min()  # so that the middle between them is outside of both
    between = (own.max() + others.column("vim_risk_z").min()) / 2
    for value, flag in ((own.min(), explain.INSIDE), (between, explain.OUTSIDE), (1e3, explain.BEYOND)):
        state = case.state.copy()
        state[0, column] = value
        rows = explain.range_frame(replace(case, state=state), train).set_index("variable")
        assert rows.loc["vim_risk_z", "flag"] == flag
    assert rows.loc["vim_risk_z", "rank"] == 1


def test_a_training_case_is_most_like_itself_and_readers_who_read_nothing_are_left_out(run: Run, train: Cohort) -> None:
    rows = explain.similar_cases(applied(run), run.rule, train.rows(np.array([4])), train, 3)
    assert rows["case_id"].iloc[0] == train.ids[4]
    assert rows["distance"].is_monotonic_increasing
    alike = train.rows(np.flatnonzero(np.isin(train.ids, rows["case_id"])))
    read = [reader.name for reader, any_read in zip(
        train.manifest.readers, (alike.decisions != UNKNOWN).any(0), strict=True) if any_read]  # fmt: skip
    assert [name for name in rows.columns if name in {r.name for r in train.manifest.readers}] == read
    assert set(rows["truth"]) <= {"healthy", "glaucoma"}
    assert rows["done"].str.match("kept: (healthy|glaucoma)|sent to .+").all()


def test_a_case_is_nowhere_apart_from_itself(train: Cohort) -> None:
    case, other = train.rows(np.array([0])), train.rows(np.array([9]))
    assert (explain.comparison_frame(case, case, train)["apart"] == 0).all()
    there, back = explain.comparison_frame(case, other, train), explain.comparison_frame(other, case, train)
    np.testing.assert_allclose(there["apart"], -back["apart"])
    assert (there["this"] == back["other"]).all()
