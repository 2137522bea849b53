"""The words of the Robustness page."""

from __future__ import annotations

TOPICS = {
    "resplits": "Other splits",
    "unseen": "Unseen cohort",
    "promise": "Promises",
    "sample-size": "How many cases",
}
"""The parts of the page, in their order."""

OWN_KEYS = {"unseen": ("new_cohort",), "promise": ("level", "among"), "sample-size": ("plan_cases", "plan_width")}
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
AT_FLOOR = "Every method keeps {floor}: in each resplit the weight of a miss is chosen on its val cases."
AS_FITTED = "At this operating point there are no resplits: every method is as cheap as can be here."
ONE_COHORT = "All cases of this table come from one cohort, so that there is none to leave out of training."
NEW_COHORT = "Methods are trained on the train and val cases of the other cohorts and tested on this one's test cases."
UNSEEN = (
    "Left: n = {resplits} resplits. Right: n = {draws} random draws of labelled cases from the cohort, added to the "
    "training cases of the others. Bars and bands are 95 % intervals, widened because draws share cases."
)

PLANNED = {
    "Sens": "sensitivity",
    "Spec": "specificity",
    "Sens less AI": "sensitivity less the AI's",
    "Spec less AI": "specificity less the AI's",
    "Sens reader": "sensitivity of {reader}",
    "Spec reader": "specificity of {reader}",
}
"""What the planner is about, by the names of `sample_size.widths`."""

PLANNER = (
    "With {cases} cases, {prevalence} of them with {one}, sensitivity is known to ± {sens} points and its "
    "difference to the AI's to ± {apart} points. To know the difference to ± {wanted} points takes {needed}."
)
PLANNER_NOTE = (
    "Half-widths of 95 % intervals: Wilson's for a rate; for the difference to the AI the paired one, from how often "
    "the two end differently. Rates and differences are those of the active run on all test cases, n = {n}, {sick} "
    "with {one}; a reader's are of the cases they have read, at the share of cases this run sends them. Other "
    "people than these may differ more or less often."
)
PLAN_HEADS = {
    "points": ("± points", "Half of the 95 % interval with the cases planned."),
    "needed": ("Cases needed", "The fewest cases with the half-width wanted; empty if ten million are not enough."),
}
TOO_MANY = "more than ten million cases"
PLAN_CASES = "How many cases with a known truth you could collect."
PLAN_PREVALENCE = "Share of positives among them. It begins as that of the test cases."
PLAN_WIDTH = "Half of the 95 % interval you would be content with, in points."
PLAN_READER = "A reader is known only by the cases that are sent to them."
LOCAL = "Labelled local cases until training on them lowers total cost ({method}, each cohort new in turn)"
LOCAL_HEADS = {
    "cohort": ("New cohort", "The cohort that no training case came from at first."),
    "cheaper": ("Mean cost is lower from", "The fewest local cases from which on the mean stays below that with none."),
    "sure": ("Beyond chance from", "The fewest from which on the 95 % interval of the difference stays below 0."),
    "most": ("Most tried", "The most labelled local cases there were to train on."),
}
NOT_YET = "not with those tried"
