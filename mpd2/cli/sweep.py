"""`sweep`: every condition of the ablations with every seed, on as many workers as there are."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

import pandas as pd

from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.output import aligned
from mpd2.core.errors import UserError
from mpd2.lab.cluster import pool
from mpd2.lab.sweep import TABLE, crews_of, sweep
from mpd2.study.definition import CONDITIONS, Condition

SHOWN = ("TotalCost", "ClinicalCost", "ExpertCost", "MCC", "Defer")


def run(args: Namespace) -> int:
    """Train what is missing in the folder and print what the val cases cost in each condition."""
    base = config_of(args)
    base = base if args.epochs is None else base.but(training__epochs=args.epochs)
    seeds = range(base.seed, base.seed + args.seeds) if isinstance(args.seeds, int) else args.seeds
    crews = crews_of(base, chosen(args.conditions), seeds)
    cohort = cohort_of(args.table)
    start = perf_counter()
    with pool(args.scheduler, args.workers) as workers:
        rows = sweep(cohort, crews, args.out, workers, lambda text: print(text, file=sys.stderr))
    print(describe(rows, args.out, perf_counter() - start))
    return 0


def chosen(names: Sequence[str] | None) -> Mapping[str, Condition]:
    """The conditions asked for, in the study's order; all of them if none is named."""
    unknown = sorted(set(names or ()) - set(CONDITIONS))
    if unknown:
        raise UserError(f"condition: found {', '.join(unknown)}, expected some of {', '.join(CONDITIONS)}")
    return {name: condition for name, condition in CONDITIONS.items() if not names or name in names}


def describe(rows: pd.DataFrame, folder: Path, seconds: float) -> str:
    """Mean ± sd over seeds for each condition."""
    table: list[tuple[str, ...]] = [("condition", "seeds", *SHOWN)]
    for title, seeds in rows.groupby("title", sort=False):
        cells = (f"{seeds[name].mean():.3f}" + _spread(seeds[name]) for name in SHOWN)
        table.append((str(title), str(len(seeds)), *cells))
    done = f"{folder}: {len(rows)} routers, this time in {seconds:.0f} s; the val cases"
    return f"{done}\n\n{aligned(table)}\n\neach router: {folder / TABLE}"


def _spread(values: pd.Series) -> str:
    return f" ± {values.std():.3f}" if len(values) > 1 else ""
