"""The least cost that any rule can reach on a simulated programme, by what the rule may do.

With P(y | z) and P(a reader's word | y, z) known, what is expected of every action is known too, and the least of it is
a bound: over what remains at random, a rule of that kind cannot cost less on average. Three kinds:

- *word*: keep the AI's word, or take one reader's word; the paper's action space
- *label*: give the cheaper label under P(y | z), or under the posterior after one reading
- *asking*: the same after as many readings as pay, each chosen knowing all words so far (backward induction, exact)

Each may do all that those before it may do. All see one case at a time, as every method here does: that two cases are
the eyes of one patient is not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import NOBODY, Decisions
from mpd2.core.rng import Stream, stream
from mpd2.imaging.simulation.law import COLUMNS, SEEN, Law, to_coordinates

Z95 = 1.959964
CHUNK = 2**21  # numbers held at once
SAMPLE = 100_000  # cases that a bound is averaged over
AI, OWN, WORD, LABEL, THREE, ASKING = "ai", "own", "word", "label", "asking_3", "asking"
KINDS = {
    AI: "the AI's word alone",
    OWN: "the cheaper label under P(y | z), no reader",
    WORD: "the AI's word or one reader's word",
    LABEL: "the cheaper label, after one reading if it pays",
    THREE: "the cheaper label, after up to three readings",
    ASKING: "the cheaper label, after as many readings as pay",
}
"""What a rule may do, from little to all."""


@dataclass(frozen=True, eq=False)
class Known:
    """What the law says of N cases and M readers before anybody is asked."""

    positive: Floats  # [N] P(y = 1 | z, site)
    says: Floats  # [N, M, 2] P(says positive | y, z, site), y last
    available: Bools  # [N, M]
    ai_label: Ints  # [N]

    def __len__(self) -> int:
        return len(self.positive)


@dataclass(frozen=True)
class Bound:
    """A mean over cases and half its 95 % interval."""

    cost: float
    margin: float
    n: int


def known(law: Law, cohort: Cohort) -> Known:
    """What is known of the cases of a cohort drawn from this law, its sites in the law's order."""
    seen = to_coordinates(np.column_stack([cohort.column(name) for name in COLUMNS[:SEEN]]))
    coordinates = np.column_stack([seen, np.zeros(len(seen))])  # readers' errors do not depend on what is only drawn
    return Known(
        law.positive(coordinates, cohort.source),
        law.says(coordinates, cohort.source),
        cohort.available,
        cohort.ai_label,
    )


def bounds(law: Law, cohort: Cohort, costs: Costs, sample: int = SAMPLE, seed: int = 0) -> dict[str, Bound]:
    """The least cost of every kind of rule, on the same cases: a random sample where there are more."""
    if len(cohort) > sample:
        cohort = cohort.rows(np.sort(stream(seed, Stream.SIMULATION, 9).permutation(len(cohort))[:sample]))
    facts = known(law, cohort)
    return {kind: mean(least(facts, costs, kind)) for kind in KINDS}


def least(facts: Known, costs: Costs, kind: str) -> Floats:
    """The least expected cost of every case by what a rule may do, [N]."""
    if kind in (AI, OWN):
        return np.asarray(of_labels(facts, costs).min(-1) if kind == OWN else _of_ai(facts, costs))
    if kind == WORD:
        return np.asarray(of_words(facts, costs).min(-1))
    return enquiries(facts, costs, {LABEL: 1, THREE: 3, ASKING: facts.says.shape[1]}[kind])


def of_labels(facts: Known, costs: Costs) -> Floats:
    """Expected cost of giving each label with nobody asked, [N, 2]."""
    return np.column_stack([costs.false_negative * facts.positive, costs.false_positive * (1 - facts.positive)])


def of_words(facts: Known, costs: Costs) -> Floats:
    """Expected cost of the AI's word and of each reader's, [N, 1 + M]; infinite where a reader is not on hand."""
    missed = costs.false_negative * facts.positive[:, None] * (1 - facts.says[..., 1])
    alarmed = costs.false_positive * (1 - facts.positive[:, None]) * facts.says[..., 0]
    readers = np.where(facts.available, missed + alarmed + np.array(costs.fees), np.inf)
    return np.column_stack([_of_ai(facts, costs), readers])


def enquiries(facts: Known, costs: Costs, limit: int) -> Floats:
    """Expected cost of asking as well as can be, at most `limit` readers, then giving the cheaper label, [N]."""
    value = np.empty(len(facts))
    on_hand = facts.available.sum(-1)
    order = np.argsort(~facts.available, axis=1, kind="stable")  # those on hand first
    for readers in np.unique(on_hand):
        rows = np.flatnonzero(on_hand == readers)
        size = max(1, CHUNK // 3 ** int(readers))
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            who = order[part, :readers]  # [n, m]
            says = np.take_along_axis(facts.says[part], who[..., None], axis=1)  # [n, m, 2]
            value[part] = _backward(facts.positive[part], says, np.array(costs.fees)[who], costs, limit)
    return value


def expected_costs(facts: Known, decisions: Decisions, words: Ints, costs: Costs) -> Floats:
    """What decisions are expected to cost given z and the words that were heard, [..., N]; the truth is averaged out.

    Fees of all who were asked, and the errors of the final label under the posterior after their words.
    """
    positive, negative = facts.positive, 1 - facts.positive
    fees = np.append(np.array(costs.fees), 0.0)[decisions.consulted].sum(-1)  # NOBODY is the last of them
    for asked in np.moveaxis(decisions.consulted, -1, 0):  # [..., N]
        reader = np.where(asked == NOBODY, 0, asked)
        rows = np.arange(len(facts))
        says, heard = facts.says[rows, reader], words[rows, reader]  # [..., N, 2], [..., N]
        likelihood = np.where(heard[..., None] == 1, says, 1 - says)
        likelihood = np.where(asked[..., None] == NOBODY, 1.0, likelihood)
        negative, positive = negative * likelihood[..., 0], positive * likelihood[..., 1]
    total = negative + positive
    missed, alarmed = costs.false_negative * positive / total, costs.false_positive * negative / total
    return np.asarray(fees + np.where(decisions.label == 1, alarmed, missed))


def mean(values: Floats) -> Bound:
    """A mean and half its 95 % interval, [N] to numbers."""
    return Bound(float(values.mean()), float(Z95 * values.std() / np.sqrt(len(values))), len(values))


def _of_ai(facts: Known, costs: Costs) -> Floats:
    return np.asarray(np.take_along_axis(of_labels(facts, costs), facts.ai_label[:, None], 1)[:, 0])


def _backward(positive: Floats, says: Floats, fees: Floats, costs: Costs, limit: int) -> Floats:
    """Backward induction over all that can have been heard of m readers, [n], [n, m, 2] and [n, m] to [n].

    What was heard is a number of m ternary digits: 0 not asked, 1 said negative, 2 said positive. Values are times the
    probability of coming there, so that answers need no division.
    """
    readers = says.shape[1]
    belief = np.stack([1 - positive, positive])[:, None]  # [2, 3^m, n] once all readers are in
    for reader in range(readers):
        yes = says[:, reader].T[:, None]  # [2, 1, n]
        belief = np.concatenate([belief, belief * (1 - yes), belief * yes], axis=1)
    digits = np.arange(3**readers)[:, None] // 3 ** np.arange(readers) % 3  # [3^m, m]
    asked = (digits > 0).sum(-1)
    value = np.minimum(costs.false_positive * belief[0], costs.false_negative * belief[1])
    mass = belief.sum(0)
    for depth in reversed(range(min(limit, readers))):
        for reader in range(readers):
            here = np.flatnonzero((asked == depth) & (digits[:, reader] == 0))
            step = 3**reader
            asking = fees[:, reader] * mass[here] + value[here + step] + value[here + 2 * step]
            value[here] = np.minimum(value[here], asking)
    return np.asarray(value[0])
