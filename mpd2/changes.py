"""What one run does otherwise than another: which decisions changed, and whether for the better."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.cohort import Cohort
from mpd2.errors import UserError
from mpd2.evidence import Outcome
from mpd2.findings import Estimate, Figures
from mpd2.worklist import decided_together

AI = "AI"
BETTER, WORSE, SAME = "now right", "now wrong", "no difference"
WITHOUT = "no-gsdp-rank-js"  # the study's condition without both regularisers


def changed_decisions(before: Outcome, after: Outcome, cohort: Cohort) -> pd.DataFrame:
    """The cases on which two runs act differently, all routers of each deciding together.

    Columns: case_id, cohort, truth, before and after (who decides), before_label, after_label, effect.
    """
    names = np.array([AI, *(reader.name for reader in cohort.manifest.readers)])
    actions, labels = zip(*(_decided(outcome, cohort) for outcome in (before, after)), strict=True)
    right = [label == cohort.truth for label in labels]
    effect = np.where(right[1] & ~right[0], BETTER, np.where(right[0] & ~right[1], WORSE, SAME))
    titles = np.array([entry.name for entry in cohort.manifest.cohorts])
    frame = pd.DataFrame(
        {
            "case_id": cohort.ids,
            "cohort": titles[cohort.source],
            "truth": cohort.truth,
            "before": names[actions[0]],
            "after": names[actions[1]],
            "before_label": labels[0],
            "after_label": labels[1],
            "effect": effect,
        }
    )
    return frame[actions[0] != actions[1]].reset_index(drop=True)


def told(changed: pd.DataFrame, cases: int) -> str:
    """How many decisions changed, in a sentence; `changed`: as `changed_decisions` gives them."""
    if changed.empty:
        return f"No decision changed among {cases} cases."
    better, worse = (int((changed["effect"] == effect).sum()) for effect in (BETTER, WORSE))
    sent = int(((changed["before"] == AI) & (changed["after"] != AI)).sum())
    back = int(((changed["before"] != AI) & (changed["after"] == AI)).sum())
    return (
        f"{len(changed)} of {cases} decisions changed: {sent} are now sent to a reader, {back} now stay with the AI "
        f"and {len(changed) - sent - back} go to another reader. {better} are right now that were wrong, {worse} the "
        "other way round."
    )


def regularisers_buy(figures: Figures) -> str:
    """What GSDP and Rank-JS do in the study, in words that follow from its figures."""
    top, readers, cost = (figures.effect(WITHOUT, metric) for metric in ("Top1", "EffExp", "ClinicalCost"))
    spread = figures.of("objective", metric="ClinicalCost")
    sds = {"with both": spread["full"].sd, "without": spread[WITHOUT].sd}
    apart = " and ".join(f"{_within(cost.value, sd)} that of routers {name} ({sd:.3f})" for name, sd in sds.items())
    text = (
        f"Without GSDP and Rank‑JS the busiest reader's share {_moves(top)} by {_points(top)} and the number of "
        f"effective readers {_moves(readers)} by {abs(readers.value):.2f} ({_ends(readers, 2)}), while clinical cost "
        f"{_moves(cost)} by {abs(cost.value):.3f} ({_ends(cost, 3)}): against the standard deviation between seeds, "
        f"{apart}. {figures.seeds} seeds, all test cases, the paper's configuration; brackets hold 95 % intervals of "
        "differences, seed by seed."
    )
    return text.replace("-", "−")


def _decided(outcome: Outcome, cohort: Cohort) -> tuple[np.ndarray, np.ndarray]:
    """Action and label of each case, [N]."""
    if outcome.policy is None:
        raise UserError(f"{outcome.title}: has no soft policy, so its routers cannot decide together")
    made = decided_together(outcome.policy, cohort, outcome.rule, outcome.endings)
    return made.consulted[:, 0] + 1, made.label


def _moves(more: Estimate) -> str:
    verb = "rises" if more.value > 0 else "falls"
    return verb if more.low > 0 or more.high < 0 else f"{verb}, within chance,"


def _within(value: float, sd: float) -> str:
    return "within" if abs(value) <= sd else "above"


def _points(share: Estimate) -> str:
    return f"{100 * abs(share.value):.1f} points ({100 * share.low:.1f} to {100 * share.high:.1f})"


def _ends(told: Estimate, digits: int) -> str:
    return f"{told.low:.{digits}f} to {told.high:.{digits}f}"
