"""Why a case went where it went: what each input adds, what would change the decision, and which cases are like it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import factorial

import numpy as np
import pandas as pd
from scipy.special import expit

from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import ANSWERS, MEASURED, STATE, UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import Expectations
from mpd2.core.policy import Policy, Rule, choose, mean_policy
from mpd2.core.runs import Run
from mpd2.evaluation.map import nearest
from mpd2.methods.base import Explains
from mpd2.methods.registry import policy_of

INPUT_NAMES = {
    "prob_1": "AI's probability",
    "logit_0": "AI's score, healthy",
    "logit_1": "AI's score, glaucoma",
    "vim_risk_z": "image distance",
    "quality_risk": "quality risk",
    "uncertainty": "AI's uncertainty",
    "vCDR": "vertical CDR",
    "aCDR": "area CDR",
}

NEW_CASE = "new case"  # id of one that is entered by hand
BACKGROUND = 64  # training cases that stand for "not knowing" an input
STEPS = 64  # points on the way to the end of a range; searched twice, so that a flip is found to 1/4000 of the way
STAND_INS = 3  # readers in a row who might be away
INSIDE, OUTSIDE, BEYOND = "inside the range", "outside its cohort's range", "outside the training range"

Value = Callable[[Floats], Floats]
"""From K states, [K, F], to one number each for any number of members, [..., K]."""


@dataclass(frozen=True, eq=False)
class Attribution:
    """How the inputs of one case add up to each member's deferral logit."""

    values: Floats  # [E, 8] in the order of STATE
    base: Floats  # [E] the mean logit of the background

    @property
    def logit(self) -> Floats:
        """The case's own logit, [E]."""
        return self.base + self.values.sum(-1)


# ---------------------------------------------------------------------------------- a case with other inputs


def copies_with(case: Cohort, state: Floats, available: Bools | None = None) -> Cohort:
    """One case with other states, [K, 8], and if given another roster, [M]."""
    copies = case.rows(np.zeros(len(state), int))
    roster = copies.available if available is None else np.tile(available, (len(state), 1))
    return replace(copies, state=state, available=roster)


def changed(state: Floats, values: dict[str, float]) -> Floats:
    """A state, [8], with measured inputs replaced; probability and uncertainty follow.

    >>> np.round(changed(np.zeros(8), {"logit_1": 2.0}), 3).tolist()
    [0.881, 0.0, 2.0, 0.0, 0.0, 0.119, 0.0, 0.0]
    """
    new = np.array(state, float)
    for name, value in values.items():
        new[STATE.index(name)] = value
    return following(new)


def following(state: Floats) -> Floats:
    """States, [..., 8], with the probability and uncertainty that their logits imply."""
    new = np.array(state, float)
    probability = expit(new[..., STATE.index("logit_1")] - new[..., STATE.index("logit_0")])
    new[..., STATE.index("prob_1")] = probability
    new[..., STATE.index("uncertainty")] = np.minimum(probability, 1 - probability)
    return new


def typical_case(train: Cohort) -> Cohort:
    """A case to start a new one from: every measured input at its median, every reader there, nothing known."""
    return replace(
        train.rows(np.array([0])),
        ids=np.array([NEW_CASE]),
        split=np.array([""]),
        state=following(np.median(train.state, axis=0))[None],
        horizontal_cdr=np.array([np.nan]),
        truth=np.array([UNKNOWN]),
        decisions=np.full((1, train.readers), UNKNOWN),
        available=np.ones((1, train.readers), bool),
    )


# ---------------------------------------------------------------------------------- what is done


def actions_frame(policy: Policy, case: Cohort, rule: Rule, expected: Expectations, costs: Costs) -> pd.DataFrame:
    """One row an action of one case, the AI first: who, mean share, least and most of any member, votes, costs.

    `policy` is that of a population, [E, 1]; `expected` is of the one case. `wrong` is how likely the own answer of the
    AI or of the reader is wrong, `says` how likely it is glaucoma, and `if_glaucoma` and `if_healthy` how likely
    glaucoma is once it is known. `expected_cost`, of keeping the case or of first asking the reader, is NaN for a
    reader who is not available. The `runner_up` is the reader who holds most beside whoever is chosen.
    """
    shares = policy.actions[:, 0]  # [E, 1 + M]
    manifest = case.manifest
    everybody = np.arange(1 + case.readers)
    chosen = everybody == choose(mean_policy(policy), rule)[0]
    other = np.append(False, case.available[0]) & ~chosen
    second = np.lexsort((expected.cost[0], -shares.mean(0), ~other))[0]
    return pd.DataFrame({
        "action": ["ai", *manifest.columns],
        "who": ["AI", *(reader.name for reader in manifest.readers)],
        "share": shares.mean(0),
        "least": shares.min(0),
        "most": shares.max(0),
        "votes": (choose(policy, rule) == everybody).sum(0),
        "fee": [0.0, *costs.fees],
        "wrong": expected.wrong[0],
        "says": expected.says[0],
        "if_glaucoma": expected.after(1)[0],
        "if_healthy": expected.after(0)[0],
        "expected_cost": np.where(np.isfinite(expected.cost[0]), expected.cost[0], np.nan),
        "available": [True, *case.available[0]],
        "chosen": chosen,
        "runner_up": (everybody == second) & other,
    })  # fmt: skip


# ---------------------------------------------------------------------------------- what each input adds


def shapley(value: Value, case: Floats, background: Floats) -> tuple[Floats, Floats]:
    """Exact Shapley values of a case's F inputs, [..., F], and the mean value of the background, [...].

    All 2^F coalitions: inside one the inputs are the case's, outside they are a background row's, averaged over rows.
    """
    inputs = len(case)
    inside = (np.arange(2**inputs)[:, None] >> np.arange(inputs)) % 2 == 1  # [2^F, F]
    mixed = np.where(inside[:, None], case, background)  # [2^F, B, F]
    values = value(mixed.reshape(-1, inputs))
    worth = values.reshape(*values.shape[:-1], len(inside), len(background)).mean(-1)  # [..., 2^F]
    weight = np.array([factorial(s) * factorial(inputs - s - 1) / factorial(inputs) for s in range(inputs)])
    size = inside.sum(1, keepdims=True)
    signed = np.where(inside, weight[size - 1], -weight[np.minimum(size, inputs - 1)])  # [2^F, F]
    return worth @ signed, worth[..., 0]


def attribute(
    method: Explains, run: Run, case: Cohort, train: Cohort, size: int = BACKGROUND, seed: int = 0
) -> Attribution:
    """What each of the eight inputs, as the members of a run see them, adds to the deferral logit of one case.

    The background is a fixed draw of training cases. Inputs are taken one by one, although the AI's probability and
    uncertainty are functions of its scores: what the four share is split between them.
    """
    rows = np.random.default_rng(seed).choice(len(train), min(size, len(train)), replace=False)

    def logit(states: Floats) -> Floats:
        return method.deferral_logit(run, copies_with(case, states))

    return Attribution(*shapley(logit, case.state[0], train.state[rows]))


def attribution_frame(attribution: Attribution, case: Cohort) -> pd.DataFrame:
    """One row an input: its value, what it adds on average over the members, and the least and most of any."""
    return pd.DataFrame({
        "variable": STATE,
        "input": list(INPUT_NAMES.values()),
        "value": case.state[0],
        "adds": attribution.values.mean(0),
        "least": attribution.values.min(0),
        "most": attribution.values.max(0),
    })  # fmt: skip


# ---------------------------------------------------------------------------------- what would change the decision


def flips(run: Run, case: Cohort, train: Cohort) -> pd.DataFrame:
    """The smallest change of each measured input, within the training range, that turns keep into send or back.

    Columns: variable, input, now, flips_at (NaN if nothing in the range does), change (in standard deviations of the
    training cases), probability (the AI's, at the flip). The easiest flip comes first.
    """
    columns = [STATE.index(name) for name in MEASURED]
    now = case.state[0, columns]  # [L]
    ends = np.stack([train.state.min(0), train.state.max(0)], axis=-1)[columns]  # [L, 2]
    start = np.repeat(now[:, None], 2, axis=1)
    inner, outer, turned = _first_flip(run, case, start, ends)
    _, outer, _ = _first_flip(run, case, inner, outer)
    change = np.where(turned, (outer - start) / train.state.std(0)[columns, None], np.inf)
    nearer = np.abs(change).argmin(-1)[:, None]  # [L, 1] down or up
    at, change, turned = (np.take_along_axis(part, nearer, 1)[:, 0] for part in (outer, change, turned))
    ending = _moved(case.state[0], at[:, None, None])[:, 0, 0]  # [L, 8]
    rows = pd.DataFrame({
        "variable": MEASURED,
        "input": [INPUT_NAMES[name] for name in MEASURED],
        "now": now,
        "flips_at": np.where(turned, at, np.nan),
        "change": np.where(turned, change, np.nan),
        "probability": np.where(turned, ending[:, STATE.index("prob_1")], np.nan),
    })  # fmt: skip
    return rows.sort_values("change", key=np.abs, na_position="last", ignore_index=True)


def stand_ins(run: Run, case: Cohort) -> list[int]:
    """Who is asked, then who if that one is away, and so on: actions, 0 for the AI, which ends the list."""
    order: list[int] = []
    available = case.available[0].copy()
    while len(order) < STAND_INS:
        roster = copies_with(case, case.state, available)
        action = int(choose(mean_policy(policy_of(run, roster)), run.rule)[0])
        order.append(action)
        if action == 0:
            break
        available[action - 1] = False
    return order


def _first_flip(run: Run, case: Cohort, start: Floats, end: Floats) -> tuple[Floats, Floats, Bools]:
    """On the way from start to end, [L, 2] each: the last point before the first flip, that flip, and if there is one.

    Both ways, up and down, of every input are walked at once.
    """
    path = start[..., None] + (end - start)[..., None] * np.linspace(0, 1, STEPS)  # [L, 2, STEPS]
    states = _moved(case.state[0], path)
    policy = mean_policy(policy_of(run, copies_with(case, states.reshape(-1, len(STATE)))))
    sends = (choose(policy, run.rule) > 0).reshape(path.shape)
    now = choose(mean_policy(policy_of(run, case)), run.rule)[0] > 0
    first = (sends != now).argmax(-1)[..., None]
    before = np.take_along_axis(path, np.maximum(first - 1, 0), -1)[..., 0]
    return before, np.take_along_axis(path, first, -1)[..., 0], (sends != now).any(-1)


def _moved(state: Floats, values: Floats) -> Floats:
    """One state with its l-th measured input set to each of values[l], [L, ...] to [L, ..., 8]."""
    moved = np.broadcast_to(state, (*values.shape, len(STATE))).copy()
    for position, name in enumerate(MEASURED):
        moved[position, ..., STATE.index(name)] = values[position]
    return following(moved)


# ---------------------------------------------------------------------------------- beside other cases


def range_frame(case: Cohort, train: Cohort) -> pd.DataFrame:
    """Each input of a case on the training cases of its cohort: value, quantiles, rank, and how it lies in the range.

    `place` is 0 at the cohort's lowest training case and 1 at its highest, for the value and each quantile alike.
    `flag` is INSIDE, OUTSIDE the range of its cohort, or BEYOND that of all training cases.
    """
    kin = train.state[train.source == case.source[0]]
    kin = kin if len(kin) else train.state
    value, low, high = case.state[0], kin.min(0), kin.max(0)
    width = np.where(high > low, high - low, 1.0)
    quantiles = {f"q{q}": (np.quantile(kin, q / 100, axis=0) - low) / width for q in (5, 25, 50, 75, 95)}
    outside = (value < low) | (value > high)
    beyond = (value < train.state.min(0)) | (value > train.state.max(0))
    flag = np.where(beyond, BEYOND, np.where(outside, OUTSIDE, INSIDE))
    return pd.DataFrame({
        "variable": STATE,
        "input": list(INPUT_NAMES.values()),
        "value": value,
        "low": low,
        "high": high,
        **quantiles,
        "place": (value - low) / width,
        "rank": (kin <= value).mean(0),
        "flag": flag,
        "n": len(kin),
    })  # fmt: skip


def similar_cases(run: Run, case: Cohort, train: Cohort, k: int) -> pd.DataFrame:
    """The training cases most like this one: truth, what the run does with it, the AI's and each reader's answer.

    A reader who has read none of them has no column.
    """
    rows, distances = nearest(train, case.state, k)
    alike = train.rows(rows[0])
    who = np.array(["AI", *(reader.name for reader in train.manifest.readers)])
    action = choose(mean_policy(policy_of(run, alike)), run.rule)
    answers = pd.DataFrame(alike.action_labels, columns=who).replace(ANSWERS)
    names = np.array([entry.name for entry in train.manifest.cohorts])
    facts = pd.DataFrame({
        "case_id": alike.ids,
        "distance": distances[0],
        "cohort": names[alike.source],
        "truth": [ANSWERS[int(truth)] for truth in alike.truth],
        "sent to": who[action],
    })  # fmt: skip
    return facts.join(answers.loc[:, (answers != "").any()])


def comparison_frame(case: Cohort, other: Cohort, train: Cohort) -> pd.DataFrame:
    """Two cases input by input: both values, and how far apart in standard deviations of the training cases."""
    scale = train.state.std(0)
    apart = np.divide(case.state[0] - other.state[0], scale, out=np.zeros(len(STATE)), where=scale > 0)
    names = list(INPUT_NAMES.values())
    return pd.DataFrame({"input": names, "this": case.state[0], "other": other.state[0], "apart": apart})
