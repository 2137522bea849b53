"""What a configuration is worth: one number on val, on a scale that no trial moves.

The paper's augmented Tchebycheff score, max_k w_k g_k + ρ Σ_k g_k, over clinical cost, MCC, AUPRC, fees and the excess
over the deferral budget. The published search measures each g_k from a running best, in its own unit, so that the same
router scores differently from trial to trial. Here g_k is the share of the way from the ideal, 0, to a reference, 1,
and both are known from the val cases before the first trial: keeping every case with the AI is the reference for what
is decided, a random reader for every case for fees, and deferring everything for the budget.

AUPRC is that of the final decision: cases that end as positive rank above those that do not, whoever decided, and among
themselves by the AI's probability. The curve thus runs through the precision and recall of what is decided, and is the
AI's own where nobody is asked; a mixture over the words of readers who would not be asked is nobody's decision. Fees
are those of the decisions made, the excess is that of the soft policy, which is what the budget holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy, Rule, route
from mpd2.evaluation.metrics import evaluate

WEIGHTS: Mapping[str, float] = {
    "ClinicalCost": 0.35, "MCC": 0.15, "AUPRC": 0.10, "ExpertCost": 0.05, "Violation": 0.05,
}  # fmt: skip
"""The criteria and their weights w_k, the paper's."""

CRITERIA = tuple(WEIGHTS)
AUGMENTATION = 0.05  # ρ: how much every criterion counts besides the worst
EXCESS_WEIGHT = 10.0  # of the budget's excess while a trial still trains, as in the paper


@dataclass(frozen=True)
class Scale:
    """The ideal and the reference of each criterion, in the order of CRITERIA."""

    ideal: Floats  # [5]
    reference: Floats  # [5]

    def gaps(self, values: Floats) -> Floats:
        """How far values are from the ideal, the reference being 1, [..., 5]."""
        width = np.abs(self.reference - self.ideal)
        return np.abs(values - self.ideal) / np.where(width > 0, width, 1.0)  # an ideal reference leaves the plain unit

    def score(self, values: Floats) -> Floats:
        """Augmented Tchebycheff, [..., 5] to [...]: less is better, 0 is ideal."""
        gaps = self.gaps(values)
        return (gaps * np.array(list(WEIGHTS.values()))).max(-1) + AUGMENTATION * gaps.sum(-1)


def scale_of(val: Cohort, costs: Costs, target: float | None) -> Scale:
    """The scale for the cases of val and a deferral budget."""
    if len(np.unique(val.truth)) < 2:
        raise UserError("tuning: the val cases all have the same truth; expected positive and negative ones")
    alone = Decisions(np.full((1, len(val), 1), NOBODY), val.ai_label[None])
    ai = evaluate(val, alone, costs).iloc[0]
    fees = np.where(val.available, costs.fees_for(val), 0.0).sum(-1) / np.maximum(val.available.sum(-1), 1)
    reference = {
        "ClinicalCost": ai["ClinicalCost"],
        "MCC": ai["MCC"],
        "AUPRC": final_auprc(alone, val)[0],
        "ExpertCost": fees.mean(),
        "Violation": 1.0 - (0.0 if target is None else target),
    }
    ideal = dict.fromkeys(CRITERIA, 0.0) | {"MCC": 1.0, "AUPRC": 1.0}
    return Scale(*(np.array([ends[name] for name in CRITERIA]) for ends in (ideal, reference)))


def appraise(policy: Policy, val: Cohort, costs: Costs, rule: Rule, target: float | None) -> pd.DataFrame:
    """One row a member, [E, N]: every metric of its decisions on val, AUPRC, DeferSoft, Violation and Score."""
    decisions = route(policy, val, rule)
    soft = policy.defer.mean(-1)  # [E]
    rows = evaluate(val, decisions, costs).assign(
        AUPRC=final_auprc(decisions, val),
        DeferSoft=soft,
        Violation=np.maximum(soft - (1.0 if target is None else target), 0.0),
    )
    return rows.assign(Score=scale_of(val, costs, target).score(rows[list(CRITERIA)].to_numpy(float)))


def final_auprc(decisions: Decisions, cohort: Cohort) -> Floats:
    """Area under the precision-recall curve of the final decision (average precision), [E, N] to [E]."""
    confidence = decisions.label + cohort.ai_probability
    return np.array([average_precision_score(cohort.truth, member) for member in confidence])
