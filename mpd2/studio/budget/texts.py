"""What explains the Budget page."""

from __future__ import annotations

TOGETHER = (
    "All {members} trained copies of the run decide together here, as one worklist; on Overview each decides alone and "
    "figures are means, so the two differ a little. "
)
ORDER = (
    "At its own rate a run's decisions are its own; away from it, what asking is expected to save helps to say which "
    "case is the next to be sent or kept."
)
LIVE = "Numbers follow while the slider is dragged. Off: a plain slider and a number, which act once they are let go."
PER_DAY = "How many cases your clinic sees a day; budgets are told in cases a day too."
OWN = "As many cases as the run sends by itself."
OPTIMUM = "The budget with the least total cost on the {n} val cases of the same cohorts, roster and costs: {told}."
NO_OPTIMUM = "There are no val cases of these cohorts to choose it on."
HINDSIGHT = " In hindsight, {told} would have been the cheapest on the cases shown; nothing is chosen by that."
KIND = (
    "**Cases sent**: exactly so many cases go to a reader. **Mean probability**: the mean probability of deferral is "
    "that large, as budgets are set in training; how many cases that sends follows."
)
SCOPE = "**All together**: the clearest cases of the slice are sent. **Each cohort**: every cohort has this budget."
LOAD_ALT = "Readings of each reader now and before, and how many each can take"
CURVE_ALT = (  # without a number: a chart whose words change is drawn anew at every move
    "Clinical, expert and total cost as more cases are sent, from none to all, and where the setting in force is; the "
    "numbers above say it in words"
)
CURVE = (
    "Bands: 95 % of resamples of the cases. Filled points: where you are, with intervals; hollow: the setting before. "
    "The curve is without limits on places; with them you may stand off it."
)
TRAINED = (
    " Diamonds: routers trained for a budget in the paper's configuration, mean of ten deciding alone, all test cases."
)
NO_TRAINED = " Routers trained for a budget exist for all test cases at the usual costs only, so none are shown here."
LOAD = "Bars: readings now; grey line: in the setting before; orange line: the places there are."
LATER = (
    " This run may ask a second and a third reader by itself. A budget is about cases, so about whom it asks first; "
    "later questions are counted in every number, and where they fill a reader's places fewer cases start there."
)
ROSTER = (
    "Untick who is away, say how many cases each can take at most (empty: no limit) and what a reading costs. One more "
    "place is worth the last column, in log-odds of the policy: where it is above 0, the reader is short."
)
AT_MOST = "Cases this reader can take; empty: no limit."
ONE_MORE = "What one more place of this reader would be worth, in log-odds of the policy."
TOTAL = "How many cases can be sent in all, whatever the budget says."
RESERVE = "Of all places, those that only an urgent case may take."
URGENT = "How many cases count as urgent: those expected to cost most if the AI decides them."
MISSED = "What a missed glaucoma costs, in the unit of the fees."
ALARM = "What a false alarm costs, in the same unit."
FEES = "All fees times this; single fees can be changed in the table."
FOR_COSTS = (
    "Off: cases go where they went, and are only counted by these costs. On: what the change of costs does to each "
    "reader's expected saving moves the run's preferences too, without training anew."
)
COMPARE = (
    "A is the setting kept, B the one in force. Differences are B less A on the same resampled cases, each counted by "
    "its own costs; where an interval leaves out 0, they differ beyond chance."
)
WORKLIST = (
    "Every case of the slice with whom it is assigned to, those sent first and the most urgent on top. Without the "
    "truth, which nobody knows on the day."
)
COHORTS = "Total cost with its 95 % interval, and how much it is more than in the setting before."
