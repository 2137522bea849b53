"""Narasimhan et al. (2022): estimate how each action errs, then defer where it pays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates.logistic import sigmoid
from mpd2.methods.common import SHARPNESS
from mpd2.methods.learned import Learned

if TYPE_CHECKING:
    from torch import Tensor

    from mpd2.methods.stacked import Cases, Loss

TEMPERATURES = np.geomspace(0.25, 4.0, 33)


@dataclass(frozen=True)
class Narasimhan(Learned):
    """Post-hoc plug-in: two heads an action, for a miss and for a false alarm, calibrated on val; also for the AI."""

    family: ClassVar[str] = "narasimhan"
    title: ClassVar[str] = "Narasimhan post-hoc"

    def outputs(self, readers: int) -> int:
        """Logits of P(miss | state) for every action, then of P(false alarm | state)."""
        return 2 * (1 + readers)

    def objective(self, train: Cases) -> Loss:
        """Cross-entropy of both errors, over the available actions."""
        return error_loss

    def tune(self, outputs: Tensor, val: Cases) -> dict[str, np.ndarray]:
        """The temperature of each member with the least error loss on val, [E]."""
        import torch  # here, as naming the method does not need it

        tried = torch.stack([error_loss(outputs / temperature, val) for temperature in TEMPERATURES])  # [T, E]
        return {"temperature": TEMPERATURES[tried.argmin(0).numpy()]}

    def scores(self, outputs: Floats, arrays: Mapping[str, np.ndarray], costs: Costs, cohort: Cohort) -> Floats:
        """The expected cost of every action, turned round; in the plain form this is its chance to be right."""
        missed, alarmed = np.split(sigmoid(outputs / arrays["temperature"][:, None, None]), 2, axis=-1)  # [E, N, 1 + M]
        expected = costs.false_negative * missed + costs.false_positive * alarmed + np.array([0.0, *costs.fees])
        return -SHARPNESS * expected


def error_loss(outputs: Tensor, cases: Cases) -> Tensor:
    """Mean over cases of the summed binary cross-entropies of miss and false alarm, [E, B, 2 (1 + M)] to [E]."""
    import torch
    from torch.nn import functional

    sick = cases.truth[..., None]
    targets = torch.cat([cases.wrong * sick, cases.wrong * (1 - sick)], dim=-1).expand_as(outputs)
    counted = torch.cat([cases.possible, cases.possible], dim=-1)
    losses = functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    return (losses * counted).sum(-1).mean(-1)
