"""What a board sees first: a thousand people before and after, what that takes, who decides, the plan of the day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.policy import DECIDERS, NOBODY
from mpd2.core.text import GAP, capital, count, decimal, interval, listed, percent, sentence
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, SCREENED, WHO, Programme
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.metrics import COUNTS
from mpd2.planning.day import DaySetting, in_words
from mpd2.planning.dayplan import DayPlan
from mpd2.present.words.people import Row, Sentences, of_people
from mpd2.study.claims import AI

REAL = "real"
COUNTED = {
    "missed": "Glaucomas missed",
    "alarm": "False alarms",
    "read": "People read by a reader",
    "readings": "Readings",
}
"""What is counted among a thousand people; hours of reading follow."""


@dataclass(frozen=True, eq=False)
class People:
    """A thousand people under the AI alone and under the run."""

    rows: pd.DataFrame  # of `per_thousand`, of the AI and the run
    arrays: tuple[tuple[str, pd.DataFrame], ...]  # title and `cells`, before and after
    said: Sentences
    programme: Programme = AS_COUNTED
    changed: str = ""  # that the prevalence is not that of the cases
    currency: str = ""

    def of(self, method: str) -> dict[str, Row]:
        """The rows of a method by their quantity."""
        own = self.rows[self.rows["method"] == method]
        return {row["quantity"]: row for row in own.to_dict("records")}


@dataclass(frozen=True, eq=False)
class PlanOfDay:
    """What Budget is set to, and what that comes to."""

    words: tuple[str, ...]
    load: pd.DataFrame  # reader, a_day, at_most (NaN: no limit): readings a day


def counts(people: People, run: str) -> pd.DataFrame:
    """Per thousand people: with the AI alone, with the run and its interval, and the difference with its own."""
    alone, own = people.of(AI), people.of(run)
    hours = f"Hours of reading, {people.programme.minutes:g} minutes each"
    after = people.arrays[-1][0]
    return pd.DataFrame(
        [
            {
                f"Of {count(SCREENED)} people": name,
                "AI alone": of_people(alone[quantity]),
                after: of_people(own[quantity]),
                "95 % interval": interval(own[quantity]["low"], own[quantity]["high"], 0),
                "More than with the AI alone": decimal(own[quantity]["difference"], 0, signed=True),
                "its 95 % interval": _span(own[quantity], 0),
            }
            for quantity, name in (COUNTED | {"hours": hours}).items()
        ]
    )


def money(people: People, run: str) -> str:
    """What readings and the follow-up of false alarms cost; empty where no price is given."""
    terms = people.programme
    if not (terms.price or terms.work_up):
        return ""
    row, unit = people.of(run)["money"], f"{GAP}{people.currency}".rstrip()
    parts = [f"{terms.price:g}{unit} a reading"] if terms.price else []
    parts += [f"{terms.work_up:g}{unit} to follow up a false alarm"] if terms.work_up else []
    ends = f"95{GAP}% interval {interval(row['low'], row['high'], 0)}"
    change = decimal(row["difference"], 0, signed=True)
    return (
        f"At {listed(parts)}, {count(SCREENED)} people cost {decimal(row['value'], 0)}{unit} ({ends}): {change}{unit} "
        f"against the AI alone ({_span(row, 0)})."
    )


def deciders(people: People) -> pd.DataFrame:
    """Of a thousand people, how many each decides, and how many of these end wrong; whole people who add up."""
    _, cells = people.arrays[-1]
    wide = cells.pivot(index="who", columns="outcome", values="people").loc[list(WHO)]
    return pd.DataFrame(
        {
            "Who decides": [capital(words) for words in DECIDERS],
            "People": wide.sum(axis=1).tolist(),
            "Glaucomas missed": wide["missed"].tolist(),
            "False alarms": wide["alarm"].tolist(),
        }
    )


def caution(evidence: Evidence, run: str) -> str:
    """Which of the readings asked for were not given by people who looked at the image; empty where all were."""
    cohort = evidence.cohort
    asked = (evidence.outcomes[run].decisions.consulted != NOBODY).sum(-1).mean(0)  # [N] readings of each case
    by_cohort = {entry: asked[cohort.source == place].sum() for place, entry in enumerate(cohort.manifest.cohorts)}
    made = {entry: readings for entry, readings in by_cohort.items() if entry.readings != REAL and readings}
    if not made:
        return ""
    origins = listed([f"those of {entry.name} are {entry.readings}" for entry in made])
    share = percent(sum(made.values()) / asked.sum(), 0)
    return (
        f"{share} of the readings asked for here were not given by people who looked at the image: {origins}. What "
        "they say of readers may not hold in a clinic."
    )


def plan_of_day(day: DayPlan, setting: DaySetting, own_share: float, members: int) -> PlanOfDay:
    """The plan of Budget in words, and the load of each reader a day; `setting` is the day's before it was scaled."""
    manifest, n = day.ranked.cohort.manifest, len(day.decisions.label)
    missed, alarms = (int(day.tally.counts[COUNTS.index(name)]) for name in ("FN", "FP"))
    a_day = setting.day / n
    words = (
        sentence(in_words(setting, manifest, own_share)),
        f"{count(day.sent)} of {count(n)} cases are sent, {decimal(a_day * day.sent, 0)} of {count(setting.day)} a day "
        f"in {decimal(a_day * day.readings, 0)} readings.",
        f"Of these {count(n)} cases, {count(missed)} are glaucomas that are missed and {count(alarms)} false alarms.",
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


def _span(row: Row, places: int) -> str:
    return interval(row["difference_low"], row["difference_high"], places, signed=True)


def picture_title(people: People) -> str:
    """What stands above the picture of a thousand people."""
    changed = f" {people.changed}" if people.changed else ""
    return capital(f"{count(SCREENED)} people, before and after.{changed}")
