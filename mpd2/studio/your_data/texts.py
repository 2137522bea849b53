"""What the Your data page explains."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from mpd2.core.manifest import Manifest

INTRO = (
    "Upload a table of your own cases to see how they differ from the cases the router has learned from, whom it "
    "would ask, and, where you know the answers, what that would have cost. The active run of the sidebar is applied; "
    "cohorts and split of the sidebar play no part here."
)
PRIVACY = (
    "The table stays in this visit's memory and is let go when you remove it, or minutes after you close the page. It "
    "is not stored, not logged and not shared. Leave out names and dates of birth all the same: only the columns "
    "listed above are read."
)
UPLOAD = "One row a case, comma-separated and UTF-8, or Parquet. At most 20 MB and 20,000 cases."
TEMPLATE = "An empty table with every column the page can read."
EXAMPLE = "Some validation cases of the benchmark in the form the page reads, to see what happens."

COLUMNS = {
    "case_id": ("yes", "Any text of up to 100 characters, different in every row."),
    "cohort": ("no", "{cohorts}, or a name of your own, which counts as other. The router does not look at it."),
    "logit_0, logit_1": ("yes", "The classifier's two raw outputs, for healthy and for glaucoma."),
    "vim_risk_z": ("yes", "How unlike its training images the photograph looks to the classifier."),
    "quality_risk": ("yes", "How poor the photograph is, 0 to 1."),
    "vCDR, aCDR": ("yes", "Cup-to-disc ratio, vertical and by area, 0 to 1."),
    "{readers}": ("one of the two", "A reader's word, 0 or 1; empty where they are not available."),
    "…_available": ("one of the two", "Per reader instead, or as well: 1 if they can be asked, 0 if not."),
    "y_true": ("no", "1 glaucoma, 0 not. Needed to judge the routing."),
    "hCDR, split": ("no", "Read if there, not used for routing."),
}
"""Column: whether it must be there, and what it holds."""

REFUSED = "This table cannot be used as it is. Nothing was routed. What to mend:"
SHIFT = (
    "A router can be trusted where it has seen the like. Points: how far the mean of an input is from that of the "
    "training cases, with its 95 % interval; shaded: less than half a standard deviation. The most different input is "
    "on top."
)
DISTANCE = (
    "Difference: of the means, in standard deviations of the training cases. KS distance: the largest gap between the "
    "two cumulative distributions, 0 the same, 1 no overlap; without any shift it stays below “by chance” in 95 % of "
    "samples of this size. Outside: share of your cases beyond every training case."
)
DECISIONS = (
    "All routers of the run decide together; votes are the routers that would do the same alone. Deferral: how "
    "strongly they would rather ask a reader than leave the case to the AI, 0 to 1. The answer is empty where the "
    "reader's word is not in the table. The download also holds every reader's share; in it, a text that "
    "a spreadsheet could take for a formula has a ' before it."
)
JUDGED = (
    "The decisions below and the AI alone on the same n = {n} cases, with 95 % intervals over {resamples} resamples. "
    "With few cases of one kind an interval is too narrow; one of no width says that nothing can be told. A negative "
    "difference is good for costs and bad for everything else."
)
NOT_JUDGED = (
    "There is no case with a known truth (column y_true) whose deciding reader's word is in the table, so costs and "
    "errors cannot be counted. The decisions below need neither."
)
PARTLY_JUDGED = (
    "Counted on {counted} of {cases} cases: of the others the truth, or the word of the reader asked, is not in the "
    "table. If those differ from the rest, so may their figures."
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


def columns_frame(manifest: Manifest) -> pd.DataFrame:
    """COLUMNS in the terms of a table's manifest."""
    cohorts = ", ".join(entry.key for entry in manifest.cohorts)
    readers = f"{manifest.columns[0]} … {manifest.columns[-1]}"
    rows = [
        (column.format(readers=readers), needed, meaning.format(cohorts=cohorts))
        for column, (needed, meaning) in COLUMNS.items()
    ]
    return pd.DataFrame(rows, columns=["Column", "Needed", "What it holds"])


def decision_columns(routers: int) -> dict[str, Any]:
    """How the table of decisions is shown."""
    return {
        "case_id": st.column_config.TextColumn("Case"),
        "reader": "Decided by",
        "label": st.column_config.NumberColumn("Answer", help="1 glaucoma, 0 not"),
        "votes": st.column_config.NumberColumn(f"Votes of {routers}"),
        "defer": st.column_config.ProgressColumn("Deferral", min_value=0, max_value=1, format="%.2f"),
    }
