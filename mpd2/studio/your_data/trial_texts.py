"""What is said where cases are tried on a trained run."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import streamlit as st

from mpd2.core.manifest import Input, Manifest
from mpd2.core.text import capital, without_folders

TOPICS = {
    "shift": "Are they like the training cases?",
    "accuracy": "Would it have been right?",
    "decisions": "Who would read what?",
}

INTRO = (
    "Upload a table of your own cases. You see whether they are like the cases that the active run was trained on, "
    "which reader each of them would be sent to and, where you know the diagnosis, how good the answers would have "
    "been. Cohorts and split of the sidebar do not apply here."
)
PRIVACY = (
    "Your table is kept in memory for this visit only. It is not stored, logged or shared, and it is gone when you "
    "remove it or a minute after you close the page. Please leave out names and dates of birth all the same."
)
UPLOAD = (
    "One row for each case, as CSV (UTF-8, with commas, or with semicolons and decimal commas) or Parquet. At most "
    "20 MB and 20,000 cases."
)
TEMPLATE = "Download an empty table with every column the page can read."
EXAMPLE = "Download some validation cases of the benchmark, to try the page with."

SUMMARY = (
    "**{share} would be sent to a reader.** Of {cases} cases {diagnosed} have a known diagnosis and {readable} an "
    "available reader."
)
REFUSED = "This table cannot be used yet; no case was routed."
MORE_PROBLEMS = "All {problems} kinds of problems are listed below."
PROBLEM_COLUMNS = {
    "row": "Row",
    "column": "Column",
    "found": "Found",
    "expected": "Expected",
    "further rows": "Further rows",
}
SHIFT = (
    "A run can be trusted on cases like those it was trained on. Points: how far the mean of an input is from that of "
    "the training cases, with its 95 % interval; shaded: less than half a standard deviation. The most different input "
    "is on top."
)
DISTANCE = (
    "Difference: of the means, in standard deviations of the training cases. KS distance: the largest gap between the "
    "two cumulative distributions, 0 the same, 1 no overlap; without any difference it stays below “By chance” in 95 % "
    "of samples of this size. Outside: share of your cases below or above every training case."
)
DECISIONS = (
    "Votes: how many of the run's models would do the same alone. Preference: how strongly they would rather ask a "
    "reader than keep the case, 0 to 1. The answer is empty where the reader's answer is not in your table. "
    "The CSV also holds every reader's share; in it, a text that a spreadsheet could take for a formula has a ' before "
    "it."
)
JUDGED = (
    "The run and the AI alone on the same n = {n} cases, with 95 % intervals over {resamples} resamples. With few "
    "cases of one kind an interval is too narrow; one of no width says nothing. A negative difference is good for "
    "costs and bad for everything else."
)
NOT_JUDGED = (
    "Errors and costs cannot be counted: no case in your table has both a known truth and the "
    "answer of whoever would decide it. The other two tabs need neither."
)
PARTLY_JUDGED = (
    "Counted on {n} of {cases} cases: for the others your table lacks the diagnosis, or the answer of the reader who "
    "would be asked. If those cases are different, so are their results."
)
SHIFT_COLUMNS = {
    "title": "Input",
    "mean": st.column_config.NumberColumn("Your mean", format="%.3f"),
    "training_mean": st.column_config.NumberColumn("Training mean", format="%.3f"),
    "difference": st.column_config.NumberColumn("Difference", format="%+.2f"),
    "low": st.column_config.NumberColumn("95 % from", format="%+.2f"),
    "high": st.column_config.NumberColumn("to", format="%+.2f"),
    "distance": st.column_config.NumberColumn("KS distance", format="%.2f"),
    "by_chance": st.column_config.NumberColumn("By chance", format="%.2f"),
    "outside": st.column_config.NumberColumn("Outside", format="percent"),
    "verdict": "In words",
    "n": "Your cases",
    "n_training": "Training cases",
}


def verbatim(text: str) -> str:
    """A text of somebody else's as a code span, in which Markdown finds neither pictures nor links.

    >>> verbatim("![x](http://x.test)\\n**b**"), verbatim("a `b`` c")
    ('` ![x](http://x.test) **b** `', '``` a `b`` c ```')
    """
    text = without_folders(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {' '.join(text.split())} {fence}"


def columns_frame(manifest: Manifest) -> pd.DataFrame:
    """Every column a table may have: whether it must be there, and what it holds, in the terms of the manifest."""
    row, task = manifest.row, manifest.task
    answers = {"logits": f"The AI's two raw outputs, for {task.negative} and for {task.positive}.",
               "logit": f"The AI's log-odds of {task.one}.",
               "probability": f"The AI's probability of {task.one}, 0 to 1."}  # fmt: skip
    rows = [(row.case, "yes", "Any text of up to 100 characters, different in every row.")]
    if row.cohort:
        keys = ", ".join(entry.key for entry in manifest.cohorts)
        rows.append((row.cohort, "no", f"{keys}, or a name of your own, which counts as other."))
    form = next(form for form in answers if getattr(manifest.ai, form) is not None)
    rows.append((", ".join(manifest.ai.columns), "yes", answers[form]))
    rows += [(each.column, "may be empty" if each.missing else "yes", _holds(each)) for each in manifest.inputs]
    rows += [
        (f"{manifest.columns[0]} … {manifest.columns[-1]}" if len(manifest.columns) > 1 else manifest.columns[0],
         "one of the two", "A reader's answer, 0 or 1; empty where they are not available."),
        ("…_available", "one of the two", "For each reader instead, or as well: 1 if available, 0 if not."),
        (row.truth, "no", f"The truth: 1 {task.positive}, 0 {task.negative}. It tells whether answers were right."),
    ]  # fmt: skip
    others = ", ".join(filter(None, (*manifest.drawn, row.split, row.date)))
    rows += [(others, "no", "May be there; no decision depends on them.")] if others else []
    return pd.DataFrame(rows, columns=["Column", "Needed", "What it holds"])


def _holds(each: Input) -> str:
    """What stands in the column of an input."""
    words = capital(each.means or each.title or each.column).rstrip(".")
    span = f", {each.low:g} to {each.high:g}" if each.low is not None and each.high is not None else ""
    return f"{words}{f', in {each.unit}' if each.unit else ''}{span}."


def decision_columns(routers: int) -> dict[str, Any]:
    """How the table of decisions is shown."""
    return {
        "case_id": st.column_config.TextColumn("Case"),
        "reader": st.column_config.TextColumn(
            "Decided by", help="The AI by its own word, the rule against it, or the reader asked first"
        ),
        "label": st.column_config.NumberColumn("Answer", help="1 positive, 0 negative"),
        "votes": st.column_config.NumberColumn(f"Votes of {routers}"),
        "defer": st.column_config.ProgressColumn("Preference", min_value=0, max_value=1, format="%.2f"),
    }
