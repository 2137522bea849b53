"""Example days that many clinics know, as limits: derived from who the readers are, so that they fit any table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from mpd2.core.manifest import Manifest
from mpd2.core.text import percent
from mpd2.planning.day import DaySetting
from mpd2.planning.roster_and_limits import Limits

DAY_SHARE = 0.4  # of a day's cases that the readers of a clinic have time for
CAMP_SHARE = 0.2  # of a camp's cases that can be sent
URGENT_SHARE = 0.1  # of cases that count as urgent
RESERVED = 0.25  # of a camp's places that are reserved for them


@dataclass(frozen=True)
class Preset:
    """An example day."""

    title: str
    meaning: str
    apply: Callable[[DaySetting, Manifest], DaySetting]  # costs and cases a day stay as they are


def specialists(manifest: Manifest) -> tuple[str, ...]:
    """The columns of the readers in the dearest reader's tier; none where everybody is in it."""
    tier = max(manifest.readers, key=lambda reader: reader.fee).tier
    dearest = tuple(reader.column for reader in manifest.readers if reader.tier == tier)
    return dearest if len(dearest) < len(manifest.readers) else ()


def presets(manifest: Manifest) -> dict[str, Preset]:
    """The example days that make sense with these readers, by key."""
    kinds = {
        "day": Preset(
            "Clinic day",
            f"Every reader is there, with time for equally many cases; together for {percent(DAY_SHARE, 0)} of them.",
            _clinic_day,
        ),
        "camp": Preset(
            "Screening camp",
            f"{percent(CAMP_SHARE, 0)} of cases can be sent; a quarter of these places is reserved for the most urgent "
            "tenth of cases; the dearest tier of readers is away.",
            _screening_camp,
        ),
        "no_specialists": Preset("No specialists", "The dearest tier of readers is away.", _no_specialists),
    }
    return kinds if specialists(manifest) else {"day": kinds["day"]}


def _clinic_day(setting: DaySetting, manifest: Manifest) -> DaySetting:
    each = ceil(DAY_SHARE * setting.day / len(manifest.readers))
    return replace(setting, limits=Limits(capacity=tuple((column, each) for column in manifest.columns)), urgent=0)


def _screening_camp(setting: DaySetting, manifest: Manifest) -> DaySetting:
    places = round(CAMP_SHARE * setting.day)
    limits = Limits(budget=CAMP_SHARE, away=specialists(manifest), reserve=round(RESERVED * places))
    return replace(setting, limits=limits, urgent=round(URGENT_SHARE * setting.day))


def _no_specialists(setting: DaySetting, manifest: Manifest) -> DaySetting:
    return replace(setting, limits=Limits(away=specialists(manifest)), urgent=0)
