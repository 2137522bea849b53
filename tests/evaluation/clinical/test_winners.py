"""Who costs least where, against plain loops."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Decisions
from mpd2.evaluation.clinical.decision_curve import ALL, MOVED, NONE, Strategy, at_ratio, decision_curves, without_runs
from mpd2.evaluation.clinical.winners import cells, cheapest_on, one_of, winners
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import evaluate

READ = "read"
GRID = {"ratios": (1.0, 6.0, 50.0), "fees": (0.0, 1.0, 10.0)}


def always_read(cohort: Cohort) -> Strategy:
    """The first reader there is, and the AI where there is none."""
    asked = np.where(cohort.available.any(-1), cohort.available.argmax(-1), -1)
    label = np.where(asked >= 0, cohort.decisions[np.arange(len(cohort)), asked], cohort.ai_label)
    return Strategy("Always read", lambda _: Decisions(asked[:, None], label))


def four(cohort: Cohort) -> dict[str, Strategy]:
    return {**without_runs(cohort), READ: always_read(cohort)}


@pytest.fixture(scope="module")
def rows(held_out: Cohort) -> pd.DataFrame:
    costs, weights = held_out.manifest.default_costs(), resample_weights(held_out, 200)
    return winners(held_out, costs, four(held_out), weights, **GRID)


def test_each_cell_holds_total_costs_by_its_own_costs_told_as_false_alarms(
    held_out: Cohort, rows: pd.DataFrame
) -> None:
    costs = held_out.manifest.default_costs()
    for row in rows.itertuples():
        here = at_ratio(costs, row.ratio, row.fee)
        total = evaluate(held_out, four(held_out)[row.method].decide(here), here)["TotalCost"].item()
        assert row.value == pytest.approx(1000 * total / costs.false_positive)
    assert len(rows) == 4 * 9


def test_the_cheapest_wins_and_the_margin_is_to_the_next(rows: pd.DataFrame) -> None:
    for cell in cells(rows).itertuples():
        inside = rows[(rows["ratio"] == cell.ratio) & (rows["fee"] == cell.fee)].sort_values("value")
        first, second = inside.iloc[0], inside.iloc[1]
        assert (cell.method, cell.second, cell.value) == (first["method"], second["title"], first["value"])
        assert cell.margin == pytest.approx(second["value"] - first["value"])
        assert (cell.low, cell.high) == (second["more_low"], second["more_high"])
        assert cell.beyond_chance == (inside.iloc[1:]["more_low"] > 0).all()
        assert first["winner"]
        assert not inside.iloc[1:]["winner"].any()


def test_readers_lose_to_a_threshold_as_their_fees_rise(rows: pd.DataFrame) -> None:
    here = cells(rows).set_index(["ratio", "fee"])["method"]
    assert here.loc[(1.0, 0.0)] == READ
    assert here.loc[(1.0, 10.0)] != READ
    assert here.loc[(50.0, 10.0)] in (ALL, MOVED)


def test_cells_at_the_tables_fees_rank_as_the_decision_curve(held_out: Cohort, rows: pd.DataFrame) -> None:
    costs, weights = held_out.manifest.default_costs(), resample_weights(held_out, 200)
    curve = decision_curves(held_out, costs, four(held_out), weights, ratios=GRID["ratios"])
    leaders = curve[curve["best"]].set_index("ratio")["method"].to_dict()
    assert cells(rows[rows["fee"] == 1]).set_index("ratio")["method"].to_dict() == leaders


def test_the_best_of_several_is_chosen_on_val_and_never_on_the_cases_judged(held_out: Cohort, val: Cohort) -> None:
    plain, costs = without_runs(held_out), held_out.manifest.default_costs()
    on_val = {name: without_runs(val)[name] for name in (ALL, NONE)}
    best = one_of("Best", plain, cheapest_on(val, on_val))
    assert (best.decide(at_ratio(costs, 1.0)).label == 0).all()
    assert (best.decide(at_ratio(costs, 50.0)).label == 1).all()
    swapped = one_of("Best", plain, cheapest_on(val, {ALL: on_val[NONE], NONE: on_val[ALL]}))
    assert (swapped.decide(at_ratio(costs, 50.0)).label == 0).all()
    rows = winners(held_out, costs, {"best": best, MOVED: plain[MOVED]}, resample_weights(held_out, 20), **GRID)
    chosen = rows[rows["method"] == "best"].set_index(["ratio", "fee"])["stands_for"]
    assert (chosen.loc[(1.0, 1.0)], chosen.loc[(50.0, 1.0)]) == (NONE, ALL)
    assert set(rows.loc[rows["method"] == MOVED, "stands_for"]) == {""}


def test_a_lone_case_of_difference_is_not_beyond_chance(held_out: Cohort) -> None:
    weights = resample_weights(held_out, 200)
    nobody = np.full((len(held_out), 1), -1)
    worse = held_out.truth.copy()
    worse[0] = 1 - worse[0]

    def strategy(label: np.ndarray) -> Strategy:
        return Strategy("one", lambda _: Decisions(nobody, label))

    rows = winners(held_out, Costs(2.0, 1.5, (0.1,) * held_out.readers),
                   {"right": strategy(held_out.truth), "wrong": strategy(worse)}, weights, (2.0,), (1.0,))  # fmt: skip
    (cell,) = cells(rows).itertuples()
    assert (cell.method, cell.margin > 0, cell.beyond_chance) == ("right", True, False)
