"""From soft to hard: the only place that turns a policy into decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mpd2.arrays import Bools, Floats, Ints
from mpd2.cohort import Cohort

Rule = Literal["joint", "staged"]
RULES: tuple[Rule, ...] = ("joint", "staged")
NOBODY = -1  # no reader consulted
ROUNDING = 1e-7  # how far apart single precision can drive two equal actions


@dataclass(frozen=True, eq=False)
class Policy:
    """How much to defer and to whom. Leading axes, if any, are members of a population.

    Symbols: d_i = `defer`, q_ij = `allocation`, m_ij = `available`; π_i = (1 − d_i, d_i q_i).
    """

    defer: Floats  # [..., N]
    allocation: Floats  # [..., N, M], each row on the simplex of available readers, or all 0 where there is none
    available: Bools  # [N, M]

    @property
    def actions(self) -> Floats:
        """π, [..., N, 1 + M]: the AI first, then the readers."""
        return np.concatenate([1 - self.defer[..., None], self.defer[..., None] * self.allocation], axis=-1)

    def member(self, index: int | slice | list[int]) -> Policy:
        """One member of a population, or some of them."""
        return Policy(self.defer[index], self.allocation[index], self.available)

    def rounded(self) -> Policy:
        """In single precision, so that a stored policy and a computed one are the same to the last bit."""
        defer, allocation = (part.astype(np.float32).astype(float) for part in (self.defer, self.allocation))
        return Policy(defer, allocation, self.available)

    @staticmethod
    def from_scores(scores: np.ndarray, available: np.ndarray) -> Policy:
        """The softmax policy of one score per action, [..., N, 1 + M]; an unavailable reader's score is ignored."""
        possible = np.concatenate([np.ones((len(available), 1), bool), available], axis=-1)  # [N, 1 + M]
        scores = np.where(possible, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        actions = weights / weights.sum(-1, keepdims=True)
        defer = actions[..., 1:].sum(-1)
        # Normalised among the readers themselves: dividing by a tiny `defer` would lose digits.
        among = scores[..., 1:] - np.max(scores[..., 1:], axis=-1, keepdims=True, initial=-1e300)
        shares = np.where(available, np.exp(among), 0.0)
        total = shares.sum(-1, keepdims=True)
        return Policy(defer, np.divide(shares, total, out=np.zeros_like(shares), where=total > 0), available)


@dataclass(frozen=True, eq=False)
class Decisions:
    """The readers consulted for each case, in order, and the label the case ends with."""

    consulted: Ints  # [..., N, K] reader positions, NOBODY where nobody (more) is asked
    label: Ints  # [..., N] 0 or 1; UNKNOWN where the reader's word is not in the table

    @property
    def deferred(self) -> Bools:
        """Cases in which any reader is asked, [..., N]."""
        return (self.consulted != NOBODY).any(-1)


def choose(policy: Policy, rule: Rule = "joint") -> Ints:
    """The action of every case, [..., N]: 0 keeps the AI, j asks reader j − 1. Ties go to the AI.

    `joint` takes the largest of (1 − d, d·q), the paper's â; `staged` defers where d > ½ and then takes the largest q.
    """
    best = np.where(policy.available, policy.allocation, -1.0).argmax(-1)  # whatever is said of an absent reader
    if rule == "staged":
        defers = policy.defer > 0.5
    else:
        share = np.take_along_axis(policy.allocation, best[..., None], -1)[..., 0]
        defers = policy.defer * share > 1 - policy.defer + ROUNDING
    return np.where(defers & policy.available.any(-1), best + 1, 0)


def route(policy: Policy, cohort: Cohort, rule: Rule = "joint") -> Decisions:
    """Act on a policy: whoever is chosen decides."""
    action = choose(policy, rule)
    label = np.take_along_axis(np.broadcast_to(cohort.action_labels, (*action.shape, 1 + cohort.readers)),
                               action[..., None], -1)[..., 0]
    return Decisions(consulted=(action - 1)[..., None], label=label)
