"""`simulate`: a programme of any size whose best possible routing is known."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mpd2.cli.arguments import PROGRAM, add_json, count, describe
from mpd2.cli.output import aligned, now_and_then, print_json, say

if TYPE_CHECKING:
    from mpd2.core.manifest import Manifest
    from mpd2.core.workspace import Workspace
    from mpd2.imaging.simulation.programme import Programme

SUMMARY = "draw a simulated programme whose best possible routing is known"
LARGE = 50_000  # cases from which on a table is a Parquet file
TITLE = "Simulated programme"
NOT_PATIENTS = "Simulated cases, no patients."


def add(command: ArgumentParser) -> None:
    """The arguments of `simulate`."""
    describe(
        command,
        "Draw cases from a law whose margins are the benchmark's, keep them as a workspace, and say what the best\n"
        "routing of each kind costs on average. Nothing in it is of a patient; every page of the workspace says so.\n"
        "Photographs are rendered of cases of test first, then of val and train. With a pipeline these cases have the\n"
        "measurements that it makes of their photographs; without one, those they were drawn with.",
        "simulate --n 3000 --out simulated",
        "simulate --n 1000000 --out million --json",
        "simulate --n 500 --photographs 500 --imaging build/small --out simulated-photographs",
    )
    command.add_argument("--n", type=count, default=3000, help="cases (default: 3000)")
    command.add_argument("--photographs", type=count, metavar="P", help="render a photograph of so many of them")
    command.add_argument("--imaging", type=Path, metavar="FOLDER", help="measure these with the pipeline in a folder")
    command.add_argument("--seed", type=int, default=0, help="another one draws other cases (default: 0)")
    command.add_argument("--out", required=True, metavar="NAME", help="name of the workspace to make")
    add_json(command)


@dataclass(frozen=True, eq=False)
class Made:
    """A programme with its photographs, before it is a workspace."""

    drawn: Programme  # as the law drew it
    shown: Programme  # with files, and with what was measured of them
    manifest: Manifest


class Stopwatch:
    """Seconds of each piece of work."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._begin = self._last = perf_counter()

    def lap(self, what: str) -> None:
        """A piece of work has ended."""
        now = perf_counter()
        self.seconds[what] = round(now - self._last, 3)
        self._last = now

    def whole(self) -> dict[str, float]:
        """All of them, and their sum."""
        return self.seconds | {"all": round(perf_counter() - self._begin, 3)}


def run(args: Namespace) -> int:
    """Draw, render, measure, keep; then say what came of it."""
    from mpd2.core.errors import UserError
    from mpd2.imaging.simulation.bayes import bounds
    from mpd2.imaging.simulation.margins import margins
    from mpd2.lab.jobs.folder import Workshop
    from mpd2.lab.workspaces.shelf import check_name

    if args.imaging is not None and args.photographs is None:
        raise UserError("--imaging: found no photographs to measure; say with --photographs how many to render")
    if args.seed < 0:
        raise UserError(f"--seed: found {args.seed}, expected at least 0")
    place, watch = Workshop.here(), Stopwatch()
    check_name(args.out, place)
    with TemporaryDirectory() as scratch:
        made = _make(args, Path(scratch), watch)
        workspace = _keep(args, made, Path(scratch), watch)
    cohort = made.drawn.cohort(made.manifest)
    best = bounds(made.drawn.law, cohort, made.manifest.default_costs())
    watch.lap("bayes")
    found = {
        "workspace": workspace.name,
        "folder": str(workspace.folder),
        "note": NOT_PATIENTS,
        "cases": len(cohort),
        "patients": int(made.drawn.patient[-1]) + 1,
        "photographs": args.photographs or 0,
        "margins": margins(cohort),
        "bayes": {kind: asdict(bound) for kind, bound in best.items()},
        "seconds": watch.whole(),
    }
    if args.json:
        print_json(found)
    else:
        print(as_text(found))
    return 0


def as_text(found: dict[str, Any]) -> str:
    """What was made, for reading."""
    from mpd2.imaging.simulation.bayes import KINDS

    sites = [("", "cases", "prevalence", "AI sensitivity", "AI specificity")]
    sites += [
        (key, f"{of['cases']:,}", *map(_three, (of["prevalence"], of["ai"]["sensitivity"], of["ai"]["specificity"])))
        for key, of in found["margins"].items()
    ]
    least = [("least cost a case on average, of a rule that gives", "", "±")]
    least += [(KINDS[kind], f"{of['cost']:.4f}", f"{of['margin']:.4f}") for kind, of in found["bayes"].items()]
    seconds = ", ".join(f"{what} {time:.1f}" for what, time in found["seconds"].items())
    return "\n\n".join(
        [
            f"{found['workspace']}: {found['cases']:,} cases made in {found['folder']}. {found['note']}",
            aligned(sites),
            aligned(least),
            f"seconds: {seconds}\nnext: {PROGRAM} workspace build {found['workspace']}",
        ]
    )


def _three(share: float | None) -> str:
    return "none" if share is None else f"{share:.3f}"


def _make(args: Namespace, scratch: Path, watch: Stopwatch) -> Made:
    """The programme, its photographs in scratch/photographs and its pipeline in scratch/imaging."""
    from mpd2.imaging.simulation.law import fitted_law
    from mpd2.imaging.simulation.manifest import simulated_manifest
    from mpd2.imaging.simulation.programme import draw

    law = fitted_law()
    drawn = draw(law, args.n, args.seed)
    watch.lap("draw")
    table = "cases.parquet" if args.n >= LARGE else "cases.csv"
    asked = args.photographs is not None
    manifest = simulated_manifest(law, TITLE, table, photographs=asked, measured=args.imaging is not None)
    return Made(drawn, _shown(args, drawn, scratch, watch) if asked else drawn, manifest)


def _shown(args: Namespace, drawn: Programme, scratch: Path, watch: Stopwatch) -> Programme:
    """The programme with photographs, measured where there is a pipeline."""
    from mpd2.imaging.pipeline import Pipeline
    from mpd2.imaging.simulation.photographs import measured_by, photographed, with_photographs

    pipeline = None if args.imaging is None else Pipeline.load(args.imaging)
    rows, tell = photographed(drawn, args.photographs), now_and_then()
    shown = with_photographs(drawn, rows, scratch / "photographs", tell)
    watch.lap("photographs")
    if pipeline is not None:
        shown = measured_by(shown, rows, scratch / "photographs", pipeline, tell)
        shutil.copytree(args.imaging, scratch / "imaging")
        watch.lap("measure")
    return shown


def _keep(args: Namespace, made: Made, scratch: Path, watch: Stopwatch) -> Workspace:
    """The workspace, all of it or nothing; a table as it was drawn is known to be good, a measured one is checked."""
    from mpd2.clinic.access.actions import Action
    from mpd2.clinic.access.actor import LOCAL
    from mpd2.clinic.access.authorise import authorise
    from mpd2.core.manifest_text import to_toml
    from mpd2.core.table_file import MANIFEST
    from mpd2.core.workspace import DATASHEET
    from mpd2.imaging.simulation.manifest import datasheet
    from mpd2.lab.jobs.folder import Workshop
    from mpd2.lab.workspaces.shelf import checked, find, new_folder

    place, text = Workshop.here(), to_toml(made.manifest)
    table = made.shown.table(made.manifest)
    checked(table, text, made.shown.cohort(made.manifest, table) if args.imaging is None else None)
    authorise(LOCAL, Action.MAKE_WORKSPACE, workspace=args.out, simulated=args.n)
    with new_folder(args.out, place, by=LOCAL) as draft:
        (draft / MANIFEST).write_text(text, encoding="utf-8")
        (draft / made.manifest.table).write_bytes(table)
        about = datasheet(made.drawn.law, TITLE, args.n, args.seed, _pictures(args))
        (draft / DATASHEET).write_text(about, encoding="utf-8")
        for folder in ("photographs", "imaging"):
            if (scratch / folder).is_dir():
                shutil.copytree(scratch / folder, draft / folder)
    watch.lap("write")
    say(f"{args.out}: {NOT_PATIENTS}")
    return find(args.out, place)


def _pictures(args: Namespace) -> str:
    """What the datasheet says of photographs."""
    if args.photographs is None:
        return "There are no photographs."
    how = (
        "their cases have the measurements a pipeline made of them, for which the known probabilities do not hold"
        if args.imaging is not None
        else "their cases have the measurements they were drawn with"
    )
    return f"{args.photographs:,} photographs were rendered, of cases of test first, then val and train; {how}."
