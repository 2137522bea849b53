"""What a table is about: its readers, its cohorts and what errors cost, in a small TOML file beside the CSV."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mpd2.core.arrays import Floats, frozen
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError


class Record(BaseModel):
    """Frozen and validated: an unknown key, a value out of range and a number that is not finite are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Reader(Record):
    """One human reader: the column that holds their decisions and what a reading costs."""

    column: str = Field(min_length=1)
    name: str = Field(min_length=1)
    group: str = Field(min_length=1)
    fee: float = Field(ge=0)  # the paper's κ_j, in units of clinical cost
    tier: str = Field(min_length=1)


class CohortEntry(Record):
    """One source of cases and how its readers' decisions came about."""

    key: str = Field(min_length=1)
    name: str = Field(min_length=1)
    readings: Literal["real", "semi-synthetic", "induced", "unknown"]
    credit: str = ""


class ClinicalCosts(Record):
    """What the two kinds of error cost, as the table's owners see it."""

    false_negative: float = Field(gt=0)  # the paper's c_fn
    false_positive: float = Field(gt=0)  # the paper's c_fp


class Manifest(Record):
    """Everything about a table that is not in its rows."""

    title: str
    table: str  # the CSV's file name, beside the manifest
    costs: ClinicalCosts
    readers: tuple[Reader, ...] = Field(min_length=1)
    cohorts: tuple[CohortEntry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        for what, keys in (("reader column", self.columns), ("cohort key", [c.key for c in self.cohorts])):
            twice = sorted({key for key in keys if list(keys).count(key) > 1})
            if twice:
                raise ValueError(f"{what} given twice: {', '.join(twice)}")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The readers' columns in canonical order; position j everywhere means reader j."""
        return tuple(reader.column for reader in self.readers)

    @property
    def fees(self) -> Floats:
        """κ, [M]."""
        return frozen([reader.fee for reader in self.readers], np.float64)

    def default_costs(self) -> Costs:
        """The costs the table's owners chose."""
        return Costs(self.costs.false_negative, self.costs.false_positive, tuple(self.fees.tolist()))


def load_manifest(path: Path) -> Manifest:
    """Read a manifest, or say in plain words what is wrong with it."""
    try:
        return Manifest.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not a TOML file: {error}") from None
    except ValidationError as error:
        lines = [f"{path}, {'.'.join(map(str, e['loc'])) or 'manifest'}: {e['msg']}" for e in error.errors()]
        raise UserError("\n".join(lines)) from None
