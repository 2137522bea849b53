"""`Cohort`: aligned, read-only arrays of cases; the one container every function takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints, frozen
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.core.manifest import Manifest

STATE = ("prob_1", "logit_0", "logit_1", "vim_risk_z", "quality_risk", "uncertainty", "vCDR", "aCDR")
"""What a router sees of a case, in this order: the paper's decision-time state z_i."""

MEASURED = ("logit_0", "logit_1", "vim_risk_z", "quality_risk", "vCDR", "aCDR")
"""The inputs that are measured and can be changed alone; probability and uncertainty follow from the two logits."""

SPLITS = ("train", "val", "test")
UNKNOWN = -1  # a truth or a reader's word that is not in the table
ANSWERS = {0: "healthy", 1: "glaucoma", UNKNOWN: ""}
"""A label in words."""


@dataclass(frozen=True, eq=False)
class Cohort:
    """N cases and M readers. Row i is the same case, column j the same reader, in every array."""

    manifest: Manifest
    fingerprint: str  # hash of the table and manifest these cases came from
    ids: np.ndarray  # [N] str
    source: Ints  # [N] index into manifest.cohorts
    split: np.ndarray  # [N] str, one of SPLITS, or "" where the table has none
    state: Floats  # [N, 8] in the order of STATE
    horizontal_cdr: Floats  # [N] hCDR, NaN where the table has none; drawn, never routed on
    truth: Ints  # [N] 1 glaucoma, 0 not, UNKNOWN
    decisions: Ints  # [N, M] a reader's word 0 or 1, UNKNOWN
    available: Bools  # [N, M] the paper's mask m_ij

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, frozen(value))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def readers(self) -> int:
        """M, the number of readers."""
        return len(self.manifest.readers)

    @cached_property
    def ai_probability(self) -> Floats:
        """p_ai, [N]."""
        return self.state[:, STATE.index("prob_1")]

    @cached_property
    def ai_label(self) -> Ints:
        """The frozen classifier's own decision, [N]."""
        return frozen(self.ai_probability >= 0.5, np.int64)

    @cached_property
    def action_labels(self) -> Ints:
        """The label each action would give, AI first, [N, 1 + M]; UNKNOWN where nobody said anything."""
        return frozen(np.column_stack([self.ai_label, self.decisions]))

    @cached_property
    def sources(self) -> np.ndarray:
        """Each case's cohort key, [N] str."""
        return frozen(np.array([entry.key for entry in self.manifest.cohorts])[self.source])

    def column(self, name: str) -> Floats:
        """One state variable by name, [N]."""
        return self.state[:, STATE.index(name)]

    def rows(self, index: np.ndarray) -> Cohort:
        """The cases at `index` (positions or a boolean mask), in that order; may be none."""
        aligned = [field.name for field in fields(self) if field.name not in ("manifest", "fingerprint")]
        return replace(self, **{name: getattr(self, name)[index] for name in aligned})

    def subset(self, *, split: str | None = None, cohorts: Sequence[str] | None = None) -> Cohort:
        """The cases of a split and of chosen cohorts; no case left is an error that says which filter did it."""
        keep = np.ones(len(self), bool)
        if split is not None:
            if split not in SPLITS:
                raise UserError(f"split: found {split!r}, expected one of {', '.join(SPLITS)}")
            keep &= self.split == split
        if cohorts is not None:
            known = [entry.key for entry in self.manifest.cohorts]
            unknown = sorted(set(cohorts) - set(known))
            if unknown:
                raise UserError(f"cohort: found {', '.join(unknown)}, expected some of {', '.join(known)}")
            keep &= np.isin(self.sources, list(cohorts))
        if not keep.any():
            wish = [f"split {split}"] if split else []
            wish += [f"cohorts {', '.join(cohorts) or 'none'}"] if cohorts is not None else []
            raise EmptyCohort(f"no case is left of {len(self)} after the filter: {' and '.join(wish) or 'none given'}")
        return self.rows(keep)

    def with_available(self, available: np.ndarray) -> Cohort:
        """The same cases under another roster, [N, M] or [M]; a reader who was never there cannot be added."""
        return replace(self, available=self.available & available)


def learning_split(cohort: Cohort, split: str) -> Cohort:
    """The cases of a split to learn from, all with their truth; a reader who said nothing counts as absent."""
    part = cohort.subset(split=split)
    without = int((part.truth == UNKNOWN).sum())
    if without:
        raise UserError(f"training needs the truth of every {split} case; {without} of {len(part)} have none")
    return part.with_available(part.decisions != UNKNOWN)
