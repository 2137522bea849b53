"""A whole small pipeline from nothing: eyes are rendered, two networks trained, a reference and quality fitted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from mpd2.core.errors import UserError
from mpd2.imaging.distance.reference import FEWEST, Reference
from mpd2.imaging.models.classifier import Classifier
from mpd2.imaging.models.loading import quiet
from mpd2.imaging.pipeline import make_pipeline
from mpd2.imaging.simulation.render_quality import fit_default_quality
from mpd2.imaging.small.examples import Part, Tell, Views, draw, silent, views_of
from mpd2.imaging.small.networks import CLASSIFIER_SIZE, SEGMENTER_SIZE, keep
from mpd2.imaging.small.training import Course, train_classifier, train_segmenter

NOTES = (
    "Two small networks trained on rendered photographs of eyes that never were, by `python -m mpd2 imaging train "
    "--eyes {eyes} --minutes {minutes:g} --seed {seed}`. They show the whole way from a photograph to a route; what "
    "they say of a real eye means nothing."
)
NETWORKS, SIZES = ("classifier", "segmenter"), (CLASSIFIER_SIZE, SEGMENTER_SIZE)
MOST_MINUTES = 24 * 60
FEWEST_EYES = 16
COST = {"classifier": 0.016, "segmenter": 0.037}  # seconds an eye and pass on a usual core: minutes become passes
PASSES = (2, 60)


@dataclass(frozen=True)
class Plan:
    """How much to render and to learn; the same plan and seed give the same pipeline on one kind of machine."""

    eyes: int
    minutes: float
    seed: int = 0

    def __post_init__(self) -> None:
        if self.eyes < FEWEST_EYES:
            raise UserError(f"eyes: found {self.eyes}, expected at least {FEWEST_EYES}")
        if not 0 < self.minutes <= MOST_MINUTES:
            raise UserError(f"minutes: found {self.minutes:g}, expected more than 0 and at most {MOST_MINUTES}")

    @property
    def held_out(self) -> int:
        """Eyes that choose the epoch."""
        return max(FEWEST_EYES // 2, self.eyes // 10)

    @property
    def reference(self) -> int:
        """Eyes that a reference is fitted on; two thirds as many standardise it."""
        return max(2 * FEWEST, min(300, self.eyes // 4))

    def passes(self, network: str) -> int:
        """Over the training eyes. Minutes are turned into passes beforehand, so that no clock decides what is learnt.

        >>> Plan(2000, 8).passes("classifier"), Plan(2000, 8).passes("segmenter")
        (15, 6)
        """
        return int(min(max(60 * self.minutes / (COST[network] * self.eyes), PASSES[0]), PASSES[1]))


@dataclass(frozen=True)
class Made:
    """A pipeline, and how its networks learnt."""

    folder: Path
    classifier: Course
    segmenter: Course


def make_small(folder: Path, plan: Plan, workers: int = 1, tell: Tell = silent) -> Made:
    """Render, train, fit and write the pipeline's folder, in place of one that may be there."""
    with TemporaryDirectory() as scratch, quiet(), _one_thread():
        courses = _train(Path(scratch), plan, workers, tell)
        classifier, segmenter = (Path(scratch, name) for name in NETWORKS)
        reference = _reference(Classifier.load(classifier), plan, workers, tell)
        quality = fit_default_quality(plan.seed, plan.reference)
        notes = NOTES.format(eyes=plan.eyes, minutes=plan.minutes, seed=plan.seed)
        make_pipeline(folder, classifier, segmenter, reference, quality, {"notes": notes, "batch": 16})
    return Made(folder, *courses)


def _train(scratch: Path, plan: Plan, workers: int, tell: Tell) -> list[Course]:
    """Both networks, side by side if there are two workers, each kept in a folder by its name."""
    parts = ((plan.eyes, Part.TRAIN), (plan.held_out, Part.HELD_OUT))
    train, held_out = (_rendered(n, part, plan.seed, workers, tell) for n, part in parts)

    def one(which: int) -> Course:
        name, learn, size = NETWORKS[which], (train_classifier, train_segmenter)[which], SIZES[which]
        network, course = learn(
            train[which], held_out[which], plan.passes(name), plan.seed, lambda text: tell(f"{name}, {text}")
        )
        keep(network, size, scratch / name)
        return course

    with ThreadPoolExecutor(min(workers, len(NETWORKS))) as pool:
        return list(pool.map(one, range(len(NETWORKS))))


def _rendered(n: int, part: Part, seed: int, workers: int, tell: Tell) -> tuple[Views, Views]:
    return views_of(draw(n, part, seed), *SIZES, workers, tell)


def _reference(classifier: Classifier, plan: Plan, workers: int, tell: Tell) -> Reference:
    """What known cameras look like to the classifier, fitted and standardised on eyes it never saw."""
    parts = ((Part.REFERENCE, plan.reference), (Part.STANDARD, max(FEWEST, plan.reference * 2 // 3)))
    usual, held_out = (classifier(list(_rendered(n, part, plan.seed, workers, tell)[0].pixels)) for part, n in parts)
    return Reference.fit(
        usual.features, usual.logits, held_out.features, held_out.logits, classifier.weight, classifier.bias
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in one order: with several threads the last digits, and then the weights, would depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def cores() -> int:
    """Processes to render in."""
    return max(1, os.cpu_count() or 1)
