"""From a draft to the table that would be kept: cells normalised, splits made, everything checked."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import SPLITS, Cohort
from mpd2.core.errors import UserError
from mpd2.core.table_file import cohort_from_frame, table_bytes
from mpd2.core.text import count, decimal, listed
from mpd2.lab.imports.checks import Notice, check, known
from mpd2.lab.imports.drafting import answer_words
from mpd2.lab.imports.normalise import Normalised, normalise
from mpd2.lab.imports.splitting import split_at_random, split_by_date
from mpd2.studio.shell import session
from mpd2.studio.your_data.steps.draft import Draft

PREPARED = "import_prepared"  # key of the session


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that could be kept."""

    table: Normalised
    cohort: Cohort
    notices: tuple[Notice, ...]
    known: tuple[str, ...]

    @property
    def errors(self) -> list[Notice]:
        """Why it cannot be kept as it is."""
        return [notice for notice in self.notices if notice.error]

    @property
    def data(self) -> bytes:
        """The table as a file."""
        return table_bytes(self.table.frame)

    def parts(self) -> pd.DataFrame:
        """What is in train, val and test: part, cases, groups (if rows belong together), positives."""
        cohort, rows = self.cohort, []
        for part in SPLITS:
            there = cohort.split == part
            groups = len(clusters_of(cohort.rows(there))) if there.any() else 0
            rows.append((part, int(there.sum()), groups, int((cohort.truth[there] == 1).sum())))
        return pd.DataFrame(rows, columns=["part", "cases", "groups", "positives"])

    def in_words(self) -> str:
        """What would be kept, in a paragraph."""
        cohort, manifest = self.cohort, self.cohort.manifest
        task, parts = manifest.task, self.parts()
        groups = f", of {count(int(parts['groups'].sum()))} {manifest.groups.word}s" if manifest.groups else ""
        fees = sorted({reader.fee for reader in manifest.readers})
        paid = f"{fees[0]:g}" if len(fees) == 1 else f"{fees[0]:g} to {fees[-1]:g}"
        worth = f"; one unit is worth {manifest.task.unit:g} {task.currency}" if task.unit else ""
        dealt = listed([f"{count(n)} {part}" for part, n in zip(parts["part"], parts["cases"].tolist(), strict=True)])
        readers = "1 reader" if len(manifest.readers) == 1 else f"{len(manifest.readers)} readers"
        inputs = "1 further input" if len(manifest.inputs) == 1 else f"{len(manifest.inputs)} further inputs"
        sick = count(int(parts["positives"].sum()))
        return (
            f"{count(len(cohort))} {task.cases}, {sick} of them {task.positive}{groups}; {readers} and {inputs}. "
            f"The AI says {task.positive} from {decimal(manifest.ai.threshold, 2)} on. "
            f"A miss costs {manifest.costs.false_negative:g}, a false alarm {manifest.costs.false_positive:g}, "
            f"a reading {paid}{worth}. {dealt}."
        )


def prepare(draft: Draft) -> Prepared:
    """The table of a draft, or a `UserError` with every row that is wrong."""
    manifest = draft.manifest()
    table = normalise(*draft.kept, manifest, answer_words(draft.proposals))
    if draft.division.way == "date":
        table = split_by_date(table, draft.division.shares)
    elif draft.division.way == "random" or not table.has_split:
        table = split_at_random(table, draft.division.shares, draft.division.seed)
    cohort = cohort_from_frame(table.frame, table.manifest)
    return Prepared(table, cohort, check(cohort, table.frame.index.tolist()), known(cohort))


def prepared(draft: Draft) -> Prepared | UserError:
    """The same, once for each draft of a visit."""

    def made() -> Prepared | UserError:
        try:
            return prepare(draft)
        except UserError as error:
            return error

    with st.spinner("Checking every row …"):
        return session.kept(PREPARED, draft, made)
