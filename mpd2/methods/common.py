"""What the baselines share, learned or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from mpd2.core.arrays import Bools
from mpd2.core.cohort import Cohort, learning_split
from mpd2.core.error_rates import Expectations
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Policy

SHARPNESS = 5.0  # log-odds a unit of cost: how soft a policy is that thinks in costs; it changes no choice
CONFIDENT = "confident"  # the note of a run deciding where a confident AI is not overruled unread
PART = 8192  # cases of a large table that are looked at together
CERTAIN = 1e9  # log-odds of what a method does in any case


def learning_splits(cohort: Cohort) -> tuple[Cohort, Cohort]:
    """Train and val, every case with its truth; a reader who said nothing counts as absent."""
    return learning_split(cohort, "train"), learning_split(cohort, "val")


def heard(train: Cohort) -> Bools:
    """The readers there is anything to learn about, [M]."""
    return np.asarray(train.available.any(0))


def per_member(seeds: Sequence[int], value: np.ndarray) -> np.ndarray:
    """The same for every member, with the leading axis that every array of a run has, [E, ...]."""
    return np.broadcast_to(value, (len(seeds), *value.shape)).copy()


def member_settings(seeds: Sequence[int], **shared: Any) -> tuple[dict[str, Any], ...]:
    """The settings of every member: its seed, and what all share."""
    if not seeds:
        raise UserError("a population needs at least one seed")
    return tuple({"seed": seed, **shared} for seed in seeds)


def in_parts(cohort: Cohort) -> list[Cohort]:
    """The cases as they are, or a very large table in parts of PART cases, so that memory does not grow with it."""
    if len(cohort) <= PART:
        return [cohort]
    return [cohort.rows(np.arange(start, min(start + PART, len(cohort)))) for start in range(0, len(cohort), PART)]


def joined_policy(parts: Sequence[Policy]) -> Policy:
    """The policy of all cases from those of its parts, at least one."""
    if len(parts) == 1:
        return parts[0]
    return Policy(
        np.concatenate([part.defer for part in parts], axis=-1),
        np.concatenate([part.allocation for part in parts], axis=-2),
        np.concatenate([part.available for part in parts]),
    )


def joined_continuations(parts: Sequence[Continuations]) -> Continuations:
    """The endings of all cases from those of its parts, at least one."""
    if len(parts) == 1:
        return parts[0]
    return Continuations(
        np.concatenate([part.kept for part in parts], axis=-1),
        np.concatenate([part.label for part in parts], axis=-2),
        np.concatenate([part.consulted for part in parts], axis=-3),
    )


def joined_expectations(parts: Sequence[Expectations]) -> Expectations:
    """What is expected of all cases from what is of its parts, at least one."""
    names = [field.name for field in fields(Expectations)]
    return Expectations(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def asks_nobody(members: int, cohort: Cohort) -> Policy:
    """No deferral, [E, N]; whoever had to be asked would be any of the available alike."""
    scores = np.full((members, len(cohort), 1 + cohort.readers), -CERTAIN)
    scores[..., 0] = 0.0
    return Policy.from_scores(scores, cohort.available)


def confident_ai(cohort: Cohort, threshold: float | None) -> Bools:
    """Where the AI is too confident to be overruled with nobody asked, [N]; nowhere without a threshold."""
    if threshold is None:
        return np.zeros(len(cohort), bool)
    return np.maximum(cohort.ai_probability, 1 - cohort.ai_probability) >= threshold
