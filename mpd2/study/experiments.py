"""Rounds: a method learns from cases dealt in some way and is judged once, on that deal's test cases.

What a round found is kept as soon as it is found, one small file each, named after all it depends on. A killed series
of rounds goes on where it was, and a round that something else asks for again costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.files import replacing, short_hash
from mpd2.core.policy import Decisions
from mpd2.core.splits import newcomer, resplit
from mpd2.evaluation.metrics import COUNTED, evaluate
from mpd2.evaluation.tables import ALL
from mpd2.methods import decisions_of
from mpd2.methods.base import Method
from mpd2.methods.common import heard, learning_splits
from mpd2.methods.mpd2_router import Mpd2
from mpd2.study.definition import RECIPE, Study

UNHEARD = "Unheard"  # share of cases sent to a reader of whom there was nothing to learn from
FOUND = ("n", *COUNTED, UNHEARD)


@dataclass(frozen=True)
class Resplit:
    """A resplit of the table by its number and, if a cohort is to be new, which one and how many cases are known."""

    number: int
    new: str = ""
    local: int = 0

    @property
    def title(self) -> str:
        """The deal in words."""
        return f"resplit {self.number}" + (f", {self.new} new, {self.local} known" if self.new else "")

    def of(self, cohort: Cohort) -> Cohort:
        """The cases as dealt."""
        dealt = resplit(cohort, self.number)
        return newcomer(dealt, self.new, self.local, self.number) if self.new else dealt


@dataclass(frozen=True)
class Experiment:
    """A contender's run name and the deal it plays with."""

    method: str
    deal: Resplit

    @property
    def title(self) -> str:
        """The round in words."""
        return f"{self.method}, {self.deal.title}"


@dataclass(frozen=True)
class ExperimentCache:
    """What rounds of a study's contenders found, each with the same few seeds."""

    study: Study
    seeds: tuple[int, ...]

    @property
    def folder(self) -> Path:
        """Where what was found is kept; it is only needed on the way."""
        return self.study.workshop / "rounds"

    def path(self, one: Experiment) -> Path:
        """Where a round's findings are kept: a round of other seeds, settings or cases has another place."""
        return self._path(one, one.deal.of(self.study.cohort))

    def missing(self, rounds: Iterable[Experiment]) -> list[Experiment]:
        """The rounds still to be played."""
        return [one for one in dict.fromkeys(rounds) if not _is_sound(self.path(one))]

    def play(self, one: Experiment) -> None:
        """Fit, judge and keep; all or nothing."""
        dealt = one.deal.of(self.study.cohort)
        rows = judged(self._method(one.method), dealt, self.study.costs, self.seeds)
        with replacing(self._path(one, dealt)) as draft:
            draft.write_text(rows.to_json(orient="split", index=False, double_precision=15), encoding="utf-8")

    def sweep(self) -> None:
        """Remove what a killed round could not put in its place."""
        for draft in self.folder.glob(".*"):
            draft.unlink()

    def found(self, rounds: Iterable[Experiment]) -> pd.DataFrame:
        """What rounds found, mean over members: method, number, new, local, cohort ("all" or its key) and FOUND."""
        parts = [self._read(one) for one in rounds]
        return pd.concat(parts, ignore_index=True)

    def _read(self, one: Experiment) -> pd.DataFrame:
        path = self.path(one)
        if not _is_sound(path):
            raise UserError(f"{one.title}: not played yet; `python -m mpd2 resplit` plays it")
        told = json.loads(path.read_text(encoding="utf-8"))
        rows = pd.DataFrame(told["data"], columns=told["columns"])
        means = rows.groupby("cohort", sort=False)[list(FOUND)].mean().reset_index()
        deal = {"method": one.method, "number": one.deal.number, "new": one.deal.new, "local": one.deal.local}
        return pd.concat([pd.DataFrame([deal] * len(means)), means], axis=1)

    def _path(self, one: Experiment, dealt: Cohort) -> Path:
        recipe = short_hash([RECIPE, repr(self._method(one.method)), self.seeds, dealt.fingerprint])
        return self.folder / f"{one.method}-{recipe}.json"

    def _method(self, name: str) -> Method:
        """The contender's method, changed as the study changes its routers."""
        if name not in self.study.contenders:
            raise UserError(f"method: found {name!r}, expected some of {', '.join(self.study.contenders)}")
        method = self.study.contenders[name].method
        return replace(method, config=method.config.but(**self.study.changes)) if isinstance(method, Mpd2) else method


def judged(method: Method, dealt: Cohort, costs: Costs, seeds: Sequence[int]) -> pd.DataFrame:
    """Fit on train and val, judge once on test: cohort ("all" or its key), member and FOUND, a row each."""
    run = method.fit(dealt, costs, seeds)
    test = dealt.subset(split="test")
    made = decisions_of(run, test)
    strange = np.append(~heard(learning_splits(dealt)[0]), False)  # NOBODY, the last position, is no stranger
    parts = []
    for key in (ALL, *dict.fromkeys(test.sources.tolist())):
        inside = np.ones(len(test), bool) if key == ALL else test.sources == key
        some = Decisions(made.consulted[:, inside], made.label[:, inside])
        rows = evaluate(test.rows(inside), some, costs)
        rows[UNHEARD] = strange[some.consulted].any(-1).mean(-1)
        rows.insert(0, "cohort", key)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _is_sound(path: Path) -> bool:
    """Whether there are findings that can be read; a damaged file is as good as none."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and {"cohort", "member", *FOUND} <= set(told.get("columns", ()))
