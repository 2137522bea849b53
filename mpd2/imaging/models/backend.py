"""What runs a network: arrays in, arrays out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

Singles = NDArray[np.float32]
Backend = Literal["torch", "openvino"]


class Runner(Protocol):
    """A network that is ready to answer."""

    def __call__(self, inputs: Singles) -> tuple[Singles, ...]:
        """[N, 3, S, S] to its outputs, each [N, …]."""


class TorchRunner:
    """A network run by torch, on a graphics card if there is one."""

    def __init__(self, network: torch.nn.Module, device: torch.device | str | None = None) -> None:
        from mpd2.imaging.models.loading import device_here

        self.device = device_here() if device is None else device
        self.network = network.eval().to(self.device)

    def __call__(self, inputs: Singles) -> tuple[Singles, ...]:
        """[N, 3, S, S] to its outputs, each [N, …]."""
        import torch

        with torch.inference_mode():
            outputs = self.network(torch.from_numpy(inputs).to(self.device))
        return tuple(output.cpu().numpy() for output in outputs)


def runner_of(network: torch.nn.Module, size: int, backend: Backend) -> Runner:
    """A network on the backend asked for; `size` is the side of what it takes, in pixels."""
    if backend == "torch":
        return TorchRunner(network)
    from mpd2.imaging.models.openvino import GatedRunner

    return GatedRunner(network, size)
