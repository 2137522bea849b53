"""Every sentence that explains something on screen; the glossary and the help at a control are the same text."""

from __future__ import annotations

from mpd2.core.manifest import Manifest

ACTIVE_RUN = "The trained method that every page is about. All other methods are shown beside it."
COHORTS = "Where the photographs come from. None chosen means all."
SPLIT = "Test was never used to choose anything; val was, so its figures are a little too good."

GLOSSARY = {
    "Deferral": "Sending a case to a human reader instead of letting the AI decide it alone.",
    "Clinical cost": "Mean cost of wrong final answers: a missed glaucoma costs 2.0, a false alarm 1.5.",
    "Expert cost": "Mean fee of the readers who were asked, in the same unit.",
    "Total cost": "Clinical cost plus expert cost; what a router should make small.",
    "F1": "Balance of precision and sensitivity; 1 is perfect.",
    "MCC": "Correlation of answer and truth; 0 is chance, 1 is perfect. It does not flatter a rare disease.",
    "Sensitivity": "Share of glaucoma cases that end with the answer glaucoma.",
    "Specificity": "Share of healthy cases that end with the answer healthy.",
    "Interval": "95 % of 2,000 resamples of the cases, drawn within each cohort, give a figure in this range.",
    "Top-1 share": "Share of all sent cases that go to the busiest reader.",
    "Effective readers": "How many equally busy readers the load amounts to.",
    "GSDP": "A pull of each group's allocation towards readers with few costly errors, without forcing equal shares.",
    "Rank-JS": "A penalty on sending almost everything of a kind to one reader.",
    "Budget": "The largest share of cases that may be sent to readers.",
    "vCDR, aCDR": "Cup-to-disc ratio, vertical and by area: how hollow the optic nerve head is.",
    "ViM": "How unlike its training images a photograph looks to the AI; large is unlike.",
    "Quality risk": "How poor the photograph is, 0 to 1. It ranks; it is not a probability.",
    "Structural risk": "Probability of glaucoma from the cup-to-disc ratios alone.",
}


def banner(manifest: Manifest) -> str:
    """What stands above every page."""
    origins = ", ".join(f"{cohort.name} {cohort.readings}" for cohort in manifest.cohorts)
    return f"Research software, not a medical device. Readers' answers: {origins}."
