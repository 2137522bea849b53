"""Every method at the same sensitivity: on the study's test cases, and how often a promised floor is broken.

The weight of a miss is chosen on val for each method and each floor; test is only counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import effective_cases
from mpd2.core.cohort import Cohort
from mpd2.core.policy import route
from mpd2.core.runs import load_errors, load_predictions, load_run
from mpd2.core.text import brief
from mpd2.evaluation import curves, tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.guarantee import redrawn
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.planning.floors import CONFIDENCE, SHIPPED_LEVELS, Choice, Floor, chance, parse_floor, weights_for
from mpd2.study.claims import AI, OF_ROUTERS
from mpd2.study.definition import PLUS_RUN, ROUTERS, Study
from mpd2.study.experiments import FLOOR_KEPT
from mpd2.study.operating import choose_point, continuations_at, exchange_rates, labels_by_weight, policy_at
from mpd2.study.tables import StudyTables

PROMISED_LEVELS = (None, 0.85, 0.9, 0.95, 0.975)
"""Floors whose promise is checked; the first is the AI's own sensitivity."""
PROMISING = (PLUS_RUN, *ROUTERS, "recalibrated", "recalibrated-score")
AI_FLOOR = str(Floor())
SHOWN = ("Sens", "Spec", "Defer", "ExpertCost", "TotalCost")
CLOSE = 0.01  # sensitivity by which methods may differ and still be called the same
Rows = list[list[str]]


def outcome_at(study: Study, name: str, cases: Cohort, floor: Floor) -> tuple[Outcome, Choice]:
    """What a kept run does with cases when it keeps a floor on val, and how its operating point was chosen."""
    folder, contender = study.folder(name), study.contenders[name]
    run, errors = load_run(folder), load_errors(folder)
    own = partial(load_predictions, folder, run)
    point, choice = choose_point(run, study.cohort.subset(split="val"), floor, errors, own=own)
    policy = policy_at(run, cases, point, errors, own)
    continuations = continuations_at(run, cases, point)
    made = route(policy, cases, run.rule, continuations)
    return Outcome(contender.title, None, made, policy, run.rule, continuations), choice


def at_floor(study: Study, weights: Floats) -> pd.DataFrame:
    """Every method on the test cases at each shipped floor.

    Columns: floor (as written), and those of `tables.overall` without what the paper prints; and of the choice on val
    weight (of a miss), state, level, reached, cases.
    """
    cases, parts = study.cohort.subset(split="test"), []
    names = [name for name in study.contenders if name not in NOT_DEPLOYABLE]
    for floor in (Floor(level) for level in SHIPPED_LEVELS):
        made = {name: outcome_at(study, name, cases, floor) for name in names}
        evidence = Evidence(cases, study.costs, {name: outcome for name, (outcome, _) in made.items()})
        rows = tables.overall(evidence, weights)
        chosen = pd.DataFrame([{"method": name} | _of_choice(choice) for name, (_, choice) in made.items()])
        rows = rows.loc[:, ~rows.columns.str.startswith("published")]
        rows.insert(0, "floor", str(floor))
        parts.append(rows.merge(chosen, on="method"))
    return pd.concat(parts, ignore_index=True)


def promises(study: Study, checks: int) -> pd.DataFrame:
    """Floors "with confidence": the point promised from val, what it does on test, and how often a promise is broken.

    Columns: method, title, floor, state, level, weight, reached and cases (on val), test (sensitivity there), found
    (share of redraws of val and test in which a promise can be given), broken (share in which the sensitivity of the
    promised point, on all cases the redraws are from, is below the floor; 1 − CONFIDENCE is allowed) and checks.
    """
    rows = []
    for name in (name for name in PROMISING if name in study.contenders):
        folder = study.folder(name)
        run, errors = load_run(folder), load_errors(folder)
        own = partial(load_predictions, folder, run)
        val, test = (study.cohort.subset(split=split) for split in ("val", "test"))
        rates = exchange_rates(run, own, val, errors)
        sick = study.cohort.rows((study.cohort.split != "train") & (study.cohort.truth == 1))
        labels = labels_by_weight(run, errors, own, rates, None, sick)
        right = np.array([labels(weight) == 1 for weight in weights_for(run.costs)[::-1]])  # [W, P], the safest first
        pool = study.cohort.rows(study.cohort.split != "train")
        drawn = redrawn(len(pool), len(val), checks, cluster=pool.cluster)[:, pool.truth == 1] > 0  # [R, P]
        independent = effective_cases(sick.cluster) / len(sick)
        for floor in (Floor(level, sure=True) for level in PROMISED_LEVELS):
            outcome, choice = outcome_at(study, name, test, floor)
            found = outcome.decisions.label[:, test.truth == 1] == 1
            about = {"method": name, "title": study.contenders[name].title, "floor": str(floor)}
            checked = broken_promises(floor, right, np.asarray(sick.ai_label == 1), drawn, independent)
            rows.append(about | _of_choice(choice) | {"test": float(found.mean())} | checked | {"checks": checks})
    return pd.DataFrame(rows)


def broken_promises(floor: Floor, right: Bools, ai: Bools, drawn: Bools, independent: float = 1.0) -> dict[str, float]:
    """How often a promise is given and how often it is broken, over R draws of calibration cases from P sick ones.

    `right`, [W, P], says which are found at each weight, the safest first; `ai`, [P], which the AI finds; `drawn`,
    [R, P], which are for calibration; `independent` is as in `floors.chance`.
    """
    level = float(ai.mean()) if floor.level is None else floor.level
    small = _chances(floor, right, ai, drawn, independent) <= 1 - CONFIDENCE  # [R, W]
    kept = np.logical_and.accumulate(small, axis=-1).sum(-1)  # how many weights in a row
    rate = right.mean(-1)[np.maximum(kept - 1, 0)]  # of the last of them, on all cases
    return {"found": float((kept > 0).mean()), "broken": float(((kept > 0) & (rate < level)).mean())}


def _chances(floor: Floor, right: Bools, ai: Bools, drawn: Bools, independent: float) -> Floats:
    """`floors.chance` of every draw and weight at once, [R, W]."""

    def count(which: Bools) -> Ints:
        return np.asarray(drawn.astype(np.int64) @ which.T.astype(np.int64))

    cases = drawn.sum(-1)[:, None]
    return chance(floor, count(right), cases, count(right & ~ai), count(~right & ai), independent)


def _of_choice(choice: Choice) -> dict[str, Any]:
    return {
        "weight": choice.weight,
        "state": choice.state,
        "level": choice.level,
        "reached": choice.reached,
        "cases": choice.cases,
    }  # fmt: skip


# ---------------------------------------------------------------------------------- the claims once more


def claims_at_floor(study: Study, weights: Floats, as_fitted: Evidence) -> pd.DataFrame:
    """What becomes of the claims about the router when every method has the AI's sensitivity on val.

    Columns: claim, method, title, verdict (at the paper's operating point), at_floor (verdict at the floor), words.
    """
    cases = study.cohort.subset(split="test")
    outcomes = {name: outcome_at(study, name, cases, Floor())[0] for name in study.contenders}
    named = {name: replace(made, published=study.contenders[name].published) for name, made in outcomes.items()}
    usual, same = (
        StudyTables(_tables_of(evidence, weights), study.cohort.manifest)
        for evidence in (as_fitted, Evidence(cases, study.costs, named, study.published))
    )
    rows = []
    for claim, name in product(OF_ROUTERS, (name for name in ROUTERS if name in study.contenders)):
        before, now = claim.check(usual, name), claim.check(same, name)
        about = {"claim": claim.statement, "method": name, "title": study.contenders[name].title}
        rows.append(about | {"verdict": before.verdict, "at_floor": now.verdict, "words": now.text})
    return pd.DataFrame(rows)


def _tables_of(evidence: Evidence, weights: Floats) -> dict[str, pd.DataFrame]:
    """The tables that claims about routers are checked against."""
    routers = [name for name in ROUTERS if name in evidence.outcomes]
    deployable = {name: made for name, made in evidence.outcomes.items() if name not in NOT_DEPLOYABLE}
    return {
        "overall": tables.overall(evidence, weights),
        "cohorts": tables.cohorts(evidence, weights),
        "paired": pd.concat([tables.paired(evidence, name, weights) for name in routers], ignore_index=True),
        "collapse": tables.collapse(evidence, weights),
        "retention": tables.retention(evidence, weights),
        "gaps": pd.concat([tables.reader_gaps(evidence, name, weights) for name in routers], ignore_index=True),
        "wins": pd.concat([tables.reader_wins(evidence, name, weights) for name in routers], ignore_index=True),
        "tradeoff": curves.tradeoff(replace(evidence, outcomes=deployable), weights),
        "risk": pd.concat(
            [curves.risk_curves(evidence, signal, weights) for signal in curves.risk_signals(evidence.cohort.layout)],
            ignore_index=True,
        ),
    }


# ---------------------------------------------------------------------------------- as people read it


def sensitivity_rows(study: StudyTables) -> Rows:
    """Every method at the AI's own sensitivity, fewest false alarms first, and whether it keeps the floor on val."""
    cells = _at_ai_floor(study, "sensitivity")
    body = [
        [row["title"], row["state"], f"{row['weight']:.1f}", *(_value(cells[row["method"], name]) for name in SHOWN)]
        for row in _by_specificity(cells, "value")
    ]
    return [["method", "floor on val", "weight of a miss", *SHOWN], *body]


def floor_rows(study: StudyTables) -> Rows:
    """Every method over resplits at the AI's own sensitivity, fewest false alarms first."""
    cells, names = _at_ai_floor(study, "floors"), (*SHOWN, FLOOR_KEPT)
    body = [
        [row["title"], str(row["n"]), *(_value(cells[row["method"], name]) for name in names)]
        for row in _by_specificity(cells, "value")
    ]
    return [["method", "resplits", *names], *body]


def floor_rival_rows(study: StudyTables) -> Rows:
    """What every method has more than the reference at the AI's own sensitivity, resplit by resplit."""
    cells, names = _at_ai_floor(study, "floor_rivals"), ("Sens", "Spec", "Defer", "TotalCost")
    body = [
        [row["title"], *(_difference(cells[row["method"], name]) for name in names), f"{row['won']:.0%}"]
        for row in _by_specificity(cells, "difference")
    ]
    return [["method", *names, "more false alarms in"], *body]


def promise_rows(study: StudyTables) -> Rows:
    """Floors with confidence: what is promised, and how often that would have been broken."""
    body = [
        [row["title"], _floor_name(row["floor"]), row["state"], f"{row['reached']:.3f}", f"{row['test']:.3f}",
         f"{row['found']:.1%}", f"{row['broken']:.1%}"]
        for row in study["promises"].to_dict("records")
    ]  # fmt: skip
    return [["method", "floor", "on val", "sensitivity on val", "on test", "can be given in", "broken in"], *body]


def claim_rows(study: StudyTables) -> Rows:
    """Each claim's verdict at the paper's operating point, and at the AI's own sensitivity."""
    rows = study["claims"]
    heads = [
        f"{title}, {point}" for title in dict.fromkeys(rows["title"]) for point in ("as fitted", "same sensitivity")
    ]
    body = [
        [str(claim), *(word for row in part.to_dict("records") for word in (row["verdict"], row["at_floor"]))]
        for claim, part in rows.groupby("claim", sort=False)
    ]
    return [["claim", *heads], *body]


def floor_words(study: StudyTables) -> str:
    """What the best method does at the first floor of the table, over resplits, beside the AI."""
    cells, floor = _at_ai_floor(study, "floors"), str(study["floors"]["floor"].iloc[0])
    value = {place: float(row["value"]) for place, row in cells.items()}
    level = value[AI, "Sens"] if floor == AI_FLOOR else float(floor)
    rivals = {method: row for (method, metric), row in cells.items() if metric == "Spec" and method != AI}
    kept = [method for method in rivals if value[method, "Sens"] >= level - CLOSE]
    if floor == AI_FLOOR:  # whoever finds no more than the AI must raise fewer false alarms to be of use
        kept = [method for method in kept if value[method, "Spec"] >= value[AI, "Spec"]]
    best = max(kept or rivals, key=lambda method: (value[method, "Spec"], value[method, "Sens"]))
    row, wish = rivals[best], parse_floor(floor).in_words()
    begin = f"Over {row['n']} resplits {row['title']} raises the fewest false alarms at {wish}"
    if not kept:
        wish += " with fewer false alarms" if floor == AI_FLOOR else ""
        begin = f"Over {row['n']} resplits no method keeps {wish}; {row['title']} raises the fewest"
    return (
        f"{begin}: specificity {value[best, 'Spec']:.3f} (the AI {value[AI, 'Spec']:.3f}) at a "
        f"sensitivity of {value[best, 'Sens']:.3f} (the AI {value[AI, 'Sens']:.3f}), with {value[best, 'Defer']:.1%} "
        "of cases sent."
    )


def promise_words(study: StudyTables) -> str:
    """How the promises fared."""
    rows = study["promises"]
    return (
        f"Over {rows['checks'].max()} redraws of val and test no promised sensitivity was below its floor in more than "
        f"{rows['broken'].max():.1%} of them; {1 - CONFIDENCE:.0%} is allowed."
    )


def _at_ai_floor(study: StudyTables, table: str) -> dict[tuple[str, str], dict[Hashable, Any]]:
    """The rows of a table at its first floor, the AI's own sensitivity, on all cases, by method and metric."""
    rows = study[table]
    inside = rows["floor"] == rows["floor"].iloc[0]
    if "cohort" in rows:
        inside &= rows["cohort"] == tables.ALL
    return {(row["method"], row["metric"]): row for row in rows[inside].to_dict("records")}


def _by_specificity(cells: Mapping[tuple[str, str], dict[Hashable, Any]], column: str) -> list[dict[Hashable, Any]]:
    """A row for each method, fewest false alarms first."""
    rows = [row for (_, metric), row in cells.items() if metric == "Spec"]
    return sorted(rows, key=lambda row: -float(row[column]))


def _value(row: dict[Hashable, Any]) -> str:
    return f"{brief(row['value'])} ({brief(row['low'])} to {brief(row['high'])})"


def _difference(row: dict[Hashable, Any]) -> str:
    return f"{row['difference']:+.3f} ({row['low']:+.3f} to {row['high']:+.3f})"


def _floor_name(floor: str) -> str:
    level = floor.removesuffix(":sure")
    return "the AI's" if level == AI_FLOOR else level
