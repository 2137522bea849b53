"""The study: which runs it has, how each is made, and what they did with a slice of cases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mpd2.checkpoints import checkpointing, load_checkpoint
from mpd2.cohort import Cohort
from mpd2.config import PAPER, STUDIO, Config
from mpd2.costs import Costs
from mpd2.devices import pick_device
from mpd2.evidence import Evidence, Outcome
from mpd2.methods import METHODS, policy_of
from mpd2.methods.router import Mpd2, fit_routers
from mpd2.policy import Policy, route
from mpd2.runs import CONFIG, Run, load_predictions, load_run, save_run
from mpd2.training import Callback

SEEDS = tuple(range(42, 52))
RECIPE = 1  # raise when code changes so that the same settings give other runs


@dataclass(frozen=True)
class Contender:
    """One row of the main comparison."""

    title: str
    published: str | None = None  # its name in the paper's tables
    config: Config | None = None  # of a router; none for a baseline, whose settings are its own


@dataclass(frozen=True)
class Condition:
    """One row of an ablation: the paper's configuration with something changed."""

    title: str
    published: str  # its name in the paper's ablation tables
    changes: Mapping[str, Any]


PUBLISHED = {
    "ai": "AI-Only",
    "mao": "Mao-TwoStage",
    "narasimhan": "Narasimhan-PH",
    "verma": "Verma-OvA",
    "hemmer": "Hemmer-MoE",
    "keswani": "Keswani-Joint Committee",
}

CONTENDERS: dict[str, Contender] = {
    "studio": Contender("MPD² (studio)", None, STUDIO),
    "paper": Contender("MPD² (paper)", "MPD²-Router", PAPER),
    **{key: Contender(m.name, PUBLISHED.get(key)) for key, m in METHODS.items() if key != Mpd2.key},
}

WITHOUT_GSDP = {"objective__gsdp_weight": 0.0}
WITHOUT_RANK = {"objective__rank_weight": 0.0}
WITHOUT_FEES = {"objective__fee_weight": 0.0}
WITHOUT_BUDGET = {"budget__target": None}

OBJECTIVE: dict[str, Condition] = {
    "full": Condition("Full objective", "Full objective", {}),
    "no-fees": Condition("without fees", "w/o Tier loss", WITHOUT_FEES),
    "clinical-only": Condition(
        "clinical cost only", "Clinical only", WITHOUT_FEES | WITHOUT_GSDP | WITHOUT_RANK | WITHOUT_BUDGET
    ),
    "no-gsdp": Condition("without GSDP", "w/o GSDP", WITHOUT_GSDP),
    "no-rank-js": Condition("without Rank-JS", "w/o Rank-JS", WITHOUT_RANK),
    "no-gsdp-rank-js": Condition("without both", "w/o GSDP + Rank-JS", WITHOUT_GSDP | WITHOUT_RANK),
}
REGULARISATION: dict[str, Condition] = {
    "full": replace(OBJECTIVE["full"], title="Full regularisation", published="Full regularisation"),
    **{name: OBJECTIVE[name] for name in ("no-gsdp", "no-rank-js", "no-gsdp-rank-js")},
}
TARGETS: dict[str, float | None] = {
    "al25": 0.25, "al30": 0.30, "al40": 0.40, "al50": 0.50, "al60": 0.60, "full": 0.70, "noal": None,
}  # fmt: skip
BUDGETS: dict[str, Condition] = {
    name: Condition(title, title, {"budget__target": target})
    for name, target in TARGETS.items()
    for title in ["NoAL" if target is None else f"AL{target:.0%}"[:-1]]
}
ABLATIONS: dict[str, dict[str, Condition]] = {
    "objective": OBJECTIVE, "regularisation": REGULARISATION, "budget": BUDGETS,
}  # fmt: skip
CONDITIONS: dict[str, Condition] = OBJECTIVE | {name: BUDGETS[name] for name in BUDGETS if name not in OBJECTIVE}
"""Every condition once; all are trained together as one population."""


@dataclass(frozen=True)
class Study:
    """A table, the folder its runs are kept in, and who is told how far a training has come."""

    cohort: Cohort
    folder: Path  # shipped runs, one folder each
    workshop: Path  # what is made on the way: checkpoints and the ablations' population, not shipped
    seeds: tuple[int, ...] = SEEDS

    @property
    def costs(self) -> Costs:
        """The costs of the table's owners."""
        return self.cohort.manifest.default_costs()

    def recipe(self, name: str) -> str:
        """What a contender's run depends on, as a short hash: a run with another one is out of date."""
        contender = CONTENDERS[name]
        how = contender.config.model_dump(mode="json") if contender.config else repr(METHODS[name])
        return _hash([RECIPE, how, self.seeds, self.cohort.fingerprint])

    def ablation_recipe(self) -> str:
        """The same for the ablations' population."""
        changes = {name: dict(condition.changes) for name, condition in CONDITIONS.items()}
        return _hash([RECIPE, PAPER.model_dump(mode="json"), changes, self.seeds, self.cohort.fingerprint])

    def has(self, name: str) -> bool:
        """Whether a contender's run is there and up to date."""
        return _recipe_of(self.folder / name) == self.recipe(name)

    def has_ablations(self) -> bool:
        """Whether the ablations' population is there and up to date."""
        return _recipe_of(self.workshop / "ablations") == self.ablation_recipe()

    def make(self, name: str, callbacks: Sequence[Callback] = ()) -> None:
        """Fit a contender and keep its run with predictions.

        A router's run holds every split; a baseline's val and test, which is all that anything shows of it.
        """
        config = CONTENDERS[name].config
        if config is None:
            run = METHODS[name].fit(self.cohort, self.costs, self.seeds)
            cases = self.cohort.rows(self.cohort.split != "train")
        else:
            configs = [config.but(seed=seed) for seed in self.seeds]
            run = self._population(name, configs, callbacks)
            cases = self.cohort
        self._keep(run, self.folder / name, cases, self.recipe(name))
        self._checkpoint(name).unlink(missing_ok=True)

    def make_ablations(self, callbacks: Sequence[Callback] = ()) -> None:
        """Train every condition with every seed as one population; only its test predictions are kept."""
        configs = [PAPER.but(seed=seed, **c.changes) for c in CONDITIONS.values() for seed in self.seeds]
        run = self._population("ablations", configs, callbacks)
        test = self.cohort.subset(split="test")
        self._keep(run, self.workshop / "ablations", test, self.ablation_recipe(), with_weights=False)
        self._checkpoint("ablations").unlink(missing_ok=True)

    def evidence(self, split: str = "test", names: Sequence[str] | None = None) -> Evidence:
        """What the kept runs did with one split."""
        cases = self.cohort.subset(split=split)
        return Evidence(cases, self.costs, {name: self._outcome(name, cases) for name in names or CONTENDERS})

    def ablation(self, conditions: Mapping[str, Condition]) -> Evidence:
        """What the routers of some conditions did with the test cases."""
        cases = self.cohort.subset(split="test")
        run = load_run(self.workshop / "ablations")
        policy = load_predictions(self.workshop / "ablations", run, cases)
        order = {name: position for position, name in enumerate(CONDITIONS)}
        outcomes = {}
        for name, condition in conditions.items():
            start = order[name] * len(self.seeds)
            rows = slice(start, start + len(self.seeds))
            part = Policy(policy.defer[rows], policy.allocation[rows], policy.available)
            outcomes[name] = Outcome(condition.title, condition.published, route(part, cases, run.rule), part)
        return Evidence(cases, self.costs, outcomes)

    def _outcome(self, name: str, cases: Cohort) -> Outcome:
        run = load_run(self.folder / name)
        policy = load_predictions(self.folder / name, run, cases)
        contender = CONTENDERS[name]
        return Outcome(contender.title, contender.published, route(policy, cases, run.rule), policy)

    def _population(self, name: str, configs: Sequence[Config], callbacks: Sequence[Callback]) -> Run:
        """Train routers, going on from a checkpoint if an earlier training was cut short."""
        place = self._checkpoint(name)
        resume = load_checkpoint(place, configs, self.cohort, pick_device()) if place.exists() else None
        keep = checkpointing(place, self.cohort, every=10)
        return fit_routers(self.cohort, self.costs, configs, callbacks=(keep, *callbacks), resume=resume)

    def _keep(self, run: Run, folder: Path, cases: Cohort, recipe: str, with_weights: bool = True) -> None:
        policy = policy_of(run, cases)
        run = replace(run, notes={**run.notes, "recipe": recipe}, arrays=run.arrays if with_weights else {})
        save_run(run, folder, policy, cases, {})

    def _checkpoint(self, name: str) -> Path:
        return self.workshop / f"{name}.checkpoint.safetensors"


def _recipe_of(folder: Path) -> str | None:
    return load_run(folder).notes.get("recipe") if (folder / CONFIG).is_file() else None


def _hash(values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
