"""SwinV2 and SegFormer of tiny widths with drawn weights, saved in the format that published ones have."""

from __future__ import annotations

import json
from pathlib import Path

from mpd2.imaging.models.loading import quiet

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
OLD_KEYS = {
    "do_normalize": True,
    "do_resize": True,
    "feature_extractor_type": "SegformerFeatureExtractor",
    "resample": 2,
}


def save_classifier(folder: Path, seed: int = 0, size: int = 512, labels: int = 2) -> Path:
    """A SwinV2 of 64 features a token at the end."""
    import torch

    with quiet():
        from transformers import Swinv2Config, Swinv2ForImageClassification

        torch.manual_seed(seed)
        config = Swinv2Config(
            image_size=size,
            patch_size=4,
            embed_dim=8,
            depths=[1, 1, 1, 1],
            num_heads=[1, 2, 2, 4],
            window_size=4,
            num_labels=labels,
            initializer_range=0.2,
        )
        network = Swinv2ForImageClassification(config)
        torch.nn.init.normal_(network.classifier.bias)
        network.save_pretrained(folder)
    settings = {"size": {"height": size, "width": size}, "resample": 3, "do_rescale": True, "rescale_factor": 1 / 255}
    write_processor(folder, settings | IMAGENET)
    return folder


def save_segmenter(folder: Path, seed: int = 0, size: int = 512, labels: int = 3) -> Path:
    """A SegFormer of at most 16 features; its preprocessing in the words of old releases."""
    import torch

    with quiet():
        from transformers import SegformerConfig, SegformerForSemanticSegmentation

        torch.manual_seed(seed)
        config = SegformerConfig(
            depths=[1, 1, 1, 1],
            hidden_sizes=[4, 8, 8, 16],
            num_attention_heads=[1, 1, 2, 2],
            decoder_hidden_size=8,
            num_labels=labels,
            initializer_range=0.2,
        )
        SegformerForSemanticSegmentation(config).save_pretrained(folder)
    write_processor(folder, OLD_KEYS | IMAGENET | {"size": size})
    return folder


def write_processor(folder: Path, settings: dict[str, object]) -> None:
    """The file that says how pixels are prepared."""
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
