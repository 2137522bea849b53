"""A reference from a folder of photographs that are usual: fitted on most, standardised on the others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.imaging.distance.reference import FEWEST, Reference
from mpd2.imaging.folders import PART, Progress, photographs_in
from mpd2.imaging.models.backend import Backend
from mpd2.imaging.photograph import Photograph, read_photograph
from mpd2.imaging.pipeline import Pipeline, with_reference

HELD_OUT = 0.3  # share of the photographs that nothing is fitted on


@dataclass(frozen=True, eq=False)
class Fitted:
    """A reference, and what it was made of."""

    reference: Reference
    unreadable: tuple[tuple[str, str], ...]  # file and reason
    typical: dict[str, tuple[float, float]]  # 5th and 95th percentile of each distance on held-out photographs


def fit_reference(
    folder: Path,
    pipeline_folder: Path,
    held_out: float = HELD_OUT,
    seed: int = 0,
    on_progress: Progress | None = None,
    backend: Backend = "torch",
    allow_pickle: bool = False,
) -> Fitted:
    """Fit the reference of a pipeline on the photographs in a folder, and keep it in the pipeline's own folder."""
    if not 0 < held_out < 1:
        raise UserError(f"found {held_out:g} as the share held out, expected one between 0 and 1")
    pipeline = Pipeline.load(pipeline_folder, backend, allow_pickle=allow_pickle)
    features, logits, unreadable = _seen(folder, pipeline, on_progress or (lambda done, total: None))
    if len(features) < 2 * FEWEST:
        raise UserError(f"{folder}: found {len(features)} photographs, a reference needs at least {2 * FEWEST}")
    order = stream(seed, Stream.IMAGING).permutation(len(features))
    count = min(max(round(held_out * len(order)), FEWEST), len(order) - FEWEST)
    out, fit = np.sort(order[:count]), np.sort(order[count:])
    classifier = pipeline.classifier
    reference = Reference.fit(
        features[fit], logits[fit], features[out], logits[out], classifier.weight, classifier.bias
    )
    with_reference(pipeline_folder, reference)
    scores = reference.score(features[out], logits[out])
    ends = {name: np.quantile(values, (0.05, 0.95)) for name, values in scores.items()}
    return Fitted(reference, unreadable, {name: (float(low), float(high)) for name, (low, high) in ends.items()})


def _seen(folder: Path, pipeline: Pipeline, tell: Progress) -> tuple[Floats, Floats, tuple[tuple[str, str], ...]]:
    """Features [N, D] and logits [N, 2] of every photograph that can be read, and why the others cannot."""
    files, _ = photographs_in(folder)
    features, logits, unreadable = [], [], []
    for first in range(0, len(files), PART):
        readable: list[Photograph] = []
        for name in files[first : first + PART]:
            try:
                readable.append(read_photograph(folder / name, name))
            except UserError as error:
                unreadable.append((name, str(error).removeprefix(f"{name}: ")))
        if readable:
            answers = pipeline.answers(readable)
            features.append(answers.features)
            logits.append(answers.logits)
        tell(min(first + PART, len(files)), len(files))
    if not features:
        return np.zeros((0, 0)), np.zeros((0, 2)), tuple(unreadable)
    return np.concatenate(features), np.concatenate(logits), tuple(unreadable)
