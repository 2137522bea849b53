"""Every sentence that explains something on screen; the glossary and the help at a control are the same text."""

from __future__ import annotations

from mpd2.core.costs import Costs
from mpd2.core.manifest import Manifest
from mpd2.evaluation.metrics import METRICS

ACTIVE_RUN = "The trained method that every page is about. All other methods are shown beside it."
COHORTS = "Where the photographs come from. None chosen means all."
SPLIT = "Test was never used to choose anything; val was, so its numbers are a little too good."
OPERATING_POINT = (
    "By what cases are decided. Cheapest: the least cost of errors and readings, as in the paper, even if more "
    "glaucoma is missed. The AI's sensitivity: every method must find at least as much glaucoma as the AI alone. "
    "A floor of your own: at least the sensitivity or specificity you demand. Chosen on val, for every method alike."
)
WITH_CONFIDENCE = (
    "Off: the floor is kept on average. On: with a safety margin, so that in nine of ten draws of the val cases the "
    "floor holds for later patients of the same kind."
)
CONFIDENT_AI = (
    "Some methods may end a case against the AI although no reader was asked. On: where the AI is confident, either "
    "way, only a reader may overrule it."
)

INTERVAL = "95 % of 2,000 resamples of the cases, drawn within each cohort, give a number in this range."

WORDS = {
    "Reader": "A person who reads the photograph, answers glaucoma or healthy, and is paid a fee.",
    "Reading": "One answer of one reader about one case.",
    "Asked": "A reader is asked if a case is sent to them. More than one reader may be asked about a case.",
    "Sent": "A case is sent if at least one reader is asked about it. The literature says deferred.",
    "Kept": "A case is kept if no reader is asked about it: the final answer comes without a reading.",
    "Missed": "A case with glaucoma whose final answer is healthy.",
    "False alarm": "A healthy case whose final answer is glaucoma.",
    "Final answer": "Glaucoma or healthy, after all who are asked have answered.",
    "Available": "A reader is available for a case if they have read it and are not away.",
    "Run": "A trained method with all its models.",
    "Model": "One trained copy of a method. Copies differ by the seed of training; numbers are their mean.",
    "Operating point": OPERATING_POINT,
    "Floor": "The least sensitivity, or specificity, that is demanded.",
    "The rule": "A recalibrated threshold that may end a case against the AI with no reader asked.",
    "Net benefit": "Glaucomas found per 1,000 people, less false alarms and fees at what they weigh against a miss.",
    "Slice": "The cases a page is about: a split, and the cohorts chosen.",
    "Interval": INTERVAL,
    "GSDP": "A term of training that favours, for each kind of case, readers who make few costly errors on it.",
    "Rank-JS": "A penalty on sending almost all cases of a kind to one reader.",
    "Budget": "The largest share of cases that may be sent.",
    "vCDR, aCDR": "Cup-to-disc ratio, vertical and by area: how excavated the optic nerve head is.",
    "ViM": "How unlike its training images a photograph looks to the AI; large is unlike.",
    "Quality risk": "How poor the photograph is, 0 to 1. It ranks photographs; it is not a probability.",
    "Structural risk": "Probability of glaucoma from the cup-to-disc ratios alone.",
}

METRICS_IN_USE = ("ClinicalCost", "ExpertCost", "TotalCost", "Defer", "F1", "MCC", "Sens", "Spec", "Top1", "NEff")


def glossary(costs: Costs) -> dict[str, str]:
    """Every word that has a meaning of its own, metrics where errors cost so much."""
    return WORDS | {METRICS[name].heading: METRICS[name].explained(costs) for name in METRICS_IN_USE}


def banner(manifest: Manifest) -> str:
    """What stands above every page."""
    origins = ", ".join(f"{cohort.name} {cohort.readings}" for cohort in manifest.cohorts)
    return f"Research software, not a medical device. Readers' answers: {origins}."
