"""The words of the Ablations page."""

from __future__ import annotations

from mpd2.study.claims import FAILS, HARDLY, HOLDS, RATHER

STUDIES = {"objective": "Terms of the objective", "regularisation": "Spreading the load", "budget": "The budget"}
EXPLAINED = {
    "objective": "The router is trained to make errors rare (clinical cost) and fees low, to prefer reliable readers "
    "(GSDP), not to depend on one of them (Rank-JS), and to keep to a budget. Here one term at a time is removed.",
    "regularisation": "GSDP and Rank-JS are there so that not every case goes to the same reader. Here they are "
    "removed, and each reader's workload is measured.",
    "budget": "A budget tells training the largest share of cases it may send. It acts on soft deferral, the mean "
    "probability of sending; hard deferral is the share that is then sent.",
}
CHANGE = "Right: where an interval does not cross the line, chance does not explain the change. n = {seeds} seeds."
CONTROL = "Below the dashed line the budget is kept. Hollow: in the paper."
VERDICTS = (
    f"*{HOLDS}* and *{FAILS}*: the intervals leave no other reading. *{RATHER}* and *{HARDLY}*: what the numbers "
    "say, but other seeds could have said otherwise. Brackets hold 95 % intervals of differences, seed by seed."
)
SCOPE = (
    "The paper's own configuration, trained anew for each condition with {seeds} seeds and tested on all test cases. "
    "The run and the slice chosen in the sidebar do not change these numbers. Intervals are Student's, over seeds."
)
INTERVALS = "Student's 95 % interval of the mean over seeds."
