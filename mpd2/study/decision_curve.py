"""Decision curves of the study: every run decides by any ratio of costs, and what comes of it in rows and words.

All members of a run decide together, as they do at any operating point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates import ErrorModel
from mpd2.core.policy import Decisions, decided_together
from mpd2.core.runs import Run, load_errors, load_predictions, load_run
from mpd2.core.text import listed
from mpd2.evaluation.clinical.decision_curve import (
    MOVED,
    Strategy,
    at_ratio,
    decision_curves,
    stretches,
    where_best,
    without_runs,
)
from mpd2.evaluation.clinical.winners import PEOPLE, cells, cheapest_on, one_of, winners
from mpd2.methods.base import DecidesAnew
from mpd2.methods.recalibrated import Recalibrated, RecalibratedScore
from mpd2.methods.registry import NOT_DEPLOYABLE, continuations_of, method_of
from mpd2.methods.simple import AiOnly, AlwaysDefer
from mpd2.study.definition import PLUS_RUN, ROUTERS, STUDIO_RUN, Study
from mpd2.study.operating import PolicyFor, exchange_rates, recosted_policy
from mpd2.study.sentences import Record, records
from mpd2.study.tables import StudyTables

AI, ALWAYS = AiOnly.key, AlwaysDefer.key
RECALIBRATED, RECALIBRATED_SCORE = Recalibrated.key, RecalibratedScore.key
BASELINE = "best-baseline"  # the map's stand-in for all methods of others
RIVALS = (AI, RECALIBRATED, ALWAYS, STUDIO_RUN, PLUS_RUN)  # of the map, besides
NO_BASELINES = frozenset({*RIVALS, *ROUTERS, RECALIBRATED_SCORE, *NOT_DEPLOYABLE})
READ = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # ratios at which the table is read

ABOUT_CURVES = (
    "Net benefit (Vickers and Elkin, 2006): {positives} found per 1,000 people, less false alarms and readers' fees at "
    "what they weigh against a missed {positive}. In each column every strategy decides by the column's ratio, miss : "
    "false alarm, all its trained copies together; methods that cannot weigh costs anew are recosted by estimated "
    "error rates. Nothing is chosen on the test cases. The best of a column is bold."
)
ABOUT_WINNERS = (
    "Who has the least total cost if a missed {positive} weighs as many false alarms as the column says and readers' "
    "fees are as many times those of the table as the row says. Every strategy decides by the costs of the cell; which "
    "baseline is the best is decided on val, cell by cell. The number is what the next one costs more, in false alarms "
    "per 1,000 people: + where the winner is ahead of every other beyond chance, ≈ where not."
)

Deciding = Callable[[Cohort], Strategy]
"""From cases to how one run decides them."""


def strategy_of(
    run: Run, title: str, errors: ErrorModel, own: PolicyFor, val: Cohort, cases: Cohort, confident: float | None = None
) -> Strategy:
    """How a run decides some cases by any costs: anew if its method can, else recosted by the error rates it keeps.

    `own` gives the policy the run was made for; what a saving is worth to it is read off on `val`. `confident`: as of
    an operating point.
    """
    method = method_of(run, cases)
    if isinstance(method, DecidesAnew):
        anew = method.deciding(run, cases)
        return Strategy(title, lambda costs: anew(OperatingPoint(costs, confident)))
    rates, policy, continuations = exchange_rates(run, own, val, errors), own(cases), continuations_of(run, cases)
    predicted = errors.predict(cases)

    def recosted(costs: Costs) -> Decisions:
        moved = recosted_policy(policy, run, predicted, OperatingPoint(costs, confident, rates))
        return decided_together(moved, cases, run.rule, continuations)

    return Strategy(title, recosted)


def curves(cases: Cohort, costs: Costs, runs: Mapping[str, Strategy], weights: Floats) -> pd.DataFrame:
    """The decision curves of runs and of strategies that need none, against the recalibrated AI if it is there."""
    reference = RECALIBRATED if RECALIBRATED in runs else MOVED
    return decision_curves(cases, costs, {**runs, **without_runs(cases)}, weights, reference)


def deployable(names: Sequence[str]) -> list[str]:
    """The runs that need no answers."""
    return [name for name in names if name not in NOT_DEPLOYABLE]


def rivals(
    runs: Mapping[str, Deciding], cases: Cohort, baseline: Callable[[Costs], str], besides: Sequence[str] = ()
) -> dict[str, Strategy]:
    """The strategies of the map: RIVALS that there are, others `besides`, and for all baselines one at each cost."""
    judged = {name: runs[name](cases) for name in baselines(runs)}
    best = {BASELINE: one_of("Best baseline", judged, baseline)} if judged else {}
    return {name: runs[name](cases) for name in dict.fromkeys((*RIVALS, *besides)) if name in runs} | best


def baselines(runs: Iterable[str]) -> list[str]:
    """The runs that are neither ours nor the AI, recalibrated or not, nor readers alone."""
    return [name for name in runs if name not in NO_BASELINES]


def draw_up_curves(study: Study, weights: Floats) -> pd.DataFrame:
    """The table `decision_curve`: every deployable run on the test cases, and strategies that need none."""
    cases = study.cohort.subset(split="test")
    runs = {name: deciding(cases) for name, deciding in _runs(study).items()}
    return curves(cases, study.costs, runs, weights)


def draw_up_winners(study: Study, weights: Floats) -> pd.DataFrame:
    """The table `winners`: RIVALS and, of the baselines, the cheapest on val at each cost, on the test cases."""
    (val, cases), runs = (study.cohort.subset(split=split) for split in ("val", "test")), _runs(study)
    on_val = cheapest_on(val, {name: runs[name](val) for name in baselines(runs)})
    return winners(cases, study.costs, rivals(runs, cases, on_val), weights)


def drawn_up_baselines(rows: pd.DataFrame, costs: Costs) -> Callable[[Costs], str]:
    """Which baseline the table `winners` has chosen at each cost of its grid."""
    chosen = rows[rows["method"] == BASELINE]
    names = {
        at_ratio(costs, row["ratio"], row["fee"]): str(row["stands_for"]) for row in records(chosen, None).values()
    }
    return names.__getitem__


def _runs(study: Study) -> dict[str, Deciding]:
    val = study.cohort.subset(split="val")

    def of(name: str) -> Deciding:
        folder = study.folder(name)
        run = load_run(folder)
        own = partial(load_predictions, folder, run)
        return partial(strategy_of, run, study.contenders[name].title, load_errors(folder), own, val)

    return {name: of(name) for name in deployable(list(study.contenders))}


# ---------------------------------------------------------------------------------- as people read them


def curve_rows(tables: StudyTables) -> list[list[str]]:
    """Net benefit per 1,000 people of every strategy at some ratios, the best in bold."""
    shown = records(tables["decision_curve"], ("method", "ratio"))
    body = [
        [tables.titles[name], *(_benefit(shown[name, ratio]) for ratio in READ)]
        for name in dict.fromkeys(name for name, _ in shown)
    ]
    return [["strategy", *(f"{ratio:g} : 1" for ratio in READ)], *body]


def curve_words(tables: StudyTables) -> str:
    """Where each strategy is best, and what readers and recalibration are worth there."""
    rows = tables["decision_curve"]
    return f"{best_words(rows)} {gain_words(rows, PLUS_RUN)}"


def best_words(rows: pd.DataFrame) -> str:
    """Which strategy has the largest net benefit at which ratios, and where beyond chance."""
    parts = [
        f"{row['title']} at {span(row)} ({'beyond' if row['beyond_chance'] else 'within'} chance)"
        for row in records(where_best(rows), None).values()
    ]
    return (
        f"The largest net benefit of {rows['method'].nunique()} strategies, by how many false alarms a miss weighs as "
        f"much as: {listed(parts)}."
    )


def gain_words(rows: pd.DataFrame, method: str) -> str:
    """Where a run is ahead of the reference beyond chance, and by how much; empty for the reference itself."""
    own, reference = rows[rows["method"] == method].sort_values("ratio"), rows["reference"].iloc[0]
    if own.empty or reference == method:
        return ""
    titles = dict(zip(rows["method"], rows["title"], strict=True))
    ahead = own.assign(ahead=own["more_low"] > 0)
    where = [span(row) for row in records(stretches(ahead, ["ahead"]), None, ahead=True).values()]
    weights = f"Where a miss weighs as much as {listed(where)} false alarms," if where else "At no weight"
    shown = records(own[own["ratio"].isin(READ)], None).values()
    amounts = listed([f"{PEOPLE * row['more']:.1f} at {row['ratio']:g}" for row in shown])
    return (
        f"{weights} {titles[method]} is ahead of {titles[reference]} beyond chance. In true positives per 1,000 "
        f"people, with false alarms and fees taken off, it is worth {amounts} more."
    )


def span(row: Record) -> str:
    """A stretch of ratios.

    >>> span({"first": 1.25, "last": 8.0}), span({"first": 20.0, "last": 20.0})
    ('1.25 to 8', '20')
    """
    first, last = (f"{row[end]:g}" for end in ("first", "last"))
    return first if first == last else f"{first} to {last}"


def winner_rows(tables: StudyTables) -> list[list[str]]:
    """Who costs least, a row for each level of fees and a column for each ratio."""
    places = records(cells(tables["winners"]), ("fee", "ratio"))
    fees, ratios = (sorted(set(part)) for part in zip(*places, strict=True))
    body = [[f"{fee:g}×", *(_winner(places[fee, ratio]) for ratio in ratios)] for fee in fees]
    return [["fees", *(f"{ratio:.3g} : 1" for ratio in ratios)], *body]


def winner_words(tables: StudyTables) -> str:
    """How many cells each strategy wins, and how many beyond chance."""
    return map_words(cells(tables["winners"]))


def map_words(here: pd.DataFrame) -> str:
    """The same of `winners.cells`."""
    won = here.groupby("title")["beyond_chance"].agg(["size", "sum"]).sort_values("size", ascending=False)
    parts = [f"{title} in {row['size']} ({row['sum']} beyond chance)" for title, row in won.iterrows()]
    return (
        f"Of {len(here)} combinations of what a miss weighs and what readers are paid, the least total cost is that of "
        f"{listed(parts)}."
    )


def _benefit(row: Record) -> str:
    value = f"{PEOPLE * row['value']:.1f}"
    return f"**{value}**" if row["best"] else value


def _winner(row: Record) -> str:
    return f"{row['title']} {'+' if row['beyond_chance'] else '≈'}{row['margin']:.0f}"
