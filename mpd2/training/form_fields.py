"""Every setting of a router as people meet it: its name, the range that makes sense, and what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mpd2.core.errors import UserError
from mpd2.core.manifest import Record
from mpd2.training.config import Config

GSDP, RANK, BUDGET = "objective__gsdp_weight", "objective__rank_weight", "budget__target"


@dataclass(frozen=True)
class Field:
    """A number, a choice or a list of numbers; `low` to `high` is what is offered, not all that is allowed."""

    path: str  # as `Config.but` takes it
    label: str
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    choices: tuple[str, ...] = ()

    @property
    def meaning(self) -> str:
        """What it does, with the paper's symbol, and its range; the words are those of the configuration itself."""
        meaning = _described(self.path)  # begins with a symbol where there is one, so it keeps its case
        return f"{meaning}." if self.choices else f"{meaning}. From {self.low:g} to {self.high:g}."

    @property
    def whole(self) -> bool:
        """Whether it is a whole number."""
        return isinstance(value_of(Config(), self.path), int)


SIMPLE = (
    Field(GSDP, "GSDP weight", 0.001, 1.0, 0.005),
    Field(RANK, "Rank-JS weight", 0.001, 1.0, 0.005),
    Field(BUDGET, "Budget", 0.05, 1.0, 0.05),
)
"""What can be switched off, and is always in sight."""

MORE: Mapping[str, Sequence[Field]] = {
    "Objective": (
        Field("objective__fee_weight", "Weight of fees", 0.0, 2.0, 0.05),
        Field("objective__rank_margin", "Rank-JS margin", 0.0, 0.5, 0.01),
        Field("objective__expected_share", "Expected costs", 0.0, 1.0, 0.05),
        Field("objective__ai_cost", "Cost of the AI", choices=("soft", "hard")),
        Field("rule", "Decision rule", choices=("joint", "staged")),
    ),
    "Budget control": (
        Field("budget__penalty", "Penalty", 0.0, 100.0, 0.5),
        Field("budget__dual_step", "Dual step", 0.0, 1.0, 0.005),
        Field("training__violation_weight", "Weight in the choice", 0.0, 100.0, 0.5),
    ),
    "Group prior": (
        Field("prior__sharpness", "Sharpness", 0.05, 5.0, 0.05),
        Field("prior__cost_false_negative", "Miss, in badness", 0.1, 10.0, 0.1),
        Field("prior__cost_false_positive", "False alarm, in badness", 0.1, 10.0, 0.1),
        Field("prior__uniform_global", "Uniform, global", 0.0, 1.0, 0.01),
        Field("prior__uniform_family", "Uniform, family", 0.0, 1.0, 0.01),
        Field("prior__uniform_group", "Uniform, group", 0.0, 1.0, 0.01),
        Field("prior__family_count", "Family pseudo-count", 0.0, 500.0, 1.0),
        Field("prior__group_count", "Group pseudo-count", 0.0, 500.0, 1.0),
        Field("prior__global_share", "Global share", 0.0, 1.0, 0.01),
        Field("prior__ceiling", "Ceiling", 0.05, 1.0, 0.01),
        Field("prior__slack", "Slack", 0.0, 0.5, 0.005),
    ),
    "Network and training": (
        Field("network__width", "Width", 2, 256, 2),
        Field("network__dropout", "Dropout", 0.0, 0.9, 0.05),
        Field("network__temperature", "Temperature", 0.1, 10.0, 0.05),
        Field("network__temperature_floor", "Temperature floor", 0.05, 5.0, 0.05),
        Field("training__learning_rate", "Learning rate", 1e-6, 0.1, 1e-5),
        Field("training__weight_decay", "Weight decay", 0.0, 1.0, 0.001),
        Field("training__epochs", "Epochs", 1, 500, 10),
        Field("training__warm_up", "Warm-up", 0, 100, 1),
        Field("training__patience", "Patience", 1, 500, 5),
        Field("training__checkpoint", "Checkpoint by", choices=("soft", "hard")),
    ),
}
"""Everything else, by subject."""

DECAY = Field("objective__rank_decay", "Rank-JS decay", 0.0, 1.0)

NAMES = {s.path: s.label for s in (*SIMPLE, DECAY, *(s for group in MORE.values() for s in group))} | {
    "cost_false_negative": "Cost of a miss",
    "cost_false_positive": "Cost of a false alarm",
}
"""Every setting's name as shown."""


def value_of(config: Config, path: str) -> Any:
    """A setting's value."""
    section, _, field = path.rpartition("__")
    return getattr(getattr(config, section) if section else config, field)


def parse_decay(text: str) -> tuple[float, ...]:
    """A list of numbers as people write it.

    >>> parse_decay("0.67, 0.80")
    (0.67, 0.8)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"{DECAY.label}: found {text!r}, expected numbers such as 0.67, 0.80, 0.75") from None


def in_words(problem: str) -> str:
    """What the configuration objects to, with settings' names as shown.

    >>> in_words("configuration: budget.target: found 1.4; Input should be less than or equal to 1")
    'Budget: found 1.4; Input should be less than or equal to 1'
    """
    text = problem.removeprefix("configuration: ")
    for path, name in NAMES.items():
        text = text.replace(f"{path.replace('__', '.')}:", f"{name}:")
    return text


def changes_in_words(changes: Mapping[str, Any]) -> str:
    """What was changed, for a list.

    >>> changes_in_words({"budget__target": None, "objective__gsdp_weight": 0.0})
    'Budget: none, GSDP weight: 0'
    """
    parts = [f"{NAMES.get(path, path)}: {_value(value)}" for path, value in changes.items()]
    return ", ".join(parts) or "nothing"


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return " / ".join(map(_value, value))
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _described(path: str) -> str:
    section, _, field = path.rpartition("__")
    kind = type(getattr(Config(), section)) if section else Config
    assert issubclass(kind, Record)
    return str(kind.model_fields[field].description)
