"""`tune`: look for a better configuration."""

from __future__ import annotations

import json
import signal
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING

from mpd2.cli.arguments import add_device, add_json, add_setting, count, describe, seed_list, seeds
from mpd2.cli.output import aligned, if_interrupted, print_json
from mpd2.cli.train import check_place, keep_population
from mpd2.core.files import replacing

if TYPE_CHECKING:
    import pandas as pd
    from optuna.study import Study
    from rich.console import Console

    from mpd2.lab.tuning.study import SearchProgress, Tell
    from mpd2.training.config import Config

SUMMARY = "look for a better configuration"
KEPT_SEEDS = 10  # routers the best configuration is trained with again
NAMED = 5  # settings that are named with their importance


def add(command: ArgumentParser) -> None:
    """The arguments of `tune`."""
    describe(
        command,
        "The paper's search over sixteen settings (multivariate TPE, Hyperband, hand-tuned first trial), every trial\n"
        "scored on val alone and several trained together. All that is not searched is as in the preset.\n"
        "Interrupted or killed, the same command goes on; given the same STORAGE, several machines share one study\n"
        "(docs/cluster.md).",
        "tune --preset studio --keep runs/tuned",
        "train --config runs/tuned.json --seeds 20 --out runs/more",
        "tune --storage postgresql+psycopg://user:password@host/name",
    )
    add_setting(command)
    command.add_argument("--trials", type=count, default=80, help="trials the study is to have (default: 80)")
    command.add_argument("--epochs", type=count, default=60, help="most passes of a trial (default: 60)")
    command.add_argument("--batch", type=count, default=10, help="trials trained together (default: 10)")
    command.add_argument(
        "--seeds", type=seeds, default=1, help="routers of a trial, whose mean is its score, or a list (default: 1)"
    )
    command.add_argument("--seed", type=int, default=0, help="of the proposals (default: 0)")
    command.add_argument(
        "--study",
        metavar="NAME",
        help="name of the study to begin or go on with (default: PRESET, or NAME-PRESET of a workspace)",
    )
    command.add_argument(
        "--storage", default="runs/tuning.db", help="SQLite file or URL of a database (default: runs/tuning.db)"
    )
    add_device(command)
    command.add_argument(
        "--keep",
        type=Path,
        metavar="RUN",
        help="train the best configuration with 10 seeds and as many epochs as the "
        "preset has; keep the run in this folder, and the configuration beside it in RUN.json",
    )
    command.add_argument("--force", action="store_true", help="replace a run that is already there")
    add_json(command)


def run(args: Namespace) -> int:
    """Work on a study until it has its trials, say what came of it, and keep the best configuration if asked to."""
    from mpd2.cli.inputs import cohort_of, config_of
    from mpd2.lab.tuning.storage import connected
    from mpd2.lab.tuning.study import SearchPlan, SearchWorker, best_trial, open_study, trial_config

    base = config_of(args)
    if args.keep:
        check_place(args.keep, args.force)
    cohort = cohort_of(args.table)
    plan = SearchPlan(
        base=base.but(training__epochs=args.epochs),
        seeds=seed_list(args.seeds, base.seed),
        seed=args.seed,
        fingerprint=cohort.fingerprint,
    )
    name = args.study or args.preset
    start = perf_counter()
    with connected(args.storage) as storage, stopped_by_signals(name):
        study = open_study(storage, name, plan)
        with study_bar() as tell:
            SearchWorker(study, plan, cohort, args.trials, args.batch, args.device).run(tell)
        config = trial_config(best_trial(study), plan).but(training__epochs=base.training.epochs)
        seconds = perf_counter() - start
        if args.json:
            print_json(summary(study, config) | {"seconds": seconds})
        else:
            print(as_text(study, seconds))
    if args.keep:
        print(f"\nthe best configuration: {write_config(config, args.keep)}")
        configs = [config.but(seed=seed) for seed in seed_list(KEPT_SEEDS, base.seed)]
        keep_population(cohort, configs, args.keep, args.device)
    return 0


def write_config(config: Config, run: Path) -> Path:
    """The configuration as a JSON file beside its run, as `train --config` takes it."""
    path = run.with_name(f"{run.name}.json")
    with replacing(path) as draft:
        draft.write_text(json.dumps(config.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")
    return path


def summary(study: Study, config: Config) -> dict[str, object]:
    """What came of a study, as plain values."""
    from mpd2.lab.tuning import tables
    from mpd2.lab.tuning.study import best_trial

    trials = tables.trials_frame(study)
    counts = trials["state"].value_counts()
    return {
        "study": study.study_name,
        "trials": {state: int(counts.get(state, 0)) for state in ("complete", "pruned", "running")},
        "best": _plain(trials[trials["trial"] == best_trial(study).number].iloc[0]),
        "importances": tables.importances(study)[["setting", "importance"]].to_dict("records"),
        "config": config.model_dump(mode="json"),
    }


def as_text(study: Study, seconds: float) -> str:
    """The same in words."""
    from mpd2.lab.tuning import tables
    from mpd2.lab.tuning.space import SPACE
    from mpd2.lab.tuning.study import best_trial

    trials, best = tables.trials_frame(study), best_trial(study).number
    row = trials[trials["trial"] == best].iloc[0]
    counts = trials["state"].value_counts()
    metrics = [("metric on val", "value"), *((name, f"{row[name]:.4g}") for name in tables.SHOWN)]
    settings = [
        ("setting", "symbol", "value"),
        *((d.setting.replace("__", "."), d.symbol, f"{row[d.setting]:.4g}") for d in SPACE),
    ]
    important = ", ".join(f"{r.symbol} {r.importance:.2f}" for r in tables.importances(study).head(NAMED).itertuples())
    return "\n\n".join(
        [
            f"study {study.study_name}: {counts.get('complete', 0)} trials completed, {counts.get('pruned', 0)} given "
            f"up early; this worker took {seconds:.0f} s. The best is trial {best}.",
            aligned(metrics),
            aligned(settings),
            f"what the score depends on most: {important or 'too few trials to say'}",
        ]
    )


@contextmanager
def stopped_by_signals(name: str) -> Iterator[None]:
    """Let the end of a service be like Ctrl-C, and say how to go on."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        with if_interrupted(lambda: f"the same command goes on with study {name}: no trial that ended is lost"):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def study_bar(console: Console | None = None) -> Iterator[Tell]:
    """A callback that draws a bar over trials, or writes lines where nothing can be drawn."""
    from rich import progress as bars
    from rich.console import Console

    from mpd2.training.progress import LOG_EVERY

    console = console or Console(stderr=True, highlight=False)
    columns = (
        bars.BarColumn(bar_width=8),
        bars.TextColumn("{task.description}"),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing", total=None)

        def tell(standing: SearchProgress) -> None:
            text = words(standing)
            bar.update(task, completed=standing.ended, total=standing.trials, description=text)
            epoch = standing.training.epoch if standing.training else 0
            if not console.is_terminal and epoch % LOG_EVERY == 0:
                console.print(text, soft_wrap=True)

        yield tell


def words(standing: SearchProgress) -> str:
    """Where a study is."""
    parts = [f"{standing.ended}/{standing.trials} trials"]
    parts += [] if standing.best is None else [f"best {standing.best:.4f}"]
    training = standing.training
    if training:
        parts.append(f"epoch {training.epoch}/{training.epochs} of {training.active.sum()} routers")
    return ", ".join(parts)


def _plain(row: pd.Series) -> dict[str, object]:
    """For JSON, which knows neither NaN nor NumPy's numbers."""
    values: dict[str, object] = json.loads(row.to_json())
    return values
