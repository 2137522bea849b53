"""What the Overview page says and explains."""

UNITS = {"people": "Per 1,000 screened", "rates": "Rates"}
"""How the first screen tells results, by their key in the link."""

VIEWS = {
    "overall": "All methods",
    "paper": "As in the paper",
    "curve": "Decision curve",
    "cohorts": "By cohort and subgroup",
    "calibration": "Calibration",
    "collapse": "Spread of readings",
    "retention": "Cases kept",
    "paired": "Differences",
    "tradeoff": "Trade-offs",
}
"""The tabs, by their key in the link."""

SUBGROUPS = "Subgroups, under the active run"
AT_FLOOR = "Methods at this {rate}"
"""What the first tab is called where a floor is set."""

EXPLAINED = {
    "overall": "Every method on every case of the slice, at the operating point chosen in the sidebar.",
    "paper": "Every method as the paper compares them, at its lowest total cost, whatever is chosen in the sidebar.",
    "cohorts": "The same in each cohort: other devices, other patients.",
    "collapse": "How readings are spread over the readers. A method that always asks the same reader has collapsed.",
    "retention": "How safe the cases are that no reader sees. Accuracy, MCC and cost are of those cases alone.",
}
PICTURE = "1,000 {people} screened, {point}"
GAIN = (
    "Recalibration asks nobody: it is the AI with another threshold, fitted on training cases, at the same operating "
    "point. What is left is what readers add. Lines: 95 % intervals on the same resampled cases; left of 0 there are "
    "more."
)
PEOPLE = (
    "Per 1,000 screened, in brackets the 95 % interval. Counts are rounded so that they add up. Total cost is "
    "that of a case, in the unit of the table's costs."
)
PREVALENCE = "Prevalence {prevalence}, as among these cases."
SMALL_CURVES = (
    "Grey: 95 % interval. Coloured: difference from {against}, on the same resampled cases; hover over the question "
    "mark for its interval. Small curves: the same number as more cases are sent, from none (left) to all (right); "
    "dot: as many as now."
)
MAIN_CHART = (
    "Each point is a method: up is better, left is cheaper. Diamond: the active run with its 95 % intervals; square: "
    "the AI alone; circles: other methods. Hover for the name. Dashed: the front; no other method is both better and "
    "cheaper than one on it. n = {n}."
)
HOLLOW = "Hollow: in the paper. The oracle, which needs the answers, is left out."
DIFFERENCES = "Where an interval does not include the line at 0, the two differ beyond chance. {help} n = {n}."
NOBODY_TO_ASK = (
    "{mark} {title}: in {cohorts} the AI decides every case, because the only reader it asks, {readers}, has read no "
    "case there."
)
