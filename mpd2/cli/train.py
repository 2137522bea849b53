"""`train`: fit a population of routers and keep it as a run."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mpd2.cli.arguments import PROGRAM, add_device, add_setting, count, describe, seed_list, seeds
from mpd2.cli.output import if_interrupted, say
from mpd2.core.errors import UserError

if TYPE_CHECKING:
    from mpd2.core.cohort import Cohort
    from mpd2.core.runs import Run
    from mpd2.training.config import Config

SUMMARY = "train a population of routers"


def add(command: ArgumentParser) -> None:
    """The arguments of `train`."""
    describe(
        command,
        "Train several routers at once, one a seed, on the table's train cases; checkpoints are chosen on val.\n"
        "Prints what the val cases cost. An interrupted training goes on where it was when the same command is given\n"
        "again: its state is kept beside OUT, in OUT.checkpoint.safetensors, until it is done.",
        "train --preset studio --seeds 10 --out runs/mine",
        "train --preset paper --seeds 42,43 --no-gsdp --no-rank-js --out runs/plain",
        "train --config mine.json --budget 0.5 --out runs/half",
        "train --workspace ecg --preset studio --seeds 10",
    )
    add_setting(command)
    command.add_argument(
        "--seeds",
        type=seeds,
        default=10,
        help="how many routers, with the configuration's own seed (42 in the presets) and those that follow it, or a "
        "list of seeds such as 42,43; one seed alone is 42, with a comma (default: 10)",
    )
    budget = command.add_mutually_exclusive_group()
    budget.add_argument(
        "--budget", type=float, metavar="SHARE", help="largest share of cases for readers (default: as configured)"
    )
    budget.add_argument("--no-budget", action="store_true", help="send as many as pays")
    command.add_argument("--no-gsdp", action="store_true", help="without the pull to the group prior")
    command.add_argument("--no-rank-js", action="store_true", help="without the penalty on peaked allocations")
    command.add_argument("--gamma", type=float, help="weight of readers' fees in training (default: as configured)")
    command.add_argument("--epochs", type=count, help="most passes over the train cases (default: as configured)")
    add_device(command)
    command.add_argument(
        "--out", type=Path, help="folder for the run (default: runs/PRESET, or runs/NAME-PRESET of a workspace)"
    )
    command.add_argument("--force", action="store_true", help="replace a run that is already there")


def run(args: Namespace) -> int:
    """Train, or go on with, what was asked for; save it and print what the val cases cost."""
    from mpd2.cli.inputs import cohort_of

    out = args.out or Path("runs") / args.preset
    configs = population(args)
    check_place(out, args.force)
    keep_population(cohort_of(args.table), configs, out, args.device)
    table = f"--table {args.table}" if args.workspace is None else f"--workspace {args.workspace}"
    print(f"for the test cases: {PROGRAM} evaluate {out} {table}")
    return 0


def keep_population(cohort: Cohort, configs: list[Config], out: Path, device: str) -> None:
    """Train, or go on with, a population; save it as a run and print what the val cases cost."""
    from mpd2.cli.report import as_text
    from mpd2.evaluation.reports import publish_run

    checkpoint = out.with_name(f"{out.name}.checkpoint.safetensors")
    start = perf_counter()
    with if_interrupted(lambda: _kept(checkpoint)):
        trained = _fit(cohort, configs, checkpoint, device)
        seconds = perf_counter() - start
        reports = publish_run(trained, cohort, out)
    checkpoint.unlink(missing_ok=True)
    for problem in trained.notes["problems"]:
        print(f"warning: {problem}", file=sys.stderr)
    routers = "1 router" if trained.members == 1 else f"{trained.members} routers"
    print(f"{out}: {routers} trained in {seconds:.0f} s; the val cases\n\n{as_text(reports['val'])}\n")


def population(args: Namespace) -> list[Config]:
    """One configuration a seed: the preset, what the file changes, then what the options change."""
    from mpd2.cli.inputs import config_of

    changes: dict[str, Any] = {
        "budget__target": args.budget,
        "objective__fee_weight": args.gamma,
        "training__epochs": args.epochs,
        "objective__gsdp_weight": 0.0 if args.no_gsdp else None,
        "objective__rank_weight": 0.0 if args.no_rank_js else None,
    }
    changes = {name: value for name, value in changes.items() if value is not None}
    if args.no_budget:
        changes["budget__target"] = None
    config = config_of(args).but(**changes)
    return [config.but(seed=seed) for seed in seed_list(args.seeds, config.seed)]


def check_place(out: Path, force: bool) -> None:
    """Refuse a place where a run would replace something it must not."""
    from mpd2.core.runs import CONFIG

    if out.exists() and not force:
        raise UserError(f"{out}: is already there; choose another place with --out, or replace it with --force")
    if out.exists() and not (out / CONFIG).is_file():
        raise UserError(f"{out}: is not a run, so --force does not replace it; choose another place with --out")


def _fit(cohort: Cohort, configs: list[Config], checkpoint: Path, device: str) -> Run:
    from mpd2.training.checkpoints import checkpointing, load_or_none
    from mpd2.training.population import fit_routers
    from mpd2.training.progress import progress_bar

    state = load_or_none(checkpoint, configs, cohort, device, lambda what: say(f"{checkpoint}: {what}"), must_fit=True)
    with progress_bar(configs[0].training.epochs, done=state.epoch if state else 0) as show:
        return fit_routers(
            cohort,
            cohort.manifest.default_costs(),
            configs,
            device=device,
            callbacks=(checkpointing(checkpoint, cohort), show),
            resume=state,
        )


def _kept(checkpoint: Path) -> str:
    """What an interruption leaves, and how to go on."""
    if checkpoint.exists():
        return f"the same command goes on from {checkpoint}"
    return "no checkpoint had been made yet, so nothing is kept; the same command starts anew"
