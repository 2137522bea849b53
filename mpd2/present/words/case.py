"""A decision in the words of a clinic: what the AI says, what speaks for or against it, and what a reader would add."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.text import chance, decimal, percent
from mpd2.training.anatomy import structural_risk

SURE, FAIR = 0.9, 0.7  # least probability the AI gives its own answer
NEAR, FAR = 1 / 3, 2 / 3  # ranks among the training cases


def doubtful_segmentation(case: Cohort, train: Cohort) -> bool:
    """Whether area, height and width of the cup fit together worse than in 99 % of the training cases."""
    usual, own = _area_to_extent(train), _area_to_extent(case)[0]
    usual = usual[~np.isnan(usual)]
    if not len(usual) or np.isnan(own):
        return False
    low, high = np.quantile(usual, [0.005, 0.995])
    return not low <= own <= high


def story(case: Cohort, actions: pd.DataFrame, train: Cohort, anatomy: Floats) -> str:
    """Three sentences on one case; `actions` is its `explain.actions_frame`."""
    return " ".join([_answer(case, anatomy), _photograph(case, train), _reader(actions)])


def _answer(case: Cohort, anatomy: Floats) -> str:
    probability, structural = float(case.ai_probability[0]), float(structural_risk(case.state, anatomy)[0])
    label = case.ai_label[0]
    confidence = probability if label else 1 - probability
    manner = "and is sure" if confidence >= SURE else "and is fairly sure" if confidence >= FAIR else "but wavers"
    agrees = (structural >= 0.5) == bool(label)
    return (
        f"The AI says {'glaucoma' if label else 'healthy'} {manner} (probability of glaucoma {chance(probability)}); "
        f"the cup-to-disc ratios {'agree' if agrees else 'speak against it'} ({chance(structural)} from them alone)."
    )


def _photograph(case: Cohort, train: Cohort) -> str:
    distance, quality = (_rank(case, train, name) for name in ("vim_risk_z", "quality_risk"))
    how = "close to" if distance <= NEAR else "far from" if distance >= FAR else "some way from"
    text = (
        f"The photograph is {how} what the AI was trained on, farther than {percent(distance, 0)} of the training cases"
    )
    return text + (f", and poorer than {percent(quality, 0)} of them." if quality >= FAR else ".")


def _reader(actions: pd.DataFrame) -> str:
    ai, chosen = actions.iloc[0], actions[actions["chosen"]].iloc[0]
    readers = actions.iloc[1:][actions["available"].iloc[1:]]
    if readers.empty:
        return f"No reader is available; the AI is expected to be wrong in {_odds(ai)} such cases."
    asked = chosen["action"] != ai["action"]
    reader = chosen if asked else readers.sort_values("expected_cost").iloc[0]
    text = f"In such cases {reader['who']} is expected to be wrong in {_odds(reader)}, the AI in {_odds(ai)}"
    gain, fee = ai["expected_cost"] - reader["expected_cost"], f"the fee of {decimal(reader['fee'], 2)}"
    if gain > 0:
        return f"{text}: a reading is worth {fee}" + ("." if asked else ", yet the case stays with the AI.")
    return f"{text}: a reading is not worth {fee} by this estimate" + (", yet one is asked for." if asked else ".")


def _area_to_extent(cohort: Cohort) -> Floats:
    """Area ratio over height ratio times width ratio, [N]; NaN where a width is not known."""
    extent = cohort.column("vCDR") * cohort.horizontal_cdr
    return np.divide(cohort.column("aCDR"), extent, out=np.full(len(cohort), np.nan), where=extent > 0)


def _rank(case: Cohort, train: Cohort, name: str) -> float:
    return float(np.mean(train.column(name) < case.column(name)[0]))


def _odds(action: pd.Series) -> str:
    return f"{100 * action['wrong']:.0f} of 100"
