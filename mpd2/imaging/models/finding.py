"""Where a network's files are, what is missing, and how to get it. Nothing here ever opens a connection.

A network is named by a folder or by its id on the hub it is published on. An id is looked for in the models' folder
(`models/owner--name` or `models/owner/name`) and in the local cache that the hub's own client keeps.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpd2.core.errors import UserError
from mpd2.core.files import ROOT, digest

MODELS = "MPD2_MODELS"
"""Names the models' folder."""
WORKSHOP = "MPD2_WORKSHOP"
CONFIG, PROCESSOR = "config.json", "preprocessor_config.json"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLES = ("pytorch_model.bin", "model.bin", "pytorch_model.pt", "model.pt")
ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class Kind:
    """One of the two networks: what it is for, and which one is used unless another is named."""

    role: str  # the folder in a pipeline
    words: str
    default: str  # its id
    model_type: str  # as config.json says it


CLASSIFIER = Kind("classifier", "the classifier", "pamixsun/swinv2_tiny_for_glaucoma_classification", "swinv2")
SEGMENTER = Kind(
    "segmenter", "the segmenter of disc and cup", "pamixsun/segformer_for_optic_disc_cup_segmentation", "segformer"
)
KINDS = (CLASSIFIER, SEGMENTER)


@dataclass(frozen=True)
class Found:
    """The files of a network that is there."""

    folder: Path
    weights: Path  # a safetensors file, the index of several, or a pickle that a person insisted on

    @property
    def pickled(self) -> bool:
        """Whether the weights are a pickle."""
        return self.weights.name in PICKLES

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that decides what the network answers."""
        shards = sorted(self.folder.glob("model-*.safetensors")) if self.weights.name == INDEX else []
        return (self.folder / CONFIG, self.folder / PROCESSOR, self.weights, *shards)

    def digests(self) -> dict[str, str]:
        """SHA-256 of each of them, by name."""
        return {path.name: digest(path) for path in self.files}


def models_folder() -> Path:
    """The models' folder of this installation."""
    if named := os.environ.get(MODELS):
        return Path(named)
    workshop = os.environ.get(WORKSHOP)
    return Path(workshop) / "models" if workshop else ROOT / "build" / "models"


def find_model(name: str | Path, kind: Kind, models: Path | None = None, allow_pickle: bool = False) -> Found:
    """The network of this id or in this folder; a UserError says what is missing and how to get it."""
    models = models_folder() if models is None else models
    places = _places(str(name), models)
    for place in places:
        if place.is_dir():
            return _judged(place, kind, allow_pickle)
    if isinstance(name, Path) or not ID.fullmatch(name):
        raise UserError(f"{name}: {kind.words} is not there: found no such folder, expected one with {_needed()}")
    raise UserError(how_to_get(name, kind, models))


def why_missing(name: str, kind: Kind, models: Path, allow_pickle: bool = False) -> str:
    """Why `find_model` would not find it, and how to put that right; "" if it would."""
    try:
        find_model(name, kind, models, allow_pickle)
    except UserError as error:
        return str(error)
    return ""


def how_to_get(name: str, kind: Kind, models: Path) -> str:
    """What to do where a network is missing: which files, how to get them with internet, and where to put them."""
    target = models / name.replace("/", "--")
    return (
        f"{kind.words} {name} is not on this machine, and nothing is downloaded from here. Expected the files "
        f"{_needed()} in {target}. On a machine with internet and the hub's own client (pip install huggingface_hub) "
        f"run\n  hf download {name} {CONFIG} {PROCESSOR} {WEIGHTS} --local-dir {target.name}\n"
        f"and copy the folder {target.name} to {models}."
    )


def read_json(path: Path) -> dict[str, Any]:
    """The settings in a file of a network."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UserError(f"{path}: found something else than JSON") from None
    if not isinstance(values, dict):
        raise UserError(f"{path}: found a {type(values).__name__}, expected names with values")
    return values


def _needed() -> str:
    return f"{CONFIG}, {PROCESSOR} and {WEIGHTS}"


def _places(name: str, models: Path) -> list[Path]:
    if not ID.fullmatch(name):
        return [Path(name)]
    places = [] if name.startswith(".") else [Path(name)]
    return [*places, models / name.replace("/", "--"), models / name, *_cached(name)]


def _cached(name: str) -> list[Path]:
    """The revisions of an id in the hub's local cache, the current one first."""
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    repository = Path(os.environ.get("HF_HUB_CACHE", home / "hub")) / f"models--{name.replace('/', '--')}"
    main = repository / "refs" / "main"
    current = [repository / "snapshots" / main.read_text().strip()] if main.is_file() else []
    return current + sorted(repository.glob("snapshots/*"))


def _judged(folder: Path, kind: Kind, allow_pickle: bool) -> Found:
    """The network in a folder, whole and of the right kind."""
    missing = [name for name in (CONFIG, PROCESSOR) if not (folder / name).is_file()]
    if missing:
        raise UserError(f"{folder}: {kind.words} is not whole: {' and '.join(missing)} missing, expected {_needed()}")
    found = read_json(folder / CONFIG).get("model_type")
    if found != kind.model_type:
        raise UserError(
            f"{folder / CONFIG}: found a network of type {found!r}, expected {kind.model_type!r} as {kind.words}"
        )
    for name in (WEIGHTS, INDEX):
        if (folder / name).is_file():
            return Found(folder, folder / name)
    pickles = [folder / name for name in PICKLES if (folder / name).is_file()]
    if pickles and allow_pickle:
        return Found(folder, pickles[0])
    if pickles:
        raise UserError(
            f"{folder}: found the weights as a pickle alone ({pickles[0].name}), which can run code when it is read. "
            f"Expected {WEIGHTS}; most networks are published with it too. --allow-pickle reads the pickle anyway, "
            "its numbers alone."
        )
    raise UserError(f"{folder}: {kind.words} is not whole: the weights are missing, expected {WEIGHTS}")
