"""What usual images look like to a classifier: fitted on some, standardised on others, kept in one safe file.

Every distance is brought to the held-out reference images: 0 is their median, 1 their spread (the median absolute
deviation as a standard deviation), so that a few bad reference images make nobody look usual.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.imaging.distance.energy import energy
from mpd2.imaging.distance.mahalanobis import Mahalanobis
from mpd2.imaging.distance.neighbours import Neighbours
from mpd2.imaging.distance.vim import Vim

FORMAT = 1
NAMES = ("vim", "energy", "mahalanobis", "knn")
ARRAYS = ("origin", "residual", "means", "precision", "neighbours")
FEWEST = 8  # images to fit on, and to standardise on
MAD = 1.4826  # makes the median absolute deviation of normal numbers their standard deviation


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference of one classifier."""

    vim: Vim
    mahalanobis: Mahalanobis
    neighbours: Neighbours
    centre: dict[str, float]  # of each raw distance on held-out images
    spread: dict[str, float]
    fitted_on: int
    held_out: int

    @classmethod
    def fit(
        cls,
        features: Floats,
        logits: Floats,
        features_held_out: Floats,
        logits_held_out: Floats,
        weight: Floats,
        bias: Floats,
    ) -> Reference:
        """From features [N, D] and logits [N, C] to fit on, others [H, …] to standardise on, and the head W, b."""
        if min(len(features), len(features_held_out)) < FEWEST:
            raise UserError(
                f"a reference needs at least {FEWEST} images to fit on and {FEWEST} held out, "
                f"found {len(features)} and {len(features_held_out)}"
            )
        unscaled = cls(
            Vim.fit(features, features_held_out, logits_held_out, weight, bias),
            Mahalanobis.fit(features, logits.argmax(1)),
            Neighbours.fit(features),
            dict.fromkeys(NAMES, 0.0),
            dict.fromkeys(NAMES, 1.0),
            len(features),
            len(features_held_out),
        )
        raw = unscaled.score(features_held_out, logits_held_out)
        centre = {name: float(np.median(values)) for name, values in raw.items()}
        spread = {name: _spread(values) for name, values in raw.items()}
        return replace(unscaled, centre=centre, spread=spread)

    def score(self, features: Floats, logits: Floats) -> dict[str, Floats]:
        """Each distance by name, [N]: 0 is usual, larger is stranger."""
        raw = {
            "vim": self.vim.score(features, logits),
            "energy": energy(logits),
            "mahalanobis": self.mahalanobis.score(features),
            "knn": self.neighbours.score(features),
        }
        return {name: (values - self.centre[name]) / self.spread[name] for name, values in raw.items()}

    def save(self, path: Path) -> None:
        """Write it to one safetensors file; its few settings are JSON in the head of the file."""
        from safetensors.numpy import save_file

        about = {
            "format": FORMAT,
            "alpha": self.vim.alpha,
            "k": self.neighbours.k,
            "centre": self.centre,
            "spread": self.spread,
            "fitted_on": self.fitted_on,
            "held_out": self.held_out,
        }
        arrays = {
            "origin": self.vim.origin,
            "residual": self.vim.residual,
            "means": self.mahalanobis.means,
            "precision": self.mahalanobis.precision,
            "neighbours": self.neighbours.features,
        }
        with replacing(path) as draft:
            tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
            save_file(tensors, draft, metadata={"reference": json.dumps(about, sort_keys=True)})

    @classmethod
    def load(cls, path: Path) -> Reference:
        """Read what `save` wrote."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "numpy") as file:
                about = json.loads((file.metadata() or {})["reference"])
                arrays = {name: file.get_tensor(name).astype(np.float64) for name in ARRAYS}
            if about["format"] != FORMAT:
                raise UserError(f"{path}: found a reference of format {about['format']}, expected {FORMAT}")
            return cls(
                Vim(arrays["origin"], arrays["residual"], float(about["alpha"])),
                Mahalanobis(arrays["means"], arrays["precision"]),
                Neighbours(arrays["neighbours"], int(about["k"])),
                {name: float(about["centre"][name]) for name in NAMES},
                {name: float(about["spread"][name]) for name in NAMES},
                int(about["fitted_on"]),
                int(about["held_out"]),
            )
        except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{path}: the reference cannot be read: {error}") from None


def _spread(values: Floats) -> float:
    """Robust standard deviation; the plain one, then 1, where that is nothing."""
    robust = MAD * float(np.median(np.abs(values - np.median(values))))
    return robust or float(values.std()) or 1.0
