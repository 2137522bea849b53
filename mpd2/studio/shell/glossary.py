"""Every sentence that explains something on screen; the glossary and the help at a control are the same text."""

from __future__ import annotations

from mpd2.core.manifest import Manifest
from mpd2.core.text import capital, plain_words, verbatim
from mpd2.evaluation.metrics import METRICS
from mpd2.present.words.origins import no_patients, origins

WORKSPACE = "The table that every page is about, with its readers, its runs and its study. Your data makes new ones."
ACTIVE_RUN = "The trained method that every page is about. All other methods are shown beside it."
COHORTS = "Where the cases come from. None chosen means all."
SPLIT = "Test was never used to choose anything; val was, so its numbers are a little too good."
OPERATING_POINT = (
    "By what cases are decided. Cheapest: the least cost of errors and readings, even if more is missed. The "
    "AI's sensitivity: every method must find at least as many positives as the AI alone. "
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

INTERVAL = "95 % of up to 2,000 resamples of the cases, drawn within each cohort, give a number in this range."

WORDS = {
    "Reader": "A person who reads the {case}, answers {positive} or {negative}, and is paid a fee.",
    "Reading": "One answer of one reader about one case.",
    "Asked": "A reader is asked if a case is sent to them. More than one reader may be asked about a case.",
    "Sent": "A case is sent if at least one reader is asked about it. The literature says deferred.",
    "Kept": "A case is kept if no reader is asked about it: the final answer comes without a reading.",
    "Missed": "A case with {one} whose final answer is {negative}.",
    "False alarm": "A case without {one} whose final answer is {positive}.",
    "Final answer": "Either {positive} or {negative}, after all who are asked have answered.",
    "Available": "A reader is available for a case if they have read it and are not away.",
    "Run": "A trained method with all its models.",
    "Model": "One trained copy of a method. Copies differ by the seed of training; numbers are their mean.",
    "Operating point": OPERATING_POINT,
    "Floor": "The least sensitivity, or specificity, that is demanded.",
    "The rule": "A recalibrated threshold that may end a case against the AI with no reader asked.",
    "Net benefit": "Positives found per 1,000 screened, less false alarms and fees at what they weigh against a miss.",
    "Slice": "The cases a page is about: a split, and the cohorts chosen.",
    "Interval": INTERVAL,
    "GSDP": "A term of training that favours, for each kind of case, readers who make few costly errors on it.",
    "Rank-JS": "A penalty on sending almost all cases of a kind to one reader.",
    "Budget": "The largest share of cases that may be sent.",
    "Structural risk": "Probability of {one} from inputs that grow with the disease alone.",
}

METRICS_IN_USE = ("ClinicalCost", "ExpertCost", "TotalCost", "Defer", "F1", "MCC", "Sens", "Spec", "Top1", "NEff")


def glossary(manifest: Manifest) -> dict[str, str]:
    """Every word that has a meaning of its own, in the words and at the costs of a table, with its own inputs."""
    task, costs = manifest.task, manifest.default_costs()
    named = {"case": task.case, "positive": task.positive, "negative": task.negative, "one": task.one}
    inputs = {capital(each.title or plain_words(each.column)): each.means for each in manifest.inputs if each.means}
    metrics = {METRICS[name].heading: METRICS[name].explained(costs) for name in METRICS_IN_USE}
    return {word: meaning.format(**named) for word, meaning in WORDS.items()} | inputs | metrics


def banner(manifest: Manifest) -> str:
    """What stands above every page."""
    usual = f"Research software, not a medical device. Readers' answers: {origins(manifest.cohorts)}."
    drawn = no_patients(manifest)
    return f"**{drawn}** {usual}" if drawn else usual


def credit(manifest: Manifest) -> str:
    """Whom to name wherever the table is shown, as Markdown that shows just that."""
    return "  \n".join(
        verbatim(line) for line in (manifest.credit, *(each.credit for each in manifest.cohorts)) if line
    )
