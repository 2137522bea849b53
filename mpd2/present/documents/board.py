"""What a board sees first: a thousand people before and after, what that takes, who decides, the plan of the day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.policy import DECIDERS, NOBODY
from mpd2.core.text import GAP, capital, count, decimal, listed, numbered, percent, sentence
from mpd2.evaluation.clinical.per_thousand import SCREENED, WHO, Programme
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.metrics import COUNTS
from mpd2.planning.day import DaySetting, in_words
from mpd2.planning.dayplan import DayPlan
from mpd2.present.words.origins import MADE, UNKNOWN, no_patients
from mpd2.present.words.people import Sentences


@dataclass(frozen=True, eq=False)
class People:
    """A thousand people under the AI alone and under the run."""

    counts: pd.DataFrame  # as `words.people.numbers` lays them out
    arrays: tuple[tuple[str, pd.DataFrame], ...]  # title and `cells`, before and after
    said: Sentences
    notes: tuple[str, ...] = ()  # another prevalence, minutes and prices, a year's programme


@dataclass(frozen=True, eq=False)
class PlanOfDay:
    """What Budget is set to, and what that comes to."""

    words: tuple[str, ...]
    load: pd.DataFrame  # reader, a_day, at_most (NaN: no limit): readings a day


def terms(programme: Programme, currency: str) -> str:
    r"""What is taken for granted about time and money.

    >>> terms(Programme(price=7.5), "€"), terms(Programme(), "€")
    ('A reading takes 5 minutes and costs €\xa07.5.', 'A reading takes 5 minutes.')
    """
    unit = f"{currency}{GAP}" if currency else ""
    takes = [f"takes {programme.minutes:g} minutes"]
    takes += [f"costs {unit}{programme.price:g}"] if programme.price else []
    work_up = f" A work-up of a false alarm costs {unit}{programme.work_up:g}." if programme.work_up else ""
    return f"A reading {listed(takes)}.{work_up}"


def deciders(people: People, task: Task) -> pd.DataFrame:
    """Of a thousand people, how many each decides, and how many of these end wrong; whole people who add up."""
    _, cells = people.arrays[-1]
    wide = cells.pivot(index="who", columns="outcome", values="people").loc[list(WHO)]
    return pd.DataFrame(
        {
            "Who decides": [capital(words) for words in DECIDERS],
            capital(task.people): wide.sum(axis=1).tolist(),
            capital(f"{task.positives} missed"): wide["missed"].tolist(),
            "False alarms": wide["alarm"].tolist(),
        }
    )


def caution(evidence: Evidence, run: str) -> str:
    """That cases are simulated, and which readings asked for people did not, or may not have, given; else empty."""
    cohort = evidence.cohort
    asked = (evidence.outcomes[run].decisions.consulted != NOBODY).sum(-1).mean(0)  # [N] readings of each case
    by_cohort = {entry: asked[cohort.source == place].sum() for place, entry in enumerate(cohort.manifest.cohorts)}
    made, unknown = (
        {entry: readings for entry, readings in by_cohort.items() if entry.readings in kinds and readings}
        for kinds in (MADE, (UNKNOWN,))
    )
    said = [*filter(None, [no_patients(cohort.manifest)])]
    if made:
        how = listed([f"those of {entry.name} are {entry.readings}" for entry in made])
        said.append(
            f"{percent(sum(made.values()) / asked.sum(), 0)} of the readings asked for here were not given by people "
            f"who looked at the {cohort.manifest.task.case}: {how}. What they say of readers may not hold in a clinic."
        )
    if unknown:
        share = percent(sum(unknown.values()) / asked.sum(), 0)
        said.append(f"Where {share} of the readings asked for here come from is not known.")
    return " ".join(said)


def plan_of_day(day: DayPlan, setting: DaySetting, own_share: float, members: int) -> PlanOfDay:
    """The plan of Budget in words, and the load of each reader a day; `setting` is the day's before it was scaled."""
    manifest, n = day.ranked.cohort.manifest, len(day.decisions.label)
    task = manifest.task
    missed, alarms = (int(day.tally.counts[COUNTS.index(name)]) for name in ("FN", "FP"))
    a_day = setting.day / n
    words = (
        sentence(in_words(setting, manifest, own_share)),
        f"{count(day.sent)} of {count(n)} cases are sent, {decimal(a_day * day.sent, 0)} of {count(setting.day)} a day "
        f"in {decimal(a_day * day.readings, 0)} readings.",
        f"Of these {count(n)} cases, {numbered(missed, f'{task.positive} is', f'{task.positives} are')} missed, with "
        f"{numbered(alarms, 'false alarm')}.",
        *day.plan.notes,
        *([f"A plan is made by all {members} models together; other numbers are means over them."] * (members > 1)),
    )
    capacity = setting.limits.capacities(manifest)
    load = pd.DataFrame(
        {
            "reader": [reader.name for reader in manifest.readers],
            "a_day": a_day * day.load,
            "at_most": np.where(np.isfinite(capacity), capacity, np.nan),
        }
    )
    return PlanOfDay(words, load)


def picture_title(point: str, task: Task) -> str:
    """What stands above the picture of a thousand people, at an operating point."""
    return f"{count(SCREENED)} {task.people} screened, {point}"
