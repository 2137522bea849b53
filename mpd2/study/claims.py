"""What the paper claims, and what the tables of the study say to it. Every word follows from the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mpd2.core.text import listed, sentence
from mpd2.evaluation.intervals import Estimate
from mpd2.study.definition import PAPER_RUN, TARGETS
from mpd2.study.tables import StudyTables

AI = "ai"  # the run that asks nobody
HOLDS, RATHER, HARDLY, FAILS = "holds", "holds, within chance", "does not hold, within chance", "does not hold"
UNKNOWN = "cannot be said"
SURE = 0.95  # share of resamples that is beyond chance
NEARLY_ALL = 0.9  # share of cases
NEGLIGIBLE = 0.01  # of a cost or a score
CLOSE = 0.02  # of F1


@dataclass(frozen=True)
class Finding:
    """What became of a claim."""

    verdict: str
    text: str


@dataclass(frozen=True)
class Claim:
    """Something the paper says of its router; `check` takes the name of a router's run."""

    statement: str
    check: Callable[[StudyTables, str], Finding]


def verdict(margins: Sequence[Estimate]) -> str:
    """The word for a claim that says all margins are above 0: whether they are, and whether by more than chance."""
    if not margins:
        return UNKNOWN
    if all(margin.value > 0 for margin in margins):
        return HOLDS if all(margin.low > 0 for margin in margins) else RATHER
    return FAILS if any(margin.high < 0 for margin in margins) else HARDLY


# ---------------------------------------------------------------------------------- methods


def cheapest(tables: StudyTables, router: str) -> Finding:
    """Is its total cost the lowest?"""
    margins = tables.against(router, "TotalCost")
    place = _place(tables, router, "TotalCost", margins)
    return Finding(
        verdict(list(margins.values())), f"{place}. {sentence(_apart(tables, margins, 'cheaper', 'dearer'))}"
    )


def best_scores(tables: StudyTables, router: str) -> Finding:
    """Are its F1 and MCC the highest?"""
    both = {score: {n: -more for n, more in tables.against(router, score).items()} for score in ("F1", "MCC")}
    places = [_place(tables, router, score, margins) for score, margins in both.items()]
    return Finding(
        verdict([margin for margins in both.values() for margin in margins.values()]),
        f"{'; '.join(places)}. By F1: {_apart(tables, both['F1'], 'better', 'worse')}.",
    )


def undominated(tables: StudyTables, router: str) -> Finding:
    """Has no compared method both a better score and a lower total cost?"""
    cost = tables.against(router, "TotalCost")
    parts: list[str] = []
    all_margins: list[Estimate] = []
    for score in ("F1", "MCC"):
        gain = {name: -more for name, more in tables.against(router, score).items()}
        margins = {name: _either(gain[name], cost[name]) for name in cost}
        beaten = [name for name, margin in margins.items() if margin.value <= 0]
        all_margins += margins.values()
        planes = tables["tradeoff"]
        (plane,) = planes[
            (planes["score"] == score) & (planes["cost"] == "TotalCost") & (planes["method"] == router)
        ].to_dict("records")
        parts.append(
            f"better in {score} and total cost at once: {tables.named(beaten) or 'nobody'}; among all methods that "
            f"can be deployed, ours included, it is {'on' if plane['on_front'] else 'behind'} the front (on it in "
            f"{plane['front_share']:.0%} of resamples)"
        )
    return Finding(verdict(all_margins), sentence("; ".join(parts)))


def cheapest_in_cohorts(tables: StudyTables, router: str) -> Finding:
    """Is its total cost the lowest in the cohorts in which the paper's is?"""
    parts, claimed = [], []
    for key, cohort in tables.cohorts.items():
        rows = tables.of("cohorts", metric="TotalCost", cohort=key)
        margins = [rows[name] - rows[router] for name in tables.compared]
        printed = [rows[name].published - rows[PAPER_RUN].published for name in tables.compared]
        claimed += margins if min(printed, default=np.nan) > 0 else []
        parts.append(
            f"{cohort} {rows[router].value:.3f}, {_rank(m.value for m in margins)}; in the paper {_rank(printed)}"
        )
    return Finding(verdict(claimed), " ".join(map(sentence, parts)))


def least_concentrated(tables: StudyTables, router: str) -> Finding:
    """Are the shares of its busiest one and two readers the smallest?"""
    parts: list[str] = []
    all_margins: list[Estimate] = []
    for metric in ("Top1", "Top2"):
        rows = tables.of("collapse", metric=metric)
        asking = [name for name in tables.compared if not np.isnan(rows[name].value)]
        margins = {name: rows[name] - rows[router] for name in asking}
        all_margins += margins.values()
        smaller = [name for name, margin in margins.items() if margin.value < 0]
        parts.append(
            f"{metric} {rows[router].value:.3f}, {_rank(m.value for m in margins.values())}"
            + (f", after {tables.named(smaller)}" if smaller else "")
        )
    return Finding(verdict(all_margins), sentence("; ".join(parts)))


def safe_where_kept(tables: StudyTables, router: str) -> Finding:
    """Does it leave the less to the AI the worse the AI is, and is what it leaves safe?"""
    share, cost = (
        {key: tables.of("retention", metric=metric, cohort=key) for key in tables.cohorts}
        for metric in ("Share", "ClinicalCost")
    )
    order = sorted(tables.cohorts, key=lambda key: cost[key][AI].value)
    margins = [share[easier][router] - share[harder][router] for easier, harder in pairwise(order)]
    margins += [cost[key][AI] - cost[key][router] for key in order if share[key][router].value > 0]
    parts = [
        f"{tables.cohorts[key]}: {share[key][router].value:.0%} stay with the AI"
        + (f", at a clinical cost of {cost[key][router].value:.3f}" if share[key][router].value > 0 else "")
        + f" (if all did: {cost[key][AI].value:.3f})"
        for key in order
    ]
    return Finding(verdict(margins), sentence("; ".join(parts)))


def beats_every_reader(tables: StudyTables, router: str) -> Finding:
    """Is its F1 above that of every reader, on the reader's own cases?"""
    wins = tables["wins"]
    (row,) = wins[wins["method"] == router].to_dict("records")
    gaps = tables.of("gaps", by="reader_title", method=router)
    lost = [name for name, gap in gaps.items() if not gap.value > 0]
    sure, never = row["wins_all"] >= SURE, row["wins_all"] <= 1 - SURE
    word = (HOLDS if sure else RATHER) if row["wins"] == row["n"] else (FAILS if never else HARDLY)
    return Finding(
        word,
        f"Ahead in {row['wins']} of {row['n']} pairings, beyond chance in {sum(gap.low > 0 for gap in gaps.values())}"
        f"{f', and not ahead of {listed(lost)}' if lost else ''}; resampled, in {row['low']:.0f} to {row['high']:.0f}, "
        f"and in all {row['n']} in {row['wins_all']:.0%} of resamples.",
    )


def resilient(tables: StudyTables, router: str) -> Finding:
    """Is it cheaper than the AI where cases are hardest, and does its cost grow more slowly than for most?"""
    risk = tables["risk"]
    parts, margins = [], []
    for signal in risk["signal"].unique():
        easy, hard = (tables.of("risk", signal=signal, stratum=end(risk["stratum"])) for end in (min, max))
        growth = {name: hard[name] - easy[name] for name in (router, *tables.compared)}
        slower = sorted((growth[name] - growth[router] for name in tables.compared), key=lambda m: -m.value)
        # If more than half of the others grow faster, so does the one in the middle.
        margins += [hard[AI] - hard[router], *slower[len(slower) // 2 :][:1]]
        parts.append(
            f"{signal} risk: {hard[router].value:.3f} in the hardest stratum (AI alone {hard[AI].value:.3f}), "
            f"{growth[router].value:+.3f} against the easiest; {sum(m.value > 0 for m in slower)} of {len(slower)} "
            "methods rise more"
        )
    return Finding(verdict(margins), sentence("; ".join(parts)))


def _either(one: Estimate, other: Estimate) -> Estimate:
    """How far one of two things is above 0, whichever is more so."""
    return Estimate(max(one.value, other.value), max(one.low, other.low), max(one.high, other.high))


def _rank(margins: Iterable[float]) -> str:
    values = list(margins)
    return f"rank {1 + sum(value < 0 for value in values)} of {1 + len(values)}"


def _place(tables: StudyTables, router: str, metric: str, margins: Mapping[str, Estimate]) -> str:
    value = tables.of("overall", metric=metric)[router].value
    return f"{metric} {value:.3f}, {_rank(margin.value for margin in margins.values())}"


def _apart(tables: StudyTables, margins: Mapping[str, Estimate], better: str, worse: str) -> str:
    """From which methods a router differs beyond chance."""
    ahead = [name for name, margin in margins.items() if margin.low > 0]
    behind = [name for name, margin in margins.items() if margin.high < 0]
    rest = [name for name in margins if name not in {*ahead, *behind}]
    groups = {f"beyond chance {better} than": ahead, f"beyond chance {worse} than": behind, "not to be told from": rest}
    return "; ".join(f"{how} {tables.named(names)}" for how, names in groups.items() if names)


# ---------------------------------------------------------------------------------- ablations, of the paper's router


def fees_matter(tables: StudyTables, router: str) -> Finding:
    """Do readers cost more, and are more asked, where training ignores fees?"""
    cost, defer, f1 = (tables.effect("no-fees", metric) for metric in ("ExpertCost", "DeferSoft", "F1"))
    return Finding(verdict([cost, defer]), f"Without fees: ExpertCost {cost}, DeferSoft {defer}, F1 {f1}.")


def clinical_cost_alone_defers(tables: StudyTables, router: str) -> Finding:
    """Does clinical cost alone send nearly every case to a reader?"""
    rate = tables.of("objective", metric="DeferHard")["clinical-only"]
    return Finding(
        verdict([rate + -NEARLY_ALL]),
        f"With clinical cost alone {rate.value:.1%} of cases go to a reader [{rate.low:.1%}, {rate.high:.1%}]; "
        f"nearly every case means {NEARLY_ALL:.0%}.",
    )


def regularisers_spread(tables: StudyTables, router: str) -> Finding:
    """Is the load more concentrated without the regularisers?"""
    top, index, effective = (tables.effect("no-gsdp-rank-js", metric) for metric in ("Top1", "HHI", "EffExp"))
    return Finding(
        verdict([top, index, -effective]),
        f"Without both: Top1 {top}, HHI {index}, EffExp {effective}; without GSDP alone: Top1 "
        f"{tables.effect('no-gsdp', 'Top1')}; without Rank-JS alone: Top1 {tables.effect('no-rank-js', 'Top1')}.",
    )


def regularisers_are_free(tables: StudyTables, router: str) -> Finding:
    """Do the regularisers cost next to nothing in clinical cost and F1?"""
    cost, f1 = (tables.effect("no-gsdp-rank-js", metric) for metric in ("ClinicalCost", "F1"))
    return Finding(
        verdict([cost + NEGLIGIBLE, -f1 + NEGLIGIBLE]),
        f"Without both: ClinicalCost {cost}, F1 {f1}; next to nothing means up to {NEGLIGIBLE:g}.",
    )


def budget_is_kept(tables: StudyTables, router: str) -> Finding:
    """Does soft deferral rise with its target and stay below it?"""
    targets = dict(sorted(_targets().items(), key=lambda item: item[1]))
    soft, gap = (tables.of("budget", metric=metric) for metric in ("DeferSoft", "GapSoft"))
    rises = [soft[higher] - soft[lower] for lower, higher in pairwise(targets)]
    by_target = ", ".join(f"{target:g} gives {soft[name].value:.3f}" for name, target in targets.items())
    return Finding(
        verdict([*rises, *(-gap[name] for name in targets)]),
        f"Soft deferral by target: {by_target}; the largest gap is {max(gap[name].value for name in targets):+.3f}.",
    )


def budget_is_cheap(tables: StudyTables, router: str) -> Finding:
    """Is F1 about as good as without a budget wherever the paper's is?"""
    f1 = tables.of("budget", metric="F1")
    loss = {name: tables.effect(name, "F1", "noal") for name in _targets()}
    claimed = [name for name in loss if f1[name].published >= f1["noal"].published - CLOSE]
    losses = ", ".join(f"{f1[name].title} {change}" for name, change in loss.items())
    return Finding(
        verdict([loss[name] + CLOSE for name in claimed]),
        f"F1 against no budget: {losses}; in the paper {listed([f1[name].title for name in claimed])} lose at most "
        f"{CLOSE:g}.",
    )


def _targets() -> dict[str, float]:
    return {name: target for name, target in TARGETS.items() if target is not None}


OF_ROUTERS = (
    Claim("It has the lowest total cost of the compared methods", cheapest),
    Claim("It has the highest F1 and MCC", best_scores),
    Claim("None of them has both a better score and a lower total cost (Pareto)", undominated),
    Claim("It has the lowest total cost in the cohorts where the paper's has", cheapest_in_cohorts),
    Claim("It burdens its busiest one and two readers least (Top1, Top2)", least_concentrated),
    Claim("It leaves the less to the AI the worse the AI is, and cases that cost less there", safe_where_kept),
    Claim("It has a higher F1 than every reader on that reader's cases", beats_every_reader),
    Claim("It costs less than the AI where cases are hardest, and rises more slowly than most", resilient),
)
OF_THE_OBJECTIVE = (
    Claim("Fees in the objective spare readers", fees_matter),
    Claim("Clinical cost alone sends nearly every case to a reader", clinical_cost_alone_defers),
    Claim("GSDP and Rank-JS spread the load", regularisers_spread),
    Claim("GSDP and Rank-JS cost next to nothing in prediction", regularisers_are_free),
    Claim("The budget steers soft deferral and is kept", budget_is_kept),
    Claim("A budget costs no F1 unless it is very tight", budget_is_cheap),
)
