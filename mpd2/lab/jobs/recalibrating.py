"""A run fitted anew on local cases as a job: a new run beside the old one, compared on local cases held out of both."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pandas as pd

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.runs import load_run
from mpd2.core.table_file import word_columns
from mpd2.core.table_file.cells import as_text, read_cells
from mpd2.core.text import plain_words
from mpd2.evaluation.intervals import resamples_for
from mpd2.lab.activation import digest_of, folder_of
from mpd2.lab.jobs.folder import CASES, Job, Order, Workshop
from mpd2.lab.workspaces.cells import table_cells, written_cells
from mpd2.study.local.cases import LocalCases, held_out, joined, local_cases
from mpd2.study.local.change import NOTE, Change, Counts, compared_rows
from mpd2.study.local.recalibration import Fit, Recalibration, recalibrate


def recalibrating(job: Job, order: Order, cohort: Cohort, place: Workshop, fit: Fit) -> Recalibration:
    """Fit the run anew and compare; the new run's notes hold all that its change plan says."""
    asked = order.recalibrating
    assert asked is not None
    if cohort.fingerprint != order.fingerprint:
        raise UserError(f"{order.table}: has changed since the job was asked for; ask again")
    if digest_of(asked.run, place) != asked.digest:
        raise UserError(f"{asked.run}: its files have changed since the job was asked for; ask again")
    data = (job.folder / CASES).read_bytes()
    if sha256(data).hexdigest() != asked.cases:
        raise UserError(f"{CASES}: has changed since the job was asked for; ask again")
    local = usable_cases(read_cells(data, CASES, word_columns(cohort.manifest)), CASES, cohort, order.table)
    old = load_run(folder_of(asked.run, place))
    made = recalibrate(old, cohort, local.cohort, fit)
    change = Change(
        run=asked.run,
        title=plain_words(str(old.notes.get("title") or asked.run)) or asked.run,
        digest=asked.digest,
        table=cohort.fingerprint,
        table_before=old.fingerprint,
        cases=asked.cases,
        learned=Counts.of(cohort.rows(cohort.split != "test")),
        local={split: Counts.of(local.cohort.subset(split=split)) for split in dict.fromkeys(local.cohort.split)},
        waiting=local.waiting,
        rule=asked.rule,
        asked=order.created,
        resamples=resamples_for(len(held_out(local.cohort))),
        rows=compared_rows(made.rows),
    )
    told = {"local cases": len(local.cohort) - change.local["test"].cases}
    run = replace(made.run, notes={**made.run.notes, "changes": told, NOTE: change.model_dump(mode="json")})
    return replace(made, run=run)


def cases_file(frame: pd.DataFrame) -> bytes:
    """Local cases as the file that a job is given."""
    return written_cells(as_text(frame), CASES)


def usable_cases(cells: pd.DataFrame, name: str, cohort: Cohort, table: Path) -> LocalCases:
    """The local cases in the rows of a file called `name`, some of them held out, beside those of a workspace."""
    local = local_cases(cells, cohort, name, _splits_of_groups(table, cohort.manifest))
    joined(cohort, local.cohort)
    for split, words in (("train", "to learn from"), ("test", "that is held out")):
        if not (local.cohort.split == split).any():
            raise UserError(f"{name}: found no case {words} among {len(local.cohort)}, expected more cases")
    return local


def _splits_of_groups(table: Path, manifest: Manifest) -> dict[str, str]:
    """The split of each group of a workspace's table; none where rows do not belong together."""
    if manifest.groups is None:
        return {}
    cells = table_cells(table.read_bytes(), manifest)
    return dict(zip(cells[manifest.groups.column], cells[manifest.row.split], strict=True))
