"""Whom to ask, and when to stop: the expected cost of deciding now against that of hearing one more reader.

A belief is the joint probability of the truth and of what was said, (P(well, said), P(sick, said)). Hearing an
answer multiplies it by the answer's likelihoods; nothing is ever divided, so that certainty needs no special case and
the order of answers cannot matter. Answers are taken to be independent given truth and state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import perm
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Continuations, Decisions

LIMITS = (1, 2, 3)  # how many readers may be asked about a case
PATHS = 12_000  # ways an enquiry about one case can go that are still followed to the end; enough for 12 readers
CHUNK = 2_000_000  # ways followed at once, so that memory does not grow with the table
CHAIN = ("known", "probability", "now", "label", "reader", "fee", "asking", "spent", "next")
CHEAPER = -1  # a label that is whichever error is expected to cost less


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is believed of N cases before anybody is asked. Leading axes, if any, are members of a population."""

    prior: Floats  # [..., N] P(positive | state)
    answers: Floats  # [..., N, M, 2] P(reader says positive | truth 0, 1)
    available: Bools  # [N, M]
    kept: Ints  # [N] the label of a case nobody is asked about; CHEAPER where the posterior decides
    fuse: bool = True  # whether the posterior has the last word, or the reader heard last

    def together(self) -> Outlook:
        """One outlook for a population: the mean of its members' beliefs, [E, N] to [N]."""
        return replace(self, prior=self.prior.mean(0), answers=self.answers.mean(0))


@dataclass(frozen=True, eq=False)
class Enquired:
    """How far N enquiries have come with the answers that are there."""

    consulted: Ints  # [N, limit] who has answered, in order, and last who is being waited for; NOBODY where nobody is
    label: Ints  # [N] UNKNOWN while an answer is awaited
    waiting: Ints  # [N] whose answer is awaited; NOBODY where the enquiry has ended


@dataclass(frozen=True, eq=False)
class _Enquiries:
    """R enquiries under way, each about one of B (member, case) pairs."""

    pair: Ints  # [R]
    belief: Floats  # [R, 2] P(truth 0 or 1, and what was said)
    open: Bools  # [R, M] who can still be asked
    label: Ints  # [R] the label if it ends here, or CHEAPER

    def rows(self, index: np.ndarray | slice) -> _Enquiries:
        return _Enquiries(self.pair[index], self.belief[index], self.open[index], self.label[index])


@dataclass(frozen=True, eq=False)
class _Terms:
    """What everything costs while deciding, and what readers answer."""

    likelihood: Floats  # [B, M, 2, 2] P(answer 0 or 1 | truth 0 or 1)
    fees: Floats  # [M]
    errors: Floats  # [2] cost of a false alarm and of a miss
    fuse: bool


def first_gain(outlook: Outlook, costs: Costs, limit: int) -> Floats:
    """What first asking each reader is expected to save against deciding now, [..., N, M]; −∞ for an absent reader.

    Whatever is asked after that, up to `limit` readers in all, is counted in.
    """
    terms, start = _begin(outlook, costs)
    depth = look_ahead(limit, start.open.shape[1])
    saved = _stop(start.belief, start.label, terms)[:, None] - _asking(start, start.open, terms, depth)
    return saved.reshape(outlook.answers.shape[:-1])


def decide(outlook: Outlook, words: Ints, costs: Costs, limit: int) -> Decisions:
    """Ask whoever pays most until nobody does, hear them, and give the label of the smaller expected cost.

    `words` is what readers say, [N, M]; where that is UNKNOWN, the enquiry waits there and so does the label.
    """
    terms, start = _begin(outlook, costs)
    consulted, label = _enquire(start, _for_members(outlook, words), terms, limit)
    shape = outlook.prior.shape
    return Decisions(consulted.reshape(*shape, limit), label.reshape(shape))


def continuations(outlook: Outlook, words: Ints, costs: Costs, limit: int) -> Continuations:
    """How every case ends if nobody is asked and if each reader is asked first, whether or not that pays."""
    terms, start = _begin(outlook, costs)
    heard = _for_members(outlook, words)
    row, reader = np.nonzero(start.open)
    answer = heard[row, reader]
    consulted = np.full((*start.open.shape, limit), NOBODY)  # [B, M, limit]
    label = np.full(start.open.shape, UNKNOWN)
    consulted[row, reader, 0] = reader
    row, reader, answer = (part[answer != UNKNOWN] for part in (row, reader, answer))
    after = _heard(start.rows(row), terms, reader, answer)
    consulted[row, reader, 1:], label[row, reader] = _enquire(after, heard, terms, limit - 1)
    shape = outlook.answers.shape[:-1]  # [..., N, M]
    return Continuations(
        kept=_labels(start, terms).reshape(shape[:-1]),
        label=label.reshape(shape),
        consulted=consulted.reshape(*shape, limit),
    )


def enquire(outlook: Outlook, first: Ints, words: Ints, declined: Bools, costs: Costs, limit: int) -> Enquired:
    """How N enquiries stand that began with the readers at `first`, NOBODY where nobody is asked.

    `words` is what has been said so far, [N, M], UNKNOWN where nothing; whoever has `declined`, [N, M], is passed over
    once it is their turn. With all words known and nobody declining it ends as `continuations` do.
    """
    terms, state = _begin(outlook, costs)
    rows = len(first)
    consulted, waiting = np.full((rows, limit), NOBODY), np.full(rows, NOBODY)
    step = np.zeros(rows, np.int64)  # answers so far
    active = np.flatnonzero(first != NOBODY)
    reader = first[active]
    while len(active):
        word = words[active, reader]
        refused = declined[active, reader] & (word == UNKNOWN)
        waits = (word == UNKNOWN) & ~refused
        waiting[active[waits]] = reader[waits]
        said = word != UNKNOWN
        known = said | waits
        consulted[active[known], step[active[known]]] = reader[known]
        state.open[active[refused], reader[refused]] = False
        after = _heard(state.rows(active[said]), terms, reader[said], word[said])
        state.belief[active[said]], state.open[active[said]] = after.belief, after.open
        state.label[active[said]] = after.label
        step[active[said]] += 1
        active = active[~waits]
        active, reader = _next_questions(active, state, terms, step, limit)
    return Enquired(consulted, np.where(waiting != NOBODY, UNKNOWN, _labels(state, terms)), waiting)


def _next_questions(active: Ints, state: _Enquiries, terms: _Terms, step: Ints, limit: int) -> tuple[Ints, Ints]:
    """Which of the enquiries go on, and whom each asks; answers so far say how far each may still look."""
    readers = state.open.shape[1]
    active = active[(step[active] < limit) & state.open[active].any(-1)]
    found = np.full(len(active), NOBODY)
    for done in np.unique(step[active]):
        rows = np.flatnonzero(step[active] == done)
        found[rows] = _whom_to_ask(state.rows(active[rows]), terms, look_ahead(limit - int(done), readers))
    return active[found != NOBODY], found[found != NOBODY]


def joined_outlook(parts: Sequence[Outlook]) -> Outlook:
    """The outlook on all cases from those on their parts, at least one, without members."""
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        prior=np.concatenate([part.prior for part in parts]),
        answers=np.concatenate([part.answers for part in parts]),
        available=np.concatenate([part.available for part in parts]),
        kept=np.concatenate([part.kept for part in parts]),
    )


def chain(outlook: Outlook, case: Cohort, costs: Costs, limit: int, prevalence: float) -> pd.DataFrame:
    """How one case is decided, a row a step: what came to be known, what that makes of it, and what is done next.

    `outlook` is that of one member or of all together, for the one case. Columns: known, probability (of positive),
    now (expected cost of the errors if the label is given now), label (that would be given), reader (the best to ask,
    empty if nobody can be), fee, asking (expected cost with that reader's fee and whatever follows), spent (fees so
    far) and next. The first row knows only how common positives are; there the question of asking does not come up.
    """
    task = case.manifest.task
    before = replace(outlook, prior=np.array([prevalence]), kept=np.array([CHEAPER]))
    terms, start = _begin(before, costs)
    rows = [_step_of(start, terms, 0, case) | {"known": f"How common {task.one} is", "next": "look at the case"}]
    terms, state = _begin(outlook, costs)
    news, spent = f"AI and {task.case}", 0.0
    for left in range(limit, -1, -1):
        row = _step_of(state, terms, left, case) | {"known": news, "spent": spent}
        reader = row.pop("position")
        asks = reader != NOBODY and row["asking"] < row["now"]
        word = int(case.decisions[0, reader]) if asks else UNKNOWN
        rows.append(row | {"next": f"ask {row['reader']}" if asks else f"decide: {row['label']}"})
        if not asks or word == UNKNOWN:
            break
        state = _heard(state, terms, np.array([reader]), np.array([word]))
        news, spent = f"{row['reader']} says {task.answers[word]}", spent + costs.fees[reader]
    return pd.DataFrame(rows, columns=list(CHAIN))


def checked_limit(limit: int) -> int:
    """How many readers may be asked, refused unless one of LIMITS."""
    if limit not in LIMITS:
        raise UserError(f"readers asked about a case: found {limit}, expected one of {', '.join(map(str, LIMITS))}")
    return limit


def ways(readers: int, depth: int) -> int:
    """In how many ways an enquiry of `depth` readers can go: whom is asked, in which order, and what they say.

    >>> ways(12, 3)
    10560
    """
    return perm(readers, depth) * 2**depth


def look_ahead(limit: int, readers: int) -> int:
    """How many answers are looked ahead: all there may be, or where readers are too many as many as can be followed."""
    return max(depth for depth in range(1, limit + 1) if depth == 1 or ways(readers, depth) <= PATHS)


def _begin(outlook: Outlook, costs: Costs) -> tuple[_Terms, _Enquiries]:
    members = outlook.prior.size // max(len(outlook.available), 1)
    prior, rates = outlook.prior.ravel(), outlook.answers.reshape(-1, *outlook.answers.shape[-2:])  # [B], [B, M, 2]
    terms = _Terms(
        likelihood=np.stack([1 - rates, rates], axis=-2),
        fees=np.array(costs.fees),
        errors=np.array([costs.false_positive, costs.false_negative]),
        fuse=outlook.fuse,
    )
    start = _Enquiries(
        pair=np.arange(len(prior)),
        belief=np.column_stack([1 - prior, prior]),
        open=np.tile(outlook.available, (members, 1)),
        label=np.tile(outlook.kept, members),
    )
    return terms, start


def _for_members(outlook: Outlook, words: Ints) -> Ints:
    """What readers say, for every member alike, [N, M] to [B, M]."""
    return np.tile(words, (outlook.prior.size // max(len(words), 1), 1))


def _enquire(start: _Enquiries, words: Ints, terms: _Terms, limit: int) -> tuple[Ints, Ints]:
    """Whom each enquiry asks from here on, [R, limit], and the label it ends with, [R]; `words` is [B, M]."""
    rows, state = len(start.pair), start.rows(np.arange(len(start.pair)))
    consulted, waiting = np.full((rows, limit), NOBODY), np.zeros(rows, bool)
    active = np.flatnonzero(state.open.any(-1))
    for step in range(limit):
        best = _whom_to_ask(state.rows(active), terms, look_ahead(limit - step, words.shape[1]))
        active, best = active[best != NOBODY], best[best != NOBODY]
        consulted[active, step] = best
        answer = words[state.pair[active], best]
        waiting[active[answer == UNKNOWN]] = True
        active, best, answer = (part[answer != UNKNOWN] for part in (active, best, answer))
        heard = _heard(state.rows(active), terms, best, answer)
        state.belief[active], state.open[active], state.label[active] = heard.belief, heard.open, heard.label
        active = active[heard.open.any(-1)]
    return consulted, np.where(waiting, UNKNOWN, _labels(state, terms))


def _whom_to_ask(enquiries: _Enquiries, terms: _Terms, depth: int) -> Ints:
    """The reader each enquiry asks next, [R]: whoever is expected to save most; NOBODY where none saves anything."""
    found = np.full(len(enquiries.pair), NOBODY)
    stop = _stop(enquiries.belief, enquiries.label, terms)
    worth = _worth(enquiries, stop, terms)
    open_questions = np.flatnonzero(worth.any(-1))
    if not len(open_questions):
        return found
    asking = _asking(enquiries.rows(open_questions), worth[open_questions], terms, depth)
    best = asking.argmin(-1)
    pays = stop[open_questions] > asking[np.arange(len(best)), best]
    found[open_questions[pays]] = best[pays]
    return found


def _worth(enquiries: _Enquiries, stop: Floats, terms: _Terms) -> Bools:
    """Whom asking may save anything, [R, M]: no answer is worth more than all that is at stake, `stop` [R]."""
    return enquiries.open & (stop[:, None] > terms.fees * _mass(enquiries.belief)[:, None])


def _mass(belief: Floats) -> Floats:
    """The probability of having come here, [R, 2] to [R]."""
    return np.asarray(belief[:, 0] + belief[:, 1])


def _stop(belief: Floats, label: Ints | int, terms: _Terms) -> Floats:
    """Expected cost of giving the label now, times the probability of having come here, [R, 2] to [R]."""
    alarm, miss = terms.errors[0] * belief[:, 0], terms.errors[1] * belief[:, 1]  # the cost if it is 1, and if it is 0
    least = np.minimum(alarm, miss)
    return least if np.all(label == CHEAPER) else np.choose(label + 1, [least, miss, alarm])


def _labels(enquiries: _Enquiries, terms: _Terms) -> Ints:
    alarm, miss = (terms.errors * enquiries.belief).T
    return np.where(enquiries.label == CHEAPER, miss >= alarm, enquiries.label).astype(np.int64)


def _heard(enquiries: _Enquiries, terms: _Terms, reader: np.ndarray, answer: np.ndarray) -> _Enquiries:
    """The enquiries after each has heard one answer."""
    likelihood = terms.likelihood[enquiries.pair, reader, answer]  # [R, 2]
    still_open = enquiries.open.copy()
    still_open[np.arange(len(reader)), reader] = False
    label = np.full(len(reader), CHEAPER) if terms.fuse else answer
    return _Enquiries(enquiries.pair, enquiries.belief * likelihood, still_open, label)


def _asking(enquiries: _Enquiries, askable: Bools, terms: _Terms, depth: int) -> Floats:
    """Expected cost of asking each `askable` reader, [R, M], next and going on as well as can be; ∞ for all others."""
    readers = enquiries.open.shape[1]
    size = max(1, CHUNK // ways(readers, depth)) if readers >= depth else max(len(enquiries.pair), 1)
    parts = [
        _asking_chunk(enquiries.rows(slice(start, start + size)), askable[start : start + size], terms, depth)
        for start in range(0, max(len(enquiries.pair), 1), size)
    ]
    return np.concatenate(parts)


def _asking_chunk(enquiries: _Enquiries, askable: Bools, terms: _Terms, depth: int) -> Floats:
    row, reader = np.nonzero(askable)
    belief, likelihood = enquiries.belief[row], terms.likelihood[enquiries.pair[row], reader]  # [K, 2], [K, 2, 2]
    cheapest = np.where(enquiries.open, terms.fees, np.inf).min(-1, initial=np.inf)[row]
    cost = terms.fees[reader] * _mass(belief)
    for answer in (0, 1):
        heard = belief * likelihood[:, answer]
        least = _stop(heard, CHEAPER if terms.fuse else answer, terms)
        if depth > 1:
            some = np.flatnonzero(least > cheapest * _mass(heard))
            after = _heard(enquiries.rows(row[some]), terms, reader[some], np.full(len(some), answer))
            best = _asking_chunk(after, _worth(after, least[some], terms), terms, depth - 1).min(-1, initial=np.inf)
            least[some] = np.minimum(least[some], best)
        cost = cost + least
    table = np.full(askable.shape, np.inf)
    table[row, reader] = cost
    return table


def _step_of(enquiry: _Enquiries, terms: _Terms, left: int, case: Cohort) -> dict[str, Any]:
    """A row of a chain: what is believed, and the cost to expect of stopping and of the best of `left` more readers."""
    mass = float(enquiry.belief.sum())
    depth = look_ahead(max(left, 1), case.readers)
    asking = _asking(enquiry, enquiry.open & (left > 0), terms, depth)[0]
    best = int(asking.argmin()) if np.isfinite(asking).any() else NOBODY
    anybody = best != NOBODY
    return {
        "probability": float(enquiry.belief[0, 1]) / mass,
        "now": float(_stop(enquiry.belief, enquiry.label, terms)[0]) / mass,
        "label": case.manifest.task.answers[int(_labels(enquiry, terms)[0])],
        "position": best,
        "reader": case.manifest.readers[best].name if anybody else "",
        "fee": float(terms.fees[best]) if anybody else np.nan,
        "asking": float(asking[best]) / mass if anybody else np.nan,
        "spent": 0.0,
    }  # fmt: skip
