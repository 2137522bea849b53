"""From what was typed to a configuration and to cases."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import load_manifest
from mpd2.core.reading import Purpose, load_cohort
from mpd2.training.config import PRESETS, Config, parse_config


def cohort_of(table: Path, manifest: Path | None = None, purpose: Purpose = "training") -> Cohort:
    """The cases of a table; its manifest is the one given, or the one beside it."""
    if not table.is_file():
        raise UserError(f"{table}: there is no such file")
    return load_cohort(table, load_manifest(manifest) if manifest else None, purpose)


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
