"""The frozen classifier, a SwinV2: two logits, the features its head sees, and the tokens they are the mean of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.imaging.models.backend import Backend, Runner, Singles, runner_of
from mpd2.imaging.models.finding import CLASSIFIER, Found, find_model
from mpd2.imaging.models.loading import load_network, quiet
from mpd2.imaging.models.processor import Pixels, Processor

if TYPE_CHECKING:
    import torch

CLASSES = 2


@dataclass(frozen=True, eq=False)
class Answers:
    """What the classifier says of N pictures."""

    logits: Floats  # [N, 2], the paper's ℓ; class 1 is what is looked for
    features: Floats  # [N, D] what its linear head takes: the mean of the tokens
    tokens: Singles  # [N, T, D] after the last norm, row by row

    @property
    def probability(self) -> Floats:
        """Of class 1, [N]."""
        return probability_of(self.logits)


def probability_of(logits: Floats) -> Floats:
    """Softmax of two logits, the paper's p^ai, [N]."""
    return 1 / (1 + np.exp(np.clip(logits[:, 0] - logits[:, 1], -700, 700)))


@dataclass(frozen=True, eq=False)
class Classifier:
    """A network that is ready to answer."""

    processor: Processor
    run: Runner
    weight: Floats  # [2, D] of its head, the paper's W
    bias: Floats  # [2]
    found: Found

    @classmethod
    def load(
        cls,
        name: str | Path = CLASSIFIER.default,
        models: Path | None = None,
        backend: Backend = "torch",
        allow_pickle: bool = False,
    ) -> Classifier:
        """The classifier of this id or in this folder."""
        with quiet():
            from transformers import Swinv2ForImageClassification

        found = find_model(name, CLASSIFIER, models, allow_pickle)
        processor = Processor.load(found.folder)
        network = load_network(Swinv2ForImageClassification, found, CLASSIFIER)
        if network.config.num_labels != CLASSES:
            raise UserError(f"{found.folder}: found a head of {network.config.num_labels} classes, expected {CLASSES}")
        return cls.of(network, processor, found, backend)

    @classmethod
    def of(cls, network: Any, processor: Processor, found: Found, backend: Backend = "torch") -> Classifier:
        """A network that is already in memory."""
        weight, bias = (each.detach().cpu().numpy().astype(np.float64) for each in network.classifier.parameters())
        return cls(processor, runner_of(_answering(network), processor.size, backend), weight, bias, found)

    def __call__(self, pictures: Sequence[Pixels]) -> Answers:
        """What it says of square pictures, [S, S, 3] each."""
        logits, features, tokens = self.run(self.processor(pictures))
        return Answers(logits.astype(np.float64), features.astype(np.float64), tokens)


def _answering(network: Any) -> torch.nn.Module:
    """The network with all three answers as outputs: logits, features, tokens."""
    import torch

    class Answering(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            seen = self.network.swinv2(pixels)
            return self.network.classifier(seen.pooler_output), seen.pooler_output, seen.last_hidden_state

    return Answering()
