"""A verdict follows from the numbers, whichever way they fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_study import few_cases, tiny_tables

from mpd2.evaluation.intervals import Estimate
from mpd2.study import claims
from mpd2.study.claims import FAILS, HARDLY, HOLDS, OF_ROUTERS, OF_THE_OBJECTIVE, RATHER, UNKNOWN, verdict
from mpd2.study.definition import BUDGETS, PAPER_RUN, ROUTERS, TARGETS
from mpd2.study.tables import StudyTables

Tables = dict[str, pd.DataFrame]
Put = Callable[..., None]

finite = st.floats(-1e6, 1e6)
estimates = st.tuples(finite, finite, finite).map(lambda ends: Estimate(*[sorted(ends)[i] for i in (1, 0, 2)]))


@given(estimates, estimates, finite)
def test_the_interval_of_a_difference_holds_every_difference_of_its_ends(
    one: Estimate, other: Estimate, constant: float
) -> None:
    apart = one - other
    assert apart.low <= apart.value <= apart.high
    assert apart.low == pytest.approx(min(a - b for a in (one.low, one.high) for b in (other.low, other.high)))
    turned = -one
    assert -turned == one
    assert (one + constant).high == one.high + constant


@pytest.mark.parametrize(
    ("margins", "word"),
    [
        ([(1, 0.5, 2), (3, 1, 4)], HOLDS),
        ([(1, 0.5, 2), (3, -1, 4)], RATHER),
        ([(1, 0.5, 2), (-3, -4, 1)], HARDLY),
        ([(1, 0.5, 2), (-3, -4, -1)], FAILS),
        ([(0, 0, 0)], HARDLY),
        ([(float("nan"),) * 3], HARDLY),
        ([], UNKNOWN),
    ],
)
def test_a_verdict_is_sure_only_where_every_interval_is(margins: Sequence[tuple[float, ...]], word: str) -> None:
    assert verdict([Estimate(*margin) for margin in margins]) == word


# How the numbers must fall for a claim to hold, or not to: `so` is 1 or -1.


def cheapest(put: Put, router: str, so: int) -> None:
    put("paired", so, reference=router, metric="TotalCost")


def best_scores(put: Put, router: str, so: int) -> None:
    for metric in ("F1", "MCC"):
        put("paired", -so, reference=router, metric=metric)


def undominated(put: Put, router: str, so: int) -> None:
    put("paired", so, reference=router, metric="TotalCost")
    for metric in ("F1", "MCC"):
        put("paired", 1, reference=router, metric=metric)


def cheapest_in_cohorts(put: Put, router: str, so: int) -> None:
    put("cohorts", so, metric="TotalCost")
    put("cohorts", -so, metric="TotalCost", method=router)


def least_concentrated(put: Put, router: str, so: int) -> None:
    for metric in ("Top1", "Top2"):
        put("collapse", so, metric=metric)
        put("collapse", -so, metric=metric, method=router)


def safe_where_kept(put: Put, router: str, so: int) -> None:
    for place, key in enumerate(["refuge", "chaksu", "origa"]):
        put("retention", place, metric="ClinicalCost", cohort=key, method="ai")
        put("retention", place - so, metric="ClinicalCost", cohort=key, method=router)
        put("retention", 5 - so * place, metric="Share", cohort=key, method=router)


def resilient(put: Put, router: str, so: int) -> None:
    put("risk", 0, stratum=1)
    put("risk", so, stratum=5)
    put("risk", -so, stratum=5, method=router)


def fees_matter(put: Put, router: str, so: int) -> None:
    for metric in ("ExpertCost", "DeferSoft"):
        put("effects", so, first="no-fees", metric=metric)


def clinical_cost_alone_defers(put: Put, router: str, so: int) -> None:
    put("objective", so, method="clinical-only", metric="DeferHard")


def regularisers_spread(put: Put, router: str, so: int) -> None:
    for metric, sign in (("Top1", 1), ("HHI", 1), ("EffExp", -1)):
        put("effects", so * sign, first="no-gsdp-rank-js", metric=metric)


def regularisers_are_free(put: Put, router: str, so: int) -> None:
    put("effects", so, first="no-gsdp-rank-js", metric="ClinicalCost")
    put("effects", -so, first="no-gsdp-rank-js", metric="F1")


def budget_is_kept(put: Put, router: str, so: int) -> None:
    for place, name in enumerate(name for name, target in TARGETS.items() if target is not None):
        put("budget", place, method=name, metric="DeferSoft")
        put("budget", -so, method=name, metric="GapSoft")


def budget_is_cheap(put: Put, router: str, so: int) -> None:
    for name in set(BUDGETS) - {"noal"}:
        put("effects", so, first=name, second="noal", metric="F1")


def found(check: str, router: str, so: int, spread: float) -> str:
    """The verdict once the numbers are put where the claim says, or where it says not."""
    tables = {name: rows.copy() for name, rows in tiny_tables().items()}

    def put(table: str, value: float, **where: object) -> None:
        rows = tables[table]
        there = pd.Series(True, rows.index)
        for column, wanted in where.items():
            there &= rows[column] == wanted
        assert there.any()
        for column, end in (("value", 0.0), ("difference", 0.0), ("low", -spread), ("high", spread)):
            if column in rows:
                rows[column] = rows[column].astype(float).mask(there, value + end)

    globals()[check](put, router, so)
    return getattr(claims, check)(StudyTables(tables, few_cases().manifest), router).verdict


CLAIMS = [claim.check.__name__ for claim in (*OF_ROUTERS, *OF_THE_OBJECTIVE)]


@pytest.mark.parametrize("check", [name for name in CLAIMS if name != "beats_every_reader"])
def test_a_claim_holds_or_fails_with_the_figures_it_is_about(check: str) -> None:
    routers = ROUTERS if check in {claim.check.__name__ for claim in OF_ROUTERS} else (PAPER_RUN,)
    for router in routers:
        words = [found(check, router, so, spread) for so in (1, -1) for spread in (0.01, 10)]
        assert words == [HOLDS, RATHER, FAILS, HARDLY]


@pytest.mark.parametrize(
    ("wins", "wins_all", "word"),
    [("n", 0.95, HOLDS), ("n", 0.94, RATHER), (0, 0.06, HARDLY), (0, 0.05, FAILS)],
)
def test_all_readers_are_beaten_or_not(wins: object, wins_all: float, word: str) -> None:
    frames = tiny_tables()
    rows = frames["wins"].assign(wins_all=wins_all, wins=frames["wins"]["n"] if wins == "n" else wins)
    tables = StudyTables({**frames, "wins": rows}, few_cases().manifest)
    assert claims.beats_every_reader(tables, PAPER_RUN).verdict == word


def test_the_text_says_what_the_tables_say() -> None:
    tables = StudyTables(tiny_tables(), few_cases().manifest)
    total = tables.of("overall", metric="TotalCost")
    text = claims.cheapest(tables, PAPER_RUN).text
    assert text.startswith(f"TotalCost {total[PAPER_RUN].value:.3f}, ")
    assert all(tables.titles[name] in text for name in tables.compared)
    assert tables.compared == ["ai", "mao", "keswani"]
    wins = tiny_tables()["wins"].set_index("method").loc[PAPER_RUN]
    assert f"Ahead in {wins['wins']} of 12 pairings" in claims.beats_every_reader(tables, PAPER_RUN).text


# ---------------------------------------------------------------------------------- in words, from numbers put by hand


TITLES = {PAPER_RUN: "MPD²", "ai": "AI", "mao": "Mao", "verma": "Verma"}


def by_hand(**frames: pd.DataFrame) -> StudyTables:
    """A router that costs 0.2 at an F1 of 0.8, and three methods that the paper compares it with."""
    overall = pd.DataFrame(
        [(name, title, metric, value, 0.5)
         for name, title in TITLES.items()
         for metric, value in {"TotalCost": 0.2, "F1": 0.8, "MCC": 0.7}.items()],
        columns=["method", "title", "metric", "value", "published"],
    )  # fmt: skip
    return StudyTables({"overall": overall.assign(low=0.0, high=1.0), **frames}, few_cases().manifest)


def paired(**apart: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    """What each method has more than the router, by metric: value, low and high."""
    rows = [(PAPER_RUN, name, metric, *ends) for metric, each in apart.items() for name, ends in each.items()]
    return pd.DataFrame(rows, columns=["reference", "method", "metric", "difference", "low", "high"])


def test_a_method_that_differs_within_chance_is_neither_cheaper_nor_dearer() -> None:
    apart = {"ai": (0.1, 0.05, 0.2), "mao": (0.1, 0.0, 0.2), "verma": (-0.1, -0.2, -0.05)}
    finding = claims.cheapest(by_hand(paired=paired(TotalCost=apart)), PAPER_RUN)
    assert finding.text == (
        "TotalCost 0.200, rank 2 of 4. Beyond chance cheaper than AI; beyond chance dearer than Verma; not to be told "
        "from Mao."
    )
    assert finding.verdict == FAILS


def test_a_method_that_costs_as_much_is_not_beaten() -> None:
    apart = {"ai": (0.1, 0.05, 0.2), "mao": (0.0, 0.0, 0.0), "verma": (0.1, 0.05, 0.2)}
    finding = claims.cheapest(by_hand(paired=paired(TotalCost=apart)), PAPER_RUN)
    assert finding.verdict == HARDLY
    assert finding.text.endswith("Beyond chance cheaper than AI and Verma; not to be told from Mao.")
    assert "rank 1 of 4" in finding.text  # nobody is before it


def test_a_margin_that_touches_0_is_within_chance() -> None:
    assert verdict([Estimate(0.1, 0.0, 0.2)]) == RATHER
    assert verdict([Estimate(0.0, 0.0, 0.1)]) == HARDLY
    assert verdict([Estimate(-0.1, -0.2, 0.0)]) == HARDLY


def test_who_is_better_in_both_is_named_and_nobody_else() -> None:
    cost = {"ai": (-0.1, -0.2, -0.05), "mao": (-0.1, -0.2, -0.05), "verma": (0.1, 0.05, 0.2)}
    score = {"ai": (-0.1, -0.2, -0.05), "mao": (0.1, 0.05, 0.2), "verma": (0.1, 0.05, 0.2)}
    plane = pd.DataFrame({"score": ["F1", "MCC"], "cost": "TotalCost", "method": PAPER_RUN, "on_front": [True, False]})
    tables = by_hand(
        paired=paired(TotalCost=cost, F1=score, MCC=dict.fromkeys(score, (-0.1, -0.2, -0.05))),
        tradeoff=plane.assign(front_share=[0.9, 0.25]),
    )
    finding = claims.undominated(tables, PAPER_RUN)
    assert finding.verdict == FAILS
    assert finding.text == (
        "Better in F1 and total cost at once: Mao; among all methods that can be deployed, ours included, it is on the "
        "front (on it in 90% of resamples); better in MCC and total cost at once: nobody; among all methods that can "
        "be deployed, ours included, it is behind the front (on it in 25% of resamples)."
    )


def test_the_share_sent_has_both_ends_of_its_interval() -> None:
    ends = {"value": 0.95, "low": 0.925, "high": 0.975}
    rows = pd.DataFrame([{"method": "clinical-only", "metric": "DeferHard", **ends}])
    assert claims.clinical_cost_alone_defers(by_hand(objective=rows), PAPER_RUN).text == (
        "With clinical cost alone 95.0% of cases go to a reader [92.5%, 97.5%]; nearly every case means 90%."
    )


def test_a_reader_with_the_same_f1_is_not_beaten() -> None:
    gaps = pd.DataFrame(
        [("R1", 0.1, 0.05, 0.2), ("R2", 0.0, -0.1, 0.1), ("R3", 0.1, 0.0, 0.2)],
        columns=["reader_title", "difference", "low", "high"],
    ).assign(method=PAPER_RUN)
    wins = pd.DataFrame({"method": [PAPER_RUN], "wins": 2, "n": 3, "low": 1.0, "high": 3.0, "wins_all": 0.3})
    finding = claims.beats_every_reader(by_hand(gaps=gaps, wins=wins), PAPER_RUN)
    assert finding.verdict == HARDLY
    assert finding.text == (
        "Ahead in 2 of 3 pairings, beyond chance in 1, and not ahead of R2; resampled, in 1 to 3, and in all 3 in 30% "
        "of resamples."
    )
