"""What is being looked at: at once the cache key and the header of every export; its parts stand in the URL."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mpd2.core.cohort import Cohort
from mpd2.core.workspace import DEFAULT
from mpd2.planning.floors import Floor

DEFAULT_RUN = "mpd2-plus"
DEFAULT_SPLIT = "test"
SHOWN_SPLITS = ("val", "test")  # nothing is judged on the cases it was trained on


DEFAULT_FLOOR: Floor | None = Floor()


@dataclass(frozen=True)
class Scenario:
    """The workspace, its active run, the operating point at which every run decides, and the slice of cases."""

    run: str = DEFAULT_RUN
    split: str = DEFAULT_SPLIT
    cohorts: tuple[str, ...] = ()  # none chosen means all
    floor: Floor | None = DEFAULT_FLOOR  # that every run has to keep; none: each is the cheapest it can be
    confident: float | None = None  # from which probability on the AI is not overruled unread; none: it may be
    workspace: str = DEFAULT  # whose table, runs and study

    @property
    def is_as_fitted(self) -> bool:
        """Whether every run decides as it was made to: the operating point of the paper."""
        return self.floor is None and self.confident is None

    @property
    def is_as_published(self) -> bool:
        """Whether slice and point are those the paper's tables are about: every test case, as cheap as can be."""
        return self.split == DEFAULT_SPLIT and not self.cohorts and self.is_as_fitted

    def as_fitted(self) -> Scenario:
        """The same run and slice at the operating point of the paper."""
        return replace(self, floor=None, confident=None)

    def slice(self, cohort: Cohort) -> Cohort:
        """The cases of the slice; none left is an `EmptyCohort`."""
        return cohort.subset(split=self.split, cohorts=self.cohorts or None)

    def describe(self, cohort: Cohort) -> str:
        """The slice in words."""
        names = {entry.key: entry.name for entry in cohort.manifest.cohorts}
        return f"{self.split} cases of {', '.join(names[key] for key in self.cohorts) or 'all cohorts'}"

    def point_in_words(self) -> str:
        """The operating point in a phrase."""
        what = "as cheap as can be" if self.floor is None else f"at {self.floor.in_words()}"
        return what if self.confident is None else f"{what}, a confident AI never overruled unread"
