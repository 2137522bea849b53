"""Runs decide by any ratio of costs, and what is said of it follows from the tables."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from tiny_study import NAMES, few_cases, tiny_tables

from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import error_rates
from mpd2.core.policy import decided_together
from mpd2.core.runs import Run
from mpd2.evaluation.clinical.decision_curve import ALL, MOVED, NONE, RATIOS, Strategy, at_ratio
from mpd2.evaluation.clinical.winners import FEES, cells, grid
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import evaluate
from mpd2.methods.base import Method
from mpd2.methods.mao import Mao
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated, RecalibratedScore
from mpd2.methods.registry import policy_of
from mpd2.methods.simple import AiOnly, AlwaysDefer, BestReader
from mpd2.study import decision_curve as study
from mpd2.study.tables import StudyTables


def deciding(method: Method, benchmark: Cohort) -> tuple[Run, study.Deciding]:
    run = method.fit(benchmark, benchmark.manifest.default_costs(), (42, 43))
    val = benchmark.subset(split="val")
    return run, partial(study.strategy_of, run, method.name, error_rates(benchmark), partial(policy_of, run), val)


@pytest.fixture(scope="module")
def runs(benchmark: Cohort) -> dict[str, study.Deciding]:
    methods = (AiOnly(), Recalibrated(draws=2), RecalibratedScore(), AlwaysDefer(), Plus(draws=2), BestReader())
    return {method.key: deciding(method, benchmark)[1] for method in methods}


def rate(cohort: Cohort, strategy: Strategy, ratio: float, metric: str) -> float:
    costs = at_ratio(cohort.manifest.default_costs(), ratio)
    return float(evaluate(cohort, strategy.decide(costs), costs)[metric].item())


@pytest.mark.parametrize("method", [Mao(), BestReader(), AlwaysDefer()], ids=lambda method: method.key)
def test_by_its_own_costs_a_run_decides_as_all_its_members_together(method: Method, small_cohort: Cohort) -> None:
    run, make = deciding(method, small_cohort)
    made = make(small_cohort).decide(run.costs)
    expected = decided_together(policy_of(run, small_cohort), small_cohort, run.rule)
    assert (made.label == expected.label).all()
    assert (made.consulted == expected.consulted).all()


@pytest.mark.parametrize("name", [Plus.key, Recalibrated.key, RecalibratedScore.key])
def test_the_heavier_a_miss_the_more_glaucoma_is_found(
    name: str, runs: dict[str, study.Deciding], held_out: Cohort
) -> None:
    strategy = runs[name](held_out)
    found = [rate(held_out, strategy, ratio, "Sens") for ratio in (1.0, 5.0, 50.0)]
    assert found == sorted(found)
    assert found[-1] > found[0] + 0.1


def test_the_ai_stays_the_ai_and_readers_cost_what_they_are_paid(
    runs: dict[str, study.Deciding], held_out: Cohort
) -> None:
    costs = held_out.manifest.default_costs()
    alone, always = runs["ai"](held_out), runs[study.ALWAYS](held_out)
    for ratio, fee in ((1.0, 0.0), (50.0, 10.0)):
        here = at_ratio(costs, ratio, fee)
        assert (alone.decide(here).label == held_out.ai_label).all()
        assert always.decide(here).deferred.sum() == held_out.available.any(-1).sum()


def test_dear_readers_leave_mpd2_plus_with_the_recalibrated_ai(benchmark: Cohort, held_out: Cohort) -> None:
    """Both decide by the same posterior, so that without readers nothing tells them apart."""
    dear = at_ratio(held_out.manifest.default_costs(), 5.0, fee=1000.0)
    plus, alone = (deciding(method, benchmark)[1](held_out) for method in (Plus(), Recalibrated()))
    assert not plus.decide(dear).deferred.any()
    assert (plus.decide(dear).label == alone.decide(dear).label).all()


def test_curves_are_set_against_the_recalibrated_ai_where_there_is_one(
    runs: dict[str, study.Deciding], held_out: Cohort
) -> None:
    costs, weights = held_out.manifest.default_costs(), resample_weights(held_out, 20)
    strategies = {name: make(held_out) for name, make in runs.items()}
    rows = study.curves(held_out, costs, strategies, weights)
    assert set(rows["reference"]) == {study.RECALIBRATED}
    assert (rows.loc[rows["method"] == study.RECALIBRATED, "more"] == 0).all()
    assert set(rows["method"]) == {*runs, MOVED, ALL, NONE}
    without = study.curves(held_out, costs, {"ai": strategies["ai"]}, weights)
    assert set(without["reference"]) == {MOVED}


def test_the_map_sets_ours_against_the_ai_readers_and_one_of_all_others(
    runs: dict[str, study.Deciding], held_out: Cohort
) -> None:
    rivals = study.rivals(runs, held_out, lambda _: BestReader.key)
    assert list(rivals) == ["ai", study.RECALIBRATED, study.ALWAYS, Plus.key, study.BASELINE]
    costs = held_out.manifest.default_costs()
    only = runs[BestReader.key](held_out).decide(costs)
    assert (rivals[study.BASELINE].decide(costs).label == only.label).all()
    few = study.rivals({name: runs[name] for name in ("ai", RecalibratedScore.key)}, held_out, lambda _: "",
                       besides=[RecalibratedScore.key])  # fmt: skip
    assert list(few) == ["ai", RecalibratedScore.key]


def test_the_table_tells_which_baseline_was_chosen_at_each_cost() -> None:
    rows, costs = tiny_tables()["winners"], few_cases().manifest.default_costs()
    choose = study.drawn_up_baselines(rows, costs)
    for ratio in grid(costs):
        assert choose(at_ratio(costs, ratio, 2.0)) in ("mao", "keswani", "random-reader")
    at = rows[(rows["method"] == study.BASELINE) & (rows["ratio"] == 5) & (rows["fee"] == 0.25)]
    assert choose(at_ratio(costs, 5.0, 0.25)) == at["stands_for"].item()


def test_tables_hold_every_deployable_run_and_every_cell() -> None:
    tables, costs = tiny_tables(), few_cases().manifest.default_costs()
    curves, winners = tables["decision_curve"], tables["winners"]
    assert set(curves["method"]) == {*NAMES, MOVED, ALL, NONE} - {"oracle"}
    assert (curves.groupby("method")["ratio"].apply(list).map(tuple) == RATIOS).all()
    assert len(cells(winners)) == len(grid(costs)) * len(FEES)
    assert set(winners["method"]) == {"ai", "recalibrated", "studio", "mpd2-plus", study.BASELINE}


# ---------------------------------------------------------------------------------- words


def curve(values: dict[str, dict[float, tuple[float, bool]]]) -> pd.DataFrame:
    """Rows of a decision curve from, for each method and ratio, its net benefit and whether it is tied."""
    rows = pd.DataFrame(
        [
            {"method": method, "title": method.upper(), "ratio": ratio, "value": value, "tied": tied, "reference": "r"}
            for method, each in values.items() for ratio, (value, tied) in each.items()
        ]
    )  # fmt: skip
    base = rows["ratio"].map(rows[rows["method"] == "r"].set_index("ratio")["value"])
    more = rows["value"] - base
    best = rows["value"] == rows.groupby("ratio")["value"].transform("max")
    return rows.assign(best=best, more=more, more_low=more - 0.01, more_high=more + 0.01)


CURVE = curve({
    "r": {1.0: (0.05, False), 2.0: (0.06, True), 5.0: (0.09, False), 10.0: (0.1, False)},
    "m": {1.0: (0.08, False), 2.0: (0.065, False), 5.0: (0.12, False), 10.0: (0.09, False)},
})  # fmt: skip


def test_it_is_said_who_is_best_where_and_whether_beyond_chance() -> None:
    assert study.best_words(CURVE) == (
        "The largest net benefit of 2 strategies, by how many false alarms a miss weighs as much as: M at 1 "
        "(beyond chance), M at 2 (within chance), M at 5 (beyond chance) and R at 10 (beyond chance)."
    )


def test_it_is_said_where_a_run_is_ahead_of_the_reference_and_by_how_much() -> None:
    assert study.gain_words(CURVE, "m") == (
        "Where a miss weighs as much as 1 and 5 false alarms, M is ahead of R beyond chance. In true positives "
        "per 1,000 people, with false alarms and fees taken off, it is worth 30.0 at 1, 5.0 at 2, 30.0 at 5 and "
        "-10.0 at 10 more."
    )
    assert study.gain_words(CURVE, "r") == study.gain_words(CURVE, "oracle") == ""
    behind = CURVE.assign(more_low=-1.0)
    assert study.gain_words(behind, "m").startswith("At no weight M is ahead of R beyond chance.")


def test_the_map_is_counted() -> None:
    here = pd.DataFrame({"title": ["A", "B", "A", "A"], "beyond_chance": [True, False, False, True]})
    assert study.map_words(here) == (
        "Of 4 combinations of what a miss weighs and what readers are paid, the least total cost is that of A in 3 (2 "
        "beyond chance) and B in 1 (0 beyond chance)."
    )


def test_the_best_of_a_column_is_bold_and_a_lead_within_chance_has_its_sign() -> None:
    tables = StudyTables(tiny_tables(), few_cases().manifest)
    rows = np.array(study.curve_rows(tables))
    bold = np.char.startswith(rows[1:, 1:], "**")
    assert (bold.sum(0) == 1).all()
    leads = [word for row in study.winner_rows(tables)[1:] for word in row[1:]]
    signs = {True: "+", False: "≈"}
    here = cells(tables["winners"]).sort_values(["fee", "ratio"], kind="stable")
    expected = [f"{row.title} {signs[row.beyond_chance]}{row.margin:.0f}" for row in here.itertuples()]
    assert leads == expected
