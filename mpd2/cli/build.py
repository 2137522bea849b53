"""`build`: a workspace from the folders of public cohorts."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from mpd2.cli.arguments import PROGRAM, add_json, describe
from mpd2.cli.output import agreed, if_interrupted, now_and_then, print_json, say
from mpd2.core.errors import UserError
from mpd2.imaging.cohorts import COHORTS

if TYPE_CHECKING:
    from mpd2.core.workspace import Workspace
    from mpd2.imaging.cohorts.gathering import Gathered
    from mpd2.imaging.cohorts.table import Built
    from mpd2.imaging.labelling.embeddings import Encoder
    from mpd2.lab.jobs.folder import Workshop

SUMMARY = "make a workspace from the folders of public cohorts of photographs"
PIPELINE = "imaging"  # in a workspace: what measured its photographs


def add(command: ArgumentParser) -> None:
    """The arguments of `build`."""
    describe(
        command,
        "Measure the photographs of cohorts in their published folders, take or make their readers' words, and keep\n"
        "table and manifest as a workspace. Folders are read, never changed. What is damaged is named and left out.",
        "build --refuge REFUGE --chaksu Chaksu --origa ORIGA --out my-benchmark",
        "build --chaksu Chaksu --out chaksu --models models --yes --json",
    )
    for key, name in COHORTS.items():
        command.add_argument(f"--{key}", type=Path, metavar="DIR", help=f"the folder of {name}")
    command.add_argument("--out", required=True, metavar="WORKSPACE", help="the new workspace's name")
    command.add_argument(
        "--models", type=Path, metavar="DIR", help="the models' folder, or a pipeline's (default: that of this machine)"
    )
    command.add_argument(
        "--encoders",
        nargs="+",
        metavar="NAME",
        help="networks that say what is alike, for cohorts without readers: ids, folders, or classifier and segmenter "
        "for those that measure (default: DINOv2 and RETFound-MAE)",
    )
    command.add_argument("--no-crop", action="store_true", help="show encoders whole pictures, not the field of view")
    command.add_argument("--seed", type=int, default=0, help="of drawn splits and readers (default: 0)")
    command.add_argument("--yes", action="store_true", help="do not ask")
    add_json(command)


def run(args: Namespace) -> int:
    """Gather, ask, measure, label, keep."""
    from mpd2.imaging.cohorts.adapter import summary
    from mpd2.imaging.cohorts.gathering import gather
    from mpd2.lab.jobs.folder import Workshop
    from mpd2.lab.workspaces.shelf import check_name

    start, place = perf_counter(), Workshop.here()
    check_name(args.out, place)
    folders = {key: folder for key in COHORTS if (folder := getattr(args, key)) is not None}
    if not folders:
        raise UserError(f"cohorts: found none, expected the folder of at least one: --{', --'.join(COHORTS)}")
    gathered = gather(folders, args.seed)
    models, pipeline = _pipeline(args.models)
    encoders = _encoders(args.encoders, pipeline, models) if len(gathered.rows("induced")) else []
    say("\n".join(summary(gathered.left)) or "nothing is left out")
    if not agreed(f"{args.out}: {len(gathered.cases):,} photographs will be measured by {pipeline}.", args.yes):
        return 1
    journal = place.workspaces / f"{args.out}.csv"
    built = _built(gathered, pipeline, journal, encoders, args, models)
    made = _kept(args.out, built, pipeline, place)
    attached = _attached(made, built.gathered.folder)
    journal.with_name(f".{journal.name}.journal").unlink(missing_ok=True)
    _tell(args, made, built, attached, perf_counter() - start)
    return 0


def _pipeline(given: Path | None) -> tuple[Path, Path]:
    """The models' folder, and that of the pipeline that measures."""
    from mpd2.imaging.models.finding import models_folder
    from mpd2.imaging.pipeline import SETTINGS, find_pipeline

    if given is not None and (given / SETTINGS).is_file():
        return models_folder(), given
    models = models_folder() if given is None else given
    return models, find_pipeline(None, models)


def _encoders(names: Sequence[str] | None, pipeline: Path, models: Path) -> list[Encoder]:
    """Loaded before anything takes long."""
    from mpd2.imaging.labelling.embeddings import DEFAULTS, load_encoder
    from mpd2.imaging.pipeline import read_settings

    settings = read_settings(pipeline)
    own = {"classifier": settings.classifier.name, "segmenter": settings.segmenter.name}
    found: list[Encoder] = []
    for name in names or DEFAULTS:
        inside = pipeline / name
        found.append(load_encoder(inside if inside.is_dir() else own.get(name, name), models))
    return found


def _built(
    gathered: Gathered, pipeline: Path, journal: Path, encoders: Sequence[Encoder], args: Namespace, models: Path
) -> Built:
    from mpd2.imaging.cohorts.table import build_table

    sometimes = now_and_then()
    with if_interrupted(lambda: "what was measured is kept: the same command goes on from there"):
        return build_table(
            gathered,
            pipeline,
            journal,
            encoders,
            cropped=not args.no_crop,
            seed=args.seed,
            tell=lambda what, done, of: sometimes(f"{what}: {done:,} of {of:,}"),
            models=models,
        )


def _kept(name: str, built: Built, pipeline: Path, place: Workshop) -> Workspace:
    """The table as a workspace, with the pipeline that measured it."""
    from mpd2.clinic.access.actor import LOCAL
    from mpd2.core.files import replacing_folder
    from mpd2.core.manifest_text import to_toml
    from mpd2.core.table_file import table_bytes
    from mpd2.imaging.cohorts.describing import datasheet
    from mpd2.lab.workspaces.shelf import create

    readme = datasheet(built.gathered, built.manifest)
    made = create(name, table_bytes(built.frame), to_toml(built.manifest), place, readme, by=LOCAL)
    with replacing_folder(made.folder / PIPELINE) as draft:
        shutil.copytree(pipeline, draft, dirs_exist_ok=True)
    return made


def _attached(made: Workspace, folder: Path) -> str:
    """The photographs stay where they are; in words where that is, or why they are not shown."""
    from mpd2.imaging.attached import attach

    if folder == Path(folder.anchor):
        return "the cohorts' folders have nothing but the disk in common, so that no photograph is attached"
    return f"photographs are shown from {attach(made.folder, folder)}"


def _tell(args: Namespace, made: Workspace, built: Built, attached: str, seconds: float) -> None:
    from mpd2.cli.check import as_text, contents
    from mpd2.imaging.cohorts.adapter import summary

    cohort, left = made.cohort(), built.gathered.left
    if args.json:
        print_json(
            {"workspace": made.name, "folder": str(made.folder), "seconds": seconds}
            | contents(cohort)
            | {"left_out": [{"what": each.what, "why": each.why, "case": each.case} for each in left]}
            | {"vcdr_disagreement": built.disagreement, "vcdr_compared": built.compared, "photographs": attached}
        )
        return
    lines = [as_text(cohort), "", *summary(left), attached]
    if built.disagreement is not None:
        lines.append(
            f"measured vertical CDR differs from that of masks by {built.disagreement:.3f} (n = {built.compared:,})"
        )
    print("\n".join(lines))
    say(f"made in {seconds:.0f} s\nnext: {PROGRAM} workspace build {made.name}")
