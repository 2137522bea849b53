"""An unfinished training on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.training.config import Config
from mpd2.training.crew import TrainingState
from mpd2.training.devices import pick_device
from mpd2.training.loop import Callback, Progress

PLAIN = ("epoch", "problems", "inputs_digest")  # what of a state is no tensor
TENSORS = tuple(field.name for field in fields(TrainingState) if field.name not in PLAIN)


def checkpointing(path: Path, cohort: Cohort, every: int = 5) -> Callback:
    """A callback that saves the training every few epochs and at its end."""

    def keep(progress: Progress) -> None:
        if progress.epoch % every == 0 or progress.epoch == progress.epochs or not progress.active.any():
            save_checkpoint(path, progress.state(), progress.configs, cohort)

    return keep


def save_checkpoint(path: Path, state: TrainingState, configs: Sequence[Config], cohort: Cohort) -> None:
    """Write a training's state; an older checkpoint at the same place is replaced."""
    tensors = {name: getattr(state, name).cpu().contiguous() for name in TENSORS}
    about = {
        **{name: getattr(state, name) for name in PLAIN},
        "configs": _plain(configs),
        "fingerprint": cohort.fingerprint,
    }
    text = json.dumps(about)
    with replacing(path) as draft:
        draft.write_bytes(save(tensors, {"training": text, "digest": _digest(text, tensors)}))


def load_checkpoint(path: Path, configs: Sequence[Config], cohort: Cohort, device: torch.device) -> TrainingState:
    """Read a training's state, refusing one of other settings or another table."""
    about, tensors = _read(path)
    if about["fingerprint"] != cohort.fingerprint:
        raise UserError(f"{path}: belongs to another table ({about['fingerprint']}, here {cohort.fingerprint})")
    if about["configs"] != _plain(configs):
        raise UserError(f"{path}: belongs to a training with other settings; use another place or remove it")
    return TrainingState(
        epoch=about["epoch"],
        problems={int(member): message for member, message in about["problems"].items()},
        inputs_digest=about["inputs_digest"],
        **{name: tensor.to(device) for name, tensor in tensors.items()},
    )


def load_or_none(
    path: Path,
    configs: Sequence[Config],
    cohort: Cohort,
    device: str,
    say: Callable[[str], None],
    must_fit: bool = False,
) -> TrainingState | None:
    """The training to resume, if there is a checkpoint; none if it starts anew, which is said.

    A checkpoint of another training, or a damaged one, is passed over, or refused if it `must_fit`.
    """
    if not path.exists():
        return None
    try:
        state = load_checkpoint(path, configs, cohort, pick_device(device))
    except UserError as error:
        if must_fit:
            raise
        say(f"starts anew: {error}")
        return None
    say(f"goes on after epoch {state.epoch}")
    return state


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            text, expected = (file.metadata()[key] for key in ("training", "digest"))
            tensors = {name: file.get_tensor(name) for name in TENSORS}
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a checkpoint that can be read: {error}") from None
    if _digest(text, tensors) != expected:
        raise UserError(f"{path}: damaged; remove it to start anew")
    about = json.loads(text)
    if not about.keys() >= set(PLAIN):
        raise UserError(f"{path}: left by another version of the program; remove it to start anew")
    return about, tensors


def _digest(text: str, tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of everything; the format itself would not notice a changed byte."""
    parts = [text.encode(), *(tensors[name].numpy().tobytes() for name in TENSORS)]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _plain(configs: Sequence[Config]) -> list[dict[str, Any]]:
    return [config.model_dump(mode="json") for config in configs]
