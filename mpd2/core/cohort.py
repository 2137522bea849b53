"""`Cohort`: aligned, read-only arrays of cases; the one container every function takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints, frozen
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.core.manifest import Manifest
from mpd2.core.state import PROBABILITY, StateLayout

SPLITS = ("train", "val", "test")
UNKNOWN = -1  # a truth or a reader's word that is not in the table


@dataclass(frozen=True, eq=False)
class Cohort:
    """N cases and M readers. Row i is the same case, column j the same reader, in every array."""

    manifest: Manifest
    fingerprint: str  # hash of the table and manifest these cases came from
    ids: np.ndarray  # [N] str
    source: Ints  # [N] index into manifest.cohorts
    split: np.ndarray  # [N] str, one of SPLITS, or "" where the table has none
    cluster: Ints  # [N] rows with the same number belong together: one patient, one exam
    state: Floats  # [N, S] in the order of manifest.layout; what was not measured is filled in
    absent: Bools  # [N, S] what was not measured
    drawn: Floats  # [N, D] the columns manifest.drawn, NaN where the table has none; never routed on
    truth: Ints  # [N] 1 positive, 0 negative, UNKNOWN
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

    @property
    def layout(self) -> StateLayout:
        """Which number of a case stands in which column of the state."""
        return self.manifest.layout

    @cached_property
    def ai_probability(self) -> Floats:
        """p_ai, [N]."""
        return self.column(PROBABILITY)

    @cached_property
    def ai_log_odds(self) -> Floats:
        """log p_ai / (1 − p_ai), [N], from the AI's scores: the probability itself may be rounded to 0 or 1."""
        return self.layout.log_odds(self.state)

    @cached_property
    def ai_label(self) -> Ints:
        """The frozen classifier's own decision, [N]."""
        return frozen(self.ai_probability >= self.manifest.thresholds[self.source], np.int64)

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
        return self.state[:, self.layout.position(name)]

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

    def filled_with(self, fills: Mapping[str, float]) -> Cohort:
        """The same cases with other numbers, by variable, in place of what was not measured."""
        if not self.absent.any():
            return self
        row = np.array([fills.get(name, 0.0) for name in self.layout.names])
        return replace(self, state=np.where(self.absent, row, self.state))

    def train_fills(self) -> dict[str, float]:
        """By variable that may be missing, the median of the train cases in which it was measured.

        Of all cases where none is of train, as among new ones; 0 where it was never measured.
        """
        train = self.split == "train"
        rows = train if train.any() else np.ones(len(self), bool)
        there = np.where(self.absent, np.nan, self.state)[rows]
        names = [each.column for each in self.manifest.inputs if each.missing]
        columns = {name: there[:, self.layout.position(name)] for name in names}
        known = {name: values[~np.isnan(values)] for name, values in columns.items()}
        return {name: float(np.median(values)) if len(values) else 0.0 for name, values in known.items()}

    def refilled(self) -> Cohort:
        """The same cases, what was not measured filled in from their own train split."""
        return self.filled_with(self.train_fills())


def learning_split(cohort: Cohort, split: str) -> Cohort:
    """The cases of a split to learn from, all with their truth, some of either; who said nothing counts as absent."""
    part = cohort.subset(split=split)
    without = int((part.truth == UNKNOWN).sum())
    if without:
        raise UserError(f"training needs the truth of every {split} case; {without} of {len(part)} have none")
    for label in (1, 0):
        if not (part.truth == label).any():
            word = cohort.manifest.task.answers[label]
            raise UserError(
                f"training needs {split} cases of both kinds; none of the {len(part)} is {word}: "
                "divide the cases anew, or add some that are"
            )
    return part.with_available(part.decisions != UNKNOWN)
