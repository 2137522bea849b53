"""The study of a workspace: which runs it has, how each is made, and what they did with a slice of cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.files import digest, short_hash
from mpd2.core.policy import route
from mpd2.core.runs import CONFIG, PREDICTIONS, Run, load_continuations, load_predictions, load_run, save_run
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.published import published_of
from mpd2.evaluation.reports import publish_run
from mpd2.methods.base import Method
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.plus.method import Plus
from mpd2.methods.registry import METHODS, applicable, policy_of
from mpd2.training.config import PAPER, STUDIO, Config

if TYPE_CHECKING:
    from mpd2.training.loop import Callback

SEEDS = tuple(range(42, 52))
RECIPE = 1  # raise when code changes so that the same settings give other runs
KEEP_EVERY = 5  # epochs between two checkpoints
STUDIO_RUN, PAPER_RUN, PLUS_RUN, ABLATIONS_RUN = "studio", "paper", Plus.key, "ablations"
ROUTERS = (PAPER_RUN, STUDIO_RUN)
MISSING, OUT_OF_DATE = "missing", "out of date"

Say = Callable[[str], None]
"""Told in a sentence what a person should know: what was damaged, who had to be stopped."""


@dataclass(frozen=True)
class Contender:
    """One row of the main comparison."""

    title: str
    method: Method
    published: str | None = None  # its name in the paper's tables


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
    STUDIO_RUN: Contender("MPD² (studio)", Mpd2(STUDIO)),
    PAPER_RUN: Contender("MPD² (paper)", Mpd2(PAPER), "MPD²-Router"),
    **{key: Contender(m.name, m, PUBLISHED.get(key)) for key, m in METHODS.items() if key != Mpd2.key},
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
class StudyPlan:
    """How often a study's cases are dealt anew, and what is asked of it then."""

    resplits: tuple[int, ...] = tuple(range(20))  # a number each, from which its luck comes
    draws: tuple[int, ...] = tuple(range(3))  # the resplits in which each cohort is new in turn
    seeds: tuple[int, ...] = SEEDS[:2]  # of every method in every deal: the deal is the unit, not the seed
    local: tuple[int, ...] = (10, 20, 50, 100, 200)  # labelled cases of a new cohort, besides none and all
    local_draws: tuple[int, ...] = tuple(range(10))  # the resplits in which these are drawn
    recalibrated: tuple[str, ...] = ("mpd2-plus", "recalibrated", "ai")  # methods that are given them
    transferred: tuple[str, ...] = ()  # methods that are tried in a new cohort; none named: all
    checks: int = 1000  # draws of calibration cases by which a promise is checked


@dataclass(frozen=True)
class Study:
    """A table, the folder that holds what is made of it, and how large the study is."""

    cohort: Cohort
    data: Path  # runs, tables and map are kept in here; what is only needed on the way lies beside it
    seeds: tuple[int, ...] = SEEDS
    changes: Mapping[str, Any] = field(default_factory=dict)  # to the configuration of every router
    contenders: Mapping[str, Contender] = field(default_factory=dict)  # none named: all; some do not suit every table
    plan: StudyPlan = StudyPlan()

    def __post_init__(self) -> None:
        suited = applicable(self.cohort.layout)
        named = {name: each for name, each in (self.contenders or CONTENDERS).items() if each.method.key in suited}
        if self.published is None:
            named = {name: replace(each, published=None) for name, each in named.items()}
        object.__setattr__(self, "contenders", named)

    @property
    def published(self) -> Path | None:
        """The folder of what a paper prints about the same table, if one does."""
        return published_of(self.data)

    @property
    def workshop(self) -> Path:
        """Where checkpoints and the ablations' population lie, which are not shipped."""
        return self.data.absolute() / "build"

    @property
    def costs(self) -> Costs:
        """The costs of the table's owners."""
        return self.cohort.manifest.default_costs()

    def folder(self, name: str) -> Path:
        """Where a run is kept."""
        return self.workshop / name if name == ABLATIONS_RUN else self.data / "runs" / name

    def checkpoint(self, name: str) -> Path:
        """Where the unfinished training of a run is kept."""
        return self.workshop / f"{name}.checkpoint.safetensors"

    def recipe(self, name: str) -> str:
        """What a run depends on, as a short hash: a run with another one is out of date."""
        configs = self.configs(name)
        how = repr(self.contenders[name].method) if configs is None else [_plain(config) for config in configs]
        return short_hash([RECIPE, how, self.seeds, self.cohort.fingerprint])

    def fault(self, name: str) -> str | None:
        """Why a run has to be made: it is missing, out of date or damaged; none if it is as it should be."""
        folder = self.folder(name)
        if not (folder / CONFIG).is_file():
            return MISSING
        try:
            run = load_run(folder)
        except UserError as error:
            return str(error)
        return None if run.notes.get("recipe") == self.recipe(name) else OUT_OF_DATE

    def content(self, name: str) -> str:
        """A short hash of what a run predicts."""
        return digest(self.folder(name) / PREDICTIONS)[:16]

    def configs(self, name: str) -> list[Config] | None:
        """The routers of a run, one configuration each; none for a baseline, whose settings are its own.

        The ablations are one population: every condition with every seed.
        """
        if name == ABLATIONS_RUN:
            return [self._config(condition, seed) for condition in CONDITIONS for seed in self.seeds]
        method = self.contenders[name].method
        if not isinstance(method, Mpd2):
            return None
        return [method.config.but(**self.changes, seed=seed) for seed in self.seeds]

    def make(self, name: str, callbacks: Sequence[Callback] = (), say: Say = print) -> None:
        """Fit a run, going on from its checkpoint if there is one, and keep it with its predictions.

        A router's run holds every split, a baseline's val and test, which is all that anything shows of it. Of the
        ablations only test predictions are kept.
        """
        configs = self.configs(name)
        if configs is None:
            run = self.contenders[name].method.fit(self.cohort, self.costs, self.seeds)
        else:
            run = self._population(name, configs, callbacks, say)
        for problem in run.notes.get("problems", ()):
            say(f"{name}: {problem}")
        cases = self._kept_cases(name)
        run = replace(run, notes={**run.notes, "recipe": self.recipe(name)})
        if name == ABLATIONS_RUN:
            save_run(replace(run, arrays={}), self.folder(name), policy_of(run, cases), cases, {})
        else:
            publish_run(run, self.cohort, self.folder(name), cases)
        self.checkpoint(name).unlink(missing_ok=True)

    def evidence(self, split: str = "test", names: Sequence[str] | None = None) -> Evidence:
        """What the kept runs did with one split."""
        cases = self.cohort.subset(split=split)
        outcomes = {name: self._outcome(name, cases) for name in names or self.contenders}
        return Evidence(cases, self.costs, outcomes, self.published)

    def ablation(self, conditions: Mapping[str, Condition]) -> Evidence:
        """What the routers of some conditions did with the test cases, one member a seed of `ablation_seeds`."""
        cases = self.cohort.subset(split="test")
        run = load_run(self.folder(ABLATIONS_RUN))
        policy = load_predictions(self.folder(ABLATIONS_RUN), run, cases)
        position, seeds = _positions(run), self.ablation_seeds()
        outcomes = {}
        for name, condition in conditions.items():
            rows = [position[short_hash(_plain(self._config(name, seed)))] for seed in seeds]
            part = policy.member(rows)
            printed = condition.published if self.published else None
            outcomes[name] = Outcome(condition.title, printed, route(part, cases, run.rule), part, run.rule)
        return Evidence(cases, self.costs, outcomes, self.published)

    def ablation_seeds(self) -> tuple[int, ...]:
        """The seeds whose routers could be trained in every condition: only these are compared."""
        trained = _positions(load_run(self.folder(ABLATIONS_RUN)))
        seeds = tuple(
            seed
            for seed in self.seeds
            if all(short_hash(_plain(self._config(condition, seed))) in trained for condition in CONDITIONS)
        )
        if not seeds:
            tried = ", ".join(map(str, self.seeds))
            raise UserError(f"ablations: found no seed that trained in every condition, tried {tried}")
        return seeds

    def _config(self, condition: str, seed: int) -> Config:
        return PAPER.but(**{**self.changes, **CONDITIONS[condition].changes, "seed": seed})

    def _kept_cases(self, name: str) -> Cohort:
        if name == ABLATIONS_RUN:
            return self.cohort.subset(split="test")
        return self.cohort.rows(self.cohort.split != "train") if self.configs(name) is None else self.cohort

    def _outcome(self, name: str, cases: Cohort) -> Outcome:
        run = load_run(self.folder(name))
        policy = load_predictions(self.folder(name), run, cases)
        continuations = load_continuations(self.folder(name), run, cases)
        contender, made = self.contenders[name], route(policy, cases, run.rule, continuations)
        return Outcome(contender.title, contender.published, made, policy, run.rule, continuations)

    def _population(self, name: str, configs: Sequence[Config], callbacks: Sequence[Callback], say: Say) -> Run:
        from mpd2.training.checkpoints import checkpointing, load_or_none  # bring torch: naming a run needs none
        from mpd2.training.population import fit_routers

        checkpoint = self.checkpoint(name)
        keep = checkpointing(checkpoint, self.cohort, KEEP_EVERY)
        resume = load_or_none(checkpoint, configs, self.cohort, "auto", lambda what: say(f"{name}: {what}"))
        return fit_routers(self.cohort, self.costs, configs, callbacks=(keep, *callbacks), resume=resume)


def _plain(config: Config) -> dict[str, Any]:
    return config.model_dump(mode="json")


def _positions(run: Run) -> dict[str, int]:
    """Where in a run the router of some settings is, by their hash."""
    return {short_hash(dict(settings)): position for position, settings in enumerate(run.settings)}
