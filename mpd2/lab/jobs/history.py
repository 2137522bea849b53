"""A training as it goes, on disk: one line an epoch, readable while it is being written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd

from mpd2.core.arrays import Floats, Ints
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.training.config import LOGGED, Config

LOG = "log"
DIGITS = 6  # significant ones, so that a line stays short
MOST_POINTS = 75  # epochs shown of a long training


@dataclass(frozen=True)
class History:
    """T epochs of E routers and M readers; NaN where a router no longer trains."""

    epoch: Ints  # [T]
    log: dict[str, Floats]  # each [T, E]
    load: Floats  # [T, E, M] soft validation load of each reader

    def check(self, routers: int, readers: int) -> None:
        """Refuse a history that no training of so many routers, for so many readers, can have written."""
        shape = (len(self.epoch), routers)
        logged = set(LOGGED) <= set(self.log) and all(values.shape == shape for values in self.log.values())
        if not (logged and self.load.shape == (*shape, readers) and (np.diff(self.epoch, prepend=0) > 0).all()):
            raise UserError("not the history of this training: its lines do not fit together")

    def chosen(self, configs: Sequence[Config]) -> Ints:
        """The epoch whose weights each router would keep so far, by the same rule as in training, [E]; 0 = none yet."""
        first = np.array([min(c.training.warm_up, c.training.epochs - 1) for c in configs])
        score = np.where(self.epoch[:, None] > first, self.log["score"], np.nan)  # [T, E]
        scored = ~np.isnan(score).all(0)
        best = np.where(scored, np.argmin(np.nan_to_num(score, nan=np.inf), axis=0), 0)
        return np.where(scored, self.epoch[best], 0)

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """What was logged under these names: epoch, member, name, value; of a long training every few epochs."""
        rows = self._shown()
        parts = [
            pd.DataFrame(
                {
                    "epoch": np.repeat(self.epoch[rows], self.log[name].shape[1]),
                    "member": np.tile(np.arange(self.log[name].shape[1]), len(rows)),
                    "name": name,
                    "value": self.log[name][rows].ravel(),
                }
            )
            for name in names
        ]
        return pd.concat(parts, ignore_index=True).dropna(subset=["value"])

    def load_frame(self, readers: Sequence[str]) -> pd.DataFrame:
        """The share of all soft load that each reader has, mean over routers: epoch, reader, value."""
        rows = self._shown()
        load = self.load[rows]
        total = load.sum(-1, keepdims=True)
        share = np.divide(load, total, out=np.full_like(load, np.nan), where=total > 0)
        there = ~np.isnan(share)
        counted = there.sum(1)
        mean = np.where(there, share, 0.0).sum(1) / np.maximum(counted, 1)  # [T, M]
        return pd.DataFrame(
            {
                "epoch": np.repeat(self.epoch[rows], len(readers)),
                "reader": np.tile(np.array(readers), len(rows)),
                "value": np.where(counted > 0, mean, np.nan).ravel(),
            }
        ).dropna()

    def _shown(self) -> Ints:
        """Positions of the epochs to show: all of a short training, evenly spread ones of a long one, [T']."""
        count = len(self.epoch)
        return np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int))


def appending(path: Path, epoch: int) -> Callable[[int, dict[str, Floats], Floats], None]:
    """A function that adds an epoch's line; lines after `epoch`, from which the training goes on, are dropped first."""
    kept = [line for line in _lines(path) if line["epoch"] <= epoch]
    with replacing(path) as draft:
        draft.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in kept))

    def add(epoch: int, log: dict[str, Floats], load: Floats) -> None:
        line = {"epoch": epoch, LOG: {name: _short(values) for name, values in log.items()}, "load": _short(load)}
        try:
            with path.open("ab") as file:
                file.write(orjson.dumps(line) + b"\n")
        except OSError as error:
            raise UserError(f"{path.name}: could not be written: {error.strerror or error}") from error

    return add


def read_history(path: Path) -> History | None:
    """The epochs so far; none before the first."""
    lines = _lines(path)
    if not lines:
        return None
    try:
        return History(
            epoch=np.array([int(line["epoch"]) for line in lines]),
            log={name: np.array([line[LOG][name] for line in lines], float) for name in lines[0][LOG]},
            load=np.array([line["load"] for line in lines], float),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UserError(f"{path.name}: not the history of a training: {error}") from None


def _lines(path: Path) -> list[dict[str, Any]]:
    """All whole lines; the last one may be half-written or cut short."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    try:
        return [orjson.loads(line) for line in content.split(b"\n")[:-1]]
    except orjson.JSONDecodeError as error:
        raise UserError(f"{path.name}: damaged: {error}") from None


def _short(values: Floats) -> Any:
    """Nested lists with few digits; what is no number becomes null."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(values))))
        rounded = np.where(np.isfinite(scale), np.round(values * scale) / scale, values)
    return np.where(np.isfinite(rounded), rounded, np.nan).tolist()
