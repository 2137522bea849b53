"""The two small networks, in transformers' own format: what they look like, and how they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import torch

if TYPE_CHECKING:
    from transformers import SegformerForSemanticSegmentation, Swinv2ForImageClassification

CLASSIFIER_SIZE, SEGMENTER_SIZE = 192, 128  # pixels of a network's input
MEAN, SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the channels, as in the large models
BILINEAR = 2  # Pillow's number, as in a preprocessor_config.json
_DRAWING = Lock()  # torch has one generator for all threads

Made = TypeVar("Made")


def classifier(seed: int) -> Swinv2ForImageClassification:
    """SwinV2 of tiny widths with two logits, 0 healthy and 1 glaucoma."""
    from transformers import Swinv2Config, Swinv2ForImageClassification

    config = Swinv2Config(
        image_size=CLASSIFIER_SIZE,
        patch_size=8,
        embed_dim=24,
        depths=[1, 3, 1],
        num_heads=[2, 4, 8],
        window_size=12,
        mlp_ratio=3.0,
        drop_path_rate=0.0,
        id2label={0: "not glaucoma", 1: "glaucoma"},
        label2id={"not glaucoma": 0, "glaucoma": 1},
    )
    return drawn(lambda: Swinv2ForImageClassification(config), seed)


def segmenter(seed: int) -> SegformerForSemanticSegmentation:
    """SegFormer of tiny widths with three labels, 0 background, 1 rim and 2 cup."""
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(
        hidden_sizes=[16, 32, 64, 96],
        depths=[1, 1, 1, 1],
        num_attention_heads=[1, 2, 4, 6],
        mlp_ratios=[4, 4, 3, 2],
        decoder_hidden_size=48,
        drop_path_rate=0.0,
        classifier_dropout_prob=0.0,
        id2label={0: "background", 1: "rim", 2: "cup"},
        label2id={"background": 0, "rim": 1, "cup": 2},
    )
    return drawn(lambda: SegformerForSemanticSegmentation(config), seed)


def drawn(make: Callable[[], Made], seed: int) -> Made:
    """What `make` makes, its first weights drawn from the seed alone; torch's own generator stays as it was."""
    with _DRAWING, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def keep(network: Any, size: int, folder: Path) -> None:
    """config.json, model.safetensors and preprocessor_config.json."""
    network.save_pretrained(folder)
    said = {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": size, "width": size},
        "resample": BILINEAR,
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": list(MEAN),
        "image_std": list(SD),
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(said, indent=1) + "\n")
