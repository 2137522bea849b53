"""Results in people: what becomes of a thousand who are screened, who decides, and what the readings take.

Everything is counted among the sick and among the well apart and put together at a prevalence: that of the cases,
or one of the user's own. For a population of members every count is their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import AI, NOBODY, READER, RULE, Decisions, deciders
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import percentiles

SCREENED = 1000
OUTCOMES = ("found", "missed", "alarm", "cleared")
"""What becomes of a person: sick and found or missed; well with a false alarm, or cleared."""

WHO = ("ai", "rule", "reader")
"""Who decided, in the order of `core.policy.DECIDERS`."""

PEOPLE = ("missed", "found", "alarm", "cleared", "read", "by_ai", "by_rule")
"""Quantities that count people and are shown as whole numbers that agree with the picture."""

EFFORT = ("readings", "hours", "money")
RATES = ("Sens", "Spec")  # as in `metrics`, whatever the prevalence
QUANTITIES = (*PEOPLE, *EFFORT, *RATES)
MINUTES = 5.0  # a reading takes, unless the user knows better


@dataclass(frozen=True)
class Programme:
    """The screening in which results are told."""

    prevalence: float | None = None  # share of the sick among those screened; None: as among the cases
    minutes: float = MINUTES  # a reading takes
    price: float = 0.0  # of one reading, in the user's currency
    work_up: float = 0.0  # what following up one false alarm costs, in the same currency

    def __post_init__(self) -> None:
        if self.prevalence is not None and not 0 < self.prevalence < 1:
            raise UserError(f"prevalence: found {self.prevalence}, expected a share above 0 and below 1")
        for name, value in (("minutes a reading", self.minutes), ("price of a reading", self.price),
                            ("cost of a work-up", self.work_up)):  # fmt: skip
            if not (np.isfinite(value) and value >= 0):
                raise UserError(f"{name}: found {value}, expected a number of at least 0")


AS_COUNTED = Programme()


def per_thousand(
    evidence: Evidence, programme: Programme, weights: Floats, reference: str = "ai", screened: int = SCREENED
) -> pd.DataFrame:
    """QUANTITIES of every method among `screened` people, and how much more it is than with the `reference`, paired.

    `weights`, [R, N]: the shared resamples. Columns: method, title, quantity, value, low, high, whole (as shown: whole
    people who add up), difference, difference_low, difference_high, n (cases), sick (of them).
    """
    cohort = evidence.cohort
    everyone = np.vstack([np.ones(len(cohort)), weights])  # as observed first, [1 + R, N]
    drawn = {
        name: _quantities(cohort, outcome.decisions, programme, everyone) * _scale(screened)
        for name, outcome in evidence.outcomes.items()
    }
    n, sick = len(cohort), int((cohort.truth == 1).sum())
    parts = []
    for name, outcome in evidence.outcomes.items():
        own, apart = drawn[name], drawn[name] - drawn[reference]
        low, high = percentiles(own[1:])
        less, more = percentiles(apart[1:])
        parts.append(
            pd.DataFrame({
                "method": name, "title": outcome.title, "quantity": QUANTITIES, "value": own[0], "low": low,
                "high": high, "whole": _whole(cohort, outcome.decisions, programme, screened, own[0]),
                "difference": apart[0], "difference_low": less, "difference_high": more, "n": n, "sick": sick,
            })
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def cells(
    cohort: Cohort, decisions: Decisions, programme: Programme = AS_COUNTED, screened: int = SCREENED
) -> pd.DataFrame:
    """Whole people who add up to `screened`: outcome, who, people; every outcome of every decider.

    Rounded by the largest remainder from the top down: sick and well, then right and wrong among each, then who
    decided, so that the sick are as many under every method.
    """
    classes, parts = _observed(cohort, decisions, programme)
    people = _people(classes, parts, screened)  # [2, 2, 3]
    return pd.DataFrame([
        {"outcome": outcome, "who": who, "people": count}
        for (outcome, who), count in zip(product(OUTCOMES, WHO), people.ravel().tolist(), strict=True)
    ])  # fmt: skip


def apportioned(shares: Floats, total: int) -> Ints:
    """Whole numbers that add up to `total`, in proportion to `shares`, [K], by the largest remainder.

    >>> apportioned(np.array([0.335, 0.335, 0.33]), 100).tolist(), apportioned(np.zeros(2), 0).tolist()
    ([34, 33, 33], [0, 0])
    """
    if total == 0:
        return np.zeros(len(shares), np.int64)
    exact = total * shares / shares.sum()
    exact = np.where(np.abs(exact - exact.round()) < 1e-9, exact.round(), exact)  # no person lost to rounding errors
    whole = np.floor(exact).astype(np.int64)
    first = np.argsort(-(exact - whole), kind="stable")[: total - whole.sum()]
    whole[first] += 1
    return whole


def at_prevalence(weights: Floats, cohort: Cohort, prevalence: float | None) -> Floats:
    """Weights of the cases, [R, N], under which the sick are as common as that; without one as they are.

    NaN in a resample without any sick or without any well case, of which another prevalence tells nothing.
    """
    if prevalence is None:
        return weights
    sick = cohort.truth == 1
    share = weights @ sick / weights.sum(-1)  # [R]
    wanted = np.stack([prevalence, 1 - prevalence])
    there = np.stack([share, 1 - share], axis=-1)  # [R, 2]
    factor = np.divide(wanted, there, out=np.full(there.shape, np.nan), where=there > 0)
    return weights * np.where(sick, factor[:, :1], factor[:, 1:])


def prevalence_of(cohort: Cohort) -> float:
    """The share of sick cases."""
    return float((cohort.truth == 1).mean())


# ---------------------------------------------------------------------------------- within the sick and the well

RIGHT, WRONG = 0, 1


def _each_case(cohort: Cohort, decisions: Decisions) -> Floats:
    """What each case adds, mean over members, [N, 7]: right and wrong by decider, [2 · 3], then readings."""
    if (cohort.truth < 0).any() or (decisions.label < 0).any():
        raise UserError("people: the truth or the final answer of some cases is not known; leave them out to count")
    wrong = (decisions.label != cohort.truth).astype(int)
    cell = len(WHO) * wrong + deciders(decisions, cohort)  # [..., N]
    counted = (cell[..., None] == np.arange(2 * len(WHO))).astype(float)  # [..., N, 6]
    readings = (decisions.consulted != NOBODY).sum(-1)[..., None]
    each = np.concatenate([counted, readings], axis=-1)
    return np.asarray(each.reshape(-1, *each.shape[-2:]).mean(0))


def _within(cohort: Cohort, decisions: Decisions, programme: Programme, weights: Floats) -> tuple[Floats, Floats]:
    """Shares of sick and well, [R, 2], and means of `_each_case` among each, [R, 2, 7]; 0 where there is nobody."""
    each, sick = _each_case(cohort, decisions), cohort.truth == 1
    members = np.stack([weights * sick, weights * ~sick], axis=1)  # [R, 2, N]
    size = members.sum(-1)
    if programme.prevalence is None:
        classes = size / size.sum(-1, keepdims=True)
    elif not sick.any() or sick.all():
        kind = "negative" if sick.all() else "positive"
        raise UserError(f"prevalence: there is no {kind} case here, so another prevalence says nothing")
    else:
        classes = np.where((size > 0).all(-1, keepdims=True), [programme.prevalence, 1 - programme.prevalence], np.nan)
    return classes, members @ each / np.maximum(size, 1)[..., None]


def _quantities(cohort: Cohort, decisions: Decisions, programme: Programme, weights: Floats) -> Floats:
    """QUANTITIES per person screened, and RATES, [R, Q]."""
    classes, within = _within(cohort, decisions, programme, weights)
    share = classes[..., None] * within  # [R, 2, 7]
    by = share[..., :-1].reshape(*share.shape[:2], 2, len(WHO))  # [R, sick or well, right or wrong, who]
    readings, alarm = share[..., -1].sum(1), by[:, 1, WRONG].sum(-1)
    rates = np.where(classes > 0, within[..., : len(WHO)].sum(-1), np.nan)  # right among sick and well, [R, 2]
    columns = {
        "missed": by[:, 0, WRONG].sum(-1),
        "found": by[:, 0, RIGHT].sum(-1),
        "alarm": alarm,
        "cleared": by[:, 1, RIGHT].sum(-1),
        "read": by[..., READER].sum((1, 2)),
        "by_ai": by[..., AI].sum((1, 2)),
        "by_rule": by[..., RULE].sum((1, 2)),
        "readings": readings,
        "hours": readings * programme.minutes / 60,
        "money": readings * programme.price + alarm * programme.work_up,
        **dict(zip(RATES, rates.T, strict=True)),
    }
    return np.stack([columns[name] for name in QUANTITIES], axis=-1)


def _scale(screened: int) -> Floats:
    """By what QUANTITIES grow with the number of people, [Q]."""
    return np.array([1.0 if name in RATES else screened for name in QUANTITIES])


def _observed(cohort: Cohort, decisions: Decisions, programme: Programme) -> tuple[Floats, Floats]:
    """Shares of sick and well, [2], and of outcomes and deciders among them, [2, 2, 3], the cases as they are."""
    classes, within = _within(cohort, decisions, programme, np.ones((1, len(cohort))))
    return classes[0], within[0, :, :-1].reshape(2, 2, len(WHO))


def _people(classes: Floats, parts: Floats, screened: int) -> Ints:
    """Whole people, [4, 3], in the order of OUTCOMES and WHO."""
    rows = []
    for kind, people in enumerate(apportioned(classes, screened).tolist()):
        outcomes = parts[kind] if kind == 0 else parts[kind, ::-1]  # sick: found, missed; well: alarm, cleared
        for outcome, some in zip(outcomes, apportioned(outcomes.sum(-1), people).tolist(), strict=True):
            rows.append(apportioned(outcome, some))
    return np.stack(rows)


def _whole(cohort: Cohort, decisions: Decisions, programme: Programme, screened: int, values: Floats) -> list[float]:
    """QUANTITIES as shown: people as in the picture, effort rounded, rates as they are."""
    people = _people(*_observed(cohort, decisions, programme), screened)  # [4, 3]
    counted = [
        *zip(OUTCOMES, people.sum(-1), strict=True),
        *zip(("by_ai", "by_rule", "read"), people.sum(0), strict=True),
    ]
    shown = dict(zip(QUANTITIES, np.where(np.isin(QUANTITIES, RATES), values, np.rint(values)), strict=True))
    return [float(value) for value in (shown | dict(counted)).values()]
