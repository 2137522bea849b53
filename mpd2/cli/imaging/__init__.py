"""`imaging`: from photographs to the numbers a table has."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

from mpd2.cli.arguments import add_json, count, describe
from mpd2.cli.imaging import train
from mpd2.cli.output import aligned, if_interrupted, now_and_then, print_json, say
from mpd2.core.errors import UserError

SUMMARY = "measure photographs of the fundus with frozen networks"
MODELS = (
    "folder of the networks, or of one pipeline (default: the one MPD2_MODELS names, else models in MPD2_WORKSHOP, "
    "else build/models)"
)
BAR = 30  # characters of the progress bar
SHOWN = 5  # unreadable files that are named on screen


def add(command: ArgumentParser) -> None:
    """The arguments of `imaging`: a deed, and those of the deed."""
    describe(
        command,
        "Two frozen networks, a classifier and a segmenter of disc and cup, measure photographs: logits, how strange\n"
        "a photograph is to the classifier, quality, cup-to-disc ratios. Networks are never downloaded from here and\n"
        "never changed; `imaging models` says which there are and how to get the others.",
        "imaging models",
        "imaging reference usual-photographs/",
        "imaging measure photographs/ --out measured.csv --processes 2",
    )
    deeds = command.add_subparsers(dest="deed", metavar="DEED", required=True)
    for deed, (summary, add_arguments, _) in DEEDS.items():
        add_arguments(deeds.add_parser(deed, help=summary, formatter_class=RawDescriptionHelpFormatter))


def run(args: Namespace) -> int:
    """Do what was asked for."""
    return DEEDS[args.deed][2](args)


def _add_measure(command: ArgumentParser) -> None:
    describe(
        command,
        "Measure every photograph in a folder and below it: a table with a row each. What cannot be read is listed\n"
        "beside it with the reason. If it is interrupted, the same command goes on from there.",
        "imaging measure photographs/ --out measured.csv",
        "imaging measure photographs/ --out measured.parquet --processes 4 --backend openvino",
    )
    command.add_argument("folder", type=Path, metavar="FOLDER", help="photographs: JPEG, PNG, TIFF or DICOM")
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="table to write: .csv or .parquet")
    command.add_argument(
        "--processes", type=count, default=1, help="processes of one thread each; 1 is this one (default: 1)"
    )
    _add_pipeline(command)


def _add_reference(command: ArgumentParser) -> None:
    describe(
        command,
        "Tell the pipeline what usual photographs look like, such as those its classifier was trained on: fitted on\n"
        "most of them, brought to scale on the others. From then on it says of a photograph how strange it is: 0 is\n"
        "usual, 3 is strange.",
        "imaging reference usual-photographs/",
        "imaging reference usual-photographs/ --held-out 0.5 --json",
    )
    command.add_argument("folder", type=Path, metavar="FOLDER", help="usual photographs, 16 at least")
    command.add_argument(
        "--held-out", type=float, default=0.3, metavar="SHARE", help="share that nothing is fitted on (default: 0.3)"
    )
    command.add_argument("--seed", type=int, default=0, help="which are held out (default: 0)")
    _add_pipeline(command)


def _add_models(command: ArgumentParser) -> None:
    describe(
        command,
        "Say which networks are on this machine, and how to get those that are not. Exits with 1 if one is missing.",
        "imaging models",
        "imaging models --models my-models --json",
    )
    command.add_argument("--models", type=Path, metavar="DIR", help=MODELS)
    add_json(command)


def _add_pipeline(command: ArgumentParser) -> None:
    command.add_argument("--models", type=Path, metavar="DIR", help=MODELS)
    command.add_argument(
        "--backend",
        choices=("torch", "openvino"),
        default="torch",
        help="openvino is faster on a CPU, and used only if it gives the same answers (default: torch)",
    )
    command.add_argument(
        "--allow-pickle",
        action="store_true",
        help="read weights that are there as a pickle alone; only their numbers are taken",
    )
    add_json(command)


def measure(args: Namespace) -> int:
    """Measure a folder, and say what became of it."""
    from mpd2.imaging.folders import measure_folder

    kept = "interrupted; what was measured is kept, and the same command goes on from there"
    with if_interrupted(lambda: kept):
        done = measure_folder(
            args.folder, _pipeline(args), args.out, args.processes, _progress(), args.backend, args.allow_pickle
        )
    if args.json:
        print_json(
            {
                "table": str(done.table),
                "measured": done.measured,
                "resumed": done.resumed,
                "unreadable": [{"file": name, "reason": reason} for name, reason in done.unreadable],
                "other_files": done.other,
            }
        )
        return 0
    print(f"{done.table}: {done.measured} photographs measured, {done.resumed} files of them done before")
    if done.other:
        print(f"{done.other} other files were left alone")
    if done.unreadable:
        print(f"{len(done.unreadable)} could not be read, listed in {done.listed}")
        print(aligned([(f"  {name}", reason) for name, reason in done.unreadable[:SHOWN]]))
    return 0


def reference(args: Namespace) -> int:
    """Fit a reference, and say what is usual by it."""
    from mpd2.imaging.references import fit_reference

    folder = _pipeline(args)
    fitted = fit_reference(args.folder, folder, args.held_out, args.seed, _progress(), args.backend, args.allow_pickle)
    about = fitted.reference
    if args.json:
        print_json(
            {
                "pipeline": str(folder),
                "fitted_on": about.fitted_on,
                "held_out": about.held_out,
                "unreadable": [{"file": name, "reason": reason} for name, reason in fitted.unreadable],
                "held_out_5_to_95": {name: list(ends) for name, ends in fitted.typical.items()},
            }
        )
        return 0
    print(f"{folder}: fitted on {about.fitted_on} photographs, brought to scale on {about.held_out} others")
    rows = [(name, f"{low:.2f} to {high:.2f}") for name, (low, high) in fitted.typical.items()]
    print(aligned([("distance", "5 to 95 % of the held out"), *rows]))
    return 0


def models(args: Namespace) -> int:
    """Say which networks are there."""
    from mpd2.imaging.models.finding import KINDS, find_model, models_folder
    from mpd2.imaging.pipeline import DEFAULT, SETTINGS, find_pipeline, read_settings

    place = args.models or models_folder()
    found: list[dict[str, str | None]] = []
    for kind in KINDS:
        try:
            at = find_model(kind.default, kind, place).folder
            found.append({"role": kind.role, "name": kind.default, "folder": str(at), "missing": None})
        except UserError as error:
            found.append({"role": kind.role, "name": kind.default, "folder": None, "missing": str(error)})
    whole = all(entry["folder"] for entry in found)
    pipeline = find_pipeline(None, place) if whole or (place / DEFAULT / SETTINGS).is_file() else None
    settings = read_settings(pipeline) if pipeline else None
    has_reference = bool(settings and settings.reference)
    if args.json:
        about = {"models": str(place), "networks": found, "pipeline": str(pipeline) if pipeline else None}
        print_json(about | {"reference": has_reference})
        return 0 if pipeline else 1
    for entry in found:
        print(f"{entry['role']}: {entry['folder']}" if entry["folder"] else entry["missing"])
    if pipeline:
        print(f"pipeline: {pipeline}")
        print("reference: there" if has_reference else "reference: none yet; `imaging reference FOLDER` makes one")
    return 0 if pipeline else 1


def _pipeline(args: Namespace) -> Path:
    """The folder of the pipeline that the arguments name."""
    from mpd2.imaging.models.finding import models_folder
    from mpd2.imaging.pipeline import SETTINGS, find_pipeline

    named: Path | None = args.models
    if named is not None and not named.is_dir():
        raise UserError(f"{named}: found no such folder, expected the models' folder or that of a pipeline")
    if named is not None and (named / SETTINGS).is_file():
        return named
    return find_pipeline(None, named or models_folder(), args.allow_pickle)


def _progress() -> Callable[[int, int], None]:
    """A bar where somebody looks, else a line now and then."""
    if not sys.stderr.isatty():
        tell = now_and_then()
        return lambda done, total: tell(f"{done} of {total}")

    def bar(done: int, total: int) -> None:
        filled = BAR * done // max(total, 1)
        print(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {done} of {total}", end="", file=sys.stderr, flush=True)
        if done == total:
            say("")

    return bar


DEEDS: dict[str, tuple[str, Callable[[ArgumentParser], None], Callable[[Namespace], int]]] = {
    "measure": ("measure a folder of photographs", _add_measure, measure),
    "reference": ("say what usual photographs look like", _add_reference, reference),
    "models": ("say which networks are there, and how to get the others", _add_models, models),
    "train": (train.SUMMARY, train.add, train.run),
}
"""What each deed is for, its arguments and its work."""
