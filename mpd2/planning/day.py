"""One setting of the clinic's day: its limits, its costs and what counts as urgent, as one line of a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import TypeVar
from urllib.parse import quote, unquote

from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest, Task
from mpd2.core.text import percent
from mpd2.planning.roster_and_limits import Limits

YES = "1"
NO_LIMITS = Limits()
CASES_A_DAY = 300
MOST = 1_000_000  # cases that anybody can mean
DEAREST = 1e12  # in any currency
OLD_DAY = "per_day"  # what `day` was called while capacities were those of the whole slice
NAMES = (
    "day", "budget", "soft", "by_cohort", "total", "at_most", "away", "reserve", "urgent", "missed", "alarm", "fees",
    "for_costs", OLD_DAY,
)  # fmt: skip
"""What a link can say of a setting."""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class DaySetting:
    """The limits and costs of a day of so many cases."""

    costs: Costs
    limits: Limits = NO_LIMITS  # total, capacity and reserve in cases a day
    urgent: int = 0  # how many cases a day count as urgent: those that would cost most if the AI decided them
    for_costs: bool = False  # whether cases are routed for these costs too, or only counted by them
    day: int = CASES_A_DAY
    weight: float | None = None
    """What a miss weighs in decisions so that a floor is kept under these limits; none: as at the operating point.

    It follows from the rest, so it is not in a link."""

    def __post_init__(self) -> None:
        if self.urgent < 0:
            raise UserError(f"urgent: found {self.urgent}, expected a number of cases, at least 0")
        if not 1 <= self.day <= MOST:
            raise UserError(f"day: found {self.day} cases, expected 1 to {MOST}")

    @property
    def free(self) -> DaySetting:
        """The same without a budget: as many cases as the policy sends by default."""
        return replace(self, limits=replace(self.limits, budget=None, soft=False))

    @property
    def is_limited(self) -> bool:
        """Whether cases go elsewhere than they would by default, so that a floor has to be looked at anew."""
        return self.for_costs or self.limits != NO_LIMITS

    @property
    def has_places(self) -> bool:
        """Whether any number of cases a day is part of it."""
        limits = self.limits
        return bool(limits.capacity or limits.reserve or self.urgent) or limits.total is not None

    def with_budget(self, share: float) -> DaySetting:
        """The same with another budget of the same kind."""
        return replace(self, limits=replace(self.limits, budget=share))

    def scaled_to(self, cases: int) -> DaySetting:
        """The same with so many cases in the day, and all numbers of cases in proportion; half a case is one.

        >>> few = DaySetting(Costs(2.0, 1.5, (0.1,)), Limits(capacity=(("reader", 20),)), day=300)
        >>> few.scaled_to(899).limits.capacity
        (('reader', 60),)
        """
        if cases == self.day:
            return self

        def scaled(places: int) -> int:
            return floor(places * cases / self.day + 0.5)

        limits = replace(
            self.limits,
            total=None if self.limits.total is None else scaled(self.limits.total),
            capacity=tuple((column, scaled(places)) for column, places in self.limits.capacity),
            reserve=scaled(self.limits.reserve),
        )
        return replace(self, limits=limits, urgent=scaled(self.urgent), day=cases)

    def to_query(self, manifest: Manifest) -> dict[str, str]:
        """What differs from the manifest's costs and no limits, as parameters of a link."""
        usual, limits = manifest.default_costs(), self.limits
        fees = zip(manifest.columns, self.costs.fees, usual.fees, strict=True)
        query = {
            "day": str(self.day) if self.has_places or self.day != CASES_A_DAY else None,
            "budget": None if limits.budget is None else _exact(limits.budget),
            "soft": YES if limits.soft else None,
            "by_cohort": YES if limits.by_cohort else None,
            "total": None if limits.total is None else str(limits.total),
            "at_most": _pairs(limits.capacity),
            "away": ",".join(quote(column, safe="") for column in limits.away),
            "reserve": str(limits.reserve) if limits.reserve else None,
            "urgent": str(self.urgent) if self.urgent else None,
            "missed": _unless(self.costs.false_negative, usual.false_negative),
            "alarm": _unless(self.costs.false_positive, usual.false_positive),
            "fees": _pairs((column, fee) for column, fee, other in fees if fee != other),
            "for_costs": YES if self.for_costs else None,
        }
        return {name: text for name, text in query.items() if text}


def from_query(query: Mapping[str, str], manifest: Manifest, cases: int) -> DaySetting:
    """The setting of a link to a slice of so many `cases`; what it does not name is as in the manifest, without limits.

    Numbers of cases are per `day`. Links from before that was named count them on the whole slice: they are read as
    a day of as many cases as the slice has.
    """
    usual = manifest.default_costs()
    limits = Limits(
        budget=_number(query, "budget", float),
        soft=query.get("soft") == YES,
        by_cohort=query.get("by_cohort") == YES,
        total=_number(query, "total", int),
        capacity=tuple(_read_pairs(query, "at_most", int)),
        away=tuple(unquote(column) for column in query.get("away", "").split(",") if column),
        reserve=_number(query, "reserve", int) or 0,
    )
    limits.check(manifest)
    fees = dict(zip(manifest.columns, usual.fees, strict=True))
    other = dict(_read_pairs(query, "fees", float))
    if unknown := sorted(set(other) - set(fees)):
        raise UserError(f"fees: found {', '.join(unknown)}, expected some of {', '.join(fees)}")
    missed, alarm = _number(query, "missed", float), _number(query, "alarm", float)
    setting = DaySetting(
        costs=Costs(
            usual.false_negative if missed is None else missed,
            usual.false_positive if alarm is None else alarm,
            tuple((fees | other).values()),
        ),
        limits=limits,
        urgent=_number(query, "urgent", int) or 0,
        for_costs=query.get("for_costs") == YES,
    )
    day = _number(query, "day", int)
    if day is None:
        day = cases if setting.has_places else _number(query, OLD_DAY, int)
    return setting if day is None else replace(setting, day=day)


def in_words(setting: DaySetting, manifest: Manifest, own: float) -> str:
    """A setting in a sentence without a full stop, to compare two; `own` is the share the run sends by default."""
    limits, usual = setting.limits, manifest.default_costs()
    names = dict(zip(manifest.columns, (reader.name for reader in manifest.readers), strict=True))
    parts = [f"default share sent, {percent(own)}" if limits.budget is None else _budget_in_words(limits)]
    parts += [f"{', '.join(names[column] for column in limits.away)} away"] if limits.away else []
    parts += _capacity_in_words(limits, names)
    parts += [f"at most {limits.total} a day in all"] if limits.total is not None else []
    if limits.reserve:
        parts.append(f"{limits.reserve} places a day reserved for the {setting.urgent} most urgent cases")
    if setting.costs != usual:
        missed, alarm = setting.costs.false_negative, setting.costs.false_positive
        parts.append(f"missed {manifest.task.positive} {missed:g}, false alarm {alarm:g}")
        parts += ["other fees"] if setting.costs.fees != usual.fees else []
        parts += ["routed for these costs"] if setting.for_costs else []
    return "; ".join(parts)


def _capacity_in_words(limits: Limits, names: Mapping[str, str]) -> list[str]:
    numbers = {number for _, number in limits.capacity}
    if len(numbers) == 1 and {*dict(limits.capacity), *limits.away} == set(names):
        return [f"every reader at most {numbers.pop()} a day"]
    return [f"{names[column]} at most {number} a day" for column, number in limits.capacity]


def costs_in_words(costs: Costs, task: Task) -> str:
    """What the costs say of each other."""
    words = {"miss": (f"missed {task.positive}", f"missed {task.positives}"), "alarm": ("false alarm", "false alarms")}
    missed, alarm = costs.false_negative, costs.false_positive
    if alarm == 0 or missed == 0:
        free = " and ".join(f"a {words[name][0]}" for name, cost in (("miss", missed), ("alarm", alarm)) if cost == 0)
        return f"Nothing is lost by {free}: the answer that never risks the other error is the cheapest."
    more, less, ratio = ("miss", "alarm", missed / alarm)
    if ratio < 1:
        more, less, ratio = less, more, 1 / ratio
    times = f"much as one {words[less][0]}" if ratio == 1 else f"{ratio:.3g} {words[less][1]}"
    first = f"One {words[more][0]} counts as {times}."
    fee = sum(costs.fees) / len(costs.fees)
    return first if fee == 0 else f"{first} A {words['miss'][0]} costs as much as {missed / fee:.3g} readings."


def _budget_in_words(limits: Limits) -> str:
    kind = "mean probability of deferral" if limits.soft else "of cases sent"
    return f"{percent(limits.budget or 0)} {kind}" + (" in every cohort" if limits.by_cohort else "")


def _unless(value: float, usual: float) -> str | None:
    return None if value == usual else _exact(value)


def _exact(value: float) -> str:
    """As short as it can be without becoming another number."""
    return repr(float(value)).removesuffix(".0")


def _pairs(pairs: Iterable[tuple[str, float]]) -> str:
    return ",".join(f"{quote(column, safe='')}:{_exact(value)}" for column, value in pairs)


def _read_pairs(query: Mapping[str, str], name: str, kind: Callable[[str], Number]) -> list[tuple[str, Number]]:
    parts = [part.rpartition(":") for part in query.get(name, "").split(",") if part]
    return [(unquote(column), _read(text, name, kind)) for column, _, text in parts]


def _number(query: Mapping[str, str], name: str, kind: Callable[[str], Number]) -> Number | None:
    return _read(query[name], name, kind) if query.get(name) else None


def _read(text: str, name: str, kind: Callable[[str], Number]) -> Number:
    expected, most = ("a whole number", MOST) if kind is int else ("a number", DEAREST)
    try:
        value = kind(text)
    except ValueError:
        raise UserError(f"{name}: found {text!r} in the link, expected {expected}") from None
    if value > most:
        raise UserError(f"{name}: found {text!r} in the link, expected {expected} up to {most:.0f}")
    return value
