"""From soft to hard: the only place that turns a policy into decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort

Rule = Literal["joint", "staged"]
RULES: tuple[Rule, ...] = ("joint", "staged")
NOBODY = -1  # no reader consulted
AI, RULE, READER = 0, 1, 2  # who decided a case
DECIDERS = ("the AI's own word", "the rule against the AI", "a reader")
"""In words, by position: the AI; a recalibrated rule that overrules the AI with nobody asked; one reader or several."""
DECIDED_BY = ("AI", "rule", "reader")  # the same in a word each, for tables
ROUNDING = 1e-7  # how far apart single precision can drive two equal actions
LEAST = 1e-12  # a reader who is there can be asked, however little the policy thinks of it
CHUNK = 16_384  # cases decided at once: what is worked out on the way stays in the processor's cache
SURE = -float(np.log(ROUNDING))  # log-odds of a case about which a policy has no doubt


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

    def under(self, available: np.ndarray) -> Policy:
        """The same policy under a smaller roster, [N, M] or [M]: what the absent had goes to the others in proportion.

        Where nobody who is left had a share, all of them have the same.
        """
        left = self.available & available
        if (left == self.available).all():
            return self
        shares = np.where(left, self.allocation, 0.0)
        total = shares.sum(-1, keepdims=True)
        even = np.where(left, 1.0, 0.0) / np.maximum(left.sum(-1, keepdims=True), 1)
        allocation = np.where(total > 0, shares / np.where(total > 0, total, 1.0), even)
        return Policy(np.where(left.any(-1), self.defer, 0.0), allocation, left)

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

    def rows(self, index: np.ndarray) -> Decisions:
        """Those of the cases at `index`, positions or a boolean mask."""
        return Decisions(self.consulted[..., index, :], self.label[..., index])


@dataclass(frozen=True, eq=False)
class Continuations:
    """How each case ends if nobody is asked and if each reader is asked first, where a method goes on by itself."""

    kept: Ints  # [..., N] the label if nobody is asked
    label: Ints  # [..., N, M] the label if reader j is asked first; UNKNOWN where a word is not in the table
    consulted: Ints  # [..., N, M, K] whom is asked then, j first; NOBODY where nobody (more) is

    def member(self, index: int | slice | list[int]) -> Continuations:
        """Those of one member of a population, or of some of them."""
        return Continuations(self.kept[index], self.label[index], self.consulted[index])

    def rows(self, index: np.ndarray) -> Continuations:
        """Those of the cases at `index`, positions or a boolean mask."""
        return Continuations(self.kept[..., index], self.label[..., index, :], self.consulted[..., index, :, :])

    def together(self) -> Continuations:
        """One ending for a population: the label of most members, positive if they are even, and how one came to it."""
        kept, label = (_majority(part) for part in (self.kept, self.label))
        one = (self.label == label).argmax(0)  # [N, M] the first member that ends so
        return Continuations(kept, label, np.take_along_axis(self.consulted, one[None, ..., None], 0)[0])


def preferences(policy: Policy, rule: Rule = "joint") -> Floats:
    """Log-odds of asking each reader against keeping the AI, [..., N, M]; −∞ for an absent reader.

    A case is sent where its largest is above 0, and then to that reader. `joint` sets each d·q against 1 − d, the
    paper's â; `staged` sets d against 1 − d and only then weighs the readers by q. A price on deferral is subtracted.
    Cases without doubt are all alike, at SURE or −SURE.
    """
    shares = np.where(policy.available, np.maximum(policy.allocation, LEAST), 1.0)
    best = np.where(policy.available, shares, LEAST).max(-1)
    send, keep = policy.defer, 1 - policy.defer
    doubted = np.minimum(send, keep) > ROUNDING
    if rule == "joint":
        send, keep = send * best, keep + ROUNDING
    odds = np.log(np.where(doubted, send, 1.0) / np.where(doubted, keep, 1.0)).clip(-SURE, SURE)
    odds = np.where(doubted, odds, np.where(policy.defer > 0.5, SURE, -SURE))  # [..., N]
    return np.where(policy.available, odds[..., None] + np.log(shares / best[..., None]), -np.inf)


def from_preferences(preference: Floats, available: Bools, rule: Rule = "joint") -> Policy:
    """The policy with the given log-odds of asking each reader against keeping the AI, [..., N, M]."""
    joint = Policy.from_scores(np.concatenate([np.zeros((*preference.shape[:-1], 1)), preference], axis=-1), available)
    if rule == "joint":
        return joint
    best = np.where(available, preference, -np.inf).max(-1, initial=-np.inf)
    return Policy(expit(best), joint.allocation, available)


def choose(policy: Policy, rule: Rule = "joint") -> Ints:
    """The action of every case, [..., N]: 0 keeps the AI, j asks reader j − 1. Ties go to the AI."""
    action = np.empty(policy.defer.shape, np.int64)
    for start in range(0, policy.defer.shape[-1], CHUNK):
        some = slice(start, start + CHUNK)
        part = Policy(policy.defer[..., some], policy.allocation[..., some, :], policy.available[some])
        action[..., some] = best_actions(preferences(part, rule))
    return action


def best_actions(preference: Floats) -> Ints:
    """The reader preferred most, counted from 1, where that is above 0; else the AI, 0. [..., N, M] to [..., N]."""
    best = preference.argmax(-1)
    wanted = np.take_along_axis(preference, best[..., None], -1)[..., 0]
    return np.where(wanted > 0, best + 1, 0)


def apply_actions(action: np.ndarray, cohort: Cohort, continuations: Continuations | None = None) -> Decisions:
    """The decisions of one action a case, [..., N]: whoever acts has the last word, or the continuations do."""
    if continuations is None:
        words = np.broadcast_to(cohort.action_labels, (*action.shape, 1 + cohort.readers))
        label = np.take_along_axis(words, action[..., None], -1)[..., 0]
        return Decisions(consulted=(action - 1)[..., None], label=label)
    label = np.concatenate([continuations.kept[..., None], continuations.label], axis=-1)  # [..., N, 1 + M]
    nobody = np.full((*continuations.kept.shape, 1, continuations.consulted.shape[-1]), NOBODY)
    consulted = np.concatenate([nobody, continuations.consulted], axis=-2)  # [..., N, 1 + M, K]
    return Decisions(
        consulted=np.take_along_axis(consulted, action[..., None, None], -2)[..., 0, :],
        label=np.take_along_axis(label, action[..., None], -1)[..., 0],
    )


def route(
    policy: Policy, cohort: Cohort, rule: Rule = "joint", continuations: Continuations | None = None
) -> Decisions:
    """Act on a policy: whoever is chosen decides, unless the method has continuations of its own."""
    return apply_actions(choose(policy, rule), cohort, continuations)


def deciders(decisions: Decisions, cohort: Cohort) -> Ints:
    """Who decided each case, [..., N]: READER if anybody was asked, RULE if the AI was overruled unread, else AI."""
    unread = np.where(decisions.label == cohort.ai_label, AI, RULE)
    return np.where(decisions.deferred, READER, unread)


def decided_cases(decisions: Decisions, cohort: Cohort) -> Floats:
    """How many cases each of DECIDERS decided, [3], the mean over members."""
    who = deciders(decisions, cohort)
    counts = (who[..., None] == np.arange(len(DECIDERS))).sum(-2)  # [..., 3]
    return np.asarray(counts.reshape(-1, len(DECIDERS)).mean(0))


def _majority(labels: Ints) -> Ints:
    """The label of most members, [E, ...] to [...]; UNKNOWN where any does not know."""
    return np.where((labels == UNKNOWN).any(0), UNKNOWN, 2 * (labels == 1).sum(0) >= len(labels))


def mean_policy(policy: Policy) -> Policy:
    """One policy for a population: the mean of its members' π, [E, N] to [N]."""
    defer = policy.defer.mean(0)
    shared = (policy.defer[..., None] * policy.allocation).mean(0)  # [N, M]
    deferring = defer[:, None] > 0
    allocation = np.divide(shared, defer[:, None], out=policy.allocation.mean(0), where=deferring)
    return Policy(defer, allocation, policy.available)


def decided_together(
    policy: Policy, cohort: Cohort, rule: Rule, continuations: Continuations | None = None
) -> Decisions:
    """What a population, [E, N], decides as one, [N]: the mean policy acts, the continuations of most members ensue."""
    return route(mean_policy(policy), cohort, rule, None if continuations is None else continuations.together())
