"""Every table against plain loops, other libraries and the printed figures."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from sklearn import metrics as sk
from strategies import cohorts as made_up_cohorts
from strategies import policies

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy, route
from mpd2.evaluation import metrics, tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import BEST_ORACLE, COUNTED, evaluate
from mpd2.evaluation.published import BENCHMARK, published

PRINTED = 0.0005 + 1e-9  # what printing three decimals can hide
MEMBERS = 4


def random_policy(cohort: Cohort, members: int, seed: int, sharpness: float = 1.0) -> Policy:
    scores = np.random.default_rng(seed).normal(size=(members, len(cohort), 1 + cohort.readers))
    return Policy.from_scores(sharpness * scores, cohort.available)


def outcome(cohort: Cohort, policy: Policy, title: str, published: str | None = None) -> Outcome:
    return Outcome(title, published, route(policy, cohort), policy)


def evidence_on(cohort: Cohort, outcomes: dict[str, Outcome]) -> Evidence:
    return Evidence(cohort, cohort.manifest.default_costs(), outcomes, BENCHMARK)


def never(cohort: Cohort) -> Policy:
    """The AI alone."""
    shape = (1, len(cohort), cohort.readers)
    return Policy(np.zeros(shape[:2]), np.zeros(shape), cohort.available)


def cheapest(cohort: Cohort) -> Policy:
    """The cheapest action of every case, known from the answers."""
    return Policy.from_scores(-50 * cohort.manifest.default_costs().of_actions(cohort)[None], cohort.available)


@pytest.fixture(scope="module")
def evidence(held_out: Cohort) -> Evidence:
    return evidence_on(
        held_out,
        {
            "ai": outcome(held_out, never(held_out), "AI only", "AI-Only"),
            "chance": outcome(held_out, random_policy(held_out, MEMBERS, 1), "Chance", "MPD²-Router"),
            "oracle": outcome(held_out, cheapest(held_out), "Cheapest"),
        },
    )


@pytest.fixture(scope="module")
def weights(held_out: Cohort) -> np.ndarray:
    return resample_weights(held_out, 200, seed=0)


def of(rows: pd.DataFrame, method: str, column: str = "value") -> dict[str, float]:
    """One column of a method's rows by metric."""
    return rows[rows["method"] == method].set_index("metric")[column].to_dict()


def counted(cohort: Cohort, decisions: Decisions, member: int, rows: np.ndarray) -> dict[str, float]:
    """What one member's decisions come to on some cases, with the errors of either kind."""
    part, cases = Decisions(decisions.consulted[member, rows], decisions.label[member, rows]), cohort.rows(rows)
    errors = {"FN": (cases.truth > part.label).sum(), "FP": (cases.truth < part.label).sum()}
    return evaluate(cases, part, cohort.manifest.default_costs()).iloc[0].to_dict() | errors


def by_hand(cohort: Cohort, decisions: Decisions, member: int, cases: list[int]) -> dict[str, float]:
    """REPORTED of one member over some cases, repeats allowed, case by case."""
    costs = cohort.manifest.default_costs()
    truth, label = cohort.truth[cases], decisions.label[member, cases]
    clinical = fees = deferred = 0.0
    for case in cases:
        sick, called = cohort.truth[case] == 1, decisions.label[member, case] == 1
        clinical += costs.false_negative * (sick and not called) + costs.false_positive * (called and not sick)
        reader = decisions.consulted[member, case, 0]
        if reader != NOBODY:
            fees, deferred = fees + costs.fees[reader], deferred + 1
    n = len(cases)
    return {
        "Acc": sk.accuracy_score(truth, label),
        "Prec": sk.precision_score(truth, label, zero_division=0),
        "F1": sk.f1_score(truth, label, zero_division=0),
        "Sens": sk.recall_score(truth, label),
        "Spec": sk.recall_score(truth, label, pos_label=0),
        "MCC": sk.matthews_corrcoef(truth, label),
        "Defer": deferred / n,
        "ClinicalCost": clinical / n,
        "ExpertCost": fees / n,
        "TotalCost": (clinical + fees) / n,
    }


# ---------------------------------------------------------------------------------- methods on the same cases


@pytest.mark.parametrize("table", [tables.overall, tables.cohorts, tables.retention])
def test_the_row_of_the_ai_is_the_published_one(table, evidence: Evidence, weights: np.ndarray) -> None:
    rows = table(evidence, weights).query("method == 'ai'")
    assert rows["published"].notna().all()
    assert rows["value"].to_numpy() == pytest.approx(rows["published"].to_numpy(), abs=PRINTED)
    assert rows["sd"].isna().all()


def test_a_figure_is_the_mean_of_its_members_counted_case_by_case(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.overall(evidence, weights)
    decisions, everyone = evidence.outcomes["chance"].decisions, list(range(len(evidence.cohort)))
    members = [by_hand(evidence.cohort, decisions, member, everyone) for member in range(MEMBERS)]
    assert tuple(of(rows, "chance")) == tables.REPORTED
    for name in tables.REPORTED:
        values = [member[name] for member in members]
        assert of(rows, "chance")[name] == pytest.approx(statistics.mean(values))
        assert of(rows, "chance", "sd")[name] == pytest.approx(statistics.stdev(values))


def test_an_interval_spans_the_means_over_members_of_the_drawn_cases(evidence: Evidence, weights: np.ndarray) -> None:
    few = weights[:5]
    rows = tables.overall(evidence, few)
    decisions = evidence.outcomes["chance"].decisions
    drawn = [np.repeat(np.arange(len(evidence.cohort)), row.astype(int)).tolist() for row in few]
    means = [
        pd.DataFrame([by_hand(evidence.cohort, decisions, member, cases) for member in range(MEMBERS)]).mean()
        for cases in drawn
    ]
    ends = pd.DataFrame(means).quantile([0.025, 0.975])
    assert of(rows, "chance", "low") == pytest.approx(ends.loc[0.025].to_dict())
    assert of(rows, "chance", "high") == pytest.approx(ends.loc[0.975].to_dict())


def test_a_row_is_beside_the_figure_of_its_published_name(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.overall(evidence, weights)
    printed = published("overall").query("method == 'MPD²-Router'").set_index("metric")["value"].to_dict()
    assert of(rows, "chance", "published") == printed
    assert rows.query("method == 'oracle'")["published"].isna().all()
    assert rows["title"].unique().tolist() == ["AI only", "Chance", "Cheapest"]
    assert (rows["n"] == len(evidence.cohort)).all()


def test_a_cohort_is_counted_as_if_it_were_alone(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.cohorts(evidence, weights)
    cohort = evidence.cohort
    for key in np.unique(cohort.sources):
        inside = cohort.sources == key
        part = cohort.rows(inside)
        chance = evidence.outcomes["chance"]
        decisions = Decisions(chance.decisions.consulted[:, inside], chance.decisions.label[:, inside])
        alone = tables.overall(evidence_on(part, {"chance": replace(chance, decisions=decisions)}), weights[:, inside])
        ours = rows[(rows["method"] == "chance") & (rows["cohort"] == key)]
        columns = ["value", "sd", "low", "high", "n"]
        assert ours[columns].to_numpy(float) == pytest.approx(alone[columns].to_numpy(float))


def test_a_comparison_turned_round_changes_its_sign_and_its_favour(evidence: Evidence, weights: np.ndarray) -> None:
    there = tables.paired(evidence, "ai", weights).query("method == 'chance'").set_index("metric")
    back = tables.paired(evidence, "chance", weights).query("method == 'ai'").set_index("metric")
    assert there["difference"].to_numpy() == pytest.approx(-back["difference"].to_numpy())
    assert there["low"].to_numpy() == pytest.approx(-back["high"].to_numpy())
    assert (there["favours_method"] + back["favours_method"]).to_numpy() == pytest.approx(1)
    # Chance defers most cases and so has fewer false alarms than the AI, and fees to pay.
    assert there.loc["ClinicalCost", "favours_method"] == 1
    assert there.loc["ExpertCost", "favours_method"] == 0
    assert tuple(there.index) == tables.REPORTED


def test_a_difference_is_that_of_the_two_rows(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.overall(evidence, weights)
    differences = of(tables.paired(evidence, "ai", weights), "oracle", "difference")
    expected = {name: of(rows, "oracle")[name] - of(rows, "ai")[name] for name in tables.REPORTED}
    assert differences == pytest.approx(expected)


def test_a_comparison_needs_a_method_there_is_and_another_one(evidence: Evidence, weights: np.ndarray) -> None:
    with pytest.raises(UserError, match="method: found 'nobody', expected one of ai, chance, oracle"):
        tables.paired(evidence, "nobody", weights)
    alone = replace(evidence, outcomes={"ai": evidence.outcomes["ai"]})
    with pytest.raises(UserError, match="found no other method"):
        tables.paired(alone, "ai", weights)


@settings(max_examples=15)
@given(st.data(), made_up_cohorts())
def test_the_readers_load_is_that_of_the_metrics(data: st.DataObject, cohort: Cohort) -> None:
    drawn = [data.draw(policies(cohort)) for _ in range(2)]
    policy = Policy(np.stack([p.defer for p in drawn]), np.stack([p.allocation for p in drawn]), cohort.available)
    evidence = evidence_on(cohort, {"any": outcome(cohort, policy, "Any")})
    rows = of(tables.collapse(evidence, np.ones((1, len(cohort)))), "any")
    members = metrics.collapse(evidence.outcomes["any"].decisions, cohort.readers)[list(tables.COLLAPSE)]
    assert rows == pytest.approx(members.mean().to_dict(), nan_ok=True)


def test_the_interval_of_an_even_load_holds_the_load(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.collapse(evidence, weights).query("method != 'ai'")
    assert ((rows["low"] < rows["value"]) & (rows["value"] < rows["high"])).all()


def test_where_nobody_is_asked_there_is_no_load(evidence: Evidence, weights: np.ndarray) -> None:
    rows = of(tables.collapse(evidence, weights), "ai")
    assert rows.pop("Routed") == 0
    assert np.isnan(list(rows.values())).all()


def test_the_load_is_beside_the_published_one(evidence: Evidence, weights: np.ndarray) -> None:
    rows = of(tables.collapse(evidence, weights), "chance", "published")
    assert rows == published("expert_collapse").query("method == 'MPD²-Router'").set_index("metric")["value"].to_dict()


def test_what_is_kept_is_what_nobody_was_asked_about(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.retention(evidence, weights).query("method == 'chance'")
    cohort, decisions = evidence.cohort, evidence.outcomes["chance"].decisions
    for key, block in rows.groupby("cohort"):
        kept = [~asked & (cohort.sources == key) for asked in decisions.deferred]  # [E, N]
        safe = [counted(cohort, decisions, member, part) for member, part in enumerate(kept)]
        expected = pd.DataFrame(safe)[list(tables.RETAINED[1:])].mean().to_dict()
        expected["Share"] = np.mean([part.sum() for part in kept]) / (cohort.sources == key).sum()
        assert of(block, "chance") == pytest.approx(expected)
        assert block["kept"].unique() == pytest.approx([np.mean([part.sum() for part in kept])])
    assert ((rows["low"] <= rows["value"]) & (rows["value"] <= rows["high"])).all()


def test_a_member_that_keeps_nothing_says_nothing_of_safety(small_cohort: Cohort) -> None:
    all_asked = Policy.from_scores(np.r_[-50.0, np.zeros(small_cohort.readers)], small_cohort.available)
    both = Policy(
        np.stack([np.broadcast_to(all_asked.defer, len(small_cohort)), np.zeros(len(small_cohort))]),
        np.stack([all_asked.allocation] * 2),
        small_cohort.available,
    )
    outcomes = {"both": outcome(small_cohort, both, "Both"), "ai": outcome(small_cohort, never(small_cohort), "AI")}
    rows = tables.retention(evidence_on(small_cohort, outcomes), np.ones((1, len(small_cohort))))
    safety = rows[rows["metric"] != "Share"].pivot(index=["cohort", "metric"], columns="method", values="value")
    assert safety["both"].to_numpy() == pytest.approx(safety["ai"].to_numpy())
    assert (rows.query("method == 'both' and metric == 'Share'")["value"] == 0.5).all()


# ---------------------------------------------------------------------------------- the front


@settings(max_examples=40)
@given(hnp.arrays(np.int64, (2, 6), elements=st.integers(0, 3)))
def test_the_front_is_what_a_double_loop_finds(points: np.ndarray) -> None:
    score, cost = points.astype(float)
    for i, flag in enumerate(tables.on_front(score, cost)):
        beaten = any(
            score[j] >= score[i] and cost[j] <= cost[i] and (score[j] > score[i] or cost[j] < cost[i]) for j in range(6)
        )
        assert flag == (not beaten)


def test_only_the_oracle_and_who_is_free_are_on_the_front(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.overall(evidence, weights)
    total = tables.pareto(rows, "F1", "TotalCost")
    assert total["method"].tolist() == list(evidence.outcomes)
    assert total["on_front"].tolist() == [False, False, True]
    assert total["F1"].tolist() == [of(rows, name)["F1"] for name in evidence.outcomes]
    assert tables.pareto(rows, "MCC", "ExpertCost")["on_front"].tolist() == [True, False, True]


# ---------------------------------------------------------------------------------- readers


def test_every_reader_has_the_published_figures(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.readers(evidence, weights)
    own = rows[rows["method"] == rows["reader"]]
    assert own["reader"].unique().tolist() == [*evidence.cohort.manifest.columns, BEST_ORACLE]
    assert own["value"].to_numpy() == pytest.approx(own["published"].to_numpy(), abs=PRINTED)
    n = published("per_expert").query("metric == 'n'").set_index("method")["value"]
    assert own.drop_duplicates("reader").set_index("reader")["n"].to_dict() == n.to_dict()


def test_a_method_is_counted_on_the_readers_cases(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.readers(evidence, weights)
    decisions = evidence.outcomes["chance"].decisions
    for place, reader in enumerate(evidence.cohort.manifest.columns):
        read = evidence.cohort.available[:, place]
        members = pd.DataFrame([counted(evidence.cohort, decisions, member, read) for member in range(MEMBERS)])
        ours = rows[rows["reader"] == reader]
        assert of(ours, "chance") == pytest.approx(members[list(tables.MATCHED)].mean().to_dict())
        assert of(ours, "chance", "sd") == pytest.approx(members[list(tables.MATCHED)].std().to_dict())


def test_an_interval_of_a_reader_is_that_of_the_drawn_cases_of_theirs(evidence: Evidence, weights: np.ndarray) -> None:
    cohort, few = evidence.cohort, weights[:30]
    rows = tables.readers(evidence, few)
    reader = cohort.manifest.columns[0]
    f1 = []
    for row in few:
        cases = np.repeat(np.arange(len(cohort)), row.astype(int))
        cases = cases[cohort.available[cases, 0]]
        f1.append(sk.f1_score(cohort.truth[cases], cohort.decisions[cases, 0]))
    own = rows[(rows["reader"] == reader) & (rows["method"] == reader) & (rows["metric"] == "F1")]
    assert own[["low", "high"]].to_numpy()[0] == pytest.approx(np.quantile(f1, [0.025, 0.975]))


def test_the_rows_go_reader_by_reader_with_the_reader_first(evidence: Evidence, weights: np.ndarray) -> None:
    rows = tables.readers(evidence, weights[:2])
    for reader, block in rows.groupby("reader", sort=False):
        assert block["method"].unique().tolist() == [reader, *evidence.outcomes]
        assert block["n"].nunique() == 1


def test_a_gap_is_the_difference_of_two_f1_on_the_readers_cases(evidence: Evidence, weights: np.ndarray) -> None:
    cohort = evidence.cohort
    rows = tables.reader_gaps(evidence, "chance", weights)
    for j, row in enumerate(rows.itertuples()):
        read = cohort.available[:, j]
        theirs = sk.f1_score(cohort.truth[read], cohort.decisions[read, j])
        labels = evidence.outcomes["chance"].decisions.label[:, read]
        ours = statistics.mean(sk.f1_score(cohort.truth[read], label) for label in labels)
        assert (row.n, row.reader_f1, row.method_f1) == pytest.approx((read.sum(), theirs, ours))
        assert row.difference == pytest.approx(ours - theirs)
        assert row.low < row.difference < row.high


def test_the_oracle_wins_every_pairing_in_every_resample(evidence: Evidence, weights: np.ndarray) -> None:
    (row,) = tables.reader_wins(evidence, "oracle", weights).to_dict("records")
    readers = evidence.cohort.readers
    assert (row["wins"], row["n"], row["low"], row["high"], row["wins_all"]) == (readers, readers, readers, readers, 1)
    assert (tables.reader_gaps(evidence, "oracle", weights)["favours_method"] == 1).all()


def test_wins_are_the_pairings_with_a_higher_f1(evidence: Evidence, weights: np.ndarray) -> None:
    (row,) = tables.reader_wins(evidence, "chance", weights).to_dict("records")
    gaps = tables.reader_gaps(evidence, "chance", weights)
    assert row["wins"] == (gaps["difference"] > 0).sum()
    assert 0 < row["low"] <= row["wins"] <= row["high"] < row["n"]
    assert row["wins_all"] == 0


def test_saying_what_the_reader_says_is_no_win(held_out: Cohort, weights: np.ndarray) -> None:
    cohort = held_out.with_available(np.arange(held_out.readers) == 0)
    read = cohort.available[:, 0]
    label = np.where(read, cohort.decisions[:, 0], cohort.ai_label)
    echo = Outcome("Echo", None, Decisions(np.where(read, 0, NOBODY)[None, :, None], label[None]))
    evidence = evidence_on(cohort, {"echo": echo})
    first = tables.reader_gaps(evidence, "echo", weights).iloc[0]
    assert (first["difference"], first["low"], first["high"], first["favours_method"]) == (0, 0, 0, 0.5)
    (row,) = tables.reader_wins(evidence, "echo", weights).to_dict("records")
    assert (row["wins"], row["low"], row["high"], row["wins_all"], row["n"]) == (0, 0, 0, 0, 1)


def test_a_reader_without_a_case_is_no_pairing(evidence: Evidence, weights: np.ndarray) -> None:
    somebody = np.arange(evidence.cohort.readers) > 0
    away = replace(evidence, cohort=evidence.cohort.with_available(somebody), outcomes={"ai": evidence.outcomes["ai"]})
    assert tables.reader_wins(away, "ai", weights)["n"].item() == evidence.cohort.readers - 1
    first = tables.reader_gaps(away, "ai", weights).iloc[0]
    assert first["n"] == 0
    assert np.isnan(first["difference"])


# ---------------------------------------------------------------------------------- ablations

SEEDS = 6


@pytest.fixture(scope="module")
def conditions(held_out: Cohort) -> Evidence:
    full = outcome(held_out, random_policy(held_out, SEEDS, 3), "Full", "Full regularisation")
    peaked = outcome(held_out, random_policy(held_out, SEEDS, 4, sharpness=8.0), "Peaked", "w/o GSDP + Rank-JS")
    return evidence_on(held_out, {"full": full, "peaked": peaked})


def seeds_of(conditions: Evidence, name: str, metric: str) -> list[float]:
    rows = tables.by_seed(conditions)
    return rows.loc[rows["method"] == name, metric].tolist()


def test_every_seed_has_the_metrics_of_its_decisions_and_of_its_soft_policy(conditions: Evidence) -> None:
    rows = tables.by_seed(conditions)
    full = conditions.outcomes["full"]
    assert rows["method"].tolist() == ["full"] * SEEDS + ["peaked"] * SEEDS
    assert rows["member"].tolist() == [*range(SEEDS)] * 2
    members = [by_hand(conditions.cohort, full.decisions, e, [*range(len(conditions.cohort))]) for e in range(SEEDS)]
    assert seeds_of(conditions, "full", "MCC") == pytest.approx([member["MCC"] for member in members])
    assert seeds_of(conditions, "full", "DeferHard") == pytest.approx([member["Defer"] for member in members])
    assert seeds_of(conditions, "full", "DeferSoft") == pytest.approx(full.policy.defer.mean(-1).tolist())
    assert set(COUNTED) <= set(rows.columns)


@pytest.mark.parametrize(
    ("table", "metric"),
    [(tables.objective, "F1"), (tables.objective, "DeferSoft"), (tables.regularisation, "Top1")],
)
def test_a_condition_has_the_t_interval_of_its_seeds(table, metric: str, conditions: Evidence) -> None:
    row = table(conditions).set_index(["method", "metric"]).loc[("full", metric)]
    seeds = seeds_of(conditions, "full", metric)
    interval = stats.ttest_1samp(seeds, 0).confidence_interval()
    assert row["value"] == pytest.approx(statistics.mean(seeds))
    assert row["sd"] == pytest.approx(statistics.stdev(seeds))
    assert row["se"] == pytest.approx(stats.sem(seeds))
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    assert row["n"] == SEEDS


def test_a_condition_is_beside_the_published_mean_and_spread(conditions: Evidence) -> None:
    rows = tables.regularisation(conditions)
    assert tuple(of(rows, "full")) == tables.REGULARISATION
    printed = published("ablation_regularisation").query("method == 'w/o GSDP + Rank-JS'").set_index("metric")
    assert of(rows, "peaked", "published") == printed["value"].to_dict()
    assert of(rows, "peaked", "published_sd") == printed["sd"].to_dict()


def test_a_gap_is_the_deferral_beyond_its_target(conditions: Evidence) -> None:
    rows = tables.budget_control(conditions, {"full": 0.8, "peaked": None})
    full, free = of(rows, "full"), of(rows, "peaked")
    assert tuple(full) == tables.BUDGET_CONTROL
    assert full["Target"] == pytest.approx(0.8)
    assert full["GapSoft"] == pytest.approx(statistics.mean(seeds_of(conditions, "full", "DeferSoft")) - 0.8)
    assert full["GapHard"] == pytest.approx(full["DeferHard"] - 0.8)
    assert np.isnan([free["Target"], free["GapSoft"], free["GapHard"]]).all()


def test_a_difference_of_conditions_is_paired_by_seed(conditions: Evidence) -> None:
    names = ["Top1", "HHI", "ClinicalCost"]
    rows = tables.ablation_difference(conditions, "peaked", "full", names)
    assert rows["metric"].tolist() == names
    for row in rows.itertuples():
        first, second = (seeds_of(conditions, name, row.metric) for name in ("peaked", "full"))
        interval = stats.ttest_rel(first, second).confidence_interval()
        assert row.difference == pytest.approx(statistics.mean(first) - statistics.mean(second))
        assert (row.low, row.high, row.n) == pytest.approx((interval.low, interval.high, SEEDS))


def test_one_seed_has_no_spread(held_out: Cohort) -> None:
    rows = tables.objective(evidence_on(held_out, {"one": outcome(held_out, random_policy(held_out, 1, 0), "One")}))
    assert rows["value"].notna().all()
    assert rows[["sd", "se", "low", "high"]].isna().all(axis=None)


def test_what_an_ablation_cannot_do_is_said(conditions: Evidence) -> None:
    with pytest.raises(UserError, match="deferral targets: found none for peaked"):
        tables.budget_control(conditions, {"full": 0.5})
    with pytest.raises(UserError, match=r"metric: found Luck, expected some of Acc, .*Entropy"):
        tables.ablation_difference(conditions, "full", "peaked", ["Luck"])
    with pytest.raises(UserError, match="method: found 'none', expected one of full, peaked"):
        tables.ablation_difference(conditions, "full", "none", ["Top1"])
    silent = replace(conditions, outcomes={"full": replace(conditions.outcomes["full"], policy=None)})
    with pytest.raises(UserError, match="Full: has no soft policy"):
        tables.objective(silent)
    few = outcome(conditions.cohort, random_policy(conditions.cohort, 2, 0), "Few")
    uneven = replace(conditions, outcomes={**conditions.outcomes, "few": few})
    with pytest.raises(UserError, match="seeds: found 6 of full and 2 of few"):
        tables.ablation_difference(uneven, "full", "few", ["Top1"])
