"""What a table is about: its question, inputs, readers, cohorts and what errors cost, in a TOML file beside it."""

from __future__ import annotations

import json
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from mpd2.core.arrays import Floats, frozen
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.state import IS_MISSING, LOG_ODDS, PROBABILITY, UNCERTAINTY, Role, StateLayout, Variable
from mpd2.core.text import plain_words, several

VERSION = 2
MOST = 60  # readers, and inputs
MOST_COHORTS = 50


Words = Annotated[str, BeforeValidator(lambda text: plain_words(text) if isinstance(text, str) else text)]
"""What is shown on pages and in reports, and so is nothing but words."""


class Record(BaseModel):
    """Frozen and validated: an unknown key, a value out of range and a number that is not finite are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Task(Record):
    """The question in words, as sentences use them."""

    positive: Words = Field(min_length=1, max_length=60)  # "glaucoma"
    negative: Words = Field(min_length=1, max_length=60)  # "healthy"
    positives: Words = Field("", max_length=60)  # several of them: "glaucomas"
    one: Words = Field("", max_length=60)  # one of them, where a sentence needs an article: "a finding"
    case: Words = Field("case", min_length=1, max_length=60)  # what is read: "photograph"
    cases: Words = Field("", max_length=60)
    people: Words = Field(
        "people", min_length=1, max_length=60
    )  # who is screened: the cases, if one person has several
    currency: str = Field("", max_length=12)
    unit: float | None = Field(None, gt=0)  # what one unit of cost is worth in it

    @model_validator(mode="before")
    @classmethod
    def _plurals(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        given = {"case": "case", **given}
        usual = {many: several(str(given[one])) for one, many in PLURALS.items() if one in given}
        usual |= {"one": given["positive"]} if "positive" in given else {}
        return {**usual, **{key: value for key, value in given.items() if value != "" or key not in usual}}

    @property
    def answers(self) -> dict[int, str]:
        """A label in words; nothing for what is not known."""
        return {0: self.negative, 1: self.positive, -1: ""}


PLURALS = {"positive": "positives", "case": "cases"}


class Columns(Record):
    """The columns that say what a row is; empty for one the table does not have."""

    case: str = Field("case_id", min_length=1)
    truth: str = Field("y_true", min_length=1)
    cohort: str = "cohort"
    split: str = "split"
    date: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Those there are."""
        return tuple(filter(None, (self.case, self.cohort, self.split, self.truth, self.date)))


class Classifier(Record):
    """In which columns the AI's answer stands, and from which probability on it is positive."""

    logits: tuple[str, str] | None = None  # of negative and of positive
    logit: str | None = None  # log-odds of positive
    probability: str | None = None
    threshold: float = Field(0.5, gt=0, lt=1)
    thresholds: dict[str, float] = Field(default_factory=dict)  # by cohort, where they differ

    @model_validator(mode="after")
    def _has_one_form(self) -> Self:
        forms = [name for name in ("logits", "logit", "probability") if getattr(self, name) is not None]
        if len(forms) != 1:
            raise ValueError(f"expected one of logits, logit and probability, found {', '.join(forms) or 'none'}")
        wrong = {key: value for key, value in self.thresholds.items() if not 0 < value < 1}
        if wrong:
            raise ValueError(f"thresholds: expected numbers between 0 and 1, found {wrong}")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer."""
        return self.logits or tuple(name for name in (self.logit, self.probability) if name is not None)


class Input(Record):
    """One measurement of a case besides the AI's answer."""

    column: str = Field(min_length=1)
    title: Words = ""  # as it stands in a sentence; the column's name if there is none
    unit: Words = ""
    means: Words = ""  # a sentence for those who do not know it
    role: Role = "other"  # a structure is a number that grows with the disease
    signal: Literal["", "distance", "quality"] = ""  # how unlike training a case is, how poor its recording is
    low: float | None = None  # usual range; what lies outside is warned of
    high: float | None = None
    strict: bool = False  # whether what lies outside is refused
    missing: bool = False  # whether cells may be empty; they are filled from train, and an indicator says so
    codes: dict[str, float] = Field(default_factory=dict)  # the number of each word, where cells hold words

    @model_validator(mode="after")
    def _range_is_one(self) -> Self:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"usual range: found {self.low} to {self.high}, expected the lower end first")
        return self


class Grouping(Record):
    """The column whose rows belong together: they are never divided, and resampled together."""

    column: str = Field(min_length=1)
    word: Words = "patient"


class Drawing(Record):
    """A picture that can be drawn of a case from its numbers: the optic disc from its cup-to-disc ratios."""

    kind: Literal["optic disc"] = "optic disc"
    vertical: str = Field(min_length=1)  # an input
    horizontal: str = Field(min_length=1)  # a column that is drawn and never routed on
    area: str | None = None  # an input


class Photographs(Record):
    """Where the name of each case's image file stands; the folder itself is never named by a manifest."""

    column: str = Field(min_length=1)


class Readings(Record):
    """The columns of a second file with one row a reading."""

    case: str = Field("case_id", min_length=1)
    reader: str = Field("reader", min_length=1)
    says: str = Field("says", min_length=1)


class Reader(Record):
    """One human reader: the column that holds their decisions and what a reading costs."""

    column: str = Field(min_length=1)  # of a second file: what stands in its column of readers
    name: Words = Field(min_length=1)
    group: Words = Field("readers", min_length=1)
    fee: float = Field(ge=0)  # the paper's κ_j, in units of clinical cost
    tier: Words = ""


class CohortEntry(Record):
    """One source of cases and how its readers' decisions came about."""

    key: str = Field(min_length=1)
    name: Words = Field(min_length=1)
    readings: Literal["real", "semi-synthetic", "induced", "simulated", "unknown"] = "unknown"
    credit: str = ""


class ClinicalCosts(Record):
    """What the two kinds of error cost, as the table's owners see it."""

    false_negative: float = Field(gt=0)  # the paper's c_fn
    false_positive: float = Field(gt=0)  # the paper's c_fp


class Manifest(Record):
    """Everything about a table that is not in its rows."""

    version: Literal[2] = 2
    title: Words
    table: str = Field("table.csv", pattern=r"^[\w][\w.-]*$")  # the file's name, beside the manifest
    credit: str = ""  # whom to name wherever the table is shown
    assumptions: tuple[str, ...] = ()  # what was chosen and not measured
    task: Task
    row: Columns = Field(Columns(), alias="columns")
    ai: Classifier
    inputs: tuple[Input, ...] = Field((), max_length=MOST)
    groups: Grouping | None = None
    drawing: Drawing | None = None
    photographs: Photographs | None = None
    long: Readings | None = Field(None, alias="readings")
    costs: ClinicalCosts
    readers: tuple[Reader, ...] = Field(min_length=1, max_length=MOST)
    cohorts: tuple[CohortEntry, ...] = Field(min_length=1, max_length=MOST_COHORTS + 1)

    model_config = ConfigDict(populate_by_name=True)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        used = {"column": [*self.row.names, *self.ai.columns, *(each.column for each in self.inputs), *self.columns]}
        for what, keys in (*used.items(), ("cohort key", [c.key for c in self.cohorts])):
            twice = sorted({key for key in keys if list(keys).count(key) > 1})
            if twice:
                raise ValueError(f"{what} given twice: {', '.join(twice)}")
        shapes = (self.drawing.vertical, self.drawing.area) if self.drawing else ()
        unknown = {name for name in shapes if name} - {each.column for each in self.inputs}
        if unknown:
            raise ValueError(f"drawing: {', '.join(sorted(unknown))} is no input")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The readers' columns in canonical order; position j everywhere means reader j."""
        return tuple(reader.column for reader in self.readers)

    @property
    def simulated(self) -> bool:
        """Whether any of its cases are of no person at all."""
        return any(entry.readings == "simulated" for entry in self.cohorts)

    @property
    def drawn(self) -> tuple[str, ...]:
        """Columns that are drawn and never routed on."""
        return (self.drawing.horizontal,) if self.drawing else ()

    @property
    def fees(self) -> Floats:
        """κ, [M]."""
        return frozen([reader.fee for reader in self.readers], np.float64)

    @cached_property
    def thresholds(self) -> Floats:
        """The probability from which on the AI says positive, by cohort, [C]."""
        return frozen([self.ai.thresholds.get(entry.key, self.ai.threshold) for entry in self.cohorts], np.float64)

    @cached_property
    def layout(self) -> StateLayout:
        """The state of a case."""
        positive, negative = self.task.positive, self.task.negative
        scores = self.ai.columns if self.ai.probability is None else (LOG_ODDS,)
        titles = (f"AI's score, {negative}", f"AI's score, {positive}") if len(scores) == 2 else ("AI's score",)
        variables = [Variable(PROBABILITY, "AI's probability", "ai", measured=False)]
        variables += [Variable(name, title, "ai") for name, title in zip(scores, titles, strict=True)]
        variables += self._variables("ai") + self._variables("risk")
        variables += [Variable(UNCERTAINTY, "AI's uncertainty", "risk", measured=False)]
        variables += self._variables("structure") + self._variables("other")
        kinds = {kind: tuple(each.column for each in self.inputs if each.signal == kind) for kind in SIGNALS}
        return StateLayout(tuple(variables), scores, kinds["distance"], kinds["quality"])

    def _variables(self, role: Role) -> list[Variable]:
        found = []
        for each in self.inputs:
            if each.role == role:
                title = each.title or plain_words(each.column)
                found.append(Variable(each.column, title, role, each.unit, each.low, each.high))
                if each.missing:
                    found.append(Variable(f"{each.column}{IS_MISSING}", f"{title} missing", role, measured=False))
        return found

    def default_costs(self) -> Costs:
        """The costs the table's owners chose."""
        return Costs(self.costs.false_negative, self.costs.false_positive, tuple(self.fees.tolist()))

    def but(self, **changes: Any) -> Manifest:
        """A copy with some parts changed, checked like any other."""
        return Manifest.model_validate({**self.model_dump(), **changes})

    def identity(self) -> str:
        """All of the manifest that a run depends on, as text: a name or a sentence may change, a column or a cost not.

        What version 1 could say is written as it was then, so that the runs of its tables are still theirs.
        """
        if self._learned() == _first()._learned():
            return self.model_dump_json(include={"title", "table", "costs", "readers", "cohorts"})
        readers = [(reader.column, reader.fee) for reader in self.readers]
        cohorts = [entry.key for entry in self.cohorts]
        return json.dumps([VERSION, self._learned(), self.costs.model_dump(), readers, cohorts], sort_keys=True)

    def _learned(self) -> list[Any]:
        """How the columns of a table become cases, whatever they are called on screen."""
        inputs = [each.model_dump(include={"column", "role", "signal", "missing", "codes"}) for each in self.inputs]
        groups = self.groups.column if self.groups else None
        return [self.row.model_dump(exclude={"date"}), self.ai.model_dump(mode="json"), inputs, groups]


SIGNALS = ("distance", "quality")

FIRST_TOML = """
[task]
positive = "glaucoma"
negative = "healthy"
case = "photograph"

[ai]
logits = ["logit_0", "logit_1"]

[drawing]
vertical = "vCDR"
horizontal = "hCDR"
area = "aCDR"

[[inputs]]
column = "vim_risk_z"
title = "image distance"
role = "risk"
signal = "distance"

[[inputs]]
column = "quality_risk"
title = "quality risk"
role = "risk"
signal = "quality"
low = 0.0
high = 1.0
strict = true

[[inputs]]
column = "vCDR"
title = "vertical CDR"
role = "structure"
low = 0.0
high = 1.0
strict = true

[[inputs]]
column = "aCDR"
title = "area CDR"
role = "structure"
low = 0.0
high = 1.0
strict = true
"""
"""What version 1 left unsaid, since there was one question."""


def parse_manifest(text: str, name: str = "manifest") -> Manifest:
    """A manifest of this version or version 1, or in plain words what is wrong with it."""
    try:
        return Manifest.model_validate(_upgraded(tomllib.loads(text), name))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{name}: not a TOML file: {error}") from None
    except ValidationError as error:
        lines = [f"{name}, {'.'.join(map(str, e['loc'])) or 'manifest'}: {e['msg']}" for e in error.errors()]
        raise UserError("\n".join(lines)) from None


def load_manifest(path: Path) -> Manifest:
    """Read a manifest, or say in plain words what is wrong with it."""
    try:
        return parse_manifest(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a TOML file: {error}") from None


def _upgraded(given: dict[str, Any], name: str) -> dict[str, Any]:
    version = given.get("version", 1)
    if isinstance(version, int) and version > VERSION:
        raise UserError(f"{name}: version {version} was made by a newer MPD² Studio; this one reads up to {VERSION}")
    return {**tomllib.loads(FIRST_TOML), **given, "version": VERSION} if version == 1 else given


@cache
def _first() -> Manifest:
    """A manifest of which version 1 could say all but its readers."""
    reader, source = {"column": "reader", "name": "reader", "fee": 0.0}, {"key": "cohort", "name": "cohort"}
    rest = {"title": "", "costs": {"false_negative": 1, "false_positive": 1}, "readers": [reader], "cohorts": [source]}
    return Manifest.model_validate({**tomllib.loads(FIRST_TOML), **rest})
