"""Results by subgroup: groups, gaps, and what many comparisons make of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.clinical.subgroups import (
    COHORT,
    JUDGED,
    Group,
    banded,
    comparisons,
    groups,
    subgroups,
    widened,
)
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import percentiles, resample_weights
from mpd2.evaluation.metrics import evaluate


def evidence_of(cohort: Cohort, labels: np.ndarray, asked: np.ndarray | None = None) -> Evidence:
    """A run with these labels, [E, N], and reader 0 asked where said, beside the AI."""
    consulted = np.full((*labels.shape, 1), NOBODY) if asked is None else np.where(asked, 0, NOBODY)[..., None]
    nobody = Decisions(np.full((len(cohort), 1), NOBODY), cohort.ai_label)
    outcomes = {"run": Outcome("Run", None, Decisions(consulted, labels)), "ai": Outcome("AI only", None, nobody)}
    return Evidence(cohort, cohort.manifest.default_costs(), outcomes)


@pytest.fixture(scope="module")
def judged(benchmark: Cohort) -> Evidence:
    """Two members who err at random on the test cases and ask about some of them."""
    test, random = benchmark.subset(split="test"), np.random.default_rng(0)
    wrong = random.random((2, len(test))) < 0.2
    return evidence_of(test, np.where(wrong, 1 - test.truth, test.truth), random.random((2, len(test))) < 0.3)


@pytest.fixture(scope="module")
def split(benchmark: Cohort) -> list[Group]:
    return groups(benchmark.subset(split="test"), benchmark.subset(split="train"))


@pytest.fixture(scope="module")
def rows(judged: Evidence, split: list[Group]) -> pd.DataFrame:
    return subgroups(judged, "run", split, resample_weights(judged.cohort, 300))


def test_bands_are_thirds_of_the_training_cases(benchmark: Cohort) -> None:
    train = benchmark.subset(split="train")
    made = groups(train, train)
    assert [group.title for group in made if group.kind == COHORT] == ["REFUGE", "Chákṣu", "ORIGA"]
    for variable, names in banded(benchmark.manifest).items():
        bands = [group for group in made if group.kind == variable]
        assert [group.title for group in bands] == list(names)
        assert [group.rows.mean() for group in bands] == pytest.approx([1 / 3] * 3, abs=0.01)
        values = train.column(variable)
        assert values[bands[0].rows].max() <= values[bands[1].rows].min()
        assert values[bands[1].rows].max() <= values[bands[2].rows].min()
        assert sum(group.rows.astype(int) for group in bands).tolist() == [1] * len(train)


def test_a_group_without_a_case_or_without_a_rest_is_left_out(benchmark: Cohort) -> None:
    alone = benchmark.subset(split="test", cohorts=["refuge"])
    kinds = {group.kind for group in groups(alone, benchmark.subset(split="train"))}
    assert COHORT not in kinds
    assert kinds == set(banded(benchmark.manifest))


def test_values_and_gaps_are_those_of_the_cases_inside_and_outside(
    judged: Evidence, split: list[Group], rows: pd.DataFrame
) -> None:
    made = rows.set_index(["group", "metric"])
    for group in split:
        inside, outside = (
            evaluate(judged.cohort.rows(part), judged.outcomes["run"].decisions.rows(part), judged.costs).mean()
            for part in (group.rows, ~group.rows)
        )
        alone = evaluate(judged.cohort.rows(group.rows), judged.outcomes["ai"].decisions.rows(group.rows), judged.costs)
        for metric in JUDGED:
            row = made.loc[(group.title, metric)]
            assert row["value"] == pytest.approx(inside[metric])
            assert row["gap"] == pytest.approx(inside[metric] - outside[metric])
            assert row["beside"] == pytest.approx(alone[metric].item())
            assert row["n"] == group.rows.sum()
            assert row["positives"] == (judged.cohort.truth[group.rows] == 1).sum()


def test_intervals_are_on_the_shared_resamples(judged: Evidence, split: list[Group], rows: pd.DataFrame) -> None:
    weights, inside = resample_weights(judged.cohort, 300), split[0].rows
    sent = judged.outcomes["run"].decisions.deferred.mean(0)
    shares = [(weights[:, part] @ sent[part]) / weights[:, part].sum(1) for part in (inside, ~inside)]
    row = rows[(rows["group"] == split[0].title) & (rows["metric"] == "Defer")].iloc[0]
    assert row[["low", "high"]].tolist() == pytest.approx(percentiles(shares[0]).tolist())
    assert row[["gap_low", "gap_high"]].tolist() == pytest.approx(percentiles(shares[0] - shares[1]).tolist())


def test_the_interval_for_all_together_is_wider_than_each_alone(rows: pd.DataFrame) -> None:
    narrow, wide = rows["gap_high"] - rows["gap_low"], rows["wide_high"] - rows["wide_low"]
    assert (wide > 1.2 * narrow).all()
    assert (rows["beyond_all"] <= rows["beyond"]).all()


def test_one_comparison_needs_no_widening_and_many_need_as_much_as_bonferroni() -> None:
    random = np.random.default_rng(0)
    gaps = np.concatenate([np.zeros((1, 40, 1)), random.normal(size=(20000, 40, 1))])
    assert widened(gaps[:, :1]).item() == pytest.approx(1.96, abs=0.05)
    assert widened(gaps)[0].item() == pytest.approx(3.2, abs=0.1)  # z at 1 − .05 / 80 is 3.23
    alike = np.repeat(gaps[:, :1], 40, axis=1)
    assert widened(alike)[0].item() == pytest.approx(1.96, abs=0.05)  # the same gap forty times is one


def test_without_any_gap_few_stand_out_and_all_together_hardly_ever(benchmark: Cohort, split: list[Group]) -> None:
    """Errors at random over all cases, drawn anew 30 times: about as many beyond 95 % as chance explains."""
    test = benchmark.subset(split="test")
    weights, beyond, family = resample_weights(test, 200), 0, 0
    random = np.random.default_rng(1)
    for _ in range(30):
        wrong = random.random((1, len(test))) < 0.15
        made = subgroups(evidence_of(test, np.where(wrong, 1 - test.truth, test.truth)), "run", split, weights)
        rates = made[made["metric"].isin(["Sens", "Spec"])]
        beyond += int(rates["beyond"].sum())
        family += bool(rates["beyond_all"].any())
    assert beyond / (30 * 2 * len(split)) == pytest.approx(0.05, abs=0.02)
    assert family <= 4


def test_a_group_in_which_nobody_errs_is_not_certain(benchmark: Cohort) -> None:
    test = benchmark.subset(split="test")
    sick, healthy = np.flatnonzero(test.truth == 1), np.flatnonzero(test.truth == 0)
    some = Group("made up", "ten sick", np.isin(np.arange(len(test)), [*sick[:10], *healthy[:50]]))
    label = test.truth.copy()
    label[sick[10::12]] = 0  # one in twelve of the others is missed
    row = subgroups(evidence_of(test, label[None]), "run", [some], resample_weights(test, 500)).iloc[0]
    assert (row["metric"], row["value"], row["high"]) == ("Sens", 1.0, 1.0)
    assert row["low"] == pytest.approx(0.783, abs=0.05)  # Jeffreys' interval of 10 in 10
    assert row["gap"] > 0.05
    assert not row["beyond"]


def test_a_gap_that_is_there_is_found(benchmark: Cohort, split: list[Group]) -> None:
    test = benchmark.subset(split="test")
    poor = next(group for group in split if group.title == "poor photograph").rows
    blind = np.where(poor & (test.truth == 1), 0, test.truth)[None]
    made = subgroups(evidence_of(test, blind), "run", split, resample_weights(test, 200)).set_index(["group", "metric"])
    assert made.loc[("poor photograph", "Sens"), "beyond_all"]
    assert made.loc[("poor photograph", "Sens"), "gap"] == -1
    assert not made.loc[("poor photograph", "Spec"), "beyond"]


def test_too_few_cases_are_not_compared_and_not_counted(benchmark: Cohort) -> None:
    test = benchmark.subset(split="test")
    sick = np.flatnonzero(test.truth == 1)[:4]
    few = Group("made up", "four sick", np.isin(np.arange(len(test)), [*sick, *np.flatnonzero(test.truth == 0)[:50]]))
    made = subgroups(evidence_of(test, test.truth[None]), "run", [few], resample_weights(test, 20))
    assert made.set_index("metric")["gap"].isna().to_dict() == {
        "Sens": True, "Spec": False, "TotalCost": False, "Defer": False,
    }  # fmt: skip
    assert comparisons(made).made == 3
    assert comparisons(made).by_chance == pytest.approx(0.15)


def test_no_group_and_an_unknown_run_are_refused(judged: Evidence, split: list[Group]) -> None:
    weights = resample_weights(judged.cohort, 5)
    with pytest.raises(UserError, match="no group with a case outside it"):
        subgroups(judged, "run", [], weights)
    with pytest.raises(UserError, match="found no run 'nobody'"):
        subgroups(replace(judged), "nobody", split, weights)


def test_bands_are_of_the_inputs_a_manifest_names_and_empty_cells_are_in_none(benchmark: Cohort) -> None:
    """One input of each signal and of structure, few others; an input of two values has a group for each."""
    first = benchmark.manifest.inputs
    sex = first[0].model_copy(update={"column": first[0].column, "title": "sex", "role": "other", "signal": "",
                                      "codes": {"female": 0.0, "male": 1.0}})  # fmt: skip
    ages = first[1].model_copy(update={"title": "age", "role": "other", "signal": "", "strict": False})
    manifest = benchmark.manifest.but(inputs=(sex, ages), drawing=None)
    names, order = manifest.layout.names, benchmark.layout.names
    state = benchmark.state[:, [order.index(name) for name in names]].copy()
    absent = np.zeros(state.shape, bool)
    state[:, names.index(sex.column)] = np.arange(len(state)) % 2
    absent[::10, names.index(ages.column)] = True
    cohort = replace(benchmark, manifest=manifest, state=state, absent=absent)
    made = groups(cohort, cohort.subset(split="train"))
    titles = [group.title for group in made if group.kind != COHORT]
    assert titles == ["sex female", "sex male", "low age", "middling age", "high age"]
    banded_rows = sum(group.rows.astype(int) for group in made if group.kind == ages.column)
    assert banded_rows.tolist() == (~absent[:, names.index(ages.column)]).astype(int).tolist()
