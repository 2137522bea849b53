"""What every case is like, and a region against the rest, counted by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import AI, DECIDERS, NOBODY, READER, RULE, Decisions, Policy, route
from mpd2.evaluation import regions
from mpd2.evaluation.curves import MEAN_READER, risk_curves, risk_strata
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights, wilson
from mpd2.evaluation.tables import overall

MEMBERS = 3


def evidence_of(cohort: Cohort, seed: int = 0) -> Evidence:
    """A random population and a method that keeps every case."""
    scores = np.random.default_rng(seed).normal(size=(MEMBERS, len(cohort), 1 + cohort.readers))
    random = Policy.from_scores(2 * scores, cohort.available)
    never = Policy(np.zeros((1, len(cohort))), np.zeros((1, len(cohort), cohort.readers)), cohort.available)
    outcomes = {name: Outcome(name, None, route(p, cohort), p) for name, p in (("random", random), ("never", never))}
    return Evidence(cohort, cohort.manifest.default_costs(), outcomes)


@pytest.fixture(scope="module")
def evidence(small_cohort: Cohort) -> Evidence:
    return evidence_of(small_cohort)


@pytest.fixture(scope="module")
def table(evidence: Evidence) -> pd.DataFrame:
    return regions.cases(evidence, "random")


@settings(max_examples=20)
@given(cohorts(), st.integers(0, 9))
def test_a_case_is_what_a_plain_loop_finds(cohort, seed):
    evidence = evidence_of(cohort, seed)
    decisions, names = evidence.outcomes["random"].decisions, [reader.name for reader in cohort.manifest.readers]
    for i, row in enumerate(regions.cases(evidence, "random").to_dict("records")):
        truth = cohort.truth[i]
        assert row["wrong"] == pytest.approx(np.mean([label != truth for label in decisions.label[:, i]]))
        words = [word for word in cohort.decisions[i] if word != UNKNOWN]
        wrong = np.mean([word != truth for word in words]) if words else np.nan
        assert row["readers_wrong"] == pytest.approx(wrong, nan_ok=True)
        asked = ["AI" if j == NOBODY else names[j] for j in decisions.consulted[:, i, 0]]
        assert asked.count(row["action"]) == max(map(asked.count, asked))
        assert row["deferred"] == pytest.approx(np.mean([name != "AI" for name in asked]))
        assert row["decider"] == (DECIDERS[AI] if row["action"] == "AI" else DECIDERS[READER])
        assert row["overruled"] == 0
        assert row["total"] == pytest.approx(row["clinical"] + row["fees"])


def test_whom_most_members_leave_a_case_to_decides_it(small_cohort):
    case = small_cohort.rows(np.array([0]))
    own = int(case.ai_label[0])

    def decided(*members: tuple[int, int]) -> pd.Series:
        decisions = Decisions(*(np.array(part)[:, None] for part in ([[reader] for reader, _ in members],
                                                                     [label for _, label in members])))  # fmt: skip
        outcome = {"run": Outcome("run", None, decisions)}
        return regions.cases(Evidence(case, case.manifest.default_costs(), outcome), "run").iloc[0]

    kept, overruled, first = (NOBODY, own), (NOBODY, 1 - own), (0, own)
    name = case.manifest.readers[0].name
    for members, who, action, share in (
        ([kept, kept, overruled], AI, "AI", 1 / 3),
        ([kept, overruled, overruled], RULE, "rule", 2 / 3),
        ([kept, overruled, first], AI, "AI", 1 / 3),  # two of three ask nobody, and among them a tie is the AI's
        ([first, first, overruled], READER, name, 1 / 3),
    ):
        row = decided(*members)
        assert (row["decider"], row["action"], row["overruled"]) == (DECIDERS[who], action, pytest.approx(share))


def test_what_is_sent_and_overruled_is_told_in_a_sentence(table):
    assert "overrules" not in regions.deferral_in_words(table)
    assert regions.deferral_in_words(table.assign(overruled=0.25)).endswith(
        " Its rule overrules the AI unread in 25.0\xa0%."
    )


def test_the_columns_add_up_to_the_overall_table(evidence, table):
    rows = overall(evidence, resample_weights(evidence.cohort, 10)).query("method == 'random'").set_index("metric")
    for column, metric in {"clinical": "ClinicalCost", "fees": "ExpertCost", "deferred": "Defer"}.items():
        assert table[column].mean() == pytest.approx(rows.loc[metric, "value"])
    assert 1 - table["wrong"].mean() == pytest.approx(rows.loc["Acc", "value"])


def test_the_mean_readers_cases_add_up_to_its_curve(evidence):
    curve = risk_curves(evidence, "structural", resample_weights(evidence.cohort, 10), 3)
    readers = regions.cases(evidence, MEAN_READER)
    hardest = readers[risk_strata(evidence.cohort, "structural", 3) == 3]
    expected = curve.query("method == @MEAN_READER and stratum == 3")["value"].item()
    assert hardest["clinical"].mean() == pytest.approx(expected)
    assert readers["deferred"].isna().all()


def test_a_method_nobody_knows_is_refused_with_the_names_there_are(evidence):
    with pytest.raises(UserError, match="found 'magic', expected one of random, never, mean-reader"):
        regions.cases(evidence, "magic")


def test_a_rate_has_wilsons_interval_and_the_difference_that_of_newcombe(evidence, table):
    inside = np.arange(len(table)) < 20
    row = regions.compare(table, inside, resample_weights(evidence.cohort, 50)).set_index("measure").loc["ai_wrong"]
    errors, others = int(table["ai_wrong"][:20].sum()), int(table["ai_wrong"][20:].sum())
    low, high = wilson(errors, 20)
    rest_low, rest_high = wilson(others, len(table) - 20)
    assert row[["region", "region_low", "region_high", "region_n"]].tolist() == [errors / 20, low, high, 20]
    below = np.sqrt((errors / 20 - low) ** 2 + (rest_high - row["rest"]) ** 2)
    above = np.sqrt((high - errors / 20) ** 2 + (row["rest"] - rest_low) ** 2)
    assert row["low"] == pytest.approx(errors / 20 - row["rest"] - below)
    assert row["high"] == pytest.approx(errors / 20 - row["rest"] + above)


def test_a_cost_has_the_interval_of_its_resamples(evidence, table):
    inside = np.arange(len(table)) % 2 == 0
    weights = resample_weights(evidence.cohort, 400)
    row = regions.compare(table, inside, weights).set_index("measure").loc["total"]
    cost = table["total"].to_numpy()
    means = [(drawn * cost)[inside].sum() / drawn[inside].sum() for drawn in weights]
    assert [row["region_low"], row["region_high"]] == pytest.approx(np.percentile(means, [2.5, 97.5]).tolist())


def test_cases_nobody_has_read_do_not_count_for_the_mean_reader(evidence, table):
    unread = table.assign(readers_wrong=table["readers_wrong"].where(np.arange(len(table)) != 0))
    inside = np.arange(len(table)) < 10
    compared = regions.compare(unread, inside, resample_weights(evidence.cohort, 10)).set_index("measure")
    assert compared.loc["readers_wrong", "region_n"] == 9
    assert compared.loc["readers_wrong", "region"] == pytest.approx(table["readers_wrong"][1:10].mean())


def test_a_region_of_everything_has_no_rest_and_says_so(evidence, table):
    compared = regions.compare(table, np.ones(len(table), bool), resample_weights(evidence.cohort, 10))
    assert compared["rest"].isna().all()
    assert (compared["rest_n"] == 0).all()
    assert regions.in_words(compared)["rest"].eq("– (– to –)").all()


def test_rates_are_told_in_percent_and_their_differences_in_points(evidence, table):
    inside = table["ai_wrong"].to_numpy() > 0
    words = regions.in_words(regions.compare(table, inside, resample_weights(evidence.cohort, 10))).set_index("measure")
    assert words.loc["ai_wrong", "value"] == "100.0\N{NO-BREAK SPACE}%"
    assert words.loc["ai_wrong", "gap"] == "+100.0 points"
    assert words.loc["ai_clinical", "rest"] == "0.000 (0.000 to 0.000)"


def test_the_readings_of_region_and_rest_are_all_readings(evidence):
    inside = np.arange(len(evidence.cohort)) < 30
    mix = regions.reader_mix(evidence, "random", inside)
    asked = (evidence.outcomes["random"].decisions.consulted != NOBODY).sum() / MEMBERS
    assert mix["readings"].sum() == pytest.approx(asked)
    assert mix.groupby("where")["share"].sum().tolist() == pytest.approx([1, 1])


def test_who_asks_nobody_has_no_mix(evidence):
    assert regions.reader_mix(evidence, "never", np.arange(len(evidence.cohort)) < 30).empty


def test_an_average_is_over_the_nearest_cases_and_skips_what_is_unknown():
    line = pd.DataFrame({"x": [0.0, 1.0, 2.1, 10.0], "y": 0.0, "share": [0.0, 1.0, np.nan, 0.4]})
    assert regions.smoothed(line, ["share"], 2)["share"].tolist() == pytest.approx([0.5, 0.5, 1.0, 0.4])
    assert regions.smoothed(line, ["share"], 99)["share"].tolist() == pytest.approx([1.4 / 3] * 4)


def test_the_sentence_counts_what_is_sent_of_the_ais_errors():
    cases = pd.DataFrame({"ai_wrong": [1.0, 1.0, 0.0, 0.0], "deferred": [1.0, 0.5, 0.2, 0.0], "overruled": 0.0})
    assert regions.deferral_in_words(cases) == (
        "The active run sends 42.5\N{NO-BREAK SPACE}% of all cases to a reader: 75.0\N{NO-BREAK SPACE}% of the 2 cases "
        "the AI alone gets wrong and 10.0\N{NO-BREAK SPACE}% of the 2 cases the AI alone gets right."
    )
