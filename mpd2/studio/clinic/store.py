"""What the Clinic page reads: the store of this installation as of now, and what follows from it, worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.shadow.answering import reader_of
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.evidence.comparison import ALL, COHORT, LeftOut, compare, left_out, weekly
from mpd2.clinic.shadow.evidence.reader_rates import reader_rates
from mpd2.clinic.shadow.evidence.watching import Watch, watch
from mpd2.clinic.shadow.rows import Key
from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.clinic.shadow.worklists import awaited, overview_of, seen_worklist
from mpd2.core.cache import cached
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.manifest import Manifest, Task
from mpd2.core.state import PROBABILITY, UNCERTAINTY
from mpd2.core.text import capital, percent
from mpd2.evaluation.over_time.sequences import rate_sequence
from mpd2.lab.activation import Activation, standing
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.moments import MOMENTS, Findings
from mpd2.lab.shadowing import Shadow
from mpd2.planning.day import DaySetting
from mpd2.planning.floors import Floor
from mpd2.present.words.clinic import Sent, Standing
from mpd2.study.operating import choose_point

KINDS = {
    "input": "inputs", "ai": "AI", "reader": "readers", "deferral": "share sent", "load": "readings",
    "prevalence": "prevalence", "hard stop": "hard stop", "cost": "cost",
}  # fmt: skip
"""What is watched, as it is called in a line."""

CASE = "case_id"  # as tables with a row a case call it on pages
DATE = 10  # characters of a date
WROTE = "clinic_wrote"  # key of the session: the version of what this visitor wrote last
WAS_DONE, AI_ALONE = "what was done", "the AI alone"


@dataclass(frozen=True, eq=False)
class Clinic:
    """The clinic at one moment."""

    shadow: Shadow
    active: Activation
    rows: Findings  # of all that is kept
    figures: Findings  # the same, or where very much is kept for a short while of what was kept before

    @property
    def is_behind(self) -> bool:
        """Whether rows are kept that are not in the figures yet."""
        return self.figures.version < self.shadow.store.version()

    @property
    def snapshot(self) -> Snapshot:
        """The rows."""
        return self.rows.snapshot

    @property
    def manifest(self) -> Manifest:
        """What cases are known by."""
        return self.shadow.manifest

    @property
    def task(self) -> Task:
        """What is looked for."""
        return self.manifest.task

    @cached_property
    def names(self) -> dict[str, str]:
        """Every reader as shown, by column."""
        return dict(zip(self.manifest.columns, (each.name for each in self.manifest.readers), strict=True))

    @cached_property
    def parts(self) -> dict[str, str]:
        """By what the comparison can be taken apart."""
        layout = self.manifest.layout
        return {COHORT: "by cohort", **{name: f"by {layout.titles[name]}" for name in layout.measured}}

    @property
    def day(self) -> DaySetting:
        """The limits and costs of today."""
        return self.shadow.decider.day

    @property
    def first_day(self) -> date | None:
        """When the first case came in."""
        days = self.snapshot.days
        return days[0].astype(date) if len(days) else None

    @property
    def against(self) -> str:
        """What the run is compared with."""
        judged = self.figures.snapshot
        told = judged.done[judged.countable] != UNKNOWN
        return WAS_DONE if told.all() else AI_ALONE if not told.any() else f"{WAS_DONE}, or {AI_ALONE} if unknown"

    def row_of(self, key: Key) -> int:
        """Where an arrival stands."""
        at = np.datetime64(key.time.replace(tzinfo=None), "us")
        return int(np.flatnonzero((self.snapshot.times == at) & (self.snapshot.cohort.ids == key.case))[0])

    def reader_of(self, by: Actor) -> str | None:
        """The column somebody answers for; empty for a reader whom the settings do not know, none for others."""
        return None if by.role is not Role.READER else reader_of(by) or ""

    def again(self) -> Clinic:
        """The clinic as it is now."""
        return here(self.shadow.place, self.shadow.store.version())


def here(place: Workshop, wrote: int = 0) -> Clinic:
    """The clinic as it is shown now, with every row up to the version that somebody `wrote` and expects to see."""
    shadow = Shadow.here(place)
    active = standing(place).active
    assert active is not None
    moment = MOMENTS.shown(shadow, wrote)
    return Clinic(shadow, active, moment.rows, moment.figures)


def seen_at_once(clinic: Clinic) -> None:
    """Let what this visitor has just written be on their page."""
    st.session_state[WROTE] = clinic.shadow.store.version()


def warm(place: Workshop) -> None:
    """Work out what the first screen shows, where a run is in use."""
    clinic = here(place)
    compared(clinic, ALL)
    watched(clinic)
    own_share(clinic)


def compared(clinic: Clinic, by: str) -> pd.DataFrame:
    """The comparison, taken apart."""
    return clinic.figures.once((compared, by), partial(_compared, by, clinic.shadow.learned))


def not_counted(clinic: Clinic) -> LeftOut:
    """Who has an outcome and awaits a reading."""
    return clinic.figures.once(not_counted, lambda found: left_out(found.snapshot))


def weeks(clinic: Clinic) -> pd.DataFrame:
    """The comparison as it stood at the end of each week."""
    return clinic.figures.once(weeks, _weeks)


def counts(clinic: Clinic, day: date) -> tuple[Mapping[str, int], list[str]]:
    """How a day stands, and why cases were stopped."""
    mine = clinic.snapshot.days == np.datetime64(day)
    return overview_of(clinic.snapshot, day), sorted(set(clinic.snapshot.stops[mine].tolist()) - {""})


def _compared(by: str, learned: Cohort, found: Findings) -> pd.DataFrame:
    now = found.snapshot
    whole = compare(now, now.costs())
    rows = whole if by == ALL else pd.concat([whole, compare(now, now.costs(), by, learned)], ignore_index=True)
    return rows.assign(value=rows["difference"].fillna(rows["would"]))


def _weeks(found: Findings) -> pd.DataFrame:
    rows = weekly(found.snapshot, found.snapshot.costs()).rename(columns={"part": "week"})
    return rows.assign(week=rows["week"].astype(str).str[:DATE], value=rows["difference"].fillna(rows["would"]))


def rates(clinic: Clinic) -> pd.DataFrame:
    """How good each reader is by now."""
    learned = clinic.shadow.learned
    return clinic.figures.once(rates, lambda found: reader_rates(found.snapshot, learned))


def watched(clinic: Clinic) -> Watch:
    """What is watched, over all cases, with what has been said of its alarms."""
    found = _watched(datetime.now(UTC).date(), clinic.shadow.deciders, clinic.figures)
    said = {each.alarm: each.reason for each in clinic.shadow.store.acknowledgements()}
    return replace(found, alarms=tuple(replace(each, acknowledged=said.get(each.key, "")) for each in found.alarms))


def path(clinic: Clinic, name: str) -> pd.DataFrame:
    """How one monitor came to stand as it does: number, value and day after each case seen."""
    day = datetime.now(UTC).date()
    return clinic.figures.once((path, name, day), partial(_path, name, day, clinic.shadow.deciders))


def _watched(day: date, deciders: Deciders, found: Findings) -> Watch:
    return found.once((watched, day), lambda found: watch(found.snapshot, deciders.on(day)))


def _path(name: str, day: date, deciders: Deciders, found: Findings) -> pd.DataFrame:
    steps = _watched(day, deciders, found).paths[name]
    days = np.datetime_as_string(steps["time"].to_numpy("datetime64[us]"), unit="D")
    return pd.DataFrame({"number": np.arange(1, len(steps) + 1), "value": steps["level"], "day": days})


def standings(now: Watch) -> list[Standing]:
    """How each kind of what is watched stands."""
    found = []
    for kind, name in KINDS.items():
        rows = now.rows[now.rows["kind"] == kind]
        first: dict[str, tuple[str, date]] = {}
        for alarm in now.open:
            if alarm.kind == kind:
                first.setdefault(alarm.name, (f"{alarm.label}: {alarm.side}", date.fromisoformat(alarm.day)))
        if len(rows):
            found.append(Standing(name, tuple(first.values()), not (rows["n"] * rows["arl"].notna()).any()))
    return found


def waiting(clinic: Clinic) -> dict[str, int]:
    """How many cases wait for each reader, by column."""
    found = clinic.rows.once(waiting, lambda found: pd.Series(awaited(found.snapshot)).value_counts().to_dict())
    return {column: found.get(column, 0) for column in clinic.names}


def worklist(clinic: Clinic, reader: str, by: Actor) -> pd.DataFrame:
    """The cases that wait for a reader, the first that came in at the top."""
    rows = seen_worklist(clinic.snapshot, reader, by=by).rename(columns={"case": CASE})
    return rows.assign(time=rows["time"].dt.tz_localize(None))


def arrivals(clinic: Clinic) -> pd.DataFrame:
    """Every case that came in, the newest first."""
    return clinic.rows.once(arrivals, partial(_arrivals, clinic.manifest))


def inputs(clinic: Clinic, row: int) -> pd.DataFrame:
    """What was measured of a case, but for what the AI says."""
    cohort, layout = clinic.snapshot.cohort, clinic.manifest.layout
    shown = [name for name in layout.names if name not in {PROBABILITY, UNCERTAINTY, *layout.scores}]
    places = [layout.names.index(name) for name in shown]
    return pd.DataFrame({
        "input": [capital(layout.titles[name]) for name in shown],
        "value": np.where(cohort.absent[row, places], np.nan, cohort.state[row, places]),
    })  # fmt: skip


def said(clinic: Clinic, row: int) -> list[str]:
    """What readers have said of a case, a line each."""
    now, words = clinic.snapshot, {1: clinic.task.positive, 0: clinic.task.negative}
    lines = []
    for j, name in enumerate(clinic.names.values()):
        word = int(now.cohort.decisions[row, j])
        if word != UNKNOWN:
            sure = "" if np.isnan(now.confidence[row, j]) else f", {percent(float(now.confidence[row, j]))} sure"
            lines.append(f"{name}: {words[word]}{sure}")
        elif now.declined[row, j]:
            lines.append(f"{name}: declined")
    return lines


def weight_for(clinic: Clinic, floor: Floor, confident: float | None) -> float:
    """What a miss has to weigh so that the active run keeps a floor on the val cases it learned from."""
    return _weight(clinic.shadow, floor, confident)


def sent(clinic: Clinic) -> Sent:
    """Which share of all cases was sent, beside what was expected of the run."""
    went, n = int((clinic.snapshot.action > 0).sum()), len(clinic.snapshot)
    low, high = rate_sequence(np.array(went), np.array(n))
    return Sent(went / n, float(low), float(high), n, own_share(clinic))


def own_share(clinic: Clinic) -> float:
    """Which share of the val cases the active run sends without limits."""
    return _own_share(clinic.shadow)


def _arrivals(manifest: Manifest, found: Findings) -> pd.DataFrame:
    now = found.snapshot
    names = np.array(["AI", *(reader.name for reader in manifest.readers)], object)
    column = {"": "", **dict(zip(manifest.columns, names[1:], strict=True))}
    answers = np.array([manifest.task.negative, manifest.task.positive, ""], object)
    rows = pd.DataFrame({
        "time": now.times,
        CASE: now.cohort.ids,
        "decided_by": names[now.action],
        "answer": answers[now.decisions.label],
        "waiting": pd.Series(awaited(now), dtype=object).map(column),
        "stop": now.stops,
    })  # fmt: skip
    return rows.iloc[::-1].reset_index(drop=True)


@cached
def _weight(shadow: Shadow, floor: Floor, confident: float | None) -> float:
    val = shadow.learned.subset(split="val")
    point, _ = choose_point(shadow.run, val, floor, shadow.deciders.errors, confident)
    return point.costs.false_negative


@cached
def _own_share(shadow: Shadow) -> float:
    val = shadow.learned.subset(split="val")
    return float((shadow.deciders.under(shadow.deciders.usual).decided(val).beliefs.action > 0).mean())
