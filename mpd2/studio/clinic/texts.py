"""What the Clinic page explains."""

from typing import Any

import streamlit as st

TABS = {
    "intake": "Take in cases",
    "worklists": "Worklists",
    "outcomes": "Outcomes",
    "compared": "Compared",
    "watch": "Watch",
    "readers": "Readers",
    "setting": "Setting of the day",
}
"""The tabs, by their key in the link."""

SHADOW = "Shadow mode: nothing in care changes."
SHADOW_MORE = (
    "Every case is routed before anybody knows the truth, and what would have been done is compared with what was done."
)
AS_OF = "As of {time} UTC. So many cases are kept that what comes in is shown within half a minute."
GOES_BY = "It goes by {run}, which is activated for the clinic, and not by the active run in the sidebar."
NOT_READY = "No run is activated for the clinic yet, so no case can be taken in. Propose one and activate it."
HOW = (
    "One person proposes a run, another one activates it, both with a reason. That is done on Retrain: behind *Clinic* "
    "under a run that was just trained, or under *Own runs*. A run that is shipped can be proposed here."
)
ALONE = "On this machine, without a login, one and the same person may do both."
PROPOSE = "Propose {run}"
WHY = "Why it should be used"

INTAKE = (
    "A table with a row a case, in the columns the run learned from: CSV, Excel or Parquet. Each row is routed as it "
    "is, by itself; a row that cannot be used is refused alone, with the reason. A case that came in before at the "
    "same time and with the same content changes nothing."
)
TIMES = (
    "A column `time` says when each case came in (2026-11-16 08:30, in UTC unless it says otherwise). Without it, all "
    "rows came in when the file was chosen."
)
PRIVATE = "Cases are kept in this installation's own database. Ids should be pseudonyms, never names."
READINGS = (
    "Answers of readers as a table: the case, its time, `reader` (the column of the run's table), `says` (0 or 1, or "
    "empty if declined), `confidence` (0 to 1, may be empty) and `declined` (1 if so)."
)
OUTCOMES = (
    "What turned out, as a table: the case, its time, `truth` (0 or 1) and, where it is known, `done`: the answer that "
    "the clinic itself acted on. Without `done` the comparison is with the AI alone."
)
NO_OUTCOME = "No outcome is known yet. Add outcomes on the tab Outcomes; until then nothing can be compared."
COMPARED = (
    "For a thousand people. “Would”: had the run's decisions been followed; “was”: what was done. Difference: would "
    "less was, with an interval that holds however often one looks (always-valid, 95 %). Errors, cost and "
    "same answers are of cases with a known outcome and every answer that was asked for; cases sent and readings are "
    "counted in all. Cost holds the run's readings; what the clinic's own work cost is not known."
)
WEEKLY = (
    "Each week all cases so far. The band holds for all weeks together: the chance that it is ever wrong is at most "
    "5 %, so looking every week is allowed."
)
WATCHED = (
    "Each monitor looks at the cases one after another and adds up how far they are from those the run learned from. "
    "It gives an alarm at the dashed line. An alarm says that something has changed, not what: look before you trust "
    "on. Nothing is ever stopped by itself."
)
ACKNOWLEDGE = "What was found, and what is done about it"
RATES = (
    "Each reader's rates from the cases with a known outcome, taken together with the cases learned from. With few "
    "new cases a rate stays near what all readers have (shrinkage); a newcomer begins as they do. 95 % intervals."
)
SETTING = (
    "What holds from a day on: who is there, how many cases each can read, the budget, and what errors cost. Cases "
    "that came in before keep the setting of their day."
)
ANSWER = "The answer of {reader}"
CONFIDENCE = "How sure, 50 to 100 %"
OVERRIDE = "Decide otherwise"
OVERRIDE_WHY = "Why it should go another way"
NOBODY_WAITS = "Nobody waits for {reader}."
ARRIVALS_ALT = "The cases that came in, the newest first: time, case, who decides, answer, and what is still awaited."
WORKLIST_ALT = "Cases that wait for the reader: case, time, cohort and how many readers were asked before."
COMPARED_ALT = (
    "What would have been done and what was done, for a thousand people, with the difference and its interval."
)
REFUSED_ALT = "What was refused: row, column, what was found and what is expected."
NOTHING_TAKEN = "Nothing was taken in."
NO_CASE = "No case has come in yet: take some in below."
NOT_MAPPED = (
    "You are signed in as a reader, but the settings do not say which reader of the run you are. Give this to whoever "
    "administers this installation: {line}."
)
TEMPLATE = "An empty table with every column that can be taken in."
EXAMPLE = "Validation cases of the table the run learned from, without truth and readings, to try the page with."
KEPT_BACK = ["reason", "ai_answer", "ai_probability"]
"""Columns of a worklist that are shown for one case only."""

ARRIVAL_COLUMNS = {
    "time": st.column_config.DatetimeColumn("Came in (UTC)", format="YYYY-MM-DD HH:mm"),
    "case_id": "Case",
    "decided_by": "Goes to",
    "answer": "Answer",
    "waiting": "Waits for",
    "stop": "Stopped",
}
WORKLIST_COLUMNS = {
    "time": st.column_config.DatetimeColumn("Came in (UTC)", format="YYYY-MM-DD HH:mm"),
    "case_id": "Case",
    "cohort": "Cohort",
    "asked": st.column_config.NumberColumn("Asked before", help="How many other readers were asked first"),
    "chosen": st.column_config.CheckboxColumn("Sent by a clinician"),
    "stop": "Stopped",
}
COMPARED_COLUMNS = {
    "part": "Part",
    "what": "What",
    "would": "Would",
    "done": "Was",
    "difference": "Difference",
    "interval": st.column_config.TextColumn("95 % always-valid", help=COMPARED),
    "n": st.column_config.NumberColumn("People", format="localized"),
}
PARTS = "Each part by itself; the more parts one looks at, the more look different by chance."
INPUT_COLUMNS: dict[str, Any] = {
    "input": "What was measured",
    "value": st.column_config.NumberColumn("Value", format="%.3f"),
}
INPUTS_ALT = "What was measured of the case."
BLIND = "An answer is worth most if it is given before this is opened."
NO_REASON = "This run gives no reason."
DECLINES = "Declines"
ANSWER_HELP = "What the reader says of the case alone. Declining asks somebody else where the run can."
KEEPS = "The answer is kept with the time; a later one of the same reader takes its place, and both stay in the record."
OVERRIDE_HELP = "What a clinician would do in place of the run, with the reason. In shadow mode it is kept and counted."
OUTCOME_CASE = "The id under which it came in."
DONE = "The answer that the clinic itself acted on, if that is known."
FROM = "From this day on (UTC), until another setting does. Cases that are there keep theirs."
CASES_A_DAY = "How many cases are expected a day: places are counted on them."
LEVEL = "Counts where a sensitivity of your own is the operating point; it is chosen on val."
FIRST = (
    "What is watched is compared with so many of the clinic's own first cases, once they are in: best where devices or "
    "people differ from those the run learned from. Empty: with the cases it learned from."
)
HOLDS = "Cases that come in from that day on are routed by it."
ROSTER_COLUMNS = {
    "reader": None,
    "name": st.column_config.TextColumn("Reader", pinned=True),
    "here": st.column_config.CheckboxColumn("Here", help="Untick if away"),
    "at_most": st.column_config.NumberColumn("At most a day", min_value=0, max_value=1_000_000, step=1),
}
SETTING_COLUMNS = {
    "start": st.column_config.DateColumn("From", format="YYYY-MM-DD"),
    "what": st.column_config.TextColumn("What holds", width="large"),
    "by": "Set by",
    "at": st.column_config.DatetimeColumn("On (UTC)", format="YYYY-MM-DD HH:mm"),
}
SETTINGS_ALT = "Every setting so far: from when, what holds, by whom and when it was set."
HARDER = (
    "Readers are asked about the cases a run does not decide alone, which are harder than others: a rate may fall for "
    "that reason only."
)
RATES_ALT = "Sensitivity and specificity of each reader by now, with intervals, and as learned."
RATE_COLUMNS = {
    "metric": "Rate",
    "reader": "Reader",
    "value": st.column_config.NumberColumn("By now", format="%.1f %%"),
    "low": st.column_config.NumberColumn("95 % from", format="%.1f %%"),
    "high": st.column_config.NumberColumn("to", format="%.1f %%"),
    "learned": st.column_config.NumberColumn("As learned", format="%.1f %%"),
    "n_learned": st.column_config.NumberColumn("Cases learned from", format="localized"),
    "n": st.column_config.NumberColumn("New cases", format="localized"),
}
FOLLOWS = "The worklists follow it; the run's own decision stays beside it."
EXAMPLE_OUTCOMES = (
    "For the example day: the truth of every case that came in and stands in the table the run learned from, as if the "
    "clinic had acted on the AI alone."
)
EXAMPLE_ANSWERS = "For the example day: what the awaited readers said of these cases in the table the run learned from."
HOLLOW = "Filled: by now, with its 95 % interval; hollow: as learned. n: new cases with a known outcome."
ROSTER_ALT = "Every reader: whether they are here, and how many cases a day they can read."
WATCHERS_ALT = (
    "What is watched: cases seen, evidence of a change, alarms, the last one, and how often one comes by chance."
)
WATCHER_COLUMNS = {
    "label": st.column_config.TextColumn("What is watched", width="medium"),
    "n": st.column_config.NumberColumn("Cases", format="localized", help="Of which it has a value"),
    "level": st.column_config.ProgressColumn(
        "Evidence of a change", min_value=0, max_value=100, format="%.0f %%", help="It rings at 100 %"
    ),
    "alarms": st.column_config.NumberColumn("Alarms", format="%d"),
    "last": "The last on",
    "by_chance": st.column_config.TextColumn(
        "By chance one in", help="Cases between two alarms for nothing, on average"
    ),
    "compared_with": "Compared with",
    "why_not": "Not watched, because",
}
ALARMS_ALT = "Alarms: what has become higher or lower, from when to when, how often it rang, and what was said of it."
ALARM_COLUMNS = {
    "label": "What",
    "side": "Has become",
    "first": "First on",
    "last": "Last on",
    "alarms": st.column_config.NumberColumn("Alarms", format="%d"),
    "open": st.column_config.NumberColumn("Open", format="%d"),
    "acknowledged": st.column_config.TextColumn("What was said of it", width="large"),
}
BY_CHANCE = (
    "All {monitors} monitors together ring for nothing about {alarms} times a year, at {cases} cases a day; the "
    "thresholds come from {drawn} simulated cases each, drawn from those it compares with."
)
NOTHING_SEEN = "{what}: no case has a value yet."
PATH = "Evidence grows with every case that speaks for a change, falls with every other, and never below 0."
NO_ALARM = "No alarm so far."
ACKNOWLEDGED = "Acknowledged; the reason stands beside it, and the record has it."
