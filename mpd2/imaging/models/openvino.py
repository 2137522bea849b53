"""A network run by OpenVINO, which is faster than torch on a CPU, behind a gate: the same answers, or none.

The first pictures are answered by torch as well. Where any output differs by more than 1e-5 of its scale, nothing is
answered and the difference is said. Its telemetry is off: it is looked for when OpenVINO is first imported, and is not
found.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from mpd2.core.errors import UserError
from mpd2.imaging.models.backend import Singles, TorchRunner

if TYPE_CHECKING:
    import torch

TOLERANCE = 1e-5  # of the largest number of an output
CHECKED = 3  # pictures that torch answers as well


class GatedRunner:
    """OpenVINO under the watch of torch; one picture at a time."""

    def __init__(self, network: torch.nn.Module, size: int, tolerance: float = TOLERANCE) -> None:
        self.torch = TorchRunner(network, "cpu")
        self.compiled = compiled(network, size)
        self.tolerance = tolerance
        self.unchecked = CHECKED
        self.difference = 0.0  # the largest seen, as a share of scale

    def __call__(self, inputs: Singles) -> tuple[Singles, ...]:
        """[N, 3, S, S] to the network's outputs, each [N, …]."""
        answers = [self.compiled([picture[None]]) for picture in inputs]
        count = len(self.compiled.outputs)
        outputs = tuple(np.concatenate([answer[index] for answer in answers]) for index in range(count))
        if self.unchecked > 0:
            self._check(inputs[: self.unchecked], outputs)
        return outputs

    def _check(self, inputs: Singles, outputs: tuple[Singles, ...]) -> None:
        """Compare with torch, and refuse to go on where they differ."""
        expected = self.torch(inputs)
        pairs = zip(outputs, expected, strict=True)
        self.difference = max(self.difference, *(difference(ours[: len(inputs)], theirs) for ours, theirs in pairs))
        if not self.difference <= self.tolerance:  # also where it is no number
            raise UserError(
                f"OpenVINO gives other answers than torch here: they differ by {self.difference:.1e} of their size, "
                f"expected at most {self.tolerance:.0e}. Measure with --backend torch."
            )
        self.unchecked -= len(inputs)


def difference(ours: Singles, theirs: Singles) -> float:
    """The largest difference between two outputs, as a share of the largest number.

    >>> round(difference(np.array([100.0, 0.0]), np.array([100.0, 1.0])), 6)
    0.01
    """
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-12))


def compiled(network: torch.nn.Module, size: int) -> Any:
    """The network as OpenVINO runs it, in full precision and with as many threads as torch has."""
    import torch

    openvino = imported()
    picture = torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(0))
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")  # tracing says that shapes are taken as constants, which they are
        model = openvino.convert_model(network.eval(), example_input=picture, input=[list(picture.shape)])
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "EXECUTION_MODE_HINT": "ACCURACY",
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
    }
    return openvino.Core().compile_model(model, "CPU", settings)


def imported() -> Any:
    """OpenVINO without its telemetry, which would tell of the import itself."""
    modules: dict[str, Any] = sys.modules
    modules.setdefault("openvino_telemetry", None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import openvino
    except ImportError:
        raise UserError(
            "OpenVINO is not installed: install requirements-imaging.txt, or measure with --backend torch"
        ) from None
    return openvino
