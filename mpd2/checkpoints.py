"""An unfinished training on disk: one safetensors file, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from mpd2.cohort import Cohort
from mpd2.config import Config
from mpd2.errors import UserError
from mpd2.files import replacing
from mpd2.training import Callback, Progress, TrainingState


def checkpointing(path: Path, cohort: Cohort, every: int = 5) -> Callback:
    """A callback that saves the training every few epochs and at its end."""

    def save(progress: Progress) -> None:
        if progress.epoch % every == 0 or progress.epoch == progress.epochs or not progress.active.any():
            save_checkpoint(path, progress.state(), progress.configs, cohort)

    return save


def save_checkpoint(path: Path, state: TrainingState, configs: Sequence[Config], cohort: Cohort) -> None:
    """Write a training's state; an older checkpoint at the same place is replaced."""
    values = {field.name: getattr(state, field.name) for field in fields(state)}
    tensors = {name: value.cpu().contiguous() for name, value in values.items() if isinstance(value, Tensor)}
    about = {
        "epoch": state.epoch,
        "problems": state.problems,
        "configs": [config.model_dump(mode="json") for config in configs],
        "fingerprint": cohort.fingerprint,
    }
    with replacing(path) as draft:
        save_file(tensors, draft, metadata={"training": json.dumps(about)})


def load_checkpoint(path: Path, configs: Sequence[Config], cohort: Cohort, device: torch.device) -> TrainingState:
    """Read a training's state, refusing one of other settings or another table."""
    try:
        with safe_open(path, framework="pt", device=str(device)) as file:
            about = json.loads(file.metadata()["training"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        raise UserError(f"{path}: not a checkpoint that can be read: {error}") from None
    if about["fingerprint"] != cohort.fingerprint:
        raise UserError(f"{path}: belongs to another table ({about['fingerprint']}, here {cohort.fingerprint})")
    if about["configs"] != [config.model_dump(mode="json") for config in configs]:
        raise UserError(f"{path}: belongs to a training with other settings; use another place or remove it")
    problems = {int(member): message for member, message in about["problems"].items()}
    return TrainingState(epoch=about["epoch"], problems=problems, **tensors)
