"""`reproduce`: the whole study, from the table to RESULTS.md."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mpd2.cli.arguments import DATA, TABLE, add_table, count, describe, seed_list, seeds
from mpd2.cli.output import aligned, if_interrupted, say
from mpd2.core.errors import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from mpd2.study.catalogue import Inventory
    from mpd2.study.definition import Say, Study
    from mpd2.study.reproduce import StudyProgress, Tell

SUMMARY = "make every run, table and result of the study"
SMALL_SEEDS, SMALL_EPOCHS = 2, 5
SMALL_PLAN: dict[str, Any] = {
    "resplits": (0, 1), "draws": (0,), "seeds": (42,), "local": (20,), "local_draws": (0,), "checks": 20,
}  # fmt: skip


def add(command: ArgumentParser) -> None:
    """The arguments of `reproduce`."""
    describe(
        command,
        "Make what is missing, out of date or damaged of the tables asked for and of the runs they are drawn up from:\n"
        "runs in DATA/runs, tables in DATA/tables, the map in DATA/map, and RESULTS.md beside DATA once they are all\n"
        "there. What is only needed on the way lies in DATA/build. Interrupted or killed, the same\n"
        "command goes on where it was.",
        "reproduce",
        "reproduce overall budget",
        "reproduce --list",
        "reproduce --small --data small/data",
        "reproduce --seeds 2 --epochs 5 --data fewer/data",
    )
    command.add_argument(
        "tables", nargs="*", metavar="NAME", help="tables to make, or all (default: all); --list names them"
    )
    add_table(command)
    command.add_argument("--data", type=Path, default=DATA, help=f"folder for what is made (default: {DATA})")
    command.add_argument("--seeds", type=seeds, help="how many seeds from 42 on, or a list of them (default: 10)")
    command.add_argument("--epochs", type=count, help="most passes of a router (default: as configured)")
    command.add_argument(
        "--small",
        action="store_true",
        help=f"try everything in about two minutes: {SMALL_SEEDS} seeds, {SMALL_EPOCHS} epochs and 2 resplits; nothing "
        "can be concluded from it",
    )
    command.add_argument("--list", action="store_true", help="say what there is and what is missing, and make nothing")
    command.add_argument(
        "--force",
        action="store_true",
        help="draw up the tables again from the runs there are; to train a run again, remove its folder",
    )


def run(args: Namespace) -> int:
    """Make what is missing and print the tables asked for, or say what there is."""
    from mpd2.study.reproduce import chosen, reproduce

    names = chosen(args.tables)
    study = study_of(args)
    if args.list:
        print(inventory(study))
        return 0
    start = perf_counter()
    with if_interrupted(lambda: going_on(study)), study_bar() as (tell, announce):
        made = reproduce(study, names, args.force, tell, announce)
    print(tables(study, names, every=bool(args.tables)))
    say(
        f"made in {perf_counter() - start:.0f} s: {', '.join(made)}"
        if made
        else "everything is up to date: nothing to do"
    )
    return 0


def study_of(args: Namespace) -> Study:
    """The study asked for; one of another size or table does not overwrite the shipped one."""
    from mpd2.cli.inputs import cohort_of
    from mpd2.study.build import study_in
    from mpd2.study.definition import SEEDS, Study, StudyPlan

    home = DATA if args.workspace is None else args.table.parent
    another = args.table != TABLE and args.workspace is None
    own = args.small or another or args.seeds is not None or args.epochs is not None
    if own and args.data.resolve() == home.resolve():
        raise UserError(f"a study of another table or size would replace the one in {home}; give its own with --data")
    if not own and args.data.resolve() == home.resolve():
        return study_in(args.data, cohort_of(args.table))
    number, epochs = (SMALL_SEEDS, SMALL_EPOCHS) if args.small else (len(SEEDS), None)
    epochs = args.epochs or epochs
    changes = {} if epochs is None else {"training__epochs": epochs}
    plan = StudyPlan(**SMALL_PLAN) if args.small else StudyPlan()
    return Study(cohort_of(args.table), args.data, seed_list(args.seeds or number, SEEDS[0]), changes, plan=plan)


def going_on(study: Study) -> str:
    """What an interruption of a study leaves, and how to go on."""
    return f"what was made is kept in {study.data} and {study.workshop}; the same command goes on where it was"


def inventory(study: Study) -> str:
    """Everything the study makes, and what of it is there."""
    from mpd2.study.catalogue import MAP, TABLES, Inventory
    from mpd2.study.definition import ABLATIONS_RUN

    kept = Inventory(study)
    titles = {name: table.title for name, table in TABLES.items()} | {MAP: "every case in the plane"}
    listed = [("table", "shows", "state")]
    listed += [(name, title, _state(kept, name)) for name, title in titles.items()]
    runs = {name: contender.title for name, contender in study.contenders.items()}
    runs[ABLATIONS_RUN] = "every condition of the ablations (not shipped)"
    made = [("run", "of", "state")]
    made += [(name, title, kept.run_faults[name] or "up to date") for name, title in runs.items()]
    return f"{aligned(listed)}\n\n{aligned(made)}"


def _state(kept: Inventory, name: str) -> str:
    """What there is of a table, or why there is none."""
    from mpd2.study.catalogue import lacking

    why = lacking(kept.study, name)
    return f"left out: {why}" if why else kept.table_fault(name) or "up to date"


def tables(study: Study, names: tuple[str, ...], every: bool) -> str:
    """The tables in words; of all tables only those that the paper has too, the rest is in RESULTS.md."""
    from mpd2.study.catalogue import MAP, TABLES, table_path
    from mpd2.study.readable_tables import view
    from mpd2.study.reproduce import results_path
    from mpd2.study.tables import StudyTables, read_table

    frames = {name: read_table(study.data, name) for name in names if name != MAP and table_path(study, name).is_file()}
    study_tables = StudyTables(frames, study.cohort.manifest)
    shown = [name for name, rows in frames.items() if every or "published" in rows]
    parts = [f"{name}: {TABLES[name].title}\n\n{aligned(view(name, study_tables))}" for name in shown]
    parts += [f"map: {table_path(study, MAP)}"] if MAP in names else []
    parts += [f"all of it in words: {results_path(study)}"] if results_path(study).is_file() else []
    return "\n\n".join(parts)


@contextmanager
def study_bar(console: Console | None = None) -> Iterator[tuple[Tell, Say]]:
    """Callbacks that draw a bar with the time left of the whole study, or write lines where nothing can be drawn."""
    from rich import progress as bars
    from rich.console import Console

    from mpd2.training.progress import LOG_EVERY

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
