"""How many cases are needed, checked against cases that are drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import DATA

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, route
from mpd2.core.runs import load_continuations, load_predictions, load_run
from mpd2.evaluation.clinical.sample_size import (
    GRID,
    Seen,
    cases_for,
    curve,
    local_cases,
    paired_width,
    rate_width,
    seen_by,
    spread_of,
    widths,
)
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import paired_difference, resample_weights, wilson
from mpd2.evaluation.metrics import tally
from mpd2.study.tables import read_table

DRAWS = 4000


@pytest.fixture(scope="module")
def plus(held_out: Cohort) -> Decisions:
    run, folder = load_run(DATA / "runs" / "mpd2-plus"), DATA / "runs" / "mpd2-plus"
    policy = load_predictions(folder, run, held_out)
    return route(policy, held_out, run.rule, load_continuations(folder, run, held_out))


@pytest.mark.parametrize(("rate", "prevalence", "cases"), [(0.93, 0.15, 600), (0.8, 0.05, 2000), (0.97, 0.9, 150)])
def test_the_width_of_a_rate_is_that_of_intervals_of_drawn_cases(rate: float, prevalence: float, cases: int) -> None:
    """Neither the number of the sick nor their share that is found comes out as expected; the mean width does."""
    random = np.random.default_rng(3)
    sick = random.binomial(cases, prevalence, DRAWS)
    low, high = wilson(random.binomial(sick, rate), sick)
    expected = rate_width(rate, prevalence)(np.array([float(cases)]))[0]
    assert ((high - low) / 2).mean() == pytest.approx(expected, rel=0.04)
    assert ((low <= rate) & (rate <= high)).mean() == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("gain", "loss"), [(0.06, 0.05), (0.02, 0.10), (0.3, 0.02)])
def test_the_width_of_a_difference_is_the_spread_of_differences_of_drawn_cases(gain: float, loss: float) -> None:
    cases, prevalence = 900, 0.2
    random = np.random.default_rng(5)
    sick = random.binomial(cases, prevalence, DRAWS)
    drawn = np.stack([random.multinomial(n, [gain, loss, 1 - gain - loss]) for n in sick])
    differences = (drawn[:, 0] - drawn[:, 1]) / sick
    low, high = np.quantile(differences, [0.025, 0.975])
    apart = np.sqrt(gain + loss - (gain - loss) ** 2)
    assert paired_width(apart, prevalence)(np.array([float(cases)]))[0] == pytest.approx((high - low) / 2, rel=0.06)


def test_as_many_cases_as_there_are_give_the_intervals_of_the_tables(held_out: Cohort, plus: Decisions) -> None:
    """The planner's widths at the table's own size and prevalence are those of the paired bootstrap."""
    costs = held_out.manifest.default_costs()
    alone = Decisions(np.full((1, len(held_out), 1), NOBODY), held_out.ai_label[None])
    evidence = Evidence(held_out, costs, {"plus": Outcome("", None, plus), "ai": Outcome("", None, alone)})
    known = paired_difference(*evidence.tallies.values(), resample_weights(held_out)).set_index("metric")
    planned = widths(spread_of(held_out, plus), float(held_out.truth.mean()))
    for name in ("Sens", "Spec"):
        half = (known.at[name, "high"] - known.at[name, "low"]) / 2
        assert planned[f"{name} less AI"](np.array([float(len(held_out))]))[0] == pytest.approx(half, rel=0.12)


def test_the_spread_of_one_member_is_mcnemars(held_out: Cohort, plus: Decisions) -> None:
    one = Decisions(plus.consulted[:1], plus.label[:1])
    sick = held_out.truth == 1
    right, ai = one.label[0, sick] == 1, held_out.ai_label[sick] == 1
    gain, loss, n = (right & ~ai).sum() + 1, (~right & ai).sum() + 1, sick.sum() + 2
    apart = spread_of(held_out, one)["Sens"].apart
    assert apart**2 == pytest.approx((gain + loss) / n - ((gain - loss) / n) ** 2)
    assert (
        spread_of(held_out, one)["Sens"].rate
        == tally(held_out, one, held_out.manifest.default_costs()).counts[0, 0] / sick.sum()
    )


def test_two_who_never_differed_are_not_believed_to_be_one(held_out: Cohort) -> None:
    alone = Decisions(np.full((1, len(held_out), 1), NOBODY), held_out.ai_label[None])
    assert all(0 < spread.apart < 0.2 for spread in spread_of(held_out, alone).values())


@given(st.floats(0.5, 0.999), st.floats(0.005, 0.9), st.floats(0.005, 0.2))
def test_the_cases_that_are_asked_for_are_enough_and_one_fewer_is_not(rate: float, share: float, wanted: float) -> None:
    width = rate_width(rate, share)
    needed = cases_for(width, wanted)
    assert needed is not None
    before, after = width(np.array([needed - 1.0, needed]))
    assert after <= wanted < before


def test_what_ten_million_cannot_tell_is_not_promised() -> None:
    assert cases_for(rate_width(0.9, 1e-7), 0.01) is None
    with pytest.raises(UserError, match="half-width"):
        cases_for(rate_width(0.9, 0.1), 0.0)


def test_rarer_disease_takes_more_cases_for_sensitivity_and_fewer_for_specificity(held_out, plus) -> None:
    spreads = spread_of(held_out, plus)
    rare, frequent = (widths(spreads, prevalence) for prevalence in (0.02, 0.2))
    assert cases_for(rare["Sens"], 0.05) == pytest.approx(10 * cases_for(frequent["Sens"], 0.05), rel=0.01)
    assert cases_for(rare["Spec"], 0.02) < cases_for(frequent["Spec"], 0.02)


def test_a_reader_is_known_by_those_they_are_asked_about(held_out: Cohort, plus: Decisions) -> None:
    reader = int(np.bincount(plus.consulted[plus.consulted != NOBODY]).argmax())
    seen = seen_by(held_out, plus, reader)
    sick = held_out.truth == 1
    asked = (plus.consulted == reader).any(-1)[:, sick].mean()
    assert seen.share[0] == pytest.approx(asked)
    planned = widths(spread_of(held_out, plus), 0.15, seen)
    assert cases_for(planned["Sens reader"], 0.05) > cases_for(planned["Sens"], 0.05)
    assert "Sens reader" not in widths(spread_of(held_out, plus), 0.15, Seen((0.0, 0.1), (0.9, 0.9)))


def test_the_curve_falls_with_every_step(held_out: Cohort, plus: Decisions) -> None:
    rows = curve(widths(spread_of(held_out, plus), 0.15))
    assert rows["what"].unique().tolist() == ["Sens", "Spec", "Sens less AI", "Spec less AI"]
    for _, part in rows.groupby("what"):
        assert part["cases"].tolist() == list(GRID)
        assert (part["half_width"].diff().dropna() <= 0).all()


@pytest.mark.parametrize("prevalence", [0.0, 1.0])
def test_without_sick_or_healthy_people_nothing_can_be_planned(held_out, plus, prevalence: float) -> None:
    with pytest.raises(UserError, match="prevalence"):
        widths(spread_of(held_out, plus), prevalence)
    with pytest.raises(UserError, match="positive"):
        spread_of(held_out.rows(held_out.truth == 0), plus.rows(held_out.truth == 0))


def test_local_cases_pay_from_where_they_never_stop_to() -> None:
    rows = pd.DataFrame({
        "method": "m", "cohort": ["a"] * 5 + ["b"] * 3, "local": [0, 10, 20, 50, 100, 0, 10, 20],
        "less_none": [0, -0.1, 0.1, -0.1, -0.2, 0, 0.1, 0.1], "less_none_high": [0, -0.01, 0.2, 0.1, -0.1, 0, 0.2, 0.2],
    })  # fmt: skip
    found = local_cases(rows, "m").set_index("cohort")
    assert found.loc["a"].tolist() == [50, 100, 100]
    assert found.loc["b", ["cheaper", "sure"]].isna().all()
    assert found.at["b", "most"] == 20


def test_the_shipped_learning_curve_tells_of_every_cohort(held_out: Cohort) -> None:
    rows = read_table(DATA, "recalibration")
    found = local_cases(rows, "mpd2-plus")
    assert set(found["cohort"]) == set(rows["cohort"])
    assert (found["cheaper"].fillna(np.inf) <= found["sure"].fillna(np.inf)).all()
