"""What is being looked at: at once the cache key and the header of every export; its parts stand in the URL."""

from __future__ import annotations

from dataclasses import dataclass

from mpd2.core.cohort import Cohort

DEFAULT_RUN = "studio"
DEFAULT_SPLIT = "test"
SHOWN_SPLITS = ("val", "test")  # nothing is judged on the cases it was trained on


@dataclass(frozen=True)
class Scenario:
    """The active run and the slice of cases."""

    run: str = DEFAULT_RUN
    split: str = DEFAULT_SPLIT
    cohorts: tuple[str, ...] = ()  # none chosen means all

    @property
    def is_whole(self) -> bool:
        """Whether the slice is the one the study's tables are about: every test case."""
        return self.split == DEFAULT_SPLIT and not self.cohorts

    def slice(self, cohort: Cohort) -> Cohort:
        """The cases of the slice; none left is an `EmptyCohort`."""
        return cohort.subset(split=self.split, cohorts=self.cohorts or None)

    def describe(self, cohort: Cohort) -> str:
        """The slice in words."""
        names = {entry.key: entry.name for entry in cohort.manifest.cohorts}
        return f"{self.split} cases of {', '.join(names[key] for key in self.cohorts) or 'all cohorts'}"
