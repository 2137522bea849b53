"""Photographs as directions in space, by any network that was trained to see: alike is near.

The paper takes two, DINOv2 and RETFound-MAE. A network is known by its config.json and loaded by its class, from a
folder of this machine; nothing is downloaded. The classifier and the segmenter of a pipeline serve as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.imaging.field import crop, find_field
from mpd2.imaging.models.backend import Runner, TorchRunner
from mpd2.imaging.models.finding import CONFIG, PROCESSOR, Kind, find_model, how_to_get, models_folder, read_json
from mpd2.imaging.models.loading import load_network, quiet
from mpd2.imaging.models.processor import Pixels, Processor
from mpd2.imaging.photograph import Photograph

if TYPE_CHECKING:
    import torch

DEFAULTS = ("facebook/dinov2-base", "retfound-mae")
"""The paper's two; the second is not published in this format and has to be converted by whoever may use it."""
TYPES = ("dinov2", "vit", "vit_mae", "swinv2", "segformer")
AT_ONCE = 8  # photographs in memory


class Encoder(Protocol):
    """Any network that makes numbers of pictures."""

    @property
    def name(self) -> str:
        """What it is called in a table's description."""

    def __call__(self, pictures: Sequence[Pixels]) -> Floats:
        """[N] pictures of [H, W, 3] to [N, F]."""


@dataclass(frozen=True, eq=False)
class NetworkEncoder:
    """A network of this machine."""

    name: str
    processor: Processor
    run: Runner

    def __call__(self, pictures: Sequence[Pixels]) -> Floats:
        """[N] pictures of [H, W, 3] to [N, F]."""
        return self.run(self.processor(pictures))[0].astype(np.float64)


def load_encoder(name: str | Path, models: Path | None = None) -> NetworkEncoder:
    """The encoder of this id or in this folder; a UserError says what is missing."""
    models = models_folder() if models is None else models
    folder = _folder(name, models)
    kind = _kind(folder)
    found = find_model(folder, kind, models)
    network = load_network(_network_class(kind.model_type), found, kind)
    return NetworkEncoder(folder.name, _processor(folder), TorchRunner(_embedding(network, kind.model_type)))


def embed(encoder: Encoder, photographs: Iterable[Photograph], cropped: bool = True) -> Floats:
    """Unit vectors of photographs, [N, F]; `cropped` looks at the field of view alone."""
    pictures = _pictures(photographs, cropped)
    parts = []
    while batch := list(islice(pictures, AT_ONCE)):
        parts.append(encoder(batch))
    return unit(np.concatenate(parts)) if parts else np.zeros((0, 0))


def unit(vectors: Floats) -> Floats:
    """Vectors of length 1, [N, F], so that a product is a cosine; what is all 0 stays so.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0))


def _pictures(photographs: Iterable[Photograph], cropped: bool) -> Iterator[Pixels]:
    for photograph in photographs:
        pixels = photograph.pixels
        yield crop(pixels, find_field(pixels)) if cropped else pixels


def _folder(name: str | Path, models: Path) -> Path:
    """Where an encoder's files are."""
    text = str(name)
    for place in (Path(name), models / text.replace("/", "--"), models / text):
        if (place / CONFIG).is_file():
            return place
    if "/" in text and not Path(name).is_absolute() and not isinstance(name, Path):
        raise UserError(how_to_get(text, _as_kind("dinov2"), models))
    raise UserError(
        f"the encoder {text} is not on this machine: expected its {CONFIG}, {PROCESSOR} and model.safetensors in "
        f"{models / text}, or a folder named with --encoders. `classifier` and `segmenter` name the networks that "
        "measure the photographs"
    )


def _kind(folder: Path) -> Kind:
    found = read_json(folder / CONFIG).get("model_type")
    if found not in TYPES:
        raise UserError(f"{folder / CONFIG}: found a network of type {found!r}, expected one of {', '.join(TYPES)}")
    return _as_kind(str(found))


def _as_kind(model_type: str) -> Kind:
    return Kind("encoder", "the encoder", DEFAULTS[0], model_type)


def _processor(folder: Path) -> Processor:
    """As the network's file says it, but nothing is cut off: the whole picture is made as large as the cut would be."""
    settings = read_json(folder / PROCESSOR)
    if settings.get("do_center_crop"):
        settings |= {"size": settings.get("crop_size", settings.get("size")), "do_center_crop": False}
    try:
        return Processor.of(settings)
    except (TypeError, ValueError, KeyError) as error:
        raise UserError(f"{folder / PROCESSOR}: found settings that cannot be used ({error})") from None


def _network_class(model_type: str) -> type[Any]:
    with quiet():
        from transformers import Dinov2Model, SegformerModel, Swinv2Model, ViTMAEModel, ViTModel

    networks = (Dinov2Model, ViTModel, ViTMAEModel, Swinv2Model, SegformerModel)
    return dict(zip(TYPES, networks, strict=True))[model_type]


def _embedding(network: Any, model_type: str) -> torch.nn.Module:
    """The network with one vector a picture as its output.

    That is the first token of DINOv2 and ViT, the mean of the patches of a masked autoencoder (all of them seen) and of
    a Swin, and the mean over the last map of a SegFormer.
    """
    import torch

    class Embedding(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = network
            if model_type == "vit_mae":
                network.config.mask_ratio = 0.0

        def forward(self, pixels: torch.Tensor) -> tuple[torch.Tensor]:
            if model_type == "vit_mae":
                order = torch.arange(_patches(network), device=pixels.device, dtype=pixels.dtype)
                tokens = self.network(pixels, noise=order.expand(len(pixels), -1)).last_hidden_state
                return (tokens[:, 1:].mean(1),)
            tokens = self.network(pixels).last_hidden_state  # [N, T, F], of a SegFormer [N, F, h, w]
            if model_type == "segformer":
                return (tokens.mean((2, 3)),)
            return (tokens.mean(1) if model_type == "swinv2" else tokens[:, 0],)

    return Embedding()


def _patches(network: Any) -> int:
    """How many patches a picture has."""
    return int((network.config.image_size // network.config.patch_size) ** 2)
