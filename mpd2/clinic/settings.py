"""The settings of an installation: one TOML file, named by the environment; what it does not say is denied or off."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationError, field_validator, model_validator

from mpd2.clinic.access.actions import Role
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.manifest import Record

SETTINGS = "MPD2_SETTINGS"
"""The environment variable that names the file; without it there is no login and no record."""
PROGRAM = "token:"  # before the name of a program, wherever it acts


class Login(Record):
    """How a provider's claims become a role. Somebody with none of the values has no role, and gets in nowhere."""

    claim: str = Field("groups", min_length=1)  # dots lead into nested claims: realm_access.roles
    roles: dict[str, Role] = Field(min_length=1)  # value of the claim: role
    issuer: str = ""  # the only one that is believed; empty: whichever the provider says that it is
    idle_minutes: int = Field(30, ge=1, le=24 * 60)  # without a click
    absolute_minutes: int = Field(600, ge=1, le=24 * 60)  # after signing in


class RecordOptions(Record):
    """Where the record is kept, and how long."""

    storage: str = ""  # an address such as postgresql://user@host/name; empty: a file in `folder`
    folder: Path | None = None  # of the file, its checkpoints and its keys; None: `record` in the workshop
    second_place: Path | None = None  # a folder, best on another disk, that gets a copy of every checkpoint
    checkpoint_every: int = Field(100, ge=1)  # entries between two signatures; there is one a day in any case
    retention_days: int | None = Field(None, ge=1)  # None: kept for ever


class Token(Record):
    """A program that may use the HTTP interface. Of what it shows when it comes only the hash is written here."""

    name: str = Field(pattern=r"^\w[\w .-]{0,79}$")  # as the record and the readers' entries call it
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    role: Role


class ClinicOptions(Record):
    """Where shadow mode keeps its rows, who reads, and from where cases come in."""

    storage: str = ""  # an address such as postgresql+psycopg://user@host/name; empty: a file in `folder`
    folder: Path | None = None  # None: `clinic` in the workshop
    readers: dict[str, str] = Field(default_factory=dict)  # who, by subject, verified e-mail or token:NAME: column
    retention_days: int | None = Field(None, ge=1)  # after the last arrival; None: ids of cases are kept for ever
    watched: Path | None = None  # a folder in which tables of new cases appear
    tokens: tuple[Token, ...] = ()  # none: the HTTP interface is off

    @field_validator("readers")
    @classmethod
    def _nobody_by_name(cls, given: dict[str, str]) -> dict[str, str]:
        names = [who for who in given if "@" not in who and not who.startswith(PROGRAM)]
        if names:
            raise ValueError(
                f"found {names[0]!r}, which a name could be, and whoever has a name can change it; expected the "
                "subject as the record writes it, such as 7f3a@login.example.org, an e-mail address that the provider "
                f"has verified, or {PROGRAM}NAME for a program"
            )
        return given

    @model_validator(mode="after")
    def _tokens_differ(self) -> Self:
        for what in ("name", "sha256"):
            used = [getattr(token, what) for token in self.tokens]
            twice = sorted({each for each in used if used.count(each) > 1})
            if twice:
                raise ValueError(f"tokens: {what} given twice: {', '.join(twice)}")
        return self


class Settings(Record):
    """Everything an installation is told."""

    login: Login | None = None
    record: RecordOptions | None = None
    clinic: ClinicOptions = ClinicOptions()


def load_settings() -> Settings:
    """The settings of this installation, from the file the environment names."""
    name = os.environ.get(SETTINGS)
    return read_settings(Path(name)) if name else Settings()


def read_settings(path: Path) -> Settings:
    """The settings in a file; an unknown entry is an error."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path.name}: the settings cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name}: the settings are not TOML: {error}") from error
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        raise UserError(f"{path.name}: {invalid_entries(error)}") from error
