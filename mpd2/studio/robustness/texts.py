"""The words of the Robustness page."""

from __future__ import annotations

TOPICS = {
    "resplits": "On other splits",
    "unseen": "In an unseen cohort",
    "promise": "What can be promised",
}
"""The parts of the page, in their order."""

OWN_KEYS = {"unseen": ("new_cohort",), "promise": ("level", "among")}
"""What a link may name of a part; links made before there were parts open the right one by it."""

SCOPE = (
    "Every method is trained anew each time and tested once on cases it has not seen. The slice chosen in the sidebar "
    "does not change these numbers."
)
RESPLITS = (
    "{metric} 95 % intervals (Student's) over n = {n} resplits, widened because resplits share cases. Right: where an "
    "interval does not cross the line, chance does not explain the difference. Green diamonds: the active run; "
    "orange squares: the AI alone."
)
NEW_COHORT = "Methods are trained on the train and val cases of the other cohorts and tested on this one's test cases."
UNSEEN = (
    "Left: n = {resplits} resplits. Right: n = {draws} random draws of labelled cases from the cohort, added to the "
    "training cases of the others. Bars and bands are 95 % intervals, widened because draws share cases."
)
