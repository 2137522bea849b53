"""What a workspace's manifest says of its table, as tables: the question, the cohorts, the inputs and the readers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.cohort import SPLITS, Cohort
from mpd2.core.manifest import Manifest
from mpd2.studio.parts import widgets

ROLES = {"ai": "from the AI", "risk": "trust in the AI", "structure": "grows with the disease", "other": "other"}


def draw(cohort: Cohort) -> None:
    """All of it; what somebody wrote stands in tables, where it is text and nothing else."""
    manifest = cohort.manifest
    facts = _facts(cohort)
    st.dataframe(facts, hide_index=True, key="sheet_facts", alt="What the table is about", height="content")
    for line in manifest.assumptions:
        st.text(f"Assumed: {line}")
    for title, key, rows in (
        ("Cohorts", "sheet_cohorts", cohorts(cohort)),
        ("Inputs", "sheet_inputs", inputs(manifest)),
        ("Readers", "sheet_readers", readers(cohort)),
    ):
        if len(rows):
            st.markdown(f"### {title}")
            widgets.data_table(rows, key=key, alt_text=f"{title} of the table")


def cohorts(cohort: Cohort) -> pd.DataFrame:
    """A row a cohort: its cases by split, how many are positive, and where its readings come from."""
    rows = []
    for place, entry in enumerate(cohort.manifest.cohorts):
        own = cohort.source == place
        sizes = {split.capitalize(): int((own & (cohort.split == split)).sum()) for split in SPLITS}
        rows.append(
            {"Cohort": entry.name, **sizes, "Positive": int((cohort.truth[own] == 1).sum()), "Readings": entry.readings}
        )
    return pd.DataFrame(rows)


def inputs(manifest: Manifest) -> pd.DataFrame:
    """A row an input besides the AI's answer."""
    rows = [
        {
            "Input": each.title or each.column,
            "Column": each.column,
            "Unit": each.unit,
            "Is": ROLES[each.role],
            "Usual range": _range(each.low, each.high),
            "May be missing": "yes" if each.missing else "no",
        }
        for each in manifest.inputs
    ]
    return pd.DataFrame(rows)


def readers(cohort: Cohort) -> pd.DataFrame:
    """A row a reader: fee, cases read, and how often right."""
    rows = []
    for place, reader in enumerate(cohort.manifest.readers):
        read = (cohort.decisions[:, place] >= 0) & (cohort.truth >= 0)
        right = float((cohort.decisions[read, place] == cohort.truth[read]).mean()) if read.any() else np.nan
        rows.append(
            {"Reader": reader.name, "Group": reader.group, "Fee": reader.fee, "Cases read": int(read.sum()),
             "Right": right}
        )  # fmt: skip
    return pd.DataFrame(rows).round({"Right": 3})


def _facts(cohort: Cohort) -> pd.DataFrame:
    manifest = cohort.manifest
    found = {
        "Table": manifest.title,
        "Question": f"{manifest.task.positive} or {manifest.task.negative}",
        "Cases": f"{len(cohort)} {manifest.task.cases}, {int((cohort.truth == 1).sum())} with {manifest.task.one}",
        "Belong together": f"rows of one {manifest.groups.word}" if manifest.groups else "",
        "Costs": f"a miss {manifest.costs.false_negative:g}, a false alarm {manifest.costs.false_positive:g}",
        "Credit": manifest.credit,
        "Fingerprint": cohort.fingerprint,
    }
    return pd.DataFrame([(what, said) for what, said in found.items() if said], columns=["What", "Said"])


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    return f"{'' if low is None else f'{low:g}'} to {'' if high is None else f'{high:g}'}".strip()
