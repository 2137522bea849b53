"""Two small networks learn from rendered photographs, in minutes and on a processor.

The classifier is told the log-odds that the true cup-to-disc ratio gives, not the drawn class, and as side tasks what
each cell shows of disc and cup; the segmenter learns on whole fields and on close-ups, as it is used twice on each
photograph. The epoch with the least loss on held-out eyes is kept. Same seed, same weights: how long to learn is a
number of passes, never a clock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mpd2.core.arrays import Ints
from mpd2.core.rng import Stream, stream
from mpd2.imaging.models.processor import Pixels
from mpd2.imaging.small.examples import Tell, Views, silent
from mpd2.imaging.small.networks import MEAN, SD, classifier, drawn, segmenter

BATCH = 8
WARM_UP, DECAY, LARGEST_STEP = 0.1, 0.05, 1.0  # share of steps, of weights a step, norm of a gradient
PATIENCE = 8  # epochs without a better one before learning ends
TINT, MOVED = (0.9, 1.1), 0.06  # how much brighter each colour may be, and how far a view moves, of its side
CLASSIFIER_RATE, SEGMENTER_RATE = 1.5e-3, 3e-3
CENTRED = 0.01  # weight of the sum of both logits, which nothing else determines
SHARES, ON_DISC = 4.0, 0.3  # weights of the side tasks

Loss = Callable[[Views, Ints, np.random.Generator | None], Tensor]
"""The mean loss of these rows; with a generator they are flipped, moved and tinted first."""


@dataclass
class Course:
    """How a training went: the loss of every epoch, and which was kept."""

    train: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The epoch whose weights were kept, from 0."""
        return int(np.argmin(self.held_out))


def train_classifier(
    train: Views, held_out: Views, epochs: int, seed: int = 0, tell: Tell = silent
) -> tuple[Any, Course]:
    """A SwinV2 that gives the log-odds of disease from the whole field."""
    network = classifier(seed)
    side_tasks = _side_tasks(network.config, seed)

    def loss(views: Views, rows: Ints, random: np.random.Generator | None) -> Tensor:
        pixels, labels = _varied(views, rows, random)
        out = network.swinv2(pixels, output_hidden_states=True)
        logits, odds = network.classifier(out.pooler_output), torch.from_numpy(views.odds[rows])  # [B, 2], [B]
        wrong = F.smooth_l1_loss(logits[:, 1] - logits[:, 0], odds) + CENTRED * logits.sum(1).square().mean()
        for task, state in zip(side_tasks, out.reshaped_hidden_states[1:], strict=True):
            wrong = wrong + _side_loss(task(state), labels, odds)
        return wrong

    both = nn.ModuleList([network, *side_tasks])
    return network, _learn(both, loss, train, held_out, epochs, CLASSIFIER_RATE, seed, tell)


def train_segmenter(
    train: Views, held_out: Views, epochs: int, seed: int = 0, tell: Tell = silent
) -> tuple[Any, Course]:
    """A SegFormer that finds disc and cup in a whole field and in a close-up of the disc."""
    network = segmenter(seed)

    def loss(views: Views, rows: Ints, random: np.random.Generator | None) -> Tensor:
        pixels, labels = _varied(views, rows, random)
        logits = network(pixels).logits  # [B, 3, size / 4, size / 4]
        logits = F.interpolate(logits, labels.shape[1:], mode="bilinear", align_corners=False)
        return F.cross_entropy(logits, labels) + _overlap_loss(logits, labels)

    return network, _learn(network, loss, train, held_out, epochs, SEGMENTER_RATE, seed, tell)


def _side_tasks(config: Any, seed: int) -> list[nn.Module]:
    """From what each stage hands on to what its cells show (`_side_loss`); thrown away after training."""
    stages = len(config.depths)
    widths = [config.embed_dim * 2 ** min(stage + 1, stages - 1) for stage in range(stages)]
    return drawn(lambda: [nn.Conv2d(width, 3, 1) for width in widths], seed + 1)


def _side_loss(found: Tensor, labels: Tensor, odds: Tensor) -> Tensor:
    """How wrong cells are about their shares of disc and cup, and those on the disc about the log-odds.

    `found` is [B, 3, cells, cells]. Without it the few cells that matter are hard to find through a mean over all.
    """
    masks = torch.stack([labels >= 1, labels >= 2], 1).float()
    shares = F.avg_pool2d(masks, labels.shape[-1] // found.shape[-1])  # [B, 2, cells, cells]
    disc = shares[:, 0] / shares[:, 0].sum((1, 2), keepdim=True).clamp_min(1e-6)
    apart = F.smooth_l1_loss(found[:, 2], odds[:, None, None].expand_as(disc), reduction="none")
    return (
        SHARES * F.binary_cross_entropy_with_logits(found[:, :2], shares) + ON_DISC * (disc * apart).sum((1, 2)).mean()
    )


def _overlap_loss(logits: Tensor, truth: Tensor) -> Tensor:
    """One minus the soft Dice of the disc and of the cup, so that few pixels count as much as many."""
    chances = logits.softmax(1)
    losses = []
    for least in (1, 2):  # disc, cup
        found, there = chances[:, least:].sum(1), (truth >= least).to(chances.dtype)  # [B, size, size]
        shared, all_ = (found * there).sum((1, 2)), found.sum((1, 2)) + there.sum((1, 2))
        losses.append(1 - ((2 * shared + 1) / (all_ + 1)).mean())
    return torch.stack(losses).sum()


def _learn(
    network: nn.Module, loss: Loss, train: Views, held_out: Views, epochs: int, rate: float, seed: int, tell: Tell
) -> Course:
    """AdamW with a warm start and a cosine to nothing; the weights of the best epoch are put back at the end."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=DECAY)
    n, done, course, best = len(train), 0, Course(), deepcopy(network.state_dict())
    steps = epochs * -(-n // BATCH)
    for epoch in range(epochs):
        random, losses = stream(seed, Stream.IMAGING, epoch), []
        network.train()
        for rows in _batches(random.permutation(n)):
            for group in optimiser.param_groups:
                group["lr"] = rate * _pace(done / steps)
            optimiser.zero_grad(set_to_none=True)
            value = loss(train, rows, random)
            value.backward()
            nn.utils.clip_grad_norm_(network.parameters(), LARGEST_STEP)
            optimiser.step()
            losses.append(float(value.detach()))
            done += 1
        course.train.append(float(np.mean(losses)))
        course.held_out.append(_held_out(network, loss, held_out))
        tell(f"epoch {epoch + 1}/{epochs}: loss {course.train[-1]:.3f}, held-out {course.held_out[-1]:.3f}")
        if course.best == epoch:
            best = deepcopy(network.state_dict())
        elif epoch - course.best >= PATIENCE:
            break
    network.load_state_dict(best)
    network.eval()
    return course


def _held_out(network: nn.Module, loss: Loss, held_out: Views) -> float:
    """Mean loss of what is never learnt from."""
    network.eval()
    with torch.inference_mode():
        sums = [float(loss(held_out, rows, None)) * len(rows) for rows in _batches(np.arange(len(held_out)))]
    return sum(sums) / len(held_out)


def _batches(rows: Ints) -> Iterator[Ints]:
    for first in range(0, len(rows), BATCH):
        yield rows[first : first + BATCH]


def _pace(done: float) -> float:
    """The rate's share at this share of all steps: up in a line, then down in half a cosine."""
    return done / WARM_UP if done < WARM_UP else 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))


def _varied(views: Views, rows: Ints, random: np.random.Generator | None) -> tuple[Tensor, Tensor]:
    """Pixels as the networks take them [B, 3, size, size] and labels [B, size, size].

    In training they are mirrored, moved a little and tinted: none of it changes a ratio.
    """
    pixels, labels = views.pixels[rows], views.labels[rows]
    if random is not None:
        pixels, labels = _moved(pixels, labels, random)
    values = torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).float() / 255
    if random is not None:
        values = values * torch.from_numpy(random.uniform(*TINT, (len(rows), 3, 1, 1)).astype(np.float32))
    mean, sd = (torch.tensor(numbers)[:, None, None] for numbers in (MEAN, SD))
    return (values - mean) / sd, torch.from_numpy(np.ascontiguousarray(labels)).long()


def _moved(pixels: Pixels, labels: Pixels, random: np.random.Generator) -> tuple[Pixels, Pixels]:
    """All mirrored alike and moved alike by a few pixels; what enters at an edge is black background."""
    size, by = labels.shape[-1], int(labels.shape[-1] * MOVED)
    right, down = (int(move) for move in random.integers(-by, by + 1, 2))
    across, upside = (-1 if flip else 1 for flip in random.random(2) < 0.5)
    into = np.s_[:, max(down, 0) : size + min(down, 0), max(right, 0) : size + min(right, 0)]
    out_of = np.s_[:, max(-down, 0) : size + min(-down, 0), max(-right, 0) : size + min(-right, 0)]
    moved_pixels, moved_labels = np.zeros_like(pixels), np.zeros_like(labels)
    moved_pixels[into], moved_labels[into] = pixels[out_of], labels[out_of]
    return moved_pixels[:, ::upside, ::across], moved_labels[:, ::upside, ::across]
