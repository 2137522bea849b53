"""Folders of runs and jobs that are damaged, or were made to do damage."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from places import DATA
from safetensors.numpy import load_file, save_file

from mpd2.core.files import digest

Config = dict[str, Any]
DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5_000


def own_copy(folder: Path, method: str = "mao") -> Path:
    """A shipped run as somebody's own."""
    shutil.copytree(DATA / "runs" / method, folder)
    return folder


def with_config(folder: Path, change: Callable[[Config], object]) -> None:
    """Change what a run says of itself."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))


def without(key: str) -> Callable[[Path], None]:
    """Take an entry away."""
    return lambda folder: with_config(folder, lambda config: config.pop(key))


def saying(key: str, value: object) -> Callable[[Path], None]:
    """Let an entry, or an entry of an entry, be something else."""

    def change(config: Config) -> None:
        *parents, last = key.split(".")
        for parent in parents:
            config = config[parent]
        config[last] = value

    return lambda folder: with_config(folder, change)


def written(old: str, new: str) -> Callable[[Path], None]:
    """Replace text of the configuration that no JSON writer would write."""

    def change(folder: Path) -> None:
        text = (folder / "config.json").read_text()
        assert old in text
        (folder / "config.json").write_text(text.replace(old, new, 1))

    return change


def holding(content: bytes) -> Callable[[Path], None]:
    """Let the configuration be some bytes."""
    return lambda folder: (folder / "config.json").write_bytes(content) and None


def with_predictions(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    """Change the predictions, and vouch for them."""

    def changed(folder: Path) -> None:
        path = folder / "predictions.parquet"
        change(pd.read_parquet(path)).to_parquet(path, index=False)
        vouch(folder, path.name)

    return changed


def with_bytes(name: str, content: bytes) -> Callable[[Path], None]:
    """Let a file be some bytes, and vouch for them."""

    def changed(folder: Path) -> None:
        (folder / name).write_bytes(content)
        vouch(folder, name)

    return changed


def with_errors(change: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]) -> Callable[[Path], None]:
    """Change the error model, and vouch for it."""

    def changed(folder: Path) -> None:
        path = folder / "errors.safetensors"
        save_file(change(load_file(path)), path)
        vouch(folder, path.name)

    return changed


def vouch(folder: Path, name: str) -> None:
    """Write a file's digest into the configuration, as whoever means harm would."""
    with_config(folder, lambda config: config["files"].update({name: digest(folder / name)}))


def as_folder(folder: Path) -> None:
    """Let the configuration be a folder."""
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()


def twice(frame: pd.DataFrame) -> pd.DataFrame:
    """Two cases under one id, in every member's part."""
    first, second = frame["case_id"].unique()[:2]
    return frame.replace({"case_id": {second: first}})


DAMAGED_DESCRIPTIONS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no-notes": (without("notes"), "notes: Field required"),
    "no-costs": (without("costs"), "costs: Field required"),
    "no-settings": (without("settings"), "settings: Field required"),
    "no-date": (without("created"), "created: Field required"),
    "no-seed": (saying("settings", [{}]), "expected a seed"),
    "nobody": (saying("settings", []), "settings: "),
    "listed-notes": (saying("notes", []), "notes: Input should be a valid dict"),
    "listed-costs": (saying("costs", [1, 2]), "costs: "),
    "listed-changes": (saying("notes.changes", [1]), "changes: "),
    "numbered-title": (saying("notes.title", 7), "title: "),
    "object-settings": (saying("settings", {"seed": 1}), "settings: "),
    "nan-cost": (saying("costs.false_negative", float("nan")), "damaged: "),
    "infinite-cost": (saying("costs.false_positive", float("inf")), "damaged: "),
    "negative-cost": (saying("costs.false_positive", -1.0), "cost of a false alarm: found -1.0"),
    "few-fees": (saying("costs.fees", [0.1]), "a fee for each"),
    "5000-digits": (written('"format": 1', f'"format": {LONG}'), "damaged: "),
    "5000-digits-seed": (written('"seed": 42', f'"seed": {LONG}'), "damaged: "),
    "deep": (written('"notes": {', f'"notes": {{"a": {DEEP}, '), "damaged: "),
    "rather-deep": (written('"notes": {', f'"notes": {{"a": {"[" * 900 + "]" * 900}, '), "notes"),
    "no-zone": (saying("created", "2026-01-01T00:00:00"), "created: "),
    "no-date-at-all": (saying("created", "yesterday"), "created: "),
    "conditions": (saying("notes.conditions", ["one"]), "a condition and a best epoch for each"),
    "elsewhere": (saying("files", {"../../etc/passwd": "0"}), "files"),
    "a-device": (saying("files", {"/dev/zero": "0"}), "files"),
    "another-method": (saying("method", "magic"), "method: found 'magic'"),
    "no-router": (saying("method", "mpd2"), "configuration: "),
    "empty": (holding(b""), "damaged: "),
    "not-text": (holding(b"\xff\xfe\x00"), "damaged: "),
    "half": (holding(b'{"format": 1'), "damaged: "),
    "a-number": (holding(b"1"), "not a run this version can read"),
    "a-folder": (as_folder, "there is no run here"),
}
"""How the description of a run is damaged, by name, and what is said of it."""

DAMAGED_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "twice": (with_predictions(twice), "is there twice"),
    "short": (with_predictions(lambda frame: frame.iloc[:-1]), "do not have the same cases"),
    "nothing": (with_predictions(lambda frame: frame.iloc[:0]), "no prediction is stored for case"),
    "other-order": (with_predictions(lambda frame: frame.iloc[::-1].iloc[1:]), "do not have the same cases"),
    "no-defer": (with_predictions(lambda frame: frame.drop(columns="defer")), "not a run this version can read"),
    "nan-defer": (with_predictions(lambda frame: frame.assign(defer=np.nan)), "defer: expected numbers from 0 to 1"),
    "words": (with_predictions(lambda frame: frame.assign(defer="much")), "defer: expected numbers from 0 to 1"),
    "continued": (with_predictions(lambda frame: frame.assign(kept=0)), "not a run this version can read"),
    "no-parquet": (with_bytes("predictions.parquet", b"PAR1"), "not a run this version can read"),
    "no-history": (with_bytes("history.parquet", b""), "not a run this version can read"),
    "no-weights": (with_bytes("weights.safetensors", b"\xff" * 64), "not a run this version can read"),
    "no-error-rates": (with_errors(lambda arrays: {"means": arrays["means"]}), "not a run this version can read"),
    "flat-error-rates": (
        with_errors(lambda arrays: {**arrays, "coefficients": arrays["coefficients"][:, :5].copy()}),
        "found arrays that do not fit together",
    ),
    "cut": (lambda folder: (folder / "predictions.parquet").write_bytes(b"") and None, "damaged or changed"),
    "gone": (lambda folder: (folder / "weights.safetensors").unlink(), "weights.safetensors is missing"),
}
"""How another file of a run is damaged, by name, and what is said of it."""


def hostile_runs(runs: Path) -> dict[str, str]:
    """A folder for each way in which a run can be damaged; what is said of each."""
    kinds = DAMAGED_DESCRIPTIONS | DAMAGED_FILES
    for name, (damage, _) in kinds.items():
        damage(own_copy(runs / name))
    return {name: reason for name, (_, reason) in kinds.items()}
