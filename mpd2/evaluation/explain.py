"""Why a case went where it went: what each input adds, what would change the decision, and which cases are like it.

A run is asked about changed cases through one function, `Applied`, so that all of this holds for every method and at
every operating point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import Expectations
from mpd2.core.policy import AI, DECIDED_BY, RULE, Continuations, Policy, Rule, choose, mean_policy, preferences
from mpd2.core.state import IS_MISSING, PROBABILITY, UNCERTAINTY, StateLayout
from mpd2.core.text import decimal
from mpd2.evaluation.map import nearest
from mpd2.evaluation.shapley import orders_drawn, shapley
from mpd2.methods.base import COHORT, Ground

NEW_CASE = "new case"  # id of one that is entered by hand
BACKGROUND = 24  # training cases that stand for "not knowing" an input
STEPS = 32  # points on the way to the end of a range; searched twice, so that a flip is found to 1/1000 of the way
STAND_INS = 3  # readers in a row who might be away
INSIDE, OUTSIDE, BEYOND = "inside the range", "outside its cohort's range", "outside the training range"

Applied = Callable[[Cohort], tuple[Policy, Continuations | None]]
"""What a run makes of any cases, [E, N]: its policy, and how cases end where it relabels them."""

Grounds = Callable[[Cohort], dict[Ground, Floats]]
"""The numbers by which any cases are decided, [N] each, or [E, N] by every member."""


@dataclass(frozen=True, eq=False)
class Attribution:
    """How the inputs of one case add up to a number it is decided by, of all members together or of each."""

    inputs: tuple[str, ...]  # F of them
    values: Floats  # [F] or [E, F]
    base: Floats  # [] or [E] the mean number of the background
    orders: int = 0  # of knowing the inputs that were drawn; 0 where every set of them was looked at

    @property
    def total(self) -> Floats:
        """The case's own number, [] or [E]."""
        return self.base + self.values.sum(-1)


# ---------------------------------------------------------------------------------- a case with other inputs


def copies_with(case: Cohort, state: Floats, available: Bools | None = None) -> Cohort:
    """One case with other states, [K, S], and if given another roster, [M]; what is missing in them is absent."""
    copies, layout = case.rows(np.zeros(len(state), int)), case.layout
    roster = copies.available if available is None else np.tile(available, (len(state), 1))
    absent = np.zeros(state.shape, bool)
    for name, indicator in _indicators(layout).items():
        absent[:, layout.position(name)] = state[:, layout.position(indicator)] == 1
    return replace(copies, state=state, absent=absent, available=roster)


def changed(case: Cohort, values: dict[str, float]) -> Floats:
    """The state of a case, [S], with measured inputs replaced; probability and uncertainty follow."""
    layout, new = case.layout, np.array(case.state[0], float)
    for name, value in values.items():
        new[layout.position(name)] = value
        if name in _indicators(layout):
            new[layout.position(f"{name}{IS_MISSING}")] = 0.0
    return layout.completed(new)


def _indicators(layout: StateLayout) -> dict[str, str]:
    """By input that may be missing, the variable that says whether it is."""
    return {name.removesuffix(IS_MISSING): name for name in layout.names if name.endswith(IS_MISSING)}


def title_of(name: str, layout: StateLayout) -> str:
    """An input as it stands in a sentence."""
    return "cohort" if name == COHORT else layout.titles[name]


def typical_case(train: Cohort) -> Cohort:
    """A case to start a new one from: every measured input at its median, every reader there, nothing known."""
    state = train.layout.completed(np.median(train.state, axis=0))
    state[train.layout.positions(list(_indicators(train.layout).values()))] = 0.0  # all of it is measured
    return replace(
        train.rows(np.array([0])),
        ids=np.array([NEW_CASE]),
        split=np.array([""]),
        cluster=np.array([-1]),
        state=state[None],
        absent=np.zeros((1, len(train.layout)), bool),
        drawn=np.full((1, train.drawn.shape[1]), np.nan),
        truth=np.array([UNKNOWN]),
        decisions=np.full((1, train.readers), UNKNOWN),
        available=np.ones((1, train.readers), bool),
    )


# ---------------------------------------------------------------------------------- what is done


def actions_frame(
    policy: Policy, case: Cohort, rule: Rule, expected: Expectations, costs: Costs, kept: int
) -> pd.DataFrame:
    """One row an action of one case, keeping it first: who, mean share, least and most of any member, votes, costs.

    Whoever keeps it is the AI, or the rule where the label `kept`, given with nobody asked, is against the AI's own.
    `policy` is that of a population, [E, 1]; `expected` is of the one case. `wrong` is how likely the own answer of the
    AI or of the reader is wrong, `says` how likely it is positive, and `if_positive` and `if_negative` how likely
    the case is positive once it is known. `expected_cost`, of keeping the case or of first asking the reader, is NaN
    for a reader who is not available. The `runner_up` is the reader who holds most beside whoever is chosen.
    """
    shares = policy.actions[:, 0]  # [E, 1 + M]
    manifest = case.manifest
    everybody = np.arange(1 + case.readers)
    chosen = everybody == choose(mean_policy(policy), rule)[0]
    other = np.append(False, case.available[0]) & ~chosen
    second = np.lexsort((expected.cost[0], -shares.mean(0), ~other))[0]
    return pd.DataFrame({
        "action": ["ai", *manifest.columns],
        "who": [DECIDED_BY[AI if kept == case.ai_label[0] else RULE], *(reader.name for reader in manifest.readers)],
        "share": shares.mean(0),
        "least": shares.min(0),
        "most": shares.max(0),
        "votes": (choose(policy, rule) == everybody).sum(0),
        "fee": [0.0, *costs.fees],
        "wrong": expected.wrong[0],
        "says": expected.says[0],
        "if_positive": expected.after(1)[0],
        "if_negative": expected.after(0)[0],
        "expected_cost": np.where(np.isfinite(expected.cost[0]), expected.cost[0], np.nan),
        "available": [True, *case.available[0]],
        "chosen": chosen,
        "runner_up": (everybody == second) & other,
    })  # fmt: skip


# ---------------------------------------------------------------------------------- what each input adds


def attribute(
    grounds: Grounds, inputs: tuple[str, ...], case: Cohort, train: Cohort, size: int = BACKGROUND
) -> dict[Ground, Attribution]:
    """What each input adds to the numbers one case is decided by.

    Inputs are taken one by one, also where a method sees both the AI's scores and what follows from them: what these
    share is split between them. An input and whether it is missing are one.
    """
    numbers, fills = tuple(grounds(case)), train.train_fills()
    if not numbers:
        return {}

    def value(rows: Floats) -> Floats:
        each, place = np.unique(rows, axis=0, return_inverse=True)  # where case and background agree, sets are the same
        found = grounds(_with_inputs(case, inputs, each, fills))
        return np.stack([found[number] for number in numbers])[..., place.ravel()]

    others = _inputs_of(background(train, size), inputs)  # [B, F]
    values, base = shapley(value, _inputs_of(case, inputs)[0], others)
    orders = orders_drawn(len(inputs), len(others))
    return {number: Attribution(inputs, values[k], base[k], orders) for k, number in enumerate(numbers)}


def sending(applied: Applied, rule: Rule) -> Grounds:
    """The log-odds by which every member sends a case; a method without grounds of its own decides by nothing else."""

    def grounds(cases: Cohort) -> dict[Ground, Floats]:
        return {"sending": preferences(applied(cases)[0], rule).max(-1)} if cases.available.any() else {}

    return grounds


def background(train: Cohort, size: int = BACKGROUND) -> Cohort:
    """Training cases that stand for all: of each cohort its share, evenly from the AI's lowest probability up."""
    order = np.lexsort((train.ai_probability, train.source))
    places = (np.arange(min(size, len(train))) + 0.5) * len(train) / min(size, len(train))
    return train.rows(order[places.astype(np.int64)])


def attribution_frame(attribution: Attribution, case: Cohort) -> pd.DataFrame:
    """One row an input: its value, what it adds on average over the members, and the least and most of any."""
    names, values = attribution.inputs, np.atleast_2d(attribution.values)
    cohort = case.manifest.cohorts[case.source[0]].name
    return pd.DataFrame({
        "variable": names,
        "input": [title_of(name, case.layout) for name in names],
        "value": [cohort if name == COHORT else _shown(case, name) for name in names],
        "adds": values.mean(0),
        "least": values.min(0),
        "most": values.max(0),
    })  # fmt: skip


def _shown(case: Cohort, name: str) -> str:
    return "missing" if case.absent[0, case.layout.position(name)] else decimal(case.column(name)[0], 2)


def _inputs_of(cases: Cohort, inputs: tuple[str, ...]) -> Floats:
    """The named inputs, [N, F]; a cohort by its position, NaN for what was not measured."""
    measured = np.where(cases.absent, np.nan, cases.state)
    places = {name: cases.layout.position(name) for name in inputs if name != COHORT}
    return np.column_stack([cases.source if name == COHORT else measured[:, places[name]] for name in inputs]).astype(
        float
    )


def _with_inputs(case: Cohort, inputs: tuple[str, ...], rows: Floats, fills: Mapping[str, float]) -> Cohort:
    """One case with other inputs, [K, F], NaN for one that is missing, which is then one of `fills`.

    What follows from the AI's scores does, unless it is one of the inputs.
    """
    state, indicators = np.repeat(case.state, len(rows), axis=0), _indicators(case.layout)
    for name, values in zip(inputs, rows.T, strict=True):
        if name != COHORT:
            state[:, case.layout.position(name)] = np.where(np.isnan(values), fills.get(name, 0.0), values)
        if name in indicators:
            state[:, case.layout.position(indicators[name])] = np.isnan(values)
    copies = copies_with(case, state if {PROBABILITY, UNCERTAINTY} & set(inputs) else case.layout.completed(state))
    return replace(copies, source=rows[:, inputs.index(COHORT)].astype(np.int64)) if COHORT in inputs else copies


# ---------------------------------------------------------------------------------- what would change the decision


def done(applied: Applied, rule: Rule, cases: Cohort) -> Ints:
    """What is done with each case, [N]: the answer, 0 or 1, of one that is kept, or 2 + the reader asked first."""
    policy, endings = applied(cases)
    kept = cases.ai_label if endings is None else endings.together().kept
    action = choose(mean_policy(policy), rule)
    return np.where(action > 0, action + 1, kept)


def flips(applied: Applied, rule: Rule, case: Cohort, train: Cohort) -> pd.DataFrame:
    """The smallest change of each measured input, within the training range, that changes what is done with a case.

    One row an input and a kind of change: from keeping to sending or back (`crosses`), and from one reader, or one
    answer of a kept case, to another. Columns: variable, input, crosses, now, flips_at, change (in standard deviations
    of the training cases), probability (the AI's, at the flip), then (what is done). The easiest comes first.
    """
    case = replace(case, decisions=np.full_like(case.decisions, UNKNOWN))  # what readers would say plays no part
    before = int(done(applied, rule, case)[0])
    measured = case.layout.measured
    columns = case.layout.positions(measured)
    own, scale = case.state[0, columns], train.state.std(0)[columns]
    position = np.repeat(np.arange(len(measured)), 2)  # [W] every input on its way down and on its way up
    ends = np.column_stack([train.state.min(0), train.state.max(0)])[columns].ravel()
    path, outcome = _walk(applied, rule, case, position, own[position], ends)
    rows = []
    for crosses in (True, False):
        way, first = _first(_turned(outcome, before, crosses))
        finer, there = _walk(applied, rule, case, position[way], path[way, first - 1], path[way, first])
        index, first = _first(_turned(there, before, crosses))
        rows += [
            (crosses, position[way[k]], finer[k, point], there[k, point]) for k, point in zip(index, first, strict=True)
        ]
    found = pd.DataFrame(rows, columns=["crosses", "position", "flips_at", "outcome"])
    where = found.pop("position").to_numpy(int)
    at = found["flips_at"].to_numpy(float)
    found = found.assign(
        variable=np.array(measured)[where],
        input=[case.layout.titles[measured[k]] for k in where],
        now=own[where],
        change=(at - own[where]) / scale[where],
        probability=_moved(case, where, at[:, None])[:, 0, case.layout.position(PROBABILITY)],
        then=[_in_words(int(each), case) for each in found.pop("outcome")],
    )
    easiest = found.sort_values("change", key=np.abs, ignore_index=True)
    return easiest.drop_duplicates(["variable", "crosses"], ignore_index=True)


def stand_ins(applied: Applied, rule: Rule, case: Cohort) -> list[int]:
    """Who is asked, then who if that one is away, and so on: actions, 0 for the AI, which ends the list."""
    order: list[int] = []
    available = case.available[0].copy()
    while len(order) < STAND_INS:
        action = int(choose(mean_policy(applied(copies_with(case, case.state, available))[0]), rule)[0])
        order.append(action)
        if action == 0:
            break
        available[action - 1] = False
    return order


def _walk(
    applied: Applied, rule: Rule, case: Cohort, position: Ints, start: Floats, end: Floats
) -> tuple[Floats, Ints]:
    """Points on W ways, each along one measured input, and what is done there, [W, STEPS]."""
    path = start[:, None] + (end - start)[:, None] * np.linspace(0, 1, STEPS)
    states = _moved(case, position, path)
    outcome = done(applied, rule, copies_with(case, states.reshape(-1, len(case.layout))))
    return path, outcome.reshape(path.shape)


def _turned(outcome: Ints, before: int, crosses: bool) -> Bools:
    """Where something else is done: kept instead of sent or the reverse, or another reader or answer."""
    crossed = (outcome > 1) != (before > 1)
    return crossed if crosses else ~crossed & (outcome != before)


def _first(turned: Bools) -> tuple[Ints, Ints]:
    """The ways on which anything turns, and where it first does; never at a way's start, which is where a case is."""
    turned = turned & (np.arange(turned.shape[-1]) > 0)
    way = np.flatnonzero(turned.any(-1))
    return way, turned[way].argmax(-1)


def _moved(case: Cohort, position: Ints, values: Floats) -> Floats:
    """A case's state with the measured input at position[w] set to each of values[w], [W, K] to [W, K, S].

    An input that was missing no longer is.
    """
    layout, indicators = case.layout, _indicators(case.layout)
    moved = np.broadcast_to(case.state[0], (*values.shape, len(layout))).copy()
    columns = np.array(layout.positions(layout.measured))[position]
    np.put_along_axis(moved, np.broadcast_to(columns[:, None, None], (*values.shape, 1)), values[..., None], -1)
    for way, place in enumerate(position):
        if (name := layout.measured[place]) in indicators:
            moved[way, :, layout.position(indicators[name])] = 0.0
    return layout.completed(moved)


def _in_words(outcome: int, case: Cohort) -> str:
    return (
        f"kept: {case.manifest.task.answers[outcome]}"
        if outcome < 2
        else f"sent to {case.manifest.readers[outcome - 2].name}"
    )


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
        "variable": case.layout.names,
        "input": list(case.layout.titles.values()),
        "value": value,
        "low": low,
        "high": high,
        **quantiles,
        "place": (value - low) / width,
        "rank": (kin <= value).mean(0),
        "flag": flag,
        "n": len(kin),
    })  # fmt: skip


def similar_cases(applied: Applied, rule: Rule, case: Cohort, train: Cohort, k: int) -> pd.DataFrame:
    """The training cases most like this one: truth, what the run does with it, the AI's and each reader's answer.

    A reader who has read none of them has no column.
    """
    rows, distances = nearest(train, case.state, k)
    alike = train.rows(rows[0])
    who = ["AI", *(reader.name for reader in train.manifest.readers)]
    answers = pd.DataFrame(alike.action_labels, columns=who).replace(train.manifest.task.answers)
    names = np.array([entry.name for entry in train.manifest.cohorts])
    facts = pd.DataFrame({
        "case_id": alike.ids,
        "distance": distances[0],
        "cohort": names[alike.source],
        "truth": [train.manifest.task.answers[int(truth)] for truth in alike.truth],
        "done": [_in_words(int(each), case) for each in done(applied, rule, alike)],
    })  # fmt: skip
    return facts.join(answers.loc[:, (answers != "").any()])


def comparison_frame(case: Cohort, other: Cohort, train: Cohort) -> pd.DataFrame:
    """Two cases input by input: both values, and how far apart in standard deviations of the training cases."""
    scale = train.state.std(0)
    apart = np.divide(case.state[0] - other.state[0], scale, out=np.zeros(len(scale)), where=scale > 0)
    names = list(case.layout.titles.values())
    return pd.DataFrame({"input": names, "this": case.state[0], "other": other.state[0], "apart": apart})
