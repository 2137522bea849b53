"""The frozen segmenter, a SegFormer: background, rim and cup for every pixel; the disc is rim and cup together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mpd2.core.errors import UserError
from mpd2.imaging.models.backend import Backend, Runner, runner_of
from mpd2.imaging.models.finding import SEGMENTER, Found, find_model
from mpd2.imaging.models.loading import load_network, quiet
from mpd2.imaging.models.processor import Pixels, Processor

if TYPE_CHECKING:
    import torch

BACKGROUND, RIM, CUP = 0, 1, 2
LABELS = 3

Labels = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Segmenter:
    """A network that is ready to answer."""

    processor: Processor
    run: Runner
    found: Found

    @classmethod
    def load(
        cls,
        name: str | Path = SEGMENTER.default,
        models: Path | None = None,
        backend: Backend = "torch",
        allow_pickle: bool = False,
    ) -> Segmenter:
        """The segmenter of this id or in this folder."""
        with quiet():
            from transformers import SegformerForSemanticSegmentation

        found = find_model(name, SEGMENTER, models, allow_pickle)
        processor = Processor.load(found.folder)
        network = load_network(SegformerForSemanticSegmentation, found, SEGMENTER)
        if network.config.num_labels != LABELS:
            raise UserError(
                f"{found.folder}: found {network.config.num_labels} labels, expected {LABELS}: background, rim and cup"
            )
        return cls.of(network, processor, found, backend)

    @classmethod
    def of(cls, network: Any, processor: Processor, found: Found, backend: Backend = "torch") -> Segmenter:
        """A network that is already in memory."""
        return cls(processor, runner_of(_upsampling(network), processor.size, backend), found)

    def __call__(self, pictures: Sequence[Pixels]) -> Labels:
        """0 background, 1 rim, 2 cup for every pixel at the network's size, [N, S, S]; pictures are [S', S', 3]."""
        (logits,) = self.run(self.processor(pictures))
        return logits.argmax(1).astype(np.uint8)


def _upsampling(network: Any) -> torch.nn.Module:
    """The network with its logits brought to the size of what it was given, before any label is chosen."""
    import torch

    class Upsampling(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
            coarse = self.network(pixels).logits  # [N, 3, S / 4, S / 4]
            size = pixels.shape[-2:]
            return (torch.nn.functional.interpolate(coarse, size=size, mode="bilinear", align_corners=False),)

    return Upsampling()
