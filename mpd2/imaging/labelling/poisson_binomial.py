"""Which readers of a panel are right, drawn so that at least so many are: the conditional Bernoulli law, exactly.

Readers j = 1 … J of a case are right independently with probability Φ_ij; their number K_i is Poisson-binomial. Under
the condition K_i ≥ k_min the paper's dynamic program draws K_i first and then reader by reader, from suffix
probabilities q_j(s) = Pr(c_j + … + c_J = s). All of it is kept as logarithms: what is improbable does not vanish.
"""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.errors import UserError

AT_ONCE = 2**15  # cases whose suffix probabilities are in memory


def count_law(right: Floats) -> Floats:
    """Pr(K_i = k) of readers who are right with the probabilities `right` [N, J], for k = 0 … J: [N, J + 1].

    >>> count_law(np.array([[0.5, 0.5]])).round(2).tolist()
    [[0.25, 0.5, 0.25]]
    """
    return np.exp(_log_suffixes(_checked(right))[0])


def conditional_count_law(right: Floats, at_least: int) -> Floats:
    """Pr(K_i = k | K_i ≥ k_min), [N, J] to [N, J + 1]; 0 below `at_least`, the paper's k_min.

    >>> conditional_count_law(np.array([[0.5, 0.5]]), 1).round(3).tolist()
    [[0.0, 0.667, 0.333]]
    """
    right = _checked(right)
    return _conditional(_log_suffixes(right)[0], _checked_least(at_least, right.shape[1]))


def pattern_probability(correct: Bools, right: Floats, at_least: int) -> Floats:
    """Pr(c_i1 … c_iJ = `correct` | K_i ≥ k_min), [N, J] and [N, J] to [N], by the steps in which `draw` draws."""
    right = _checked(right)
    suffixes = _log_suffixes(right)
    left = correct.sum(1)  # [N] still to be right
    rows = np.arange(len(right))
    probability = _conditional(suffixes[0], _checked_least(at_least, right.shape[1]))[rows, left]
    for reader in range(right.shape[1]):
        chance = _next_right(suffixes, right, reader, left)
        probability = probability * np.where(correct[:, reader], chance, 1 - chance)
        left = left - correct[:, reader]
    return probability


def draw(right: Floats, at_least: int, random: np.random.Generator) -> Bools:
    """c_ij, whether reader j is right on case i, given that at least k_min of them are: [N, J] to [N, J]."""
    right = _checked(right)
    least = _checked_least(at_least, right.shape[1])
    blocks = [right[start : start + AT_ONCE] for start in range(0, len(right), AT_ONCE)]
    drawn = [_drawn(block, least, random, number * AT_ONCE) for number, block in enumerate(blocks)]
    return np.concatenate(drawn) if drawn else np.zeros(right.shape, bool)


def _drawn(right: Floats, at_least: int, random: np.random.Generator, first: int) -> Bools:
    suffixes = _log_suffixes(right)
    cumulative = _conditional(suffixes[0], at_least, first).cumsum(1)  # [N, J + 1]
    cumulative /= cumulative[:, -1:]  # exactly 1 at the end, so that every draw below 1 finds its place
    left: Ints = (cumulative > random.random((len(right), 1))).argmax(1)  # [N] the paper's K_i
    correct = np.zeros(right.shape, bool)
    for reader in range(right.shape[1]):
        correct[:, reader] = random.random(len(right)) < _next_right(suffixes, right, reader, left)
        left = left - correct[:, reader]
    return correct


def _log_suffixes(right: Floats) -> Floats:
    """log q_j(s), [J + 1, N, J + 1]: entry [j, i, s] for the readers from j on (counted from 0)."""
    cases, readers = right.shape
    with np.errstate(divide="ignore"):
        yes, no = np.log(right), np.log1p(-right)  # [N, J]
    found = np.full((readers + 1, cases, readers + 1), -np.inf)
    found[readers, :, 0] = 0.0
    for reader in range(readers - 1, -1, -1):
        after = found[reader + 1]
        found[reader] = no[:, reader, None] + after
        found[reader, :, 1:] = np.logaddexp(found[reader, :, 1:], yes[:, reader, None] + after[:, :-1])
    return found


def _next_right(suffixes: Floats, right: Floats, reader: int, left: Ints) -> Floats:
    """Pr(c_ij = 1 | c_ij + … + c_iJ = r) = Φ_ij q_{j+1}(r − 1) / q_j(r) for r = `left`, [N]."""
    rows = np.arange(len(left))
    with np.errstate(divide="ignore", invalid="ignore"):
        among = np.log(right[:, reader]) + suffixes[reader + 1, rows, left - 1] - suffixes[reader, rows, left]
    return np.where(left > 0, np.exp(np.minimum(np.nan_to_num(among, nan=-np.inf), 0.0)), 0.0)


def _conditional(log_law: Floats, at_least: int, first: int = 0) -> Floats:
    """Pr(K_i = k | K_i ≥ k_min) of log Pr(K_i = k), [N, J + 1]; UserError where it cannot be."""
    allowed = np.where(np.arange(log_law.shape[1]) >= at_least, log_law, -np.inf)
    most = allowed.max(1, keepdims=True)  # [N, 1]
    impossible = np.flatnonzero(np.isneginf(most[:, 0]))
    if len(impossible):
        raise UserError(
            f"readers of case {first + impossible[0] + 1}: at least {at_least} have to be right and cannot be, "
            f"since too many have the probability 0; {len(impossible)} such cases. Expected a smaller number"
        )
    weights = np.exp(allowed - most)
    return np.asarray(weights / weights.sum(1, keepdims=True))


def _checked(right: Floats) -> Floats:
    right = np.asarray(right, np.float64)
    if right.ndim != 2 or not ((right >= 0) & (right <= 1)).all():
        raise UserError("probabilities of being right: expected a number from 0 to 1 for every case and reader")
    return right


def _checked_least(at_least: int, readers: int) -> int:
    if not 0 <= at_least <= readers:
        raise UserError(f"readers who have to be right: found {at_least}, expected 0 to {readers}")
    return at_least
