"""`resplit`: does it hold on other cases, and in a cohort nobody learned from?"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from mpd2 import resplits
from mpd2.catalogue import rounded
from mpd2.cli.inputs import cohort_of
from mpd2.cli.output import aligned, print_json
from mpd2.cli.reproduce import study_bar
from mpd2.errors import UserError
from mpd2.reproduce import play
from mpd2.rounds import UNHEARD, Ledger
from mpd2.studies import CONTENDERS, SEEDS, Plan, Study
from mpd2.tables import ALL


def run(args: Namespace) -> int:
    """Play the rounds that are missing and print what all of them found."""
    study = study_of(args)
    ledger = Ledger(study, study.plan.seeds)
    against = args.against or resplits.reference(study)
    rounds = resplits.transfer_rounds(study) if args.leave_out else resplits.resplit_rounds(study)
    with study_bar() as (tell, _):
        play(ledger, rounds, tell)
    frames = (
        {"new": resplits.transfer(ledger)}
        if args.leave_out
        else {"resplits": resplits.resplits(ledger), "differences": resplits.rivals(ledger, against)}
    )
    if args.json:
        print_json({"table": str(args.table), "fingerprint": study.cohort.fingerprint} | as_json(frames, study.plan))
    else:
        print(transfer_text(frames["new"]) if args.leave_out else resplit_text(**frames))
    return 0


def study_of(args: Namespace) -> Study:
    """The study of the table with the methods, resplits and seeds asked for."""
    names = [name for name in CONTENDERS if args.methods is None or name in args.methods]
    unknown = sorted(set(args.methods or ()) - set(CONTENDERS))
    if unknown:
        raise UserError(f"method: found {', '.join(unknown)}, expected some of {', '.join(CONTENDERS)}")
    default = Plan().draws if args.leave_out else Plan().resplits
    numbers = default if args.resplits is None else args.resplits
    numbers = tuple(range(numbers)) if isinstance(numbers, int) else numbers
    seeds = tuple(range(SEEDS[0], SEEDS[0] + args.seeds)) if isinstance(args.seeds, int) else args.seeds
    plan = replace(Plan(), resplits=numbers, draws=numbers, seeds=seeds)
    return Study(cohort_of(args.table), args.data, contenders={name: CONTENDERS[name] for name in names}, plan=plan)


def as_json(frames: dict[str, pd.DataFrame], plan: Plan) -> dict[str, Any]:
    """The tables as plain rows, with how they were made; what has no value is null."""
    how = {"resplits": list(plan.resplits), "seeds_of_each_method": list(asdict(plan)["seeds"])}
    tables = {
        name: [{key: None if pd.isna(value) else value for key, value in row.items()} for row in records]
        for name, records in ((name, rounded(frame).to_dict("records")) for name, frame in frames.items())
    }
    return {"made_with": how} | tables


def resplit_text(resplits: pd.DataFrame, differences: pd.DataFrame) -> str:
    """A line a method, the cheapest first, then what they cost more than the reference."""
    rows = resplits[resplits["cohort"] == ALL].assign(
        told=lambda frame: [f"{mean:.3f} ± {sd:.3f}" for mean, sd in zip(frame["value"], frame["sd"], strict=True)]
    )
    costs = rows[rows["metric"] == "TotalCost"].sort_values("value")
    metrics = list(dict.fromkeys(rows["metric"]))
    told = rows.set_index(["method", "metric"])["told"]
    body = [(row["title"], *(told[row["method"], metric] for metric in metrics)) for row in costs.to_dict("records")]
    more = differences[differences["metric"] == "TotalCost"].sort_values("difference").to_dict("records")
    against = [
        (row["title"], f"{row['difference']:+.3f}", f"[{row['low']:+.3f}, {row['high']:+.3f}]", f"{row['won']:.0%}")
        for row in more
    ]
    return "\n\n".join([
        aligned([("", *metrics), *body]),
        f"mean ± sd over {rows['n'].iloc[0]} resplits",
        aligned([(f"TotalCost less {more[0]['reference']}", "", "interval", "dearer in"), *against]),
    ])


def transfer_text(found: pd.DataFrame) -> str:
    """A line a method for each cohort that was new."""
    parts = []
    for cohort, rows in found.groupby("cohort", sort=False):
        by_metric = {metric: part.set_index("method") for metric, part in rows.groupby("metric", sort=False)}
        costs = by_metric["TotalCost"].sort_values("value")
        body = [
            (row["title"], f"{row['value']:.3f} ± {row['sd']:.3f}", f"{row['known']:.3f}",
             f"{row['change']:+.3f} [{row['change_low']:+.3f}, {row['change_high']:+.3f}]",
             *(f"{by_metric[metric].loc[name, 'value']:.3f}" for metric in ("Defer", "F1", UNHEARD)))
            for name, row in costs.iterrows()
        ]  # fmt: skip
        heads = (f"{cohort} new", "TotalCost", "known", "change", "Defer", "F1", UNHEARD)
        parts.append(aligned([heads, *body]))
    return "\n\n".join([*parts, f"mean ± sd over {found['n'].iloc[0]} resplits"])
