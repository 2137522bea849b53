"""The tables of the study: how each is drawn up, where it is kept, and whether it is up to date.

A run vouches for itself: it holds its recipe and the hashes of its files. The index beside the tables vouches for them:
it holds the recipes of each one's runs, what these predicted, and the hash of its file. A table of experiments is drawn
up from none of the runs, and holds the recipes all the same: its experiments are run with the same methods.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.clusters import clusters_of
from mpd2.core.errors import UserError
from mpd2.core.files import digest, replacing, short_hash
from mpd2.core.runs import load_errors, load_run
from mpd2.evaluation import curves, tables
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.guarantee import guarantee
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.map import MapParameters, fit_map, load_map, save_map
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.planning.recosting import savings
from mpd2.study import decision_curve, robustness
from mpd2.study.analyses import sensitivity
from mpd2.study.analyses.by_group import by_group
from mpd2.study.analyses.moved_budgets import live_budgets
from mpd2.study.analyses.plus_ablation import THOROUGH_VARIANT, VARIANTS, variants
from mpd2.study.definition import (
    ABLATIONS_RUN,
    BUDGETS,
    CONDITIONS,
    MISSING,
    OBJECTIVE,
    OUT_OF_DATE,
    PLUS_RUN,
    REGULARISATION,
    ROUTERS,
    TARGETS,
    Study,
)
from mpd2.study.experiments import Experiment, ExperimentCache

DRAWN_UP = 1  # raise when code changes so that the same runs give other tables
DIGITS = 6  # decimals that a table keeps
INDEX = "index.json"
MAP = "map"


class Material:
    """What tables are drawn up from, read once for all of them."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def methods(self) -> Evidence:
        """Every contender on the test cases."""
        return self.study.evidence()

    @cached_property
    def deployable(self) -> Evidence:
        """The same without those that need the answers."""
        return _part(self.methods, [name for name in self.methods.outcomes if name not in NOT_DEPLOYABLE])

    @cached_property
    def weights(self) -> Floats:
        """The resamples that all tables of methods share, [R, N]."""
        return resample_weights(self.methods.cohort)

    @cached_property
    def conditions(self) -> Evidence:
        """Every condition of the ablations on the test cases."""
        return self.study.ablation(CONDITIONS)

    @cached_property
    def cache(self) -> ExperimentCache:
        """The results of experiments."""
        return cache_of(self.study)


@dataclass(frozen=True)
class Table:
    """What a table shows, how it is drawn up, and from what: the contenders' runs, the ablations' or experiments."""

    title: str
    draw_up: Callable[[Material], pd.DataFrame]
    of_ablations: bool = False
    experiments: Callable[[Study], list[Experiment]] | None = None
    lacks: Callable[[Study], str] = lambda study: ""  # why a study cannot have it; empty if it can


def cache_of(study: Study) -> ExperimentCache:
    """The experiments of the study's plan."""
    return ExperimentCache(study, study.plan.seeds)


def references(study: Study) -> list[str]:
    """Whom every other method is compared with: the paper's routers, and MPD²+ where no paper is about the table."""
    names = ROUTERS if study.published else (PLUS_RUN, *ROUTERS)
    return [name for name in names if name in study.contenders] or list(study.contenders)[:1]


def _for_references(table: Callable[..., pd.DataFrame]) -> Callable[[Material], pd.DataFrame]:
    def draw_up(material: Material) -> pd.DataFrame:
        names = references(material.study)
        return pd.concat([table(material.methods, name, material.weights) for name in names], ignore_index=True)

    return draw_up


def _wins(material: Material) -> pd.DataFrame:
    names = material.methods.outcomes
    return pd.concat([tables.reader_wins(material.methods, n, material.weights) for n in names], ignore_index=True)


def _effects(material: Material) -> pd.DataFrame:
    """What each condition changes: terms against the full objective, budgets against none."""
    metrics = tuple(dict.fromkeys((*tables.OBJECTIVE, *tables.REGULARISATION)))
    pairs = [(first, "full") for first in OBJECTIVE if first != "full"]
    pairs += [(first, "noal") for first in BUDGETS if first != "noal"]
    parts = [tables.ablation_difference(_part(material.conditions, pair), *pair, metrics) for pair in pairs]
    return pd.concat(parts, ignore_index=True)


def _risk(material: Material) -> pd.DataFrame:
    signals = curves.risk_signals(material.study.cohort.layout)
    return pd.concat([curves.risk_curves(material.methods, s, material.weights) for s in signals], ignore_index=True)


def _guarantee(material: Material) -> pd.DataFrame:
    names = list(material.deployable.outcomes)
    val = material.study.evidence("val", names)
    return guarantee(val, material.deployable, checks=material.study.plan.checks)


def _variants(material: Material) -> pd.DataFrame:
    study = material.study
    names = [name for name in VARIANTS if study.published or name != THOROUGH_VARIANT]
    return variants(load_run(study.folder(PLUS_RUN)), study.cohort, study.costs, names)


def _live(material: Material) -> pd.DataFrame:
    cases, folder = material.methods.cohort, material.study.folder
    names = [name for name in ROUTERS if name in material.study.contenders]
    saving = {name: savings(load_errors(folder(name)).predict(cases), material.study.costs) for name in names}
    return live_budgets(material.methods, saving, material.weights)


def _rivals(study: Study) -> str:
    return "" if len(robustness.deployable(study)) > 1 else "there is one method alone, and nobody to compare it with"


def _routers(study: Study) -> str:
    return "" if set(ROUTERS) & set(study.contenders) else "MPD² is not among the methods"


def _plus(study: Study) -> str:
    return "" if PLUS_RUN in study.contenders else "MPD²+ is not among the methods"


def _promising(study: Study) -> str:
    found = set(sensitivity.PROMISING) & set(study.contenders)
    return "" if found else "none of the methods can promise a sensitivity"


def _groups(study: Study) -> str:
    alone = len(clusters_of(study.cohort)) == len(study.cohort)
    return "no two rows of the table belong together" if alone else ""


def _several_cohorts(study: Study) -> str:
    sizes = robustness.cohort_sizes(study)
    if len(sizes) < 2:
        return "the table has one cohort, so that none can be new"
    lonely = [name for name, size in sizes.items() if size.test == 0 or size.learned == 0]
    return f"cohort {', '.join(lonely)}: has no case to learn from, or none to judge by" if lonely else ""


def _recalibrating(study: Study) -> str:
    needed = {robustness.AI} <= set(study.contenders) and set(study.plan.recalibrated) & set(study.contenders)
    return _several_cohorts(study) or ("" if needed else "none of the methods is given local cases, beside the AI")


def _paper(study: Study) -> str:
    if study.published is None:
        return "no paper is about this table"
    absent = set(ROUTERS) - set(study.contenders)
    return f"not among the methods: {', '.join(sorted(absent))}" if absent else ""


TABLES: dict[str, Table] = {
    "overall": Table("every method on all test cases", lambda m: tables.overall(m.methods, m.weights)),
    "cohorts": Table("the same in each cohort", lambda m: tables.cohorts(m.methods, m.weights)),
    "paired": Table("every method against the routers, case by case", _for_references(tables.paired), lacks=_rivals),
    "groups": Table("what it does to intervals that rows belong together",
                    lambda m: by_group(m.methods, m.weights), lacks=_groups),
    "collapse": Table("how the load is spread over the readers", lambda m: tables.collapse(m.methods, m.weights)),
    "retention": Table("the cases left to the AI", lambda m: tables.retention(m.methods, m.weights)),
    "readers": Table("every reader, and every method on that reader's cases",
                     lambda m: tables.readers(m.methods, m.weights)),
    "gaps": Table("how far the routers' F1 is above each reader's", _for_references(tables.reader_gaps)),
    "wins": Table("against how many readers a method has the higher F1", _wins),
    "objective": Table("what each term of the objective does",
                       lambda m: tables.objective(m.study.ablation(OBJECTIVE)), of_ablations=True),
    "regularisation": Table("what the regularisers do to the readers' load",
                            lambda m: tables.regularisation(m.study.ablation(REGULARISATION)), of_ablations=True),
    "budget": Table("how well a budget is kept",
                    lambda m: tables.budget_control(m.study.ablation(BUDGETS), TARGETS), of_ablations=True),
    "effects": Table("differences between conditions, seed by seed", _effects, of_ablations=True),
    "risk": Table("clinical cost by how hard a case is", _risk),
    "tradeoff": Table("scores against costs, and who is on the front",
                      lambda m: curves.tradeoff(m.deployable, m.weights)),
    "deferral": Table("cost at any rate of deferral", lambda m: curves.deferral_curves(m.methods)),
    "decision_curve": Table("net benefit by what a miss weighs",
                            lambda m: decision_curve.draw_up_curves(m.study, m.weights)),
    "winners": Table("who costs least by what a miss weighs and what readers are paid",
                     lambda m: decision_curve.draw_up_winners(m.study, m.weights)),
    "plus": Table("MPD²+ taken apart", _variants, lacks=_plus),
    "live": Table("the routers moved to any rate of deferral by a live budget", _live, lacks=_routers),
    "resplits": Table("every method over random resplits of the table", lambda m: robustness.resplits(m.cache),
                      experiments=robustness.resplit_experiments),
    "rivals": Table("the same, resplit by resplit against one method",
                    lambda m: robustness.rivals(m.cache, robustness.reference(m.study)),
                    experiments=robustness.resplit_experiments, lacks=_rivals),
    "transfer": Table("every method in a cohort it has not learned from", lambda m: robustness.transfer(m.cache),
                      experiments=robustness.transfer_experiments, lacks=_several_cohorts),
    "recalibration": Table("what labelled cases of a new cohort buy", lambda m: robustness.recalibration(m.cache),
                           experiments=robustness.recalibration_experiments, lacks=_recalibrating),
    "sensitivity": Table("every method at the same sensitivity", lambda m: sensitivity.at_floor(m.study, m.weights)),
    "claims": Table("the paper's claims when methods are compared at the same sensitivity",
                    lambda m: sensitivity.claims_at_floor(m.study, m.weights, m.methods), lacks=_paper),
    "floors": Table("every method at the same sensitivity over random resplits",
                    lambda m: robustness.at_floors(m.cache), experiments=robustness.resplit_experiments),
    "floor_rivals": Table("the same, resplit by resplit against one method",
                          lambda m: robustness.floor_rivals(m.cache, robustness.reference(m.study)),
                          experiments=robustness.resplit_experiments, lacks=_rivals),
    "promises": Table("how often a promised sensitivity would have been broken",
                      lambda m: sensitivity.promises(m.study, m.study.plan.checks), lacks=_promising),
    "guarantee": Table("what can be promised about cases that no reader sees", _guarantee),
}  # fmt: skip
NAMES = (*TABLES, MAP)


def lacking(study: Study, name: str) -> str:
    """Why a table cannot be made of a study, empty if it can."""
    return "" if name == MAP else TABLES[name].lacks(study)


def tables_of(study: Study) -> list[str]:
    """The tables that are drawn up of a study besides the map; of the ablations only where a paper has them."""
    wanted = [name for name, table in TABLES.items() if study.published or not table.of_ablations]
    return [name for name in wanted if not lacking(study, name)]


def runs_of(study: Study, name: str) -> tuple[str, ...]:
    """The runs a table is drawn up from; the map and tables of experiments need none."""
    if name == MAP or TABLES[name].experiments:
        return ()
    return (ABLATIONS_RUN,) if TABLES[name].of_ablations else tuple(study.contenders)


def table_path(study: Study, name: str) -> Path:
    """Where a table is kept; the map is a folder."""
    return study.data / MAP if name == MAP else study.data / "tables" / f"{name}.csv"


def index_path(study: Study) -> Path:
    """Where it is written what the tables were drawn up from."""
    return study.data / "tables" / INDEX


class Inventory:
    """What there is of a study, looked up once. A fault says why something has to be made; none if it need not."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.recipes = {run: study.recipe(run) for run in (*study.contenders, ABLATIONS_RUN)}
        self.run_faults = {run: study.fault(run) for run in self.recipes}
        self.contents = {run: study.content(run) for run, fault in self.run_faults.items() if fault is None}
        self.index = _read_index(study)

    def stamp(self, name: str) -> str:
        """What a table should be drawn up from, as a hash."""
        if TABLES[name].experiments:
            return short_hash([DRAWN_UP, asdict(self.study.plan), [self.recipes[run] for run in self.study.contenders]])
        return short_hash([DRAWN_UP, {run: self.recipes[run] for run in runs_of(self.study, name)}])

    def table_fault(self, name: str) -> str | None:
        """The fault of a table; one drawn up from runs that are not shipped needs none of them."""
        if name == MAP:
            return _map_fault(self.study)
        entry, path = self.index.get(name), table_path(self.study, name)
        if entry is None or not path.is_file():
            return MISSING
        present = {run: self.contents[run] for run in runs_of(self.study, name) if run in self.contents}
        if entry["stamp"] != self.stamp(name) or any(entry["runs"].get(run) != now for run, now in present.items()):
            return OUT_OF_DATE
        return None if digest(path) == entry["file"] else f"{path}: damaged or changed since it was drawn up"

    def draw_up(self, name: str, material: Material) -> None:
        """Make a table and enter it in the index."""
        if name == MAP:
            save_map(fit_map(self.study.cohort, MapParameters()), table_path(self.study, name))
            return
        path = table_path(self.study, name)
        with replacing(path) as draft:
            rounded(TABLES[name].draw_up(material)).to_csv(draft, index=False, lineterminator="\n")
        runs = {run: self.contents[run] for run in runs_of(self.study, name)}
        self.index[name] = {"stamp": self.stamp(name), "runs": runs, "file": digest(path)}
        with replacing(index_path(self.study)) as draft:
            draft.write_text(json.dumps(self.index, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """With as many digits as are kept, and no negative zero.

    >>> rounded(pd.DataFrame({"a": [0.12345678, -1e-17]}))["a"].tolist()
    [0.123457, 0.0]
    """
    return frame.round(DIGITS).replace(-0.0, 0.0)


def _part(evidence: Evidence, names: Sequence[str]) -> Evidence:
    return replace(evidence, outcomes={name: evidence.outcomes[name] for name in names})


def _map_fault(study: Study) -> str | None:
    folder = table_path(study, MAP)
    if not folder.exists():
        return MISSING
    try:
        layout = load_map(folder, study.cohort)
    except UserError as error:
        return str(error)
    return None if layout.parameters == MapParameters() else OUT_OF_DATE


def _read_index(study: Study) -> dict[str, Any]:
    """The sound entries of the index; without one a table is missing and drawn up anew."""
    try:
        index = json.loads(index_path(study).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    entries = index.items() if isinstance(index, dict) else ()
    return {name: entry for name, entry in entries if name in TABLES and _is_entry(entry)}


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and set(entry) == {"stamp", "runs", "file"} and isinstance(entry["runs"], dict)
