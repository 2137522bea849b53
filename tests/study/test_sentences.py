"""What resplits, new cohorts and promises come to in words: only what the tables say."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from places import DATA
from tiny_study import few_cases, tiny_tables

from mpd2.core.manifest import load_manifest
from mpd2.evaluation.guarantee import HOLDS
from mpd2.study import sentences
from mpd2.study.tables import StudyTables, read_table

TITLES = {"mpd2-plus": "Plus", "ai": "AI", "mao": "Mao", "verma": "Verma", "hemmer": "Hemmer"}


@pytest.fixture
def tables() -> StudyTables:
    return StudyTables({name: rows.copy() for name, rows in tiny_tables().items()}, few_cases().manifest)


def changed(tables: StudyTables, table: str, rows: pd.DataFrame) -> StudyTables:
    return replace(tables, tables={**tables.tables, table: rows})


def by_hand(**frames: pd.DataFrame) -> StudyTables:
    """Tables of four methods, of which Plus is the reference, and of the AI."""
    titles = pd.DataFrame({"method": list(TITLES), "title": list(TITLES.values())})
    return StudyTables({"names": titles, **frames}, load_manifest(DATA / "manifest.toml"))


def resplit_tables() -> StudyTables:
    """Plus costs 0.2; two are dearer beyond chance, one just not, and one cheaper."""
    resplits = pd.DataFrame(
        [(name, title, "all", metric, value, 0.01, 3)
         for name, title, cost in zip(TITLES, TITLES.values(), (0.2, 0.3, 0.25, 0.1, 0.4), strict=True)
         for metric, value in {**dict.fromkeys(sentences.REPORTED, 0.5), "TotalCost": cost, "Defer": cost / 2}.items()],
        columns=["method", "title", "cohort", "metric", "value", "sd", "n"],
    )  # fmt: skip
    rivals = pd.DataFrame(
        [
            ("ai", 0.1, 0.05, 0.2, 1.0),
            ("mao", 0.05, 0.0, 0.1, 0.75),
            ("verma", -0.1, -0.2, -0.05, 0.25),
            ("hemmer", 0.2, 0.1, 0.3, 1.0),
        ],
        columns=["method", "difference", "low", "high", "won"],
    )
    rivals = rivals.merge(pd.DataFrame({"metric": sentences.SHOWN_RIVALS}), how="cross")
    return by_hand(resplits=resplits, rivals=rivals.assign(reference="mpd2-plus", title=rivals["method"].map(TITLES)))


def test_a_rival_is_dearer_or_cheaper_only_where_its_interval_leaves_out_0() -> None:
    assert sentences.resplit_words(resplit_tables()) == (
        "Over 3 resplits Verma costs the least: 0.100 ±.010, with 5.0% of cases deferred. Of 4 other methods 2 are "
        "dearer than Plus beyond chance, and 1 cheaper."
    )


def test_a_rival_has_its_difference_both_ends_and_how_often_it_is_dearer() -> None:
    heads, *rows = sentences.rival_rows(resplit_tables())
    assert heads == ["method", "TotalCost", "ClinicalCost", "MCC", "dearer in"]
    assert rows[0] == ["Verma", *["-0.100 [-0.200, -0.050]"] * 3, "25%"]
    assert rows[-2] == ["AI", *["+0.100 [+0.050, +0.200]"] * 3, "100%"]


def test_resplits_have_a_row_a_method_with_mean_and_spread_the_cheapest_first() -> None:
    heads, first, *others = sentences.resplit_rows(resplit_tables())
    assert dict(zip(heads, first, strict=True)) == {
        "method": "Verma", "resplits": "3", **dict.fromkeys(sentences.REPORTED, "0.500 ±.010"),
        "TotalCost": "0.100 ±.010", "Defer": "0.050 ±.010",
    }  # fmt: skip
    assert [row[0] for row in others] == ["Plus", "Mao", "AI", "Hemmer"]


def transfer_table() -> StudyTables:
    """In a new cohort Mao costs less than the AI, Plus as much and Verma more."""
    rows = pd.DataFrame(
        [("mpd2-plus", 0.4, 0.2, 0.2, 0.1, 0.3), ("ai", 0.4, 0.4, 0.0, 0.0, 0.0), ("mao", 0.3, 0.35, -0.05, -0.1, 0.0),
         ("verma", 0.5, 0.3, 0.2, 0.1, 0.3)],
        columns=["method", "value", "known", "change", "change_low", "change_high"],
    )  # fmt: skip
    rows = rows.assign(title=rows["method"].map(TITLES), cohort="origa", sd=0.02, n=5)
    strangers = rows.assign(metric=sentences.UNHEARD, value=[0.07, 0.0, 0.01, 0.02])
    return by_hand(transfer=pd.concat([rows.assign(metric="TotalCost"), strangers]))


def test_a_new_cohort_names_the_cheapest_who_learned_and_counts_who_beats_the_ai() -> None:
    assert sentences.transfer_words(transfer_table()) == (
        "With ORIGA new, 1 of 3 methods cost less than the AI alone (0.400), Mao the least (0.300 ±.020, 0.350 when "
        "known). Up to 7% of cases were sent to readers of whom nothing had been learned."
    )


def test_a_new_cohort_has_its_cost_and_how_much_more_that_is() -> None:
    heads, *rows = sentences.transfer_rows(transfer_table())
    assert heads == ["method", "resplits", "ORIGA new", "more than known"]
    assert rows[0] == ["Plus", "5", "0.400 ±.020", "+0.200 [+0.100, +0.300]"]
    assert rows[2] == ["Mao", "5", "0.300 ±.020", "-0.050 [-0.100, +0.000]"]


def test_a_promise_says_which_share_of_the_judged_cases_is_kept_and_what_of_these_is_missed() -> None:
    promise = {"method": "ai", "cohort": "origa", "among": "kept", "level": 0.05, "state": HOLDS, "n": 1000}
    judged = {"judged_n": 200, "judged_kept": 50.0, "judged_missed": 2.0, "rate": 0.05, "broken": 0.03, "checks": 100}
    tables = by_hand(guarantee=pd.DataFrame([promise | judged, promise | judged | {"level": 0.1, "state": "too few"}]))
    assert sentences.guarantee_rows(tables)[1] == ["AI", "ORIGA", "25% kept; 2 of 50 missed", "too few"]
    assert "Of 2 promises asked for, 1 can be given; 0 of these were broken" in sentences.guarantee_words(tables)
    assert "broken in more than 3.0% of draws" in sentences.guarantee_words(tables)


def test_rows_are_as_wide_as_their_heads(tables: StudyTables) -> None:
    for rows in (
        sentences.resplit_rows(tables),
        sentences.rival_rows(tables),
        sentences.transfer_rows(tables),
        sentences.recalibration_rows(tables),
        sentences.guarantee_rows(tables),
    ):
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}


def test_the_cheapest_method_is_named_with_its_spread(tables: StudyTables) -> None:
    first = sentences.resplit_rows(tables)[1]
    assert f"Over 2 resplits {first[0]} costs the least: {first[2]}" in sentences.resplit_words(tables)


def test_a_difference_within_chance_beats_nobody(tables: StudyTables) -> None:
    rows = tables["rivals"].assign(low=-1.0, high=1.0)
    words = sentences.resplit_words(changed(tables, "rivals", rows))
    assert "Of 7 other methods 0 are dearer than MPD²+ beyond chance, and 0 cheaper." in words


def test_it_is_said_whether_anybody_was_sent_to_strangers(tables: StudyTables) -> None:
    rows = tables["transfer"]
    strangers = rows["metric"] == sentences.UNHEARD
    some = rows.assign(value=rows["value"].where(~strangers, 0.125))
    none = rows.assign(value=rows["value"].where(~strangers, 0.0))
    assert "Up to 12% of cases were sent to readers" in sentences.transfer_words(changed(tables, "transfer", some))
    assert "Every reader had been heard" in sentences.transfer_words(changed(tables, "transfer", none))


def test_local_cases_pay_from_where_every_later_interval_is_below_0() -> None:
    def curve(*highs: float) -> pd.DataFrame:
        return pd.DataFrame({"local": [0, 10, 20, 50], "less_ai_high": highs})

    assert sentences.pays_from(curve(0.1, -0.1, -0.1, -0.2), "less_ai") == "10"
    assert sentences.pays_from(curve(-0.1, 0.1, -0.1, -0.2), "less_ai") == "20"
    assert sentences.pays_from(curve(-0.1, -0.1, -0.1, 0.2), "less_ai") == "no number tried"
    assert sentences.pays_from(curve(-0.1, -0.1, 0.0, -0.2), "less_ai") == "50"


def test_a_broken_promise_is_counted(tables: StudyTables) -> None:
    rows = tables["guarantee"].copy()
    rows = rows.astype({"state": object, "rate": float})
    rows.loc[:2, "state"], rows.loc[:2, "rate"] = HOLDS, [0.0, 0.0, 0.9]
    words = sentences.guarantee_words(changed(tables, "guarantee", rows))
    assert "promises asked for, 3 can be given; 1 of these were broken on test cases." in words


# ---------------------------------------------------------------------------------- what the regularisers buy


@pytest.fixture
def ablations() -> dict[str, pd.DataFrame]:
    return {name: read_table(DATA, name) for name in ("objective", "effects")}


def test_the_regularisers_sentence_follows_from_the_numbers(ablations, benchmark):
    effects, objective = ablations["effects"], ablations["objective"]
    for metric, ends in {"Top1": (0.144, 0.054, 0.235), "EffExp": (-3.579, -3.922, -3.237)}.items():
        set_effect(effects, metric, *ends)
    set_effect(effects, "ClinicalCost", 0.006, -0.001, 0.014)
    for condition, sd in {"full": 0.005, sentences.WITHOUT: 0.008}.items():
        objective.loc[(objective["method"] == condition) & (objective["metric"] == "ClinicalCost"), "sd"] = sd
    assert sentences.regularisers_buy(StudyTables(ablations, benchmark.manifest)) == (
        "Without GSDP and Rank‑JS the busiest reader's share rises by 14.4 points (5.4 to 23.5) and the number of "
        "effective readers falls by 3.58 (−3.92 to −3.24), while clinical cost rises, within chance, by 0.006 (−0.001 "
        "to 0.014): against the standard deviation between seeds, above that of routers with both (0.005) and within "
        "that of routers without (0.008). 10 seeds, all test cases, the paper's configuration; brackets hold "
        "95\N{NO-BREAK SPACE}% intervals of differences, seed by seed."
    )


def test_a_difference_of_the_regularisers_that_touches_0_is_within_chance(ablations, benchmark):
    for ends in ((-0.01, -0.02, 0.0), (0.01, 0.0, 0.02)):
        set_effect(ablations["effects"], "Top1", *ends)
        words = sentences.regularisers_buy(StudyTables(ablations, benchmark.manifest))
        assert f"share {'falls' if ends[0] < 0 else 'rises'}, within chance, by 1.0 points" in words


def set_effect(effects: pd.DataFrame, metric: str, *ends: float) -> None:
    """Put the difference, and both ends of its interval, between routers without both regularisers and with them."""
    without = (effects["first"] == sentences.WITHOUT) & (effects["second"] == "full") & (effects["metric"] == metric)
    assert without.sum() == 1
    effects.loc[without, ["difference", "low", "high"]] = ends
