"""`train`: fit a population of routers and keep it as a run."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from time import perf_counter
from typing import Any

from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.report import describe
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import error_rates
from mpd2.core.errors import UserError
from mpd2.core.runs import CONFIG, Run, save_run
from mpd2.evaluation.reports import split_reports
from mpd2.methods import policy_of
from mpd2.methods.mpd2_router import fit_routers
from mpd2.training.checkpoints import checkpointing, load_checkpoint
from mpd2.training.config import Config
from mpd2.training.devices import pick_device
from mpd2.training.progress import progress_bar


def run(args: Namespace) -> int:
    """Train, or go on with, what was asked for; save it and print what the val cases cost."""
    out = args.out or Path("runs") / args.preset
    configs = population(args)
    check_place(out, args.force)
    keep_population(cohort_of(args.table), configs, out, args.device)
    print(f"for the test cases: python -m mpd2 evaluate {out} --table {args.table}")
    return 0


def keep_population(cohort: Cohort, configs: list[Config], out: Path, device: str) -> None:
    """Train, or go on with, a population; save it as a run and print what the val cases cost."""
    checkpoint = out.with_name(f"{out.name}.checkpoint.safetensors")
    start = perf_counter()
    trained = _fit(cohort, configs, checkpoint, device)
    seconds = perf_counter() - start
    policy = policy_of(trained, cohort)
    reports = split_reports(trained, policy, cohort)
    save_run(trained, out, policy, cohort, reports, errors=error_rates(cohort))
    checkpoint.unlink(missing_ok=True)
    for problem in trained.notes["problems"]:
        print(f"warning: {problem}", file=sys.stderr)
    routers = "1 router" if trained.members == 1 else f"{trained.members} routers"
    print(f"{out}: {routers} trained in {seconds:.0f} s; the val cases\n\n{describe(reports['val'])}\n")


def population(args: Namespace) -> list[Config]:
    """One configuration a seed: the preset, what the file changes, then what the options change."""
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
    seeds = range(config.seed, config.seed + args.seeds) if isinstance(args.seeds, int) else args.seeds
    return [config.but(seed=seed) for seed in seeds]


def check_place(out: Path, force: bool) -> None:
    """Refuse a place where a run would replace something it must not."""
    if out.exists() and not force:
        raise UserError(f"{out}: is already there; choose another place with --out, or replace it with --force")
    if out.exists() and not (out / CONFIG).is_file():
        raise UserError(f"{out}: is not a run, so --force does not replace it; choose another place with --out")


def _fit(cohort: Cohort, configs: list[Config], checkpoint: Path, device: str) -> Run:
    state = None
    if checkpoint.exists():
        state = load_checkpoint(checkpoint, configs, cohort, pick_device(device))
        print(f"going on after epoch {state.epoch}, from {checkpoint}", file=sys.stderr)
    epochs = configs[0].training.epochs
    try:
        with progress_bar(epochs, done=state.epoch if state else 0) as show:
            return fit_routers(
                cohort,
                cohort.manifest.default_costs(),
                configs,
                device=device,
                callbacks=(checkpointing(checkpoint, cohort), show),
                resume=state,
            )
    except KeyboardInterrupt:
        if checkpoint.exists():
            print(f"the same command goes on from {checkpoint}", file=sys.stderr)
        raise
