"""Made-up tables of any shape: readers, inputs of every role, missing cells, clusters and cohorts, small or large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import SPLITS, UNKNOWN, Cohort
from mpd2.core.files import short_hash
from mpd2.core.manifest import Manifest
from mpd2.core.state import IS_MISSING, ROLES, Role

DEALT = np.repeat(SPLITS, (3, 1, 1))  # the splits of clusters in turn


@dataclass(frozen=True)
class Shape:
    """What a made-up table has."""

    rows: int = 150
    readers: int = 3
    roles: tuple[Role, ...] = ROLES[1:]  # of its inputs, one each
    missing: tuple[bool, ...] = ()  # which of the inputs may be missing; those not said may not
    constant: tuple[bool, ...] = ()  # which of them never vary
    cohorts: int = 2
    per_case: int | None = None  # readers who have read each case; none: all
    per_cluster: int = 1  # rows that belong together, side by side
    across: bool = False  # whether the rows of a cluster are of different cohorts
    ai: str = "logits"  # or logit or probability
    thresholds: bool = False  # whether each cohort has a threshold of its own
    unheard: tuple[int, ...] = ()  # readers who have read nothing but test cases
    never: tuple[int, ...] = ()  # readers who have read no positive


def manifest_of(shape: Shape) -> Manifest:
    """The manifest of a made-up table."""
    ai: dict[str, Any] = {"logits": ("ai_no", "ai_yes")} if shape.ai == "logits" else {shape.ai: "ai_score"}
    if shape.thresholds:
        ai["thresholds"] = {f"c{k}": 0.3 + 0.4 * k / shape.cohorts for k in range(shape.cohorts)}
    signals = {"risk": "quality"}
    inputs = [
        {
            "column": f"x{k}",
            "role": role,
            "missing": bool(shape.missing[k : k + 1] == (True,)),
            "signal": signals.pop(role, ""),
        }
        for k, role in enumerate(shape.roles)
    ]
    return Manifest.model_validate({
        "title": "made up",
        "task": {"positive": "fracture", "negative": "intact", "case": "radiograph"},
        "ai": ai,
        "inputs": inputs,
        "groups": {"column": "patient"} if shape.per_cluster > 1 else None,
        "costs": {"false_negative": 5.0, "false_positive": 1.0},
        "readers": [
            {"column": f"r{j}", "name": f"Reader {j}", "fee": 0.05 + 0.25 * j / max(shape.readers - 1, 1)}
            for j in range(shape.readers)
        ],
        "cohorts": [{"key": f"c{k}", "name": f"Clinic {k}"} for k in range(shape.cohorts)],
    })  # fmt: skip


def made_up(shape: Shape, seed: int = 0) -> Cohort:
    """Cases with the truth hidden behind an AI that is right more often than not and readers who differ in skill."""
    random, manifest, n = np.random.default_rng(seed), manifest_of(shape), shape.rows
    cluster = np.arange(n) // shape.per_cluster
    source = _sources(shape, random, cluster)
    severity = random.normal(size=cluster.max() + 1)[cluster] + 0.5 * random.normal(size=n)
    truth = (severity > 0.7).astype(np.int64)
    truth[:: max(n // 8, 1)] = 1  # whatever the draw, both kinds are in every split
    truth[1 :: max(n // 8, 2)] = 0
    odds = 3 * (severity - 0.6) + random.normal(size=n) + 0.3 * source / shape.cohorts
    state, absent = _state(shape, manifest, random, odds, severity)
    skill = np.linspace(0.75, 0.95, shape.readers)
    right = random.random((n, shape.readers)) < skill
    available = _available(shape, random, truth)
    split = _splits(cluster, truth)
    silenced = np.isin(np.arange(shape.readers), shape.unheard) & (split != "test")[:, None]
    available &= ~silenced & ~(np.isin(np.arange(shape.readers), shape.never) & (truth == 1)[:, None])
    cohort = Cohort(
        manifest=manifest,
        fingerprint=short_hash([str(shape), seed]),
        ids=np.char.add("case ", np.arange(n).astype(str)),
        source=source,
        split=split,
        cluster=cluster,
        state=state,
        absent=absent,
        drawn=np.zeros((n, 0)),
        truth=truth,
        decisions=np.where(available, np.where(right, truth[:, None], 1 - truth[:, None]), UNKNOWN),
        available=available,
    )
    return cohort.refilled()


def _sources(shape: Shape, random: np.random.Generator, cluster: np.ndarray) -> np.ndarray:
    within = np.arange(shape.rows) % shape.per_cluster
    first = random.integers(0, shape.cohorts, cluster.max() + 1)[cluster]
    return (first + (within if shape.across else 0)) % shape.cohorts


def _splits(cluster: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Whole clusters, dealt out in turn apart for those with a positive and those without."""
    clusters = cluster.max() + 1
    positive = np.bincount(cluster, truth, clusters) > 0
    place = np.where(positive, np.cumsum(positive), np.cumsum(~positive)) - 1
    return DEALT[place % len(DEALT)][cluster]


def _state(
    shape: Shape, manifest: Manifest, random: np.random.Generator, odds: Floats, severity: Floats
) -> tuple[Floats, Bools]:
    layout, n = manifest.layout, shape.rows
    columns = dict.fromkeys(layout.names, np.zeros(n))
    if len(layout.scores) == 2:
        columns[layout.scores[0]], columns[layout.scores[1]] = -odds / 2, odds / 2
    else:
        columns[layout.scores[0]] = odds
    absent = np.zeros((n, len(layout)), bool)
    for k, each in enumerate(manifest.inputs):
        values = severity * (k % 3) / 2 + random.normal(size=n)
        columns[each.column] = np.ones(n) if shape.constant[k : k + 1] == (True,) else values
        if each.missing:
            gone = random.random(n) < 0.2
            columns[f"{each.column}{IS_MISSING}"] = gone.astype(float)
            absent[:, layout.position(each.column)] = gone
    state = layout.completed(np.column_stack([columns[name] for name in layout.names]))
    return np.where(absent, 0.0, state), absent


def _available(shape: Shape, random: np.random.Generator, truth: np.ndarray) -> Bools:
    if shape.per_case is None:
        return np.ones((len(truth), shape.readers), bool)
    luck = random.random((len(truth), shape.readers))
    return np.asarray(luck.argsort(1).argsort(1) < shape.per_case)


def large(
    rows: int = 100_000, readers: int = 20, inputs: int = 20, cohorts: int = 3, per_case: int | None = 3
) -> Shape:
    """The largest table that is promised to be quick: the roles of its inputs in turn."""
    return Shape(
        rows=rows,
        readers=readers,
        roles=tuple(ROLES[1 + k % 3] for k in range(inputs)),
        missing=tuple(k % 10 == 9 for k in range(inputs)),
        cohorts=cohorts,
        per_case=per_case,
    )
