"""What explains the Budget page."""

from __future__ import annotations

TOPICS = {
    "roster": "Roster and costs",
    "moved": "What moved",
    "cohorts": "By cohort",
    "compare": "Side by side",
    "arrivals": "One by one",
    "worklist": "Worklist",
    "notes": "How to read",
}
"""The parts below the charts, by their keys in the link."""

# ---------------------------------------------------------------------------------- slider and charts

PER_1000 = (
    "On: numbers of 1,000 screened, at the prevalence and the minutes a reading of Your programme on Overview. "
    "Off: costs of a case and rates. The others are under What moved."
)
WAITS = "While you drag, a miss weighs what it did; for the floor it is weighed anew when you release."
LIVE = "On: numbers follow while the slider is dragged. Off: a plain slider and a number field, read when released."
OWN = "No budget: the run sends as many cases as by default, {own} of these, as far as capacities allow."
OPTIMUM = "The share sent with the lowest total cost, {value} a case, on the {n} val cases of the same cohorts."
NO_OPTIMUM = "There are no val cases of these cohorts to find it on."
EXAMPLES = "Typical days to start from."
RESET = "No limits, the usual costs."
LOAD_ALT = "Readings of each reader now and before, and how many each can take"
CURVE_ALT = (  # without a number: a chart whose words change is drawn again at every step
    "Clinical, expert and total cost as more cases are sent, from none to all, and the setting in force; the numbers "
    "above give its values"
)
CURVE = (
    "Filled points: this setting; hollow: the one before; bands: 95 % intervals. Capacity limits move you off this "
    "curve. Bars: readings now; grey line: before; orange line: capacity."
)

IN_GREY = "Beside it in grey the 95 % interval; below, the change since the last setting, with its 95 % interval."

# ---------------------------------------------------------------------------------- how to read

INTERVALS = "Every interval holds 95 % of up to 2,000 resamples of the cases, drawn within each cohort."
TRAINED = (
    "Diamonds: models trained for a budget in the paper's configuration, mean of ten that each decide alone, all test "
    "cases."
)
NO_TRAINED = "Models trained for a budget exist for all test cases at the usual costs only, so none are shown here."
HINDSIGHT = (
    "★ is the cheapest share on the val cases. On the cases shown {share} would have been the cheapest, at {value} a "
    "case; nothing is chosen by that."
)
LATER = (
    "This run may ask a second and a third reader by itself. The budget counts cases, so it limits whom the run asks "
    "first; later readings are counted in every number, and where they fill a reader's capacity, fewer cases start "
    "there."
)
TOGETHER = (
    "All {members} models of the run decide together here, as one worklist. On Overview each decides alone and the "
    "numbers are means, so the two pages differ a little."
)
ORDER = (
    "At its default share the run's decisions are its own. With a larger or smaller budget, the expected saving of "
    "asking a reader also decides which case is sent or kept next."
)
SCALED = (
    "Capacities are entered in cases a day and scaled to the {n} cases shown: {each} a day of {day} cases is {scaled} "
    "of {n}."
)

# ---------------------------------------------------------------------------------- roster and costs

PER_DAY = "How many cases your clinic sees a day. Capacities are per day; they are scaled to the cases shown."
ROSTER = (
    "Untick readers who are away, enter how many cases each can read a day (empty: no limit) and what one reading "
    "costs."
)
AT_MOST = "Cases this reader can read a day; empty: no limit."
CAPACITY = "At most a day, scaled to the {n} cases shown."
READINGS = "Readings of the {n} cases shown, under the setting in force."
ONE_MORE = (
    "What one more place of this reader would be worth, in log-odds of the policy. Above 0 the reader is a bottleneck."
)
KIND = (
    "**Cases sent**: exactly this share of cases goes to a reader. **Mean probability**: the mean probability of "
    "deferral has this value, as budgets are set in training; how many cases that sends follows from it."
)
SCOPE = "**All cohorts together**: the clearest cases of all are sent. **Each cohort**: every cohort has this budget."
TOTAL = "The most cases that can be sent a day, whatever the budget."
RESERVE = "Places a day that only an urgent case may take."
URGENT = "How many cases a day count as urgent: those expected to cost most if they are kept."
MISSED = "Cost of a miss, in the unit of the fees."
ALARM = "Cost of a false alarm, in the same unit."
FEES = "Multiplies the usual fee of every reader; single fees can be changed in the table."
FOR_COSTS = (
    "Off: cases go where they went, and are counted at these costs. On: the run's preferences also change by what the "
    "new costs do to each reader's expected saving, without retraining."
)

# ---------------------------------------------------------------------------------- below

COHORTS = "Δ total: total cost less that of the setting before, on the same resampled cases."
COMPARE = (
    "Differences are B less A on the same resampled cases, each counted at its own costs; where an interval excludes "
    "0, the two differ beyond chance."
)
WORKLIST = (
    "Every case of the slice and whom it is assigned to: cases sent first, the most urgent on top. The true diagnosis "
    "is left out, as on the day nobody knows it."
)
