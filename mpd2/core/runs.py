"""A trained method as plain data, and as a folder on disk: JSON, safetensors and Parquet, never pickle."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import orjson
import pandas as pd
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, field_validator, model_validator
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

import mpd2
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorModel
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import digest, replacing, replacing_folder
from mpd2.core.policy import NOBODY, Continuations, Decisions, Policy, Rule, apply_actions, choose

FORMAT = 1
CONFIG, WEIGHTS, PREDICTIONS, HISTORY, METRICS = (
    "config.json", "weights.safetensors", "predictions.parquet", "history.parquet", "metrics.json",
)  # fmt: skip
FILLS = "fills"  # the note of a run that says what it puts in place of an input that was not measured
KEPT, CONSULTED = "kept", "consulted_"  # names of columns
FILES = (WEIGHTS, PREDICTIONS, HISTORY, METRICS)  # all that the configuration vouches for
ERRORS = "errors.safetensors"  # how often everybody errs, where a run keeps it


Name = Annotated[str, Field(min_length=1, max_length=200)]


class Notes(BaseModel):
    """What a run may say of itself beside its settings; a method may add notes of its own."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    title: Name | None = None  # as shown; the folder's name if there is none
    kind: Literal["train", "grid"] = "train"  # the routers of a grid differ: it can only be looked at as a whole
    changed_from: Name | None = None  # the run or preset it started from
    changes: dict[str, JsonValue] = Field(default_factory=dict)  # settings that differ from there
    conditions: tuple[Name, ...] = ()  # of a grid: the cell of each member
    best_epoch: tuple[int, ...] = ()  # of each member
    problems: tuple[str, ...] = ()  # members that had to be stopped
    cohorts: tuple[str, ...] = ()  # keys of the cohorts it was fitted on, where the method knows them
    owner: str | None = None  # who made it, where that is known


class RunDescription(BaseModel):
    """The content of `config.json`: all that a run says of itself, and the digests of its other files."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    format: Literal[1]
    method: Name
    rule: Rule
    costs: Costs
    readers: tuple[Name, ...] = Field(min_length=1)
    fingerprint: Name
    version: Name
    created: Name  # date and time with its zone, as ISO 8601 writes them
    notes: dict[str, JsonValue]
    files: dict[Annotated[str, Field(pattern=r"^\w[\w.-]*$")], str]  # SHA-256 by name
    settings: tuple[dict[str, JsonValue], ...] = Field(min_length=1)  # one a member

    @property
    def known_notes(self) -> Notes:
        """The notes that every method shares."""
        return Notes.model_validate(self.notes)

    @field_validator("created")
    @classmethod
    def _is_a_time(cls, value: str) -> str:
        if datetime.fromisoformat(value).tzinfo is None:
            raise ValueError("expected a time with its zone")
        return value

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if any(type(member.get("seed")) is not int for member in self.settings):
            raise ValueError("settings: expected a seed, a whole number, for each member")
        if len(set(self.readers)) != len(self.readers) or len(self.costs.fees) != len(self.readers):
            raise ValueError("readers: expected each once, and a fee for each")
        notes, members = self.known_notes, len(self.settings)
        if notes.conditions and not len(notes.conditions) == len(notes.best_epoch) == members:
            raise ValueError(f"notes: expected a condition and a best epoch for each of the {members} members, or none")
        return self


@dataclass(frozen=True, eq=False)
class Run:
    """One fitted method: a population of members, first axis E in every array.

    `method` names the entry of `mpd2.methods` that made it and can make a policy of it.
    """

    method: str
    settings: tuple[Mapping[str, Any], ...]  # one a member, plain JSON values, with its seed
    arrays: Mapping[str, np.ndarray]
    rule: Rule
    costs: Costs  # the costs it was fitted for
    readers: tuple[str, ...]  # the readers' columns, in order
    fingerprint: str  # of the table it was fitted on
    history: pd.DataFrame = field(default_factory=pd.DataFrame)  # one row an epoch and member, if it was trained
    notes: Mapping[str, Any] = field(default_factory=dict)  # what else is worth keeping: problems, best epochs
    version: str = mpd2.__version__
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def members(self) -> int:
        """E."""
        return len(self.settings)

    def member(self, rows: list[int]) -> Run:
        """Some of the members as a run of their own, without their history."""
        settings = tuple(self.settings[row] for row in rows)
        arrays = {name: values[rows] for name, values in self.arrays.items()}
        return replace(self, settings=settings, arrays=arrays, history=pd.DataFrame())

    def check_readers(self, cohort: Cohort) -> None:
        """Refuse a table with other readers: their columns would be taken for somebody else's."""
        if cohort.manifest.columns != self.readers:
            ours, theirs = ", ".join(self.readers), ", ".join(cohort.manifest.columns)
            raise UserError(f"this run knows the readers {ours}; the table has {theirs}")

    def check_table(self, cohort: Cohort) -> None:
        """Refuse any table but the one the run was fitted on."""
        if cohort.fingerprint != self.fingerprint:
            raise UserError(
                f"this run was made from table {self.fingerprint}, the table here is {cohort.fingerprint}; "
                "use the table it was made from, or `route` to apply it to new cases"
            )


def save_run(
    run: Run,
    folder: Path,
    policy: Policy,
    cohort: Cohort,
    metrics: Mapping[str, Any],
    continuations: Continuations | None = None,
    errors: ErrorModel | None = None,
) -> None:
    """Write a run with its predictions for `cohort`, all or nothing.

    With the estimated `errors` of everybody it can be routed for other costs than it was fitted for.
    """
    with replacing_folder(folder) as draft:
        arrays = {name: np.ascontiguousarray(value) for name, value in run.arrays.items()}
        (draft / WEIGHTS).write_bytes(save(arrays))
        frame, soft = predictions_frame(run, policy, cohort, continuations), ("defer", *run.readers)
        frame.to_parquet(
            draft / PREDICTIONS,
            index=False,
            compression="zstd",
            use_dictionary=[name for name in frame if name not in soft],
            column_encoding=dict.fromkeys(soft, "BYTE_STREAM_SPLIT"),  # a third less to ship
        )
        run.history.to_parquet(draft / HISTORY, index=False)
        (draft / METRICS).write_text(json.dumps(metrics, indent=1), encoding="utf-8")
        if errors is not None:
            (draft / ERRORS).write_bytes(save(vars(errors)))
        kept = FILES if errors is None else (*FILES, ERRORS)
        config = {
            "format": FORMAT,
            "method": run.method,
            "rule": run.rule,
            "costs": asdict(run.costs),
            "readers": run.readers,
            "fingerprint": run.fingerprint,
            "version": run.version,
            "created": run.created,
            "notes": run.notes,
            "files": {name: digest(draft / name) for name in kept},
            "settings": run.settings,
        }
        (draft / CONFIG).write_text(json.dumps(config, indent=1), encoding="utf-8")


def load_run(folder: Path) -> Run:
    """Read a run back; a missing, foreign or damaged file is refused by name."""
    about = read_description(folder)
    for name in dict.fromkeys((*FILES, *about.files)):
        if not (folder / name).is_file():
            raise UserError(f"{folder}: {name} is missing; the run is incomplete")
        if digest(folder / name) != about.files.get(name):
            raise UserError(f"{folder / name}: damaged or changed since the run was written; make the run anew")
    with _readable(folder):
        arrays, history = load_file(folder / WEIGHTS), pd.read_parquet(folder / HISTORY)
    return Run(
        method=about.method,
        settings=about.settings,
        arrays=arrays,
        rule=about.rule,
        costs=about.costs,
        readers=about.readers,
        fingerprint=about.fingerprint,
        history=history,
        notes=about.notes,
        version=about.version,
        created=about.created,
    )


def read_description(folder: Path) -> RunDescription:
    """What a run says of itself, without its weights and predictions."""
    config = _read_config(folder)
    try:
        return RunDescription.model_validate(config)
    except ValidationError as error:
        raise UserError(f"{folder / CONFIG}: not a run this version can read: {invalid_entries(error)}") from None
    except UserError as error:  # of a cost
        raise UserError(f"{folder / CONFIG}: not a run this version can read: {error}") from None


def load_errors(folder: Path) -> ErrorModel:
    """How likely the AI and every reader are to err, as estimated from the cases a run was fitted on."""
    if not (folder / ERRORS).is_file():
        raise UserError(f"{folder}: the run keeps no estimate of errors; make it anew to route for other costs")
    with _readable(folder):
        model = ErrorModel(**load_file(folder / ERRORS))
    model.check()
    return model


def annotate(folder: Path, **notes: Any) -> None:
    """Add to what a run says of itself, or change it; everything else stays as it is."""
    config = {**_read_config(folder), "notes": {**read_description(folder).notes, **notes}}
    with replacing(folder / CONFIG) as draft:
        draft.write_text(json.dumps(config, indent=1), encoding="utf-8")


def load_predictions(folder: Path, run: Run, cohort: Cohort) -> Policy:
    """The stored policy of every member for the cases of `cohort`, [E, N], without running the method."""
    run.check_table(cohort)
    frame = _read_predictions(folder, ["defer", *run.readers])
    rows = _rows_of(frame, folder, run, cohort)
    _check_range(folder, frame[["defer", *run.readers]], 0, 1)
    defer = frame["defer"].to_numpy(float).reshape(run.members, -1)[:, rows]
    allocation = frame[list(run.readers)].to_numpy(float).reshape(run.members, -1, len(run.readers))[:, rows]
    if allocation[:, ~cohort.available].any():
        raise UserError(f"{folder}: its predictions ask readers who are not available here; apply the run anew")
    return Policy(defer, allocation, cohort.available)


def load_continuations(folder: Path, run: Run, cohort: Cohort) -> Continuations | None:
    """The stored continuations of every member for the cases of `cohort`, [E, N]; none where the run has none."""
    with _readable(folder):
        names = pq.read_schema(folder / PREDICTIONS).names
    if KEPT not in names:
        return None
    limit = sum(name.startswith(CONSULTED) for name in names)
    later_names = _continuation_names(run, limit)
    frame = _read_predictions(folder, [KEPT, *later_names])
    rows = _rows_of(frame, folder, run, cohort)
    labels = later_names[: len(run.readers)]
    _check_range(folder, frame[[KEPT, *labels]], UNKNOWN, 1)
    _check_range(folder, frame[later_names[len(labels) :]], NOBODY, len(run.readers) - 1)
    kept, label_and_later = (
        frame[columns].to_numpy(np.int64).reshape(run.members, -1, *shape)[:, rows]
        for columns, shape in ((KEPT, ()), (later_names, (limit, len(run.readers))))
    )
    first = np.where(cohort.available, np.arange(cohort.readers), NOBODY)  # [N, M]
    later = np.moveaxis(label_and_later[:, :, 1:], -2, -1)  # [E, N, M, limit − 1]
    firsts = np.broadcast_to(first, later.shape[:-1])[..., None]
    return Continuations(kept, label_and_later[:, :, 0], np.concatenate([firsts, later], axis=-1))


def predictions_frame(
    run: Run, policy: Policy, cohort: Cohort, continuations: Continuations | None = None
) -> pd.DataFrame:
    """One row a member and case: the action taken, d and every reader's q.

    Where the method goes on by itself also whom it asks in all and the label it ends with, and how it would end else:
    `kept`, the label if nobody is asked, and if a reader is asked first `label:` and `then2:`, `then3:` that reader,
    positions of whom is asked next.
    """
    action = choose(policy, run.rule)  # [E, N]
    names = np.array(["ai", *run.readers])
    columns = {
        "seed": np.repeat([int(s["seed"]) for s in run.settings], len(cohort)),
        "case_id": np.tile(cohort.ids, run.members),
        "action": names[action].ravel(),
        "defer": policy.defer.astype(np.float32).ravel(),
    }
    shares = policy.allocation.astype(np.float32).reshape(-1, len(run.readers))
    columns |= {name: shares[:, j] for j, name in enumerate(run.readers)}
    if continuations is not None:
        columns |= _continuations_as_columns(run, apply_actions(action, cohort, continuations), continuations)
    return pd.DataFrame(columns)


def _continuations_as_columns(run: Run, decisions: Decisions, continuations: Continuations) -> dict[str, np.ndarray]:
    names = np.array([*run.readers, ""])  # NOBODY is the last position
    limit = decisions.consulted.shape[-1]
    asked = {f"{CONSULTED}{step + 1}": names[decisions.consulted[..., step]].ravel() for step in range(limit)}
    ends = np.concatenate(
        [continuations.label[..., None], continuations.consulted[..., 1:]], axis=-1
    )  # [E, N, M, limit]
    flat = np.moveaxis(ends, -1, -2).reshape(decisions.label.size, -1).astype(np.int16)
    columns = dict(zip(_continuation_names(run, limit), flat.T, strict=True))
    labels = {"label": decisions.label, KEPT: continuations.kept}
    return asked | {name: values.ravel().astype(np.int8) for name, values in labels.items()} | columns


def _continuation_names(run: Run, limit: int) -> list[str]:
    """The label by whom is asked first, then whom is asked second and so on."""
    return [
        f"{what}:{reader}" for what in ("label", *(f"then{n}" for n in range(2, limit + 1))) for reader in run.readers
    ]


def _rows_of(frame: pd.DataFrame, folder: Path, run: Run, cohort: Cohort) -> np.ndarray:
    """Where in a member's part of the stored predictions each case is, [N]."""
    cases, left = divmod(len(frame), run.members)
    stored = frame["case_id"].iloc[:cases]
    if left or not (frame["case_id"].to_numpy().reshape(run.members, -1) == stored.to_numpy()).all():
        raise UserError(f"{folder / PREDICTIONS}: its members do not have the same cases; make the run anew")
    if not stored.is_unique:
        twice = stored[stored.duplicated()].iloc[0]
        raise UserError(f"{folder / PREDICTIONS}: case {twice} is there twice; make the run anew")
    rows = pd.Index(stored).get_indexer(cohort.ids)
    if (rows < 0).any():
        raise UserError(f"{folder}: no prediction is stored for case {cohort.ids[rows < 0][0]}")
    return rows


def _read_config(folder: Path) -> dict[str, Any]:
    """The content of a run's configuration: strict JSON, without NaN, infinity or nesting without an end."""
    path = folder / CONFIG
    if not path.is_file():
        raise UserError(f"{folder}: there is no run here (no {CONFIG})")
    try:
        config = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UserError(f"{path}: damaged: {error}") from None
    if not isinstance(config, dict):
        raise UserError(f"{path}: not a run this version can read")
    return config


def _read_predictions(folder: Path, columns: list[str]) -> pd.DataFrame:
    """The case and some columns of numbers of the stored predictions."""
    with _readable(folder):
        frame = pd.read_parquet(folder / PREDICTIONS, columns=["case_id", *columns])
        return frame.astype({"case_id": str})


def _check_range(folder: Path, frame: pd.DataFrame, low: int, high: int) -> None:
    """Refuse predictions that no method can have made."""
    for name in frame:
        if not (pd.api.types.is_numeric_dtype(frame[name]) and frame[name].between(low, high).all()):
            raise UserError(f"{folder / PREDICTIONS}, {name}: expected numbers from {low} to {high}; make the run anew")


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    """A block that reads files of a run; what cannot be read is a `UserError`."""
    try:
        yield
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder}: not a run this version can read: {error}") from None
