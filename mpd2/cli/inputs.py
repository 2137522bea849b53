"""From what was typed to a configuration, to cases and to a manifest."""

from __future__ import annotations

import json
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from mpd2.cli.arguments import DATA, TABLE
from mpd2.core.cohort import Cohort
from mpd2.core.costs import OperatingPoint
from mpd2.core.errors import UserError
from mpd2.core.manifest import ClinicalCosts, Manifest, Reader, load_manifest
from mpd2.core.runs import ERRORS, Run, load_errors, load_predictions
from mpd2.core.table_file import OTHER, Purpose, fingerprint, load_cohort, manifest_beside
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.earlier import fingerprints
from mpd2.lab.workspaces.shelf import find, workspaces
from mpd2.planning.floors import Choice, parse_floor
from mpd2.study.operating import as_fitted, choose_point
from mpd2.training.config import PRESETS, Config, parse_config


def open_workspace(args: Namespace) -> None:
    """Let what was not typed be the workspace's: its table and folder, its runs by name, and names for what is made."""
    workspace = find(args.workspace, Workshop.here())
    typed, name = vars(args), workspace.name
    run = typed.get("run")
    its = {
        "table": (TABLE, workspace.table),
        "learned_from": (TABLE, workspace.table),
        "data": (DATA, workspace.folder),
        "out": (None, Path("runs") / f"{name}-{typed.get('preset')}"),
        "study": (None, f"{name}-{typed.get('preset')}"),
        "run": (TABLE.parent / "runs" / "studio", workspace.runs / "studio"),
    }
    for key, (default, own) in its.items():
        if key in typed and typed[key] in (None, default):
            setattr(args, key, own)
    if run is not None and not run.exists() and (workspace.runs / run).is_dir():
        args.run = workspace.runs / run
    if "learned_from" in typed and args.manifest is None and not manifest_beside(args.table).is_file():
        args.manifest = workspace.manifest_path


def cohort_of(table: Path, manifest: Path | None = None, purpose: Purpose = "training") -> Cohort:
    """The cases of a table; its manifest is the one given, or the one beside it."""
    if not table.is_file():
        raise UserError(f"{table}: there is no such file")
    beside = manifest_beside(table)
    if manifest is None and not beside.is_file():
        raise UserError(
            f"{table}: found no manifest beside it, which says who its readers are; write {beside.name} in the form of "
            f"{manifest_beside(TABLE)}, or name a manifest where the command takes --manifest"
        )
    return load_cohort(table, load_manifest(manifest or beside), purpose)


def manifest_for(trained: Run, table: Path, manifest: Path | None = None) -> Manifest:
    """Who can be asked about the cases of a new table: as the manifest given or beside it says, else as the run knows.

    A run made from the table of a workspace has its manifest. Any other keeps its readers' columns and fees: a column
    is then its reader's name.
    """
    beside = manifest_beside(table)
    if manifest or beside.is_file():
        return load_manifest(manifest or beside)
    shipped = load_manifest(manifest_beside(TABLE))
    if trained.fingerprint == fingerprint(TABLE.read_bytes(), shipped):
        return shipped
    for workspace in workspaces(Workshop.here()):
        if trained.fingerprint in fingerprints(workspace):
            return workspace.manifest()
    return Manifest(
        title=table.stem,
        table=table.name,
        task=shipped.task,
        ai=shipped.ai,
        inputs=shipped.inputs,
        costs=ClinicalCosts(false_negative=1, false_positive=1),  # routing goes by the run's own
        readers=tuple(
            Reader(column=column, name=column, group="readers", fee=fee, tier="unknown")
            for column, fee in zip(trained.readers, trained.costs.fees, strict=True)
        ),
        cohorts=(OTHER,),
    )


def point_of(
    trained: Run, folder: Path, cohort: Cohort, floor: str | None, confident: float | None
) -> tuple[OperatingPoint, Choice | None]:
    """The operating point that was asked for, and how it was chosen on the val cases where it has a floor."""
    if floor is None:
        return as_fitted(trained, confident), None
    val = cohort.subset(split="val")
    wanted = parse_floor(floor, float((val.truth == 1).mean()))
    stored = cohort.fingerprint == trained.fingerprint
    own = partial(load_predictions, folder, trained) if stored else None
    errors = load_errors(folder) if (folder / ERRORS).is_file() else None
    return choose_point(trained, val, wanted, errors, confident, own)


def config_of(args: Namespace) -> Config:
    """The preset, with what the `--config` file says in its place."""
    if args.preset not in PRESETS:
        raise UserError(f"preset: found {args.preset!r}, expected one of {', '.join(PRESETS)}")
    preset = PRESETS[args.preset]
    return preset if args.config is None else _changed(preset, args.config)


def _changed(preset: Config, path: Path) -> Config:
    values = preset.model_dump()
    for key, value in _read_object(path).items():
        whole_section = isinstance(value, dict) and isinstance(values.get(key), dict)
        values[key] = values[key] | value if whole_section else value
    try:
        return parse_config(values)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _read_object(path: Path) -> dict[str, Any]:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path}: not a JSON file: {error}") from None
    if not isinstance(given, dict):
        raise UserError(f"{path}: found a JSON {type(given).__name__}, expected an object of settings")
    return given
