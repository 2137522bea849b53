"""Every sentence that explains something on screen; the glossary and the help at a control are the same text."""

from __future__ import annotations

from mpd2.core.costs import Costs
from mpd2.core.manifest import Manifest
from mpd2.evaluation.metrics import METRICS

ACTIVE_RUN = "The trained method that every page is about. All other methods are shown beside it."
COHORTS = "Where the photographs come from. None chosen means all."
SPLIT = "Test was never used to choose anything; val was, so its figures are a little too good."

INTERVAL = "95 % of 2,000 resamples of the cases, drawn within each cohort, give a figure in this range."

WORDS = {
    "Deferral": "Sending a case to a human reader instead of letting the AI decide it alone.",
    "Interval": INTERVAL,
    "GSDP": "A pull of each group's allocation towards readers with few costly errors, without forcing equal shares.",
    "Rank-JS": "A penalty on sending almost everything of a kind to one reader.",
    "Budget": "The largest share of cases that may be sent to readers.",
    "vCDR, aCDR": "Cup-to-disc ratio, vertical and by area: how hollow the optic nerve head is.",
    "ViM": "How unlike its training images a photograph looks to the AI; large is unlike.",
    "Quality risk": "How poor the photograph is, 0 to 1. It ranks; it is not a probability.",
    "Structural risk": "Probability of glaucoma from the cup-to-disc ratios alone.",
}

METRICS_IN_USE = ("ClinicalCost", "ExpertCost", "TotalCost", "F1", "MCC", "Sens", "Spec", "Top1", "NEff")


def glossary(costs: Costs) -> dict[str, str]:
    """Every word that has a meaning of its own, metrics where errors cost so much."""
    return WORDS | {METRICS[name].heading: METRICS[name].explained(costs) for name in METRICS_IN_USE}


def banner(manifest: Manifest) -> str:
    """What stands above every page."""
    origins = ", ".join(f"{cohort.name} {cohort.readings}" for cohort in manifest.cohorts)
    return f"Research software, not a medical device. Readers' answers: {origins}."
