"""`sweep`: every condition of the ablations with every seed, on as many workers as there are."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from mpd2.cli.arguments import add_setting, add_workers, count, describe, names, seed_list, seeds
from mpd2.cli.output import aligned, if_interrupted, say
from mpd2.core.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

    from mpd2.study.definition import Condition

SHOWN = ("TotalCost", "ClinicalCost", "ExpertCost", "MCC", "Defer")
SUMMARY = "train every condition of the ablations with every seed, on several workers"


def add(command: ArgumentParser) -> None:
    """The arguments of `sweep`."""
    describe(
        command,
        "Train the conditions of the ablations with every seed, in populations of up to ten routers of one\n"
        "condition. Each is kept in OUT as a run as it ends; the same command goes on with what is missing. The\n"
        "results are the same with any number of workers, and a worker that is lost costs only the population it\n"
        "was at (docs/cluster.md).",
        "sweep --out runs/sweep",
        "sweep --conditions full,no-gsdp --seeds 30 --scheduler tcp://host:8786 --out runs/sweep",
    )
    add_setting(command)
    command.add_argument("--conditions", type=names, metavar="NAMES", help="such as full,no-gsdp (default: all)")
    command.add_argument("--seeds", type=seeds, default=10, help="of each condition, or a list (default: 10)")
    command.add_argument("--epochs", type=count, help="most passes of a router (default: as configured)")
    command.add_argument("--out", type=Path, required=True, help="folder for runs and table")
    add_workers(command, os.cpu_count() or 1)


def run(args: Namespace) -> int:
    """Train what is missing in the folder and print what the val cases cost in each condition."""
    from mpd2.cli.inputs import cohort_of, config_of
    from mpd2.lab.cluster import pool
    from mpd2.lab.sweep import populations_of, sweep

    base = config_of(args)
    base = base if args.epochs is None else base.but(training__epochs=args.epochs)
    populations = populations_of(base, chosen(args.conditions), seed_list(args.seeds, base.seed))
    cohort = cohort_of(args.table)
    start = perf_counter()
    kept = f"populations that ended are kept in {args.out}; the same command goes on with the others"
    with if_interrupted(lambda: kept), pool(args.scheduler, args.workers) as workers:
        say(f"training {len(populations)} populations")
        rows = sweep(cohort, populations, args.out, workers, say)
    print(as_text(rows, args.out, perf_counter() - start))
    return 0


def chosen(conditions: Sequence[str] | None) -> Mapping[str, Condition]:
    """The conditions asked for, in the study's order; all of them if none is named."""
    from mpd2.study.definition import CONDITIONS

    unknown = sorted(set(conditions or ()) - set(CONDITIONS))
    if unknown:
        raise UserError(f"condition: found {', '.join(unknown)}, expected some of {', '.join(CONDITIONS)}")
    return {name: condition for name, condition in CONDITIONS.items() if not conditions or name in conditions}


def as_text(rows: pd.DataFrame, folder: Path, seconds: float) -> str:
    """Mean ± sd over seeds for each condition."""
    from mpd2.lab.sweep import TABLE

    table: list[tuple[str, ...]] = [("condition", "seeds", *SHOWN)]
    for title, routers in rows.groupby("title", sort=False):
        cells = (f"{routers[name].mean():.3f}" + _spread(routers[name]) for name in SHOWN)
        table.append((str(title), str(len(routers)), *cells))
    done = f"{folder}: {len(rows)} routers, this time in {seconds:.0f} s; the val cases"
    return f"{done}\n\n{aligned(table)}\n\neach router: {folder / TABLE}"


def _spread(values: pd.Series) -> str:
    return f" ± {values.std():.3f}" if len(values) > 1 else ""
