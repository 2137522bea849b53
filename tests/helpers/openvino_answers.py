"""What OpenVINO answers, asked in a process of its own.

A process in which it has run a network dies of a segmentation fault when a signal later interrupts a training there
(2026.4.1 with torch 2.13.0): in a suite, tests of jobs did. The program never does both in one process.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from imaging_models import save_classifier, save_segmenter

from mpd2.imaging.models.backend import TorchRunner
from mpd2.imaging.models.classifier import Classifier
from mpd2.imaging.models.openvino import GatedRunner, difference
from mpd2.imaging.models.segmenter import Segmenter


def in_a_process(ask: Callable[..., Any], *given: Any) -> Any:
    """What a function of this module returns or raises in a fresh process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(ask, *given).result()


def differences(folder: Path) -> dict[str, float]:
    """How far tiny networks are from what torch makes of them, and what the gate saw."""
    save_classifier(folder / "classifier")
    save_segmenter(folder / "segmenter")
    fast, slow = (Classifier.load(folder / "classifier", backend=backend) for backend in ("openvino", "torch"))
    ours, theirs = fast(pictures(4)), slow(pictures(4))
    maps = [Segmenter.load(folder / "segmenter", backend=backend)(pictures(2)) for backend in ("openvino", "torch")]
    return {
        "logits": difference(ours.logits, theirs.logits),
        "features": difference(ours.features, theirs.features),
        "unchecked": fast.run.unchecked,
        "seen": fast.run.difference,
        "same_labels": float((maps[0] == maps[1]).mean()),
    }


def answer_otherwise() -> None:
    """Ask behind a gate whose torch has other weights."""
    runner = GatedRunner(small_network(), 32)
    runner.torch = TorchRunner(small_network(), "cpu")
    runner(blank(1))


def answered_after_the_gate() -> tuple[int, int]:
    """How many pictures are left to check after two, and how many are answered once none is."""
    runner = GatedRunner(small_network(), 32)
    runner(blank(2))
    left = runner.unchecked
    runner(blank(5))
    runner.torch = TorchRunner(small_network(), "cpu")
    return left, len(runner(blank(5))[0])


def timings() -> tuple[dict[str, Any], str]:
    """The benchmark in small, and in words."""
    from mpd2.cli.bench.imaging import bench_imaging, describe_imaging

    found = bench_imaging(rounds=1, pictures=0, small=True)
    return found, describe_imaging(found)


def pictures(count: int, side: int = 200) -> list[np.ndarray]:
    return list(np.random.default_rng(count).integers(0, 256, (count, side, side, 3), dtype=np.uint8))


def blank(count: int) -> np.ndarray:
    return np.ones((count, 3, 32, 32), np.float32)


def small_network() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Conv2d(3, 1, 3), Outputs())


class Outputs(torch.nn.Module):
    """Makes of one output a tuple of one."""

    def forward(self, value: torch.Tensor) -> tuple[torch.Tensor]:
        return (value,)
