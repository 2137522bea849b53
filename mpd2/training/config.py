"""Every number a router is trained with: frozen, validated, and the same in Python, in JSON and on the page."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from mpd2.core.errors import UserError
from mpd2.core.manifest import Record
from mpd2.core.policy import Rule

LOGGED = (
    "loss", "routing_cost", "gsdp", "rank_js", "budget_penalty", "soft_deferral",
    "val_cost", "val_soft_deferral", "val_hard_deferral", "val_total", "score", "multiplier",
)  # fmt: skip
"""What is written down of every member after every epoch; the first six are means over training steps."""

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]


class Network(Record):
    """The shape of a router. All members of a population share it."""

    width: int = Field(128, ge=2, le=1024, description="units of every hidden layer")
    dropout: float = Field(0.1, ge=0, lt=1, description="share of units left out at random in a training step")
    temperature: float = Field(1.25, gt=0, le=100, description="τ_g = τ_a at the start; trained")
    temperature_floor: Positive = Field(0.5, description="the temperature never falls below this")

    @model_validator(mode="after")
    def _starts_above_the_floor(self) -> Self:
        if self.temperature <= self.temperature_floor:
            raise ValueError(f"temperature {self.temperature} must exceed temperature_floor {self.temperature_floor}")
        return self


class Objective(Record):
    """What a router is trained to keep small."""

    fee_weight: NonNegative = Field(0.284, description="γ: how much a reader's fee counts in training")
    ai_cost: Literal["soft", "hard"] = Field("soft", description="cost of keeping the AI: by its probability or label")
    expected_share: Share = Field(0.0, description="share of each training cost that is its cross-fitted expectation")
    gsdp_weight: NonNegative = Field(0.0457, description="λ_GSDP: pull of each group's allocation towards its prior")
    rank_weight: NonNegative = Field(0.098, description="λ_rank: penalty on allocations that are too peaked")
    rank_decay: tuple[Share, ...] = Field(
        (0.67, 0.80, 0.75, 0.72), min_length=1, description="ϱ for 2, 3, 4, … available readers, the last for all more"
    )
    rank_margin: NonNegative = Field(0.0, description="m_maj: how far a prefix may exceed the reference unpunished")
    detach_defer: bool = Field(False, description="treat d as a constant inside GSDP and Rank-JS")


class Prior(Record):
    """How the group prior p̃_g is built from the training cases."""

    sharpness: Positive = Field(0.678, description="τ_bad: how strongly mass goes to readers with few costly errors")
    cost_false_negative: Positive = Field(1.8, description="c_fn in a reader's badness")
    cost_false_positive: Positive = Field(1.2, description="c_fp in a reader's badness")
    uniform_global: Share = Field(0.380, description="u_glob: uniform share at the global level")
    uniform_family: Share = Field(0.245, description="u_fam: uniform share at the family level")
    uniform_group: Share = Field(0.333, description="u_grp: uniform share at the group level")
    family_count: NonNegative = Field(31.1, description="n0_fam: pseudo-count that pulls a family to the global prior")
    group_count: NonNegative = Field(31.4, description="n0_grp: pseudo-count that pulls a group to its family")
    global_share: Share = Field(0.0975, description="ρ_glob: share of the global prior in every group")
    ceiling: Share = Field(0.378, description="largest share of one reader in a group prior")
    slack: NonNegative = Field(0.0151, description="how far above the geometric top share the cap may lie")


class Budget(Record):
    """The augmented Lagrangian that holds the soft deferral rate below a target."""

    target: Share | None = Field(0.70, description="ρ_def: largest soft deferral rate; none switches the control off")
    penalty: NonNegative = Field(23.9, description="μ: weight of the squared excess")
    dual_step: NonNegative = Field(0.0428, description="η_λ: step of the multiplier, once an epoch")


class Training(Record):
    """The optimiser and when to stop. All members of a population share the batch size."""

    learning_rate: Positive = Field(3.05e-5, description="AdamW step size")
    weight_decay: NonNegative = Field(1e-4, description="AdamW weight decay")
    batch_size: int = Field(64, ge=1, description="cases in a step")
    epochs: int = Field(150, ge=1, description="passes over the training cases at most")
    warm_up: int = Field(11, ge=0, description="epochs before a checkpoint may be kept")
    patience: int = Field(25, ge=1, description="epochs without a better checkpoint before training stops")
    checkpoint: Literal["soft", "hard"] = Field("soft", description="validation cost that picks the checkpoint")
    violation_weight: NonNegative = Field(10.0, description="weight of the budget's excess in the checkpoint score")


class Config(Record):
    """One router, whole. The defaults are the paper's published best configuration."""

    seed: int = Field(42, ge=0, lt=2**32, description="stream of initial weights, batches, gate noise and dropout")
    rule: Rule = Field("joint", description="how a soft policy becomes an action")
    network: Network = Network()
    objective: Objective = Objective()
    prior: Prior = Prior()
    budget: Budget = Budget()
    training: Training = Training()

    def but(self, **changes: Any) -> Config:
        """A copy with some settings changed, named `section__field` or `field`, and validated anew.

        >>> Config().but(seed=7, budget__target=None).budget.target is None
        True
        """
        values = self.model_dump()
        for name, value in changes.items():
            section, _, field = name.rpartition("__")
            (values.setdefault(section, {}) if section else values)[field] = value
        return parse_config(values)


def parse_config(values: dict[str, Any]) -> Config:
    """A configuration from plain values, as read from JSON; every problem is named in the error."""
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise UserError("configuration: " + "; ".join(map(_problem, error.errors()))) from None


def _problem(error: ErrorDetails) -> str:
    where = ".".join(map(str, error["loc"]))
    found = "" if isinstance(error["input"], dict) else f"found {error['input']!r}; "
    return f"{where}: {found}{error['msg'].removeprefix('Value error, ')}"


PAPER = Config()
"""To the letter: soft AI cost, joint argmax, the published hyper-parameters."""

STUDIO = PAPER.but(
    rule="staged",
    network__width=64,
    objective__ai_cost="hard",
    objective__expected_share=0.6,
    objective__fee_weight=0.5,
    objective__gsdp_weight=0.03,
    objective__rank_weight=0.03,
    training__learning_rate=5e-4,
    training__weight_decay=0.1,
)
"""Our best, settled on val and on resplits of train and val, after an earlier one had been read on test."""

PRESETS = {"paper": PAPER, "studio": STUDIO}
