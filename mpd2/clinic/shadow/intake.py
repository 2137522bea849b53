"""Cases come in: each is checked, decided and kept by itself, before anybody knows the truth."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise, may
from mpd2.clinic.shadow.columns import CASE, FIRST, TIME, Refused, at_row, in_order, shown, time_of
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.deciding import AI, Decider
from mpd2.clinic.shadow.keeping import Taken, keep
from mpd2.clinic.shadow.rows import Arrival
from mpd2.clinic.shadow.store import AT_ONCE, ShadowStore
from mpd2.core.cohort import Cohort
from mpd2.core.errors import Problem
from mpd2.core.files import short_hash
from mpd2.core.manifest import Manifest
from mpd2.core.table_file import known_columns
from mpd2.core.table_file.building import availability_columns, build_cohort
from mpd2.core.table_file.cells import as_text
from mpd2.core.table_file.rules import failing_rows, rules_of

LATER = "an empty cell: nobody knows it yet, and it is added later, as an outcome or a reading"


def take_in(
    frame: pd.DataFrame, store: ShadowStore, deciders: Deciders, now: datetime | None = None, *, by: Actor
) -> Taken:
    """Decide and keep every case of a table that is as it should be; a row that is not is refused with its reason.

    Columns are those of the manifest without truth and readers' words, and `time`, when each case came in (UTC unless
    it says otherwise), which is not after `now`, the clock's time if none is told. Who can be asked may stand in
    columns `<reader>_available`; else everybody can. When this returns, what is accepted is on disk and in the record.
    """
    if not may(by, Action.ROUTE_CASE):
        authorise(by, Action.ROUTE_CASE, rows=len(frame))
    cells, problems = _checked(frame, deciders.manifest, now or datetime.now(UTC))
    taken = Taken(refused=tuple(problems))
    for start in range(0, len(cells), AT_ONCE):
        taken += _take_some(cells.iloc[start : start + AT_ONCE], store, deciders, by)
    return replace(taken, refused=in_order(taken.refused))


def _take_some(cells: pd.DataFrame, store: ShadowStore, deciders: Deciders, by: Actor) -> Taken:
    """The same of a few good rows, which are kept together."""
    cohort = build_cohort(cells, deciders.manifest, "")
    days = [time.date() for time in cells[TIME]]
    who = {day: deciders.on(day) for day in dict.fromkeys(days)}
    by_decider: dict[str, list[int]] = {}
    for place, day in enumerate(days):
        by_decider.setdefault(who[day].basis.digest, []).append(place)
    arrivals: dict[int, Arrival] = {}
    used = {decider.basis.digest: decider for decider in who.values()}
    for digest, places in by_decider.items():
        decider = used[digest]
        arrivals |= zip(places, _arrivals(cohort.rows(np.array(places)), cells.iloc[places], decider, by), strict=True)
    ordered = [arrivals[place] for place in range(len(cells))]
    return keep(
        store,
        list(zip(cells.index.tolist(), ordered, strict=True)),
        lambda arrival: authorise(by, Action.ROUTE_CASE, case=arrival.case, **_about(arrival, used[arrival.basis])),
        "another time: this case at this time is there with other content",
        [decider.basis for decider in used.values()],
    )


def _about(arrival: Arrival, decider: Decider) -> dict[str, Any]:
    """What the record holds of a decision: hashes, scores and the choice; nothing that identifies a person."""
    columns = decider.manifest.columns
    there = np.frombuffer(arrival.available, np.uint8)
    return {
        "run": decider.run_digest,
        "setting": short_hash(decider.setting.content()),
        "basis": arrival.basis,
        "inputs": sha256(arrival.inputs).hexdigest(),
        "time": arrival.time.isoformat(),
        "positive": arrival.positive,
        "available": [columns[j] for j in np.flatnonzero(there)],
        "choice": columns[arrival.action - 1] if arrival.action else AI,
        "label": arrival.kept,
        "stop": arrival.stop,
    }


def _checked(frame: pd.DataFrame, manifest: Manifest, now: datetime) -> tuple[pd.DataFrame, list[Problem]]:
    """The good rows as cells a cohort is made of, with their times, and what is wrong with the others."""
    cells = as_text(frame)
    cells.columns = pd.Index([str(name) for name in cells.columns], dtype=object)
    cells.index = pd.RangeIndex(FIRST, len(cells) + FIRST)
    row, flags = manifest.row, availability_columns(manifest)
    if row.case not in cells and CASE in cells:
        cells = cells.rename(columns={CASE: row.case})
    later = {row.truth, *manifest.columns} & set(cells)
    known = {TIME, *filter(None, known_columns(manifest))} - {row.truth, *manifest.columns}
    only = f"an empty cell: only {', '.join(sorted(known))} are known"
    problems = [
        Problem(number, name, shown(cell), LATER if name in later else only)
        for name in map(str, cells)
        if name not in known
        for number, cell in zip(cells.index.tolist(), cells[name], strict=True)
        if cell
    ]
    times, bad_times = _times(cells, now)
    columns = {name: cells[name].to_numpy(object) for name in cells if name in known}
    for flag in flags:
        given = columns.get(flag, np.full(len(cells), "", object))
        columns[flag] = np.where(given == "", "1", given)
    cells = _as_cells(columns, cells.index)
    rules = rules_of(cells, manifest, "routing")
    rules[row.case] = rules[row.case][:1]  # a case may come in more than once
    problems += bad_times + failing_rows(cells, rules)
    bad = {problem.row for problem in problems}
    cells[TIME] = pd.Series(times, cells.index, dtype=object)
    return cells[[number not in bad for number in cells.index]], problems


def _as_cells(columns: dict[str, np.ndarray], rows: pd.Index) -> pd.DataFrame:
    """Columns of text as a table, without a guess at their types, which takes longer than a case is decided in."""
    return pd.DataFrame(np.column_stack(list(columns.values())), rows, pd.Index(list(columns), dtype=object))


def _times(cells: pd.DataFrame, now: datetime) -> tuple[list[datetime | None], list[Problem]]:
    found: list[datetime | None] = []
    problems = []
    for number, text in zip(cells.index, cells.get(TIME, pd.Series("", cells.index)), strict=True):
        try:
            found.append(time_of({TIME: str(text)}, now=now))
        except Refused as refusal:
            found.append(None)
            problems.append(at_row(refusal.problem, int(number)))
    return found, problems


def _arrivals(cohort: Cohort, cells: pd.DataFrame, decider: Decider, by: Actor) -> list[Arrival]:
    """The rows that are kept of cases that were decided."""
    found = decider.decided(cohort)
    row = cohort.manifest.row
    given = np.concatenate([np.where(cohort.absent, np.nan, cohort.state), cohort.drawn], axis=1)
    inputs = np.ascontiguousarray(given, "<f8")
    empty, beliefs = [""] * len(cells), found.beliefs
    grouped = cohort.manifest.groups.column if cohort.manifest.groups else ""
    columns = zip(
        cohort.ids.tolist(), cells[TIME], cells.get(row.cohort, empty), cells.get(grouped, empty), inputs,
        cohort.available.astype(np.uint8), beliefs.action.tolist(), beliefs.kept.tolist(),
        beliefs.positive.tolist(), beliefs.packed(), found.stops.tolist(), found.reasons, strict=True,
    )  # fmt: skip
    return [
        Arrival(
            case=case, time=time, cohort=of, group=group, inputs=numbers.tobytes(), available=there.tobytes(),
            basis=decider.basis.digest, action=action, kept=kept, positive=None if np.isnan(positive) else positive,
            price=found.price, beliefs=packed, stop=stop, reason=reason, by=by.id,
        )
        for case, time, of, group, numbers, there, action, kept, positive, packed, stop, reason in columns
    ]  # fmt: skip
