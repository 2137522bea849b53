"""Experiments: fit a method on train and val of a resplit and evaluate it once, on the resplit's test cases.

Results are cached one by one, each in a small file named after all it depends on. A killed series of experiments goes
on where it was, and an experiment that something else asks for again costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools
from mpd2.core.clusters.splits import leave_cohort_out, resplit
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import error_rates
from mpd2.core.errors import UserError
from mpd2.core.files import replacing, short_hash
from mpd2.core.policy import Decisions
from mpd2.evaluation.metrics import COUNTED, evaluate
from mpd2.evaluation.tables import ALL
from mpd2.methods.base import Method
from mpd2.methods.common import heard, learning_splits
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.registry import decisions_of
from mpd2.planning.floors import KEPT, SHIPPED_LEVELS, Floor
from mpd2.study.definition import RECIPE, Study
from mpd2.study.operating import choose_point, decisions_at

UNHEARD = "Unheard"  # share of cases sent to a reader of whom there was nothing to learn from
WEIGHT, FLOOR_KEPT = "Weight", "FloorKept"  # of a miss in decisions, and whether it keeps the floor on val (0 or 1)
MEASURES = ("n", *COUNTED, UNHEARD, WEIGHT, FLOOR_KEPT)
AS_FITTED = ""  # in place of a floor: as cheap as can be
FLOORS = tuple(Floor(level) for level in SHIPPED_LEVELS)


@dataclass(frozen=True)
class Resplit:
    """A stratified resplit by its number; with a `new_cohort`, that one is learned from by local cases alone."""

    number: int
    new_cohort: str = ""
    local_cases: int = 0  # of the new cohort, with their truth, that are learned from

    @property
    def title(self) -> str:
        """The resplit in words."""
        return f"resplit {self.number}" + (
            f", {self.new_cohort} new, {self.local_cases} known" if self.new_cohort else ""
        )

    def of(self, cohort: Cohort) -> Cohort:
        """The same cases with other splits."""
        cases = resplit(cohort, self.number)
        return leave_cohort_out(cases, self.new_cohort, self.local_cases, self.number) if self.new_cohort else cases


@dataclass(frozen=True)
class Experiment:
    """One method on one resplit."""

    method: str  # a contender's run name
    resplit: Resplit

    @property
    def title(self) -> str:
        """The experiment in words."""
        return f"{self.method}, {self.resplit.title}"


@dataclass(frozen=True)
class ExperimentCache:
    """Results of experiments with a study's contenders, each with the same few seeds."""

    study: Study
    seeds: tuple[int, ...]

    @property
    def folder(self) -> Path:
        """Where results are cached; only the tables made of them are shipped."""
        return self.study.workshop / "rounds"  # an old name, kept for the hours of work that lie under it

    def path(self, experiment: Experiment) -> Path:
        """Where a result is cached: with other seeds, settings or cases it has another place."""
        return self._path(experiment, experiment.resplit.of(self.study.cohort))

    def missing(self, experiments: Iterable[Experiment]) -> list[Experiment]:
        """The experiments still to be run."""
        return [one for one in dict.fromkeys(experiments) if not _is_sound(self.path(one))]

    def run(self, experiment: Experiment) -> None:
        """Run one experiment and cache its result; all or nothing."""
        cases = experiment.resplit.of(self.study.cohort)
        floors = () if experiment.resplit.new_cohort else FLOORS
        rows = fit_and_evaluate(self._method(experiment.method), cases, self.study.costs, self.seeds, floors)
        with replacing(self._path(experiment, cases)) as draft:
            draft.write_text(rows.to_json(orient="split", index=False, double_precision=15), encoding="utf-8")

    def sweep(self) -> None:
        """Remove the drafts of killed experiments."""
        for draft in self.folder.glob(".*"):
            draft.unlink()

    def results(self, experiments: Iterable[Experiment]) -> pd.DataFrame:
        """Means over members as `results_at_floors`, of methods that decide as they were fitted."""
        everything = self.results_at_floors(experiments)
        return everything[everything["floor"] == AS_FITTED].drop(columns="floor").reset_index(drop=True)

    def results_at_floors(self, experiments: Iterable[Experiment]) -> pd.DataFrame:
        """Means over members, a row a floor: method, number, new, local (as in Resplit), floor, cohort, MEASURES.

        `floor` is AS_FITTED or one of FLOORS as written, `cohort` is "all" or a cohort's key.
        """
        return pd.concat([self._read(one) for one in experiments], ignore_index=True)

    def _read(self, experiment: Experiment) -> pd.DataFrame:
        path, resplit = self.path(experiment), experiment.resplit
        if not _is_sound(path):
            raise UserError(f"{experiment.title}: not run yet; `python -m mpd2 resplit` runs it")
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = pd.DataFrame(content["data"], columns=content["columns"])
        means = rows.groupby(["floor", "cohort"], sort=False)[list(MEASURES)].mean().reset_index()
        index = {"number": resplit.number, "new": resplit.new_cohort, "local": resplit.local_cases}
        return pd.concat([pd.DataFrame([{"method": experiment.method} | index] * len(means)), means], axis=1)

    def _path(self, experiment: Experiment, cases: Cohort) -> Path:
        recipe = short_hash([RECIPE, repr(self._method(experiment.method)), self.seeds, cases.fingerprint])
        return self.folder / f"{experiment.method}-{recipe}.json"

    def _method(self, name: str) -> Method:
        """The contender's method, changed as the study changes its routers."""
        if name not in self.study.contenders:
            raise UserError(f"method: found {name!r}, expected some of {', '.join(self.study.contenders)}")
        method = self.study.contenders[name].method
        return replace(method, config=method.config.but(**self.study.changes)) if isinstance(method, Mpd2) else method


def fit_and_evaluate(
    method: Method, cases: Cohort, costs: Costs, seeds: Sequence[int], floors: Sequence[Floor] = ()
) -> pd.DataFrame:
    """Fit on train, choose a weight of a miss for each floor on val, and evaluate once on test.

    Columns: floor (AS_FITTED first), cohort ("all" or its key), member and MEASURES.
    """
    run, errors = method.fit(cases, costs, seeds), error_rates(cases)
    val, test = cases.subset(split="val"), cases.subset(split="test")
    strange = np.append(~heard(learning_splits(cases)[0]), False)  # NOBODY, the last position, is no stranger
    parts = [_judged(AS_FITTED, decisions_of(run, test), test, costs, strange, costs.false_negative, kept=True)]
    for floor in floors:
        point, choice = choose_point(run, val, floor, errors)
        decisions = decisions_at(run, test, point, errors)
        parts.append(_judged(str(floor), decisions, test, costs, strange, choice.weight, choice.state == KEPT))
    return pd.concat(parts, ignore_index=True)


def _judged(
    floor: str, decisions: Decisions, test: Cohort, costs: Costs, strange: Bools, weight: float, kept: bool
) -> pd.DataFrame:
    """Every metric of every member, on all test cases and in each cohort."""
    parts = []
    for key in (ALL, *dict.fromkeys(test.sources.tolist())):
        inside = np.ones(len(test), bool) if key == ALL else test.sources == key
        part = Decisions(decisions.consulted[:, inside], decisions.label[:, inside])
        rows = evaluate(test.rows(inside), part, costs)
        rows[UNHEARD] = strange[part.consulted].any(-1).mean(-1)
        rows[WEIGHT], rows[FLOOR_KEPT] = weight, float(kept)
        rows.insert(0, "floor", floor)
        rows.insert(1, "cohort", key)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _is_sound(path: Path) -> bool:
    """Whether there is a result that can be read; a damaged file is as good as none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and {"floor", "cohort", "member", *MEASURES} <= set(content.get("columns", ()))
