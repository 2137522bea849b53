"""`reproduce`: the whole study, from the table to RESULTS.md."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from rich import progress as bars
from rich.console import Console

from mpd2.cli.arguments import DATA, TABLE
from mpd2.cli.inputs import cohort_of
from mpd2.cli.output import aligned
from mpd2.core.errors import UserError
from mpd2.study.catalogue import MAP, TABLES, Inventory, table_path
from mpd2.study.definition import ABLATIONS_RUN, SEEDS, Say, Study
from mpd2.study.reproduce import StudyProgress, Tell, chosen, reproduce, results_path
from mpd2.study.tables import StudyTables, read_table
from mpd2.study.views import view
from mpd2.training.progress import LOG_EVERY


def run(args: Namespace) -> int:
    """Make what is missing and print the tables asked for, or say what there is."""
    names = chosen(args.tables)
    study = study_of(args)
    if args.list:
        print(inventory(study))
        return 0
    start = perf_counter()
    with study_bar() as (tell, say):
        made = reproduce(study, names, args.force, tell, say)
    print(tables(study, names, every=bool(args.tables)))
    if made:
        print(f"made in {perf_counter() - start:.0f} s: {', '.join(made)}", file=sys.stderr)
    else:
        print("everything is up to date: nothing to do", file=sys.stderr)
    return 0


def study_of(args: Namespace) -> Study:
    """The study asked for; one of another size or table does not overwrite the shipped one."""
    own = args.table != TABLE or args.seeds is not None or args.epochs is not None
    if own and args.data.resolve() == DATA.resolve():
        raise UserError(f"a study of another table or size would replace the one in {DATA}; give its own with --data")
    seeds = SEEDS if args.seeds is None else args.seeds
    seeds = tuple(range(SEEDS[0], SEEDS[0] + seeds)) if isinstance(seeds, int) else seeds
    changes = {} if args.epochs is None else {"training__epochs": args.epochs}
    return Study(cohort_of(args.table), args.data, seeds, changes)


def inventory(study: Study) -> str:
    """Everything the study makes, and what of it is there."""
    found = Inventory(study)
    titles = {name: table.title for name, table in TABLES.items()} | {MAP: "every case in the plane"}
    listed = [("table", "shows", "state")]
    listed += [(name, title, found.table_fault(name) or "up to date") for name, title in titles.items()]
    runs = {name: contender.title for name, contender in study.contenders.items()}
    runs[ABLATIONS_RUN] = "every condition of the ablations (not shipped)"
    made = [("run", "of", "state")]
    made += [(name, title, found.run_faults[name] or "up to date") for name, title in runs.items()]
    return f"{aligned(listed)}\n\n{aligned(made)}"


def tables(study: Study, names: tuple[str, ...], every: bool) -> str:
    """The tables in words; of all tables only those that the paper has too, the rest is in RESULTS.md."""
    found = {name: read_table(study.data, name) for name in names if name != MAP}
    figures = StudyTables(found, study.cohort.manifest)
    shown = [name for name, rows in found.items() if every or "published" in rows]
    parts = [f"{name}: {TABLES[name].title}\n\n{aligned(view(name, figures))}" for name in shown]
    parts += [f"map: {table_path(study, MAP)}"] if MAP in names else []
    parts += [f"all of it in words: {results_path(study)}"] if results_path(study).is_file() else []
    return "\n\n".join(parts)


@contextmanager
def study_bar(console: Console | None = None) -> Iterator[tuple[Tell, Say]]:
    """Callbacks that draw a bar with the time left of the whole study, or write lines where nothing can be drawn."""
    console = console or Console(stderr=True, highlight=False)
    columns = (
        bars.BarColumn(bar_width=8),
        bars.TextColumn("{task.description}"),
        bars.TimeRemainingColumn(compact=True),
    )
    # Steps differ in pace: only a long look back gives a steady estimate.
    shown = console.is_terminal
    with bars.Progress(*columns, console=console, disable=not shown, speed_estimate_period=600) as bar:
        task = bar.add_task("looking at what there is", total=None)

        def tell(standing: StudyProgress) -> None:
            text = words(standing)
            bar.update(task, completed=standing.done, total=standing.done + standing.left, description=text)
            epoch = standing.training.epoch if standing.training else 0
            if not shown and epoch % LOG_EVERY == 0:
                left = bar.tasks[0].time_remaining
                console.print(text + ("" if left is None else f", about {left / 60:.0f} min left"), soft_wrap=True)

        yield tell, lambda text: bar.console.print(text, soft_wrap=True)


def words(standing: StudyProgress) -> str:
    """Where the study is."""
    place = f"{standing.step}/{standing.steps} {standing.name}"
    training = standing.training
    return f"{place}, epoch {training.epoch}/{training.epochs}" if training else place
