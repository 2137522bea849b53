"""From what a person wants changed to an order: which models, within which limits, and how long it will take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.manifest import Record
from mpd2.core.text import plain_words
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import LONGEST, Building, Job, Kind, Order, Search
from mpd2.study.build import BuildSize, study_in
from mpd2.study.build import estimated_seconds as seconds_to_build
from mpd2.training.config import Config
from mpd2.training.devices import pick_device

MOST_MODELS = 160
MOST_EPOCHS = 500
MOST_TRIALS = 400
MOST_WORK = 24_000  # models times epochs: about twenty minutes on one core
START, STEP, UNIT = 2.5, 0.009, 0.0004  # seconds before the first epoch; of a model's epoch, and more by unit of width

LEAST_TO_BUILD, PATIENCE = 3600, 5  # seconds a build may take, or so many times as long as expected
TELLING = 300  # models times epochs that tell how fast a machine is

OFF: Mapping[str, tuple[str, Any, str]] = {
    "gsdp": ("objective__gsdp_weight", 0.0, "GSDP"),
    "rank": ("objective__rank_weight", 0.0, "Rank-JS"),
}
"""What can be switched off: the setting, its value when off, and its name."""


@dataclass(frozen=True)
class Start:
    """Where a change starts from: a preset, or a run that is already there."""

    name: str
    title: str
    config: Config
    costs: Costs


@dataclass(frozen=True)
class Wish:
    """What a person wants trained, and from where it was changed."""

    start: Start
    config: Config
    costs: Costs  # of errors, in training
    device: str = "auto"
    title: str = ""  # empty: named after the changes

    @property
    def changes(self) -> dict[str, Any]:
        """What differs from the start."""
        return changed(self.start.config, self.config) | _changed_costs(self.start.costs, self.costs)


def training(wish: Wish, seeds: int, table: Path, cohort: Cohort) -> Order:
    """An order for some models of one configuration, with its own seed and those that follow it."""
    configs = tuple(wish.config.but(seed=wish.config.seed + position) for position in range(seeds))
    title = wish.title or suggested_title(wish.start, wish.changes)
    return _order("train", title, {"": configs}, wish, table, cohort)


def grid(wish: Wish, budgets: Sequence[float | None], seeds: int, table: Path, cohort: Cohort) -> Order:
    """An order for GSDP on and off, Rank-JS on and off and every budget, with the same seeds in each cell."""
    config, targets = wish.config, list(dict.fromkeys(budgets))
    if not targets:
        raise UserError("budgets: found none, expected at least one")
    if not (config.objective.gsdp_weight > 0 and config.objective.rank_weight > 0):
        raise UserError("a grid compares with and without GSDP and Rank-JS: give both a weight above 0")
    cells = {}
    for target, gsdp, rank in product(targets, (True, False), (True, False)):
        left_out = {setting: off for (setting, off, _), on in zip(OFF.values(), (gsdp, rank), strict=True) if not on}
        cell = config.but(budget__target=target, **left_out)
        cells[cell_name(gsdp, rank, target)] = tuple(cell.but(seed=cell.seed + i) for i in range(seeds))
    return _order("grid", wish.title or f"Grid 2×2×{len(targets)} from {wish.start.title}", cells, wish, table, cohort)


def tuning(wish: Wish, search: Search, table: Path, cohort: Cohort) -> Order:
    """An order for a study that searches the paper's settings from the wish's configuration on."""
    if search.trials > MOST_TRIALS:
        raise UserError(f"trials: found {search.trials}, expected at most {MOST_TRIALS}")
    epochs, work = wish.config.training.epochs, search.trials * search.seeds * wish.config.training.epochs
    if work > MOST_WORK:
        raise UserError(f"found {search.trials} trials of {search.seeds} models for {epochs} epochs, {work:,} in all, "
                        f"expected at most {MOST_WORK:,}")  # fmt: skip
    order = _order("tune", wish.title or f"Tuning {search.study}"[:LONGEST], {"": (wish.config,)}, wish, table, cohort)
    return order.model_copy(update={"search": search})


def building(workspace: Workspace, size: BuildSize | None = None, cohort: Cohort | None = None) -> Order:
    """An order for the study of a workspace; a shipped one is made with the product."""
    if workspace.shipped:
        raise UserError(f"{workspace.name}: is shipped with MPD² Studio and stays as it is; make a copy to build")
    cohort, size = cohort or workspace.cohort(), size or BuildSize()
    expected = sum(seconds_to_build(study_in(workspace.folder, cohort, size), size.until).values())
    costs = cohort.manifest.default_costs()
    return Order(
        kind="build",
        title=f"Build {workspace.name}"[:LONGEST],
        building=Building(workspace=workspace.name, size=size),
        cost_false_negative=costs.false_negative,
        cost_false_positive=costs.false_positive,
        table=workspace.table.absolute(),
        fingerprint=cohort.fingerprint,
        most_seconds=int(max(LEAST_TO_BUILD, PATIENCE * expected)),
    )


def cell_name(gsdp: bool, rank: bool, target: float | None) -> str:
    """One cell of a grid in words.

    >>> cell_name(True, False, 0.5), cell_name(False, False, None)
    ('without Rank-JS, budget 50 %', 'without both, no budget')
    """
    left_out = [OFF[name][2] for name, on in (("gsdp", gsdp), ("rank", rank)) if not on]
    what = "with both" if not left_out else "without both" if len(left_out) > 1 else f"without {left_out[0]}"
    return f"{what}, {budget_name(target)}"


def budget_name(target: float | None) -> str:
    """A budget in words.

    >>> budget_name(0.25), budget_name(None)
    ('budget 25 %', 'no budget')
    """
    return "no budget" if target is None else f"budget {100 * target:g} %"


def changed(before: Config, after: Config) -> dict[str, Any]:
    """The settings that differ, but for the seed, named as `Config.but` takes them, with their new values."""
    old, new = flat(before), flat(after)
    return {name: value for name, value in new.items() if name != "seed" and value != old[name]}


def flat(config: Config) -> dict[str, Any]:
    """Every setting as a plain value, named `section__field`."""
    values: dict[str, Any] = {}
    for name, value in config.model_dump(mode="json").items():
        if isinstance(getattr(config, name), Record):
            values |= {f"{name}__{field}": part for field, part in value.items()}
        else:
            values[name] = value
    return values


def suggested_title(start: Start, changes: Mapping[str, Any]) -> str:
    """What to call it: where it starts from and the most telling changes."""
    parts = [f"without {name}" for setting, off, name in OFF.values() if changes.get(setting) == off]
    if "budget__target" in changes:
        parts.append(budget_name(changes["budget__target"]))
    rest = len(changes) - len(parts)
    parts += [f"{rest} {'other ' if parts else ''}change{'s' if rest > 1 else ''}"] if rest else []
    return f"{start.title}, {', '.join(parts) or 'again'}"[:LONGEST]


def estimated_seconds(configs: Sequence[Config], earlier: Sequence[Job] = ()) -> float:
    """About how long a training takes at most, by what earlier ones took here if there are any."""
    pace = next((ratio for job in reversed(earlier) if (ratio := _pace(job)) is not None), 1.0)
    return START + pace * _work_seconds(configs, max(config.training.epochs for config in configs))


def _pace(job: Job) -> float | None:
    """How much longer the epochs of a finished job took than expected; none where it was too short to say."""
    status, order = job.status, job.order
    epochs = status.epoch - status.attempts
    if status.state != "done" or order.search is not None or epochs * len(order.configs) < TELLING:
        return None
    return status.seconds / _work_seconds(order.configs, epochs)


def _work_seconds(configs: Sequence[Config], epochs: int) -> float:
    return sum((STEP + UNIT * config.network.width) * min(config.training.epochs, epochs) for config in configs)


def _changed_costs(before: Costs, after: Costs) -> dict[str, Any]:
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in ("false_negative", "false_positive")}
    return {f"cost_{name}": new for name, (old, new) in pairs.items() if old != new}


def _order(
    kind: Kind, title: str, cells: Mapping[str, Sequence[Config]], wish: Wish, table: Path, cohort: Cohort
) -> Order:
    configs = tuple(config for members in cells.values() for config in members)
    _check_size(configs)
    pick_device(wish.device)
    name = plain_words(title)
    if not 1 <= len(name) <= LONGEST:
        raise UserError(f"name: found {len(name)} characters that are words, expected from 1 to {LONGEST}")
    return Order(
        kind=kind,
        title=name,
        configs=configs,
        conditions=tuple(cell for cell, members in cells.items() for _ in members) if kind == "grid" else (),
        cost_false_negative=wish.costs.false_negative,
        cost_false_positive=wish.costs.false_positive,
        device=wish.device,
        table=table.absolute(),
        fingerprint=cohort.fingerprint,
        changed_from=wish.start.name,
        changes=wish.changes,
    )


def _check_size(configs: Sequence[Config]) -> None:
    """Refuse what would keep a shared server busy for too long."""
    if not 1 <= len(configs) <= MOST_MODELS:
        raise UserError(f"models: found {len(configs)}, expected from 1 to {MOST_MODELS}")
    epochs = max(config.training.epochs for config in configs)
    if epochs > MOST_EPOCHS:
        raise UserError(f"epochs: found {epochs}, expected at most {MOST_EPOCHS}")
    work = len(configs) * epochs
    if work > MOST_WORK:
        raise UserError(
            f"found {len(configs)} models for {epochs} epochs, {work:,} in all, expected at most {MOST_WORK:,}; "
            "ask for fewer seeds, budgets or epochs"
        )
