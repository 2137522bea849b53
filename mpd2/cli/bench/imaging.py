"""How fast pictures are measured: an answer of each network by torch and by OpenVINO, and a folder of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from mpd2.cli.output import aligned, now_and_then, say

SIZE = 512  # pixels a side, as the published networks take
ROUNDS = 3  # the least of so many counts: others may use the machine too
IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}

SWIN: dict[str, Any] = {
    "image_size": SIZE,
    "patch_size": 4,
    "window_size": 8,
    "num_labels": 2,
    "embed_dim": 96,
    "depths": [2, 2, 6, 2],
    "num_heads": [3, 6, 12, 24],
}
SEGFORMER: dict[str, Any] = {
    "num_labels": 3,
    "hidden_sizes": [64, 128, 320, 512],
    "depths": [3, 4, 18, 3],
    "num_attention_heads": [1, 2, 5, 8],
    "decoder_hidden_size": 768,
}
TINY_SWIN = SWIN | {"embed_dim": 8, "depths": [1, 1, 1, 1], "num_heads": [1, 1, 2, 4]}
TINY_SEGFORMER = SEGFORMER | {
    "hidden_sizes": [8, 8, 16, 16],
    "depths": [1, 1, 1, 1],
    "num_attention_heads": [1, 1, 2, 2],
    "decoder_hidden_size": 16,
}


def bench_imaging(rounds: int = ROUNDS, pictures: int = 100, processes: int = 2, small: bool = False) -> dict[str, Any]:
    """Seconds by the clock and of one core for a picture; plain values, ready for JSON.

    The networks are those of the default models in width and depth, with drawn weights: speed does not depend on
    them. Both backends take turns in one process with one thread, so that their ratio holds on a busy machine.
    `small` stands for networks of tiny widths, to try the benchmark itself.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with TemporaryDirectory() as place:
            saved = save_networks(Path(place), small)
            networks = {role: _timed(role, folder, rounds) for role, folder in saved.items()}
            whole = _folder(Path(place), saved, pictures, processes) if pictures else None
    finally:
        torch.set_num_threads(threads)
    return {
        "setting": {"pixels": SIZE, "threads": 1, "rounds": rounds, "small": small},
        "networks": networks,
        "folder": whole,
    }


def save_networks(place: Path, small: bool) -> dict[str, Path]:
    """Both networks with drawn weights, as they are published: their folders by role."""
    import json

    import torch

    from mpd2.imaging.models.loading import quiet

    with quiet():
        from transformers import (
            SegformerConfig,
            SegformerForSemanticSegmentation,
            Swinv2Config,
            Swinv2ForImageClassification,
        )

        torch.manual_seed(0)
        networks: dict[str, Any] = {
            "classifier": Swinv2ForImageClassification(Swinv2Config(**(TINY_SWIN if small else SWIN))),
            "segmenter": SegformerForSemanticSegmentation(SegformerConfig(**(TINY_SEGFORMER if small else SEGFORMER))),
        }
        for role, network in networks.items():
            network.save_pretrained(place / role)
            settings = json.dumps({"size": SIZE, "resample": 2, **IMAGENET})
            (place / role / "preprocessor_config.json").write_text(settings, encoding="utf-8")
    return {role: place / role for role in networks}


def _timed(role: str, folder: Path, rounds: int) -> dict[str, Any]:
    """One network by both backends, in turns."""
    from mpd2.imaging.models.classifier import Classifier
    from mpd2.imaging.models.openvino import CHECKED, TOLERANCE, difference
    from mpd2.imaging.models.segmenter import Segmenter

    kind = Classifier if role == "classifier" else Segmenter
    loaded = {backend: kind.load(folder, backend=backend) for backend in ("torch", "openvino")}
    picture = np.random.default_rng(0).integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)
    inputs = loaded["torch"].processor([picture])
    say(f"{role}: both backends once, to warm up")
    several = np.repeat(inputs, CHECKED, axis=0)  # so that no answer is given twice while it is timed
    outputs = {backend: network.run(several) for backend, network in loaded.items()}
    apart = max(difference(ours, theirs) for ours, theirs in zip(outputs["openvino"], outputs["torch"], strict=True))
    times: dict[str, list[tuple[float, float]]] = {backend: [] for backend in loaded}
    for turn in range(rounds):
        say(f"{role}: round {turn + 1} of {rounds}")
        for backend, network in loaded.items():
            times[backend].append(_once(partial(network.run, inputs)))
    least = {
        backend: {"seconds": min(each[0] for each in taken), "core_seconds": min(each[1] for each in taken)}
        for backend, taken in times.items()
    }
    ratios = [ours[1] / theirs[1] for ours, theirs in zip(times["torch"], times["openvino"], strict=True)]
    return {
        **least,
        "openvino_times_as_fast": least["torch"]["core_seconds"] / least["openvino"]["core_seconds"],
        "by_round": ratios,
        "difference": apart,
        "same": apart <= TOLERANCE,
    }


def _once(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    clock, core = perf_counter(), process_time()
    work()
    return perf_counter() - clock, process_time() - core


def _folder(place: Path, saved: dict[str, Path], count: int, processes: int) -> dict[str, Any]:
    """A folder of rendered pictures, from the files to the table, loading included."""
    from mpd2.imaging.folders import measure_folder
    from mpd2.imaging.pipeline import make_pipeline

    say(f"render {count} pictures")
    folder = place / "pictures"
    rendered = _once(lambda: render_folder(folder, count))[0]
    pipeline = make_pipeline(place / "pipeline", saved["classifier"], saved["segmenter"])
    tell = now_and_then()
    start = perf_counter()
    done = measure_folder(
        folder, pipeline, place / "table.csv", processes, lambda n, total: tell(f"{n} of {total}"), "openvino"
    )
    seconds = perf_counter() - start
    return {
        "pictures": done.measured,
        "processes": processes,
        "backend": "openvino",
        "seconds": seconds,
        "seconds_each": seconds / max(done.measured, 1),
        "render_seconds_each": rendered / count,
    }


def render_folder(folder: Path, count: int) -> None:
    """So many rendered pictures as PNG files."""
    from PIL import Image

    from mpd2.core.rng import Stream, stream
    from mpd2.imaging.simulation.render import Shot, draw_eye, render

    folder.mkdir(parents=True)
    random = stream(0, Stream.RENDER)
    for index in range(count):
        drawn = draw_eye(float(random.uniform(0.3, 0.8)), random)
        Image.fromarray(render(drawn, Shot())).save(folder / f"{index:04}.png")


def describe_imaging(timings: dict[str, Any]) -> str:
    """The times as text."""
    rows = [
        (
            role,
            *(f"{1000 * each[backend]['core_seconds']:.0f}" for backend in ("torch", "openvino")),
            f"{each['openvino_times_as_fast']:.2f}",
            f"{each['difference']:.1e}",
        )
        for role, each in timings["networks"].items()
    ]
    text = aligned([("milliseconds a picture and core", "torch", "OpenVINO", "times as fast", "difference"), *rows])
    folder = timings["folder"]
    if folder is None:
        return text
    return (
        f"{text}\n\na folder of {folder['pictures']} pictures, {folder['processes']} processes: "
        f"{folder['seconds']:.0f} s, {folder['seconds_each']:.2f} s each"
    )
