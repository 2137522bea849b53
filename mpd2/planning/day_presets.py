"""Days many clinics know, as limits: derived from who the readers are, so that they fit any table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from mpd2.core.cohort import Cohort
from mpd2.core.manifest import Manifest
from mpd2.core.text import percent
from mpd2.planning.day import DaySetting
from mpd2.planning.limits import Limits

DAY_SHARE = 0.4  # of a day's cases that the readers of a clinic have time for
CAMP_SHARE = 0.2  # of a camp's cases that can be sent on
URGENT_SHARE = 0.1  # of cases that count as urgent
KEPT = 0.25  # of a camp's places that are kept for them


@dataclass(frozen=True)
class Preset:
    """A kind of day."""

    title: str
    meaning: str
    apply: Callable[[DaySetting, Cohort], DaySetting]  # costs stay as they are


def specialists(manifest: Manifest) -> tuple[str, ...]:
    """The columns of the readers in the dearest reader's tier; none where everybody is in it."""
    tier = max(manifest.readers, key=lambda reader: reader.fee).tier
    dearest = tuple(reader.column for reader in manifest.readers if reader.tier == tier)
    return dearest if len(dearest) < len(manifest.readers) else ()


def presets(manifest: Manifest) -> dict[str, Preset]:
    """The kinds of day that make sense with these readers, by key."""
    kinds = {
        "day": Preset(
            "Clinic day",
            f"Everybody is there and has time for as many cases, together {percent(DAY_SHARE, 0)} of the worklist.",
            _clinic_day,
        ),
        "camp": Preset(
            "Screening camp",
            f"{percent(CAMP_SHARE, 0)} of cases can be sent on, a quarter of these places is kept for the tenth that "
            "is most urgent, and the dearest tier of readers has stayed at home.",
            _screening_camp,
        ),
        "no_specialists": Preset("No specialists", "The dearest tier of readers is away.", _no_specialists),
    }
    return kinds if specialists(manifest) else {"day": kinds["day"]}


def _clinic_day(setting: DaySetting, cohort: Cohort) -> DaySetting:
    each = ceil(DAY_SHARE * len(cohort) / cohort.readers)
    capacity = tuple((column, each) for column in cohort.manifest.columns)
    return replace(setting, limits=Limits(capacity=capacity), urgent=0)


def _screening_camp(setting: DaySetting, cohort: Cohort) -> DaySetting:
    places = round(CAMP_SHARE * len(cohort))
    limits = Limits(budget=CAMP_SHARE, away=specialists(cohort.manifest), reserve=round(KEPT * places))
    return replace(setting, limits=limits, urgent=round(URGENT_SHARE * len(cohort)))


def _no_specialists(setting: DaySetting, cohort: Cohort) -> DaySetting:
    return replace(setting, limits=Limits(away=specialists(cohort.manifest)), urgent=0)
