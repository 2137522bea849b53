"""What a table looks like from outside: how common the disease is, who errs how often, how measurements are spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpd2.core.arrays import Bools
from mpd2.core.cohort import UNKNOWN, Cohort

LABELS = ("negative", "positive")
MEASURED = ("vCDR", "aCDR", "quality_risk", "vim_risk_z")

Margins = dict[str, Any]
"""Plain values, ready for JSON; None where there is no case."""


def margins(cohort: Cohort) -> dict[str, Margins]:
    """The margins of every cohort by its key; where cases were measured by something else, so are these."""
    return {
        entry.key: _of(cohort.rows(cohort.source == place))
        for place, entry in enumerate(cohort.manifest.cohorts)
        if (cohort.source == place).any()
    }


def _of(cohort: Cohort) -> Margins:
    kinds = [cohort.truth == label for label in (0, 1)]
    says = cohort.decisions == 1
    heard = cohort.decisions != UNKNOWN
    readers = {
        column: {
            "available": _share(cohort.available[:, place]),
            "specificity": _share(~says[kinds[0] & heard[:, place], place]),
            "sensitivity": _share(says[kinds[1] & heard[:, place], place]),
        }
        for place, column in enumerate(cohort.manifest.columns)
        if cohort.available[:, place].any()
    }
    measured = {
        name: {label: _spread(cohort, name, kind) for label, kind in zip(LABELS, kinds, strict=True)}
        for name in MEASURED
    }
    return {
        "cases": len(cohort),
        "prevalence": _share(kinds[1]),
        "ai": {
            "specificity": _share(cohort.ai_label[kinds[0]] == 0),
            "sensitivity": _share(cohort.ai_label[kinds[1]] == 1),
        },
        "readers": readers,
        "measured": measured,
    }


def _share(of: Bools) -> float | None:
    return float(of.mean()) if len(of) else None


def _spread(cohort: Cohort, name: str, kind: Bools) -> dict[str, float] | None:
    """Mean and standard deviation of what was measured."""
    place = cohort.layout.position(name)
    values = cohort.state[kind & ~cohort.absent[:, place], place]
    return {"mean": float(np.mean(values)), "sd": float(np.std(values))} if len(values) else None
