"""An unfinished training on disk."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from disk import full_disk, names
from killed_training import COHORT, CONFIGS, LAST_WHOLE
from places import HELPERS, ROOT
from safetensors.torch import save_file

from mpd2.core.errors import Cancelled, UserError
from mpd2.training import checkpoints
from mpd2.training.checkpoints import checkpointing, load_checkpoint, load_or_none, save_checkpoint
from mpd2.training.crew import TrainingState
from mpd2.training.loop import Progress, Trained, train

CPU = torch.device("cpu")


def load(path: Path) -> TrainingState:
    return load_checkpoint(path, CONFIGS, COHORT, CPU)


@pytest.fixture(scope="module")
def whole() -> Trained:
    """The training nobody interrupts."""
    return train(COHORT, CONFIGS, device="cpu")


@pytest.fixture(scope="module")
def states() -> list[TrainingState]:
    kept: list[TrainingState] = []
    train(COHORT, CONFIGS, device="cpu", callbacks=[lambda progress: kept.append(progress.state())])
    return kept


@pytest.fixture
def path(tmp_path, states) -> Path:
    save_checkpoint(tmp_path / "training.safetensors", states[1], CONFIGS, COHORT)
    return tmp_path / "training.safetensors"


def assert_same(found: Trained, expected: Trained) -> None:
    assert torch.equal(found.weights.flat, expected.weights.flat)
    np.testing.assert_array_equal(found.history, expected.history)
    np.testing.assert_array_equal(found.best_epoch, expected.best_epoch)


def test_a_state_comes_back_to_the_last_bit(path, states):
    saved = dataclasses.replace(states[1], problems={1: "member 2 stopped"})
    save_checkpoint(path, saved, CONFIGS, COHORT)
    loaded = load(path)
    for field in dataclasses.fields(TrainingState):
        ours, theirs = getattr(saved, field.name), getattr(loaded, field.name)
        if isinstance(ours, torch.Tensor):
            assert ours.dtype == theirs.dtype
            assert torch.equal(ours.nan_to_num(), theirs.nan_to_num())
        else:
            assert ours == theirs
    assert names(path.parent) == ["training.safetensors"]


def test_a_checkpoint_of_another_version_is_refused(path, states, monkeypatch):
    monkeypatch.setattr(checkpoints, "PLAIN", ("epoch", "problems"))
    save_checkpoint(path, states[1], CONFIGS, COHORT)
    monkeypatch.undo()
    with pytest.raises(UserError, match="left by another version of the program; remove it"):
        load(path)


def test_a_cancelled_training_goes_on_from_its_file_to_the_same_end(tmp_path, whole):
    def cancel(progress: Progress) -> None:
        if progress.epoch == 5:
            raise Cancelled

    path = tmp_path / "training.safetensors"
    with pytest.raises(Cancelled):
        train(COHORT, CONFIGS, device="cpu", callbacks=[checkpointing(path, COHORT, every=2), cancel])
    state = load(path)
    assert state.epoch == 4
    assert_same(train(COHORT, CONFIGS, device="cpu", resume=state), whole)


def test_a_training_killed_in_the_middle_of_a_write_goes_on_to_the_same_end(tmp_path, whole):
    path = tmp_path / "training.safetensors"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HELPERS), str(ROOT)])}
    killed = subprocess.run([sys.executable, HELPERS / "killed_training.py", path], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    state = load(path)
    assert state.epoch == LAST_WHOLE
    assert_same(train(COHORT, CONFIGS, device="cpu", resume=state), whole)


def test_a_finished_training_is_kept_too(tmp_path, whole):
    path = tmp_path / "training.safetensors"
    train(COHORT, CONFIGS, device="cpu", callbacks=[checkpointing(path, COHORT, every=100)])
    state = load(path)
    assert state.epoch == 7
    assert_same(train(COHORT, CONFIGS, device="cpu", resume=state), whole)


def test_other_settings_are_refused(path):
    for others in ([CONFIGS[0]], CONFIGS[::-1], [CONFIGS[0], CONFIGS[1].but(training__epochs=8)]):
        with pytest.raises(UserError, match=r"belongs to a training with other settings; use another place or remove"):
            load_checkpoint(path, others, COHORT, CPU)


def test_a_training_goes_on_starts_anew_or_is_refused(path, tmp_path):
    said: list[str] = []
    assert load_or_none(tmp_path / "nothing", CONFIGS, COHORT, "cpu", said.append) is None
    state = load_or_none(path, CONFIGS, COHORT, "cpu", said.append)
    assert said == [f"goes on after epoch {state.epoch}"]
    assert load_or_none(path, CONFIGS[:1], COHORT, "cpu", said.append) is None
    assert said[1].startswith(f"starts anew: {path}: belongs to a training with other settings")
    with pytest.raises(UserError, match="belongs to a training with other settings"):
        load_or_none(path, CONFIGS[:1], COHORT, "cpu", said.append, must_fit=True)


def test_another_table_is_refused(path):
    other = dataclasses.replace(COHORT, fingerprint="abc")
    with pytest.raises(UserError, match=rf"belongs to another table \({COHORT.fingerprint}, here abc\)$"):
        load_checkpoint(path, CONFIGS, other, CPU)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
def test_a_truncated_file_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(UserError, match=r"training\.safetensors: not a checkpoint that can be read: "):
        load(path)


def test_a_changed_bit_is_noticed_wherever_it_is(path):
    content = path.read_bytes()
    for position in np.linspace(0, len(content) - 1, 60).astype(int):
        changed = bytearray(content)
        changed[position] ^= 1
        path.write_bytes(changed)
        with pytest.raises(UserError, match=r"training\.safetensors: (damaged; remove it|not a checkpoint that can)"):
            load(path)


def test_a_file_that_is_no_checkpoint_or_not_there_is_refused(tmp_path):
    path = tmp_path / "training.safetensors"
    with pytest.raises(UserError, match="not a checkpoint that can be read: No such file"):
        load(path)
    save_file({"weights": torch.zeros(2)}, path)
    with pytest.raises(UserError, match="not a checkpoint that can be read"):
        load(path)
    save_file({"weights": torch.zeros(2)}, path, metadata={"training": "{}", "digest": ""})
    with pytest.raises(UserError, match="not a checkpoint that can be read"):
        load(path)


def test_a_full_disk_leaves_the_last_checkpoint_and_no_debris(path, states):
    before = path.read_bytes()
    with full_disk(1000), pytest.raises(UserError, match="could not be written: File too large; nothing was changed"):
        save_checkpoint(path, states[2], CONFIGS, COHORT)
    assert path.read_bytes() == before
    assert names(path.parent) == ["training.safetensors"]
