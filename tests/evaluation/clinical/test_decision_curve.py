"""Net benefit against a package of others, against total cost and against plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from dcurves import dca
from hypothesis import given
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import Decisions, route
from mpd2.evaluation.clinical.decision_curve import (
    ALL,
    MOVED,
    NONE,
    RATIOS,
    Strategy,
    at_ratio,
    decision_curves,
    net_benefits,
    ratio_of,
    where_best,
    without_runs,
)
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import evaluate


@pytest.fixture(scope="module")
def curves(held_out: Cohort) -> pd.DataFrame:
    costs, weights = held_out.manifest.default_costs(), resample_weights(held_out, 200)
    return decision_curves(held_out, costs, without_runs(held_out), weights)


def test_the_ai_has_the_net_benefit_that_dcurves_gives_it(held_out: Cohort, curves: pd.DataFrame) -> None:
    cases = pd.DataFrame({"truth": held_out.truth, "ai": held_out.ai_probability})
    thresholds = curves.loc[curves["method"] == MOVED, "threshold"].tolist()
    theirs = dca(data=cases, outcome="truth", modelnames=["ai"], thresholds=thresholds)
    for method, model in ((MOVED, "ai"), (ALL, "all"), (NONE, "none")):
        ours = curves.loc[curves["method"] == method, "value"].to_numpy()
        assert ours == pytest.approx(theirs.loc[theirs["model"] == model, "net_benefit"].to_numpy(), abs=1e-9)
    assert len(thresholds) == len(RATIOS)
    assert (thresholds[0], thresholds[-1]) == (0.5, pytest.approx(1 / 51))


def test_fees_are_the_harm_that_dcurves_takes_off(held_out: Cohort) -> None:
    costs = at_ratio(held_out.manifest.default_costs(), 7.0)
    asked = np.where(held_out.available.any(-1), held_out.available.argmax(-1), -1)
    label = np.where(asked >= 0, held_out.decisions[np.arange(len(held_out)), asked], held_out.ai_label)
    fee = np.where(asked >= 0, np.array(costs.fees)[asked], 0.0).mean()
    cases = pd.DataFrame({"truth": held_out.truth, "word": label})
    theirs = dca(data=cases, outcome="truth", modelnames=["word"], thresholds=[1 / 8],
                 harm={"word": fee / costs.false_negative})  # fmt: skip
    ours = net_benefits(held_out, Decisions(asked[:, None], label), costs).mean()
    assert ours == pytest.approx(theirs.loc[theirs["model"] == "word", "net_benefit"].item(), abs=1e-9)


@given(st.data(), st.sampled_from(RATIOS), st.floats(0, 10))
def test_net_benefit_is_prevalence_less_total_cost_in_misses(data: st.DataObject, ratio: float, fee: float) -> None:
    cohort = data.draw(cohorts())
    costs = at_ratio(cohort.manifest.default_costs(), ratio, fee)
    decisions = route(data.draw(policies(cohort)), cohort)
    total = evaluate(cohort, decisions, costs)["TotalCost"].item()
    expected = cohort.truth.mean() - total / costs.false_negative
    assert net_benefits(cohort, decisions, costs).mean() == pytest.approx(expected, abs=1e-12)


def test_a_ratio_moves_the_cost_of_a_miss_and_nothing_else(held_out: Cohort) -> None:
    costs = held_out.manifest.default_costs()
    assert at_ratio(costs, ratio_of(costs)) == costs
    moved = at_ratio(costs, 5 * ratio_of(costs))
    assert moved == Costs(5 * costs.false_negative, costs.false_positive, costs.fees)
    with pytest.raises(UserError, match="cost of a false alarm: found 0, expected more"):
        at_ratio(Costs(2.0, 0.0, costs.fees), 3.0)


def test_bands_hold_the_curve_and_nobody_is_ahead_of_the_best(curves: pd.DataFrame) -> None:
    assert ((curves["low"] <= curves["value"]) & (curves["value"] <= curves["high"])).all()
    best = curves[curves["best"]]
    assert sorted(best["ratio"]) == list(RATIOS)
    top = curves.groupby("ratio")["value"].transform("max")
    assert curves["behind"].to_numpy() == pytest.approx((top - curves["value"]).to_numpy())
    assert (best[["behind", "behind_low", "behind_high"]] == 0).all(axis=None)
    assert not best["tied"].any()


def test_differences_are_paired(held_out: Cohort) -> None:
    """A strategy that differs in one case is told apart by that case alone, however wide both bands are."""
    costs, weights = held_out.manifest.default_costs(), resample_weights(held_out, 300)
    nobody = np.full((len(held_out), 1), -1)
    worse = held_out.truth.copy()
    worse[0] = 1 - worse[0]
    right, wrong = (Strategy(name, lambda _, label=label: Decisions(nobody, label))
                    for name, label in (("right", held_out.truth), ("wrong", worse)))  # fmt: skip
    rows = decision_curves(held_out, costs, {"right": right, "wrong": wrong}, weights, "right", (4.0,)).set_index(
        "method"
    )
    lost = 1.0 if held_out.truth[0] else 1 / 4
    assert rows.loc["wrong", "behind"] == pytest.approx(lost / len(held_out))
    assert (
        rows.loc["wrong", "behind_high"]
        <= 6 * lost / len(held_out)
        < rows.loc["right", "high"] - rows.loc["right", "low"]
    )
    assert rows.loc["wrong", "behind_low"] == 0
    reversed_ends = [-rows.loc["wrong", name] for name in ("behind", "behind_high", "behind_low")]
    assert rows.loc["wrong", ["more", "more_low", "more_high"]].tolist() == pytest.approx(reversed_ends)
    assert rows.loc["wrong", "tied"]


def test_members_are_averaged(held_out: Cohort) -> None:
    costs, weights = held_out.manifest.default_costs(), resample_weights(held_out, 20)
    plain = without_runs(held_out)
    both = [plain[name].decide(costs) for name in (ALL, NONE)]
    pair = Decisions(np.stack([one.consulted for one in both]), np.stack([one.label for one in both]))
    rows = decision_curves(
        held_out, costs, {**plain, "pair": Strategy("pair", lambda _: pair)}, weights, ALL, (2.0, 9.0)
    )
    value = rows.pivot(index="ratio", columns="method", values="value")
    more = rows.pivot(index="ratio", columns="method", values="more")
    assert more["pair"].to_numpy() == pytest.approx((value["pair"] - value[ALL]).to_numpy())
    assert value["pair"].to_numpy() == pytest.approx(((value[ALL] + value[NONE]) / 2).to_numpy())


def test_stretches_end_where_the_best_changes_or_chance_comes_in() -> None:
    leaders = ["a", "a", "a", "b", "a"]
    rows = pd.DataFrame(
        [
            {"method": method, "title": method.upper(), "ratio": float(ratio), "best": method == leader,
             "tied": method != leader and ratio == 3}
            for ratio, leader in enumerate(leaders, 1) for method in "ba"
        ]
    )  # fmt: skip
    found = [tuple(row) for row in where_best(rows).itertuples(index=False)]
    assert found == [("a", "A", True, 1.0, 2.0), ("a", "A", False, 3.0, 3.0), ("b", "B", True, 4.0, 4.0),
                     ("a", "A", True, 5.0, 5.0)]  # fmt: skip
