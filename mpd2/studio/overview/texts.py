"""What the Overview page says and explains."""

VIEWS = {
    "overall": "All methods",
    "cohorts": "By cohort",
    "paired": "Differences",
    "tradeoff": "Trade-offs",
    "collapse": "Spread of readings",
    "retention": "Cases kept",
}
"""The tabs, by their key in the link."""

EXPLAINED = {
    "overall": "Every method on every case of the slice.",
    "cohorts": "The same in each cohort: other cameras, other patients.",
    "collapse": "How readings are spread over the readers. A method that always asks the same reader has collapsed.",
    "retention": "How safe the cases are that no reader sees. Accuracy, MCC and cost are of those cases alone.",
}
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
