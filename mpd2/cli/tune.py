"""`tune`: look for a better configuration."""

from __future__ import annotations

import json
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import FrameType

import pandas as pd
from optuna.study import Study
from rich import progress as bars
from rich.console import Console

from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.output import aligned, print_json
from mpd2.cli.train import check_place, keep_population
from mpd2.core.files import replacing
from mpd2.lab.tuning import tables
from mpd2.lab.tuning.space import SPACE
from mpd2.lab.tuning.storage import connected
from mpd2.lab.tuning.study import SearchPlan, SearchProgress, SearchWorker, Tell, best_trial, open_study, trial_config
from mpd2.training.config import Config
from mpd2.training.progress import LOG_EVERY

KEPT_SEEDS = 10  # routers the best configuration is trained with again
TELLING = 5  # settings that are named with their importance


def run(args: Namespace) -> int:
    """Work on a study until it has its trials, say what came of it, and keep the best configuration if asked to."""
    base = config_of(args)
    if args.keep:
        check_place(args.keep, args.force)
    cohort = cohort_of(args.table)
    seeds = tuple(range(base.seed, base.seed + args.seeds)) if isinstance(args.seeds, int) else args.seeds
    plan = SearchPlan(
        base=base.but(training__epochs=args.epochs), seeds=seeds, seed=args.seed, fingerprint=cohort.fingerprint
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
            print(describe(study, seconds))
    if args.keep:
        print(f"\nthe best configuration: {write_config(config, args.keep)}")
        seeds = range(base.seed, base.seed + KEPT_SEEDS)
        keep_population(cohort, [config.but(seed=seed) for seed in seeds], args.keep, args.device)
    return 0


def write_config(config: Config, run: Path) -> Path:
    """The configuration as a JSON file beside its run, as `train --config` takes it."""
    path = run.with_name(f"{run.name}.json")
    with replacing(path) as draft:
        draft.write_text(json.dumps(config.model_dump(mode="json"), indent=1) + "\n", encoding="utf-8")
    return path


def summary(study: Study, config: Config) -> dict[str, object]:
    """What came of a study, as plain values."""
    trials = tables.trials_frame(study)
    counts = trials["state"].value_counts()
    return {
        "study": study.study_name,
        "trials": {state: int(counts.get(state, 0)) for state in ("complete", "pruned", "running")},
        "best": _plain(trials[trials["trial"] == best_trial(study).number].iloc[0]),
        "importances": tables.importances(study)[["setting", "importance"]].to_dict("records"),
        "config": config.model_dump(mode="json"),
    }


def describe(study: Study, seconds: float) -> str:
    """The same in words."""
    trials, best = tables.trials_frame(study), best_trial(study).number
    row = trials[trials["trial"] == best].iloc[0]
    counts = trials["state"].value_counts()
    figures = [("figure on val", "value"), *((name, f"{row[name]:.4g}") for name in tables.SHOWN)]
    settings = [
        ("setting", "symbol", "value"),
        *((d.setting.replace("__", "."), d.symbol, f"{row[d.setting]:.4g}") for d in SPACE),
    ]
    telling = ", ".join(f"{r.symbol} {r.importance:.2f}" for r in tables.importances(study).head(TELLING).itertuples())
    return "\n\n".join(
        [
            f"study {study.study_name}: {counts.get('complete', 0)} trials completed, {counts.get('pruned', 0)} given "
            f"up early; this worker took {seconds:.0f} s. The best is trial {best}.",
            aligned(figures),
            aligned(settings),
            f"what the score depends on most: {telling or 'too few trials to say'}",
        ]
    )


@contextmanager
def stopped_by_signals(name: str) -> Iterator[None]:
    """Let the end of a service be like Ctrl-C, and say how to go on."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        print(f"the same command goes on with study {name}: no trial that ended is lost", file=sys.stderr)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def study_bar(console: Console | None = None) -> Iterator[Tell]:
    """A callback that draws a bar over trials, or writes lines where nothing can be drawn."""
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
            bar.update(task, completed=standing.told, total=standing.trials, description=text)
            epoch = standing.training.epoch if standing.training else 0
            if not console.is_terminal and epoch % LOG_EVERY == 0:
                console.print(text, soft_wrap=True)

        yield tell


def words(standing: SearchProgress) -> str:
    """Where a study is."""
    parts = [f"{standing.told}/{standing.trials} trials"]
    parts += [] if standing.best is None else [f"best {standing.best:.4f}"]
    training = standing.training
    if training:
        parts.append(f"epoch {training.epoch}/{training.epochs} of {training.active.sum()} routers")
    return ", ".join(parts)


def _plain(row: pd.Series) -> dict[str, object]:
    """For JSON, which knows neither NaN nor NumPy's numbers."""
    values: dict[str, object] = json.loads(row.to_json())
    return values
