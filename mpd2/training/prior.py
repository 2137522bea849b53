"""The group prior: whom a group's deferred cases should go to, judged by its readers' errors and fees."""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.training.config import Prior
from mpd2.training.groups import Groups

GLOBAL_LABELS, FAMILY_LABELS, GROUP_LABELS = 5, 3, 2  # readings that make a reader eligible at each level
FLOOR = 1e-3  # share of a reader who is there but has read too little anywhere to be judged: KL needs more than 0


def group_prior(cohort: Cohort, groups: Groups, costs: Costs, config: Prior, rank_decay: tuple[float, ...]) -> Floats:
    """Each group's prior over readers, shrunk from all cases to families to groups: the paper's p̃_g, [G, M].

    `cohort` holds the training cases. A row sums to 1, with mass on every reader available to some case of the
    group and on no other; it is all 0 where the group never has a reader. Of `costs` only the fees count: what errors
    cost here is the prior's own setting. `rank_decay` is ϱ_k, from which the cap on one reader's share follows.
    """
    group = groups.assign(cohort)
    everyone = np.ones((1, len(cohort)))
    in_family = _one_hot(groups.family_of[group], groups.family_of.max() + 1)  # [F, N]
    in_group = _one_hot(group, len(groups))  # [G, N]

    overall = competence(cohort, everyone, costs, config, config.uniform_global, GLOBAL_LABELS)  # [1, M]
    family = competence(cohort, in_family, costs, config, config.uniform_family, FAMILY_LABELS)  # [F, M]
    own = competence(cohort, in_group, costs, config, config.uniform_group, GROUP_LABELS)  # [G, M]

    trust = _trust(in_family, config.family_count)  # a_f
    family = _restricted(trust * family + (1 - trust) * overall, _present(cohort, in_family))  # p_f

    trust = _trust(in_group, config.group_count)  # a_g
    rest = (1 - trust - config.global_share).clip(min=0)
    mixed = trust * own + rest * family[groups.family_of] + config.global_share * overall
    present = _present(cohort, in_group)  # [G, M]
    share = _restricted(_restricted(mixed, present).clip(min=FLOOR), present)  # p_g
    return capped(share, share_cap(present.sum(-1), cohort.readers, config, rank_decay))


def geometric_profile(decay: tuple[float, ...], readers: int) -> Floats:
    """Reference share of each rank for every number of available readers, the paper's g_{k,ϱ}(t), [M + 1, M].

    Row k is for k available readers and 0 beyond rank k; row 0 is all 0. `decay` holds ϱ in [0, 1] for 2, 3, 4, …
    readers, its last entry for all larger numbers; 1 is the uniform profile and 0 gives everything to the first rank.

    >>> geometric_profile((0.5, 1.0), readers=4).round(3).tolist()[2:]
    [[0.667, 0.333, 0.0, 0.0], [0.333, 0.333, 0.333, 0.0], [0.25, 0.25, 0.25, 0.25]]
    """
    count = np.arange(readers + 1)[:, None]
    rank = np.arange(readers)
    rate = np.array(decay)[np.clip(count - 2, 0, len(decay) - 1)]  # [M + 1, 1]
    weight: Floats = np.where(rank < count, rate**rank, 0.0)  # [M + 1, M]
    # Divided by its sum, not by (1 − ϱ^k) / (1 − ϱ), which has no value at ϱ = 1.
    total: Floats = weight.sum(-1, keepdims=True).clip(min=1.0)
    return weight / total


def competence(cohort: Cohort, members: Floats, costs: Costs, config: Prior, uniform: float, labels: int) -> Floats:
    """How each set of cases alone would spread its readings, the paper's ν̂, [S, N] to [S, M].

    Readers are weighed by exp(−τ_bad b) and mixed with a uniform share; b adds the costs of a reader's two error
    rates, each smoothed by one imagined error and one imagined hit, and the fee. Only readers with at least `labels`
    readings of known outcome in the set take part; a set without one gives a row of 0.
    """
    graded = cohort.available & (cohort.decisions != UNKNOWN)  # [N, M]
    sick, well = graded & (cohort.truth == 1)[:, None], graded & (cohort.truth == 0)[:, None]
    readings_sick, readings_well = members @ sick, members @ well  # [S, M]
    missed = (members @ (sick & (cohort.decisions == 0)) + 1) / (readings_sick + 2)  # FNR
    alarmed = (members @ (well & (cohort.decisions == 1)) + 1) / (readings_well + 2)  # FPR
    badness = config.cost_false_negative * missed + config.cost_false_positive * alarmed + np.array(costs.fees)

    eligible = readings_sick + readings_well >= labels
    score = np.where(eligible, -config.sharpness * badness, -np.inf)
    score -= score.max(-1, keepdims=True, initial=-1e300)  # the best scores 0, so a high fee cannot drown all
    return (1 - uniform) * _restricted(np.exp(score), eligible) + uniform * _restricted(np.ones_like(score), eligible)


def share_cap(supported: Ints, readers: int, config: Prior, rank_decay: tuple[float, ...]) -> Floats:
    """Largest share of one reader where `supported` of them share the load, [G]: min(ceiling, g_{k,1}(ϱ_k) + slack).

    Never below 1 / k, as less could not be handed out in full; there the prior is uniform.
    """
    top = geometric_profile(rank_decay, readers)[supported, 0]
    return np.maximum(np.minimum(config.ceiling, top + config.slack), 1 / supported.clip(min=1))


def capped(share: Floats, cap: Floats) -> Floats:
    """Shares cut at `cap`, the excess spread over the others in proportion to theirs, [G, M] and [G] to [G, M].

    With the c largest at the cap the others grow by (1 − c·cap) / (their sum). That factor rises with c while someone
    is above the cap and falls thereafter, so the right one is the largest.

    >>> capped(np.array([[0.7, 0.2, 0.1]]), np.array([0.4])).round(3).tolist()
    [[0.4, 0.4, 0.2]]
    """
    others = np.sort(share, axis=-1).cumsum(-1)[:, ::-1]  # [G, M], column c: the sum of all but the c largest
    left = 1 - np.arange(share.shape[-1]) * cap[:, None]
    growth = np.divide(left, others, out=np.zeros_like(share), where=others > 0).max(-1, keepdims=True)
    return np.minimum(share * growth, cap[:, None])


def _one_hot(labels: Ints, count: int) -> Floats:
    """Which cases have each label, [N] to [count, N]."""
    return (labels == np.arange(count)[:, None]).astype(float)


def _present(cohort: Cohort, members: Floats) -> Bools:
    """The readers available to some case of each set, the paper's A_S, [S, N] to [S, M]."""
    return members @ cohort.available > 0


def _trust(members: Floats, pseudo_count: float) -> Floats:
    """Weight of what each set says of itself, n / (n + n0), [S, 1]; 0 for an empty one."""
    cases = members.sum(-1, keepdims=True)
    return cases / (cases + pseudo_count).clip(min=1.0)


def _restricted(weight: Floats, support: Bools) -> Floats:
    """Weights on the support alone, each row to sum 1; a row without any stays 0."""
    kept = np.where(support, weight, 0.0)
    total = kept.sum(-1, keepdims=True)
    return np.divide(kept, total, out=np.zeros_like(kept), where=total > 0)
