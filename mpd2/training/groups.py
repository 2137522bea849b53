"""Groups of like cases: those the same kind of readers can see, split by what the classifier makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, pdist, squareform

from mpd2.core.arrays import Bools, Floats, Ints, frozen
from mpd2.core.cohort import Cohort
from mpd2.core.errors import EmptyCohort
from mpd2.core.state import PROBABILITY, UNCERTAINTY

FAMILY_CUT = 0.40  # share of readers two masks of one family may differ in, on average
SMALLEST_FAMILY = 10  # cases
MOST_MASKS = 2000  # the cost of linking them grows with their square; a rarer one follows the most similar
MOST_DISTANCES = 2**24  # between masks, held at once
MOST_CLUSTERS = 12
MOST_ROWS = 10_000  # of a family that are clustered: of more, so many at random, which tell the same
SMALLEST_CLUSTER = 20  # cases
SMALLEST_SHARE = 0.05  # of a family's cases
SILHOUETTE_SAMPLE = 2000  # its cost grows with the square of the cases
SEED = 0  # groups belong to the cases, not to a router: every member of a population shares them


@dataclass(frozen=True, eq=False)
class Groups:
    """G groups in F support families, the paper's g(i) = (f(i), c(i)), learned from the U most frequent masks."""

    masks: Bools  # [U, M] most frequent first
    mask_family: Ints  # [U]
    centre: Floats  # [R] of the representation
    scale: Floats  # [R]
    centroids: Floats  # [G, R] in standard units
    family_of: Ints  # [G]

    def __len__(self) -> int:
        return len(self.family_of)

    def families(self, cohort: Cohort) -> Ints:
        """The family of the most similar mask, [N]; between equally similar ones, of the most frequent."""
        masks, which = distinct_masks(cohort.available)
        return self.mask_family[_nearest(masks, self.masks)][which]

    def assign(self, cohort: Cohort) -> Ints:
        """The group of any case, [N]: the nearest centroid inside its family."""
        distance = cdist((representation(cohort) - self.centre) / self.scale, self.centroids)  # [N, G]
        inside = self.family_of == self.families(cohort)[:, None]
        return np.where(inside, distance, np.inf).argmin(-1)


def fit_groups(cohort: Cohort) -> Groups:
    """Learn the groups from training cases. Their truth and the readers' decisions are not looked at.

    Clusters are fitted on the very cases their priors are estimated from, and none is made too small for that, so none
    has to be folded into a sibling afterwards.
    """
    if not len(cohort):
        raise EmptyCohort("groups: there is no training case to learn them from")
    masks, which = distinct_masks(cohort.available)
    family = support_families(cohort.available)
    mask_family = family[np.unique(which, return_index=True)[1]]

    state = representation(cohort)
    centre, spread = state.mean(0), state.std(0)
    scale = np.where(spread > 1e-9, spread, 1.0)  # a constant tells no cases apart
    rows = (state - centre) / scale
    centroids = [cluster_centroids(rows[family == f]) for f in range(family.max() + 1)]
    family_of = np.repeat(np.arange(len(centroids)), [len(c) for c in centroids])
    return Groups(masks[:MOST_MASKS], mask_family[:MOST_MASKS], centre, scale, np.concatenate(centroids), family_of)


def support_families(available: Bools) -> Ints:
    """Cases whose sets of available readers are alike, [N, M] to [N]; numbered from the largest family down.

    Average linkage of the distinct masks by the share of readers they differ in. A family too small to learn from
    joins the one nearest on average.
    """
    masks, which = distinct_masks(available)
    if len(masks) < 2:
        return np.zeros(len(available), np.int64)
    linked = masks[:MOST_MASKS]
    distance = pdist(linked, "hamming")
    family = fcluster(linkage(distance, "average"), FAMILY_CUT, "distance").astype(np.int64) - 1  # [U]
    which = _nearest(masks, linked)[which]
    family = _without_small(family, np.bincount(family[which]), squareform(distance))
    return _numbered_by_size(family[which])


def _nearest(masks: Bools, among: Bools) -> Ints:
    """The most similar of some masks for each, [V, M] and [U, M] to [V]; a few at a time, for all may be too many."""
    size = max(1, MOST_DISTANCES // max(len(among), 1))
    parts = [
        cdist(masks[start : start + size], among, "hamming").argmin(-1) for start in range(0, max(len(masks), 1), size)
    ]
    return np.concatenate(parts)


def distinct_masks(available: Bools) -> tuple[Bools, Ints]:
    """The masks that occur, [U, M], and which of them each case has, [N].

    Most frequent first, then as binary numbers: many masks are equally far apart, and linkage settles such ties by
    their order, which must not hang on the order of the cases.
    """
    masks, which, cases = np.unique(available, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-cases, kind="stable")
    return masks[order], np.argsort(order)[which]


def representation(cohort: Cohort) -> Floats:
    """What clusters are made of, [N, R]: the AI's log-odds and uncertainty, risks, structure and the rest.

    A distance from the AI's training cases is not in it: fitted on some of the training cases themselves, inside one
    cohort it does little but tell those from all later ones, so no later case would find its like.
    """
    layout = cohort.layout
    told = (*layout.scores, *layout.distances, PROBABILITY, UNCERTAINTY)
    rest = [name for name in layout.names if name not in told]
    return np.column_stack([cohort.ai_log_odds, *(cohort.column(name) for name in (UNCERTAINTY, *rest))])


def cluster_centroids(rows: Floats) -> Floats:
    """Centroids of the best K-means split of one family, largest cluster first, [n, R] to [K, R].

    The best has the largest silhouette × log2 K, which is 0 for the family in one piece. The same rows are split once:
    trainings of the same table follow each other, and this is most of what comes before their first step. Of a family
    of more than MOST_ROWS a sample is split.
    """
    return _cluster_centroids(rows.tobytes(), rows.shape[1])


@lru_cache(maxsize=64)
def _cluster_centroids(content: bytes, width: int) -> Floats:
    rows = np.frombuffer(content).reshape(-1, width)
    if len(rows) > MOST_ROWS:
        rows = rows[np.sort(np.random.default_rng(SEED).choice(len(rows), MOST_ROWS, replace=False))]
    smallest = max(SMALLEST_CLUSTER, SMALLEST_SHARE * len(rows))
    most = min(MOST_CLUSTERS, int(len(rows) / smallest), len(np.unique(rows, axis=0)))
    best, centroids = 0.0, rows.mean(0, keepdims=True)
    for k in range(2, most + 1):
        labels, centres, score = _split(rows, k)
        cases = np.bincount(labels, minlength=k)
        if cases.min() >= smallest and score > best:
            best, centroids = score, centres[np.argsort(-cases, kind="stable")]
    return frozen(centroids)


def _split(rows: Floats, k: int) -> tuple[Ints, Floats, float]:
    """K-means: each row's cluster, [n]; the centres, [K, R]; and silhouette × log2 K."""
    # Whoever only places cases does not wait for scikit-learn.
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # rows are few: threads spend their time waiting for one another
        split = KMeans(k, n_init=10, tol=0, random_state=SEED).fit(rows)
        sample = min(len(rows), SILHOUETTE_SAMPLE)
        silhouette = silhouette_score(rows, split.labels_, sample_size=sample, random_state=SEED)
    return split.labels_, split.cluster_centers_, silhouette * np.log2(k)


def _without_small(family: Ints, cases: Ints, distance: Floats) -> Ints:
    """Each mask's family, [U], once those of too few `cases` [F] have joined the nearest large one.

    Where none is large all are one: the nearest of equally infinitely far ones is the first.
    """
    large = cases >= SMALLEST_FAMILY
    member = np.eye(len(cases))[family]  # [U, F]
    between = member.T @ distance @ member / np.outer(member.sum(0), member.sum(0))  # [F, F] mean over pairs of masks
    nearest = np.where(large, between, np.inf).argmin(-1)
    return np.where(large, np.arange(len(cases)), nearest)[family]


def _numbered_by_size(labels: Ints) -> Ints:
    """The same parts, numbered from the largest down; of two equally large ones the first to occur comes first."""
    _, first, which, cases = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    return np.argsort(np.lexsort((first, -cases)))[which]
