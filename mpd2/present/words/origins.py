"""Where readings come from, in words: given by people who looked at a case, made otherwise, or not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mpd2.core.manifest import CohortEntry
from mpd2.core.text import numbered
from mpd2.study.sentences import no_patients

__all__ = ["MADE", "REAL", "SIMULATED", "UNKNOWN", "no_patients", "origins"]

REAL, UNKNOWN, SIMULATED = "real", "unknown", "simulated"
MADE = ("semi-synthetic", "induced", SIMULATED)  # readings that people did not give
NAMED = 4  # cohorts that are named one by one


def origins(cohorts: Sequence[CohortEntry]) -> str:
    """How the readings of some cohorts came about: once if all alike, counted where there are many.

    >>> north, south = CohortEntry(key="n", name="North", readings="real"), CohortEntry(key="s", name="South")
    >>> origins([north, south]), origins([north, north]), origins([south]), origins([north] * 5 + [south])
    ('North real, South unknown', 'all real', 'of unknown origin', 'real in 5 cohorts, unknown in 1 cohort')
    >>> origins([CohortEntry(key="d", name="Drawn", readings="simulated")])
    'all simulated, no patients'
    """
    kinds = Counter(cohort.readings for cohort in cohorts)
    if set(kinds) == {SIMULATED}:
        return "all simulated, no patients"
    if len(kinds) == 1:
        return "of unknown origin" if UNKNOWN in kinds else f"all {next(iter(kinds))}"
    if len(cohorts) <= NAMED:
        return ", ".join(f"{cohort.name} {cohort.readings}" for cohort in cohorts)
    return ", ".join(f"{kind} in {numbered(n, 'cohort')}" for kind, n in kinds.items())
