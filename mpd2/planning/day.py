"""One setting of the clinic's day: its limits, its costs and what counts as urgent, as one line of a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import quote, unquote

from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.text import percent
from mpd2.planning.limits import Limits

YES = "1"
NO_LIMITS = Limits()
MOST = 1_000_000  # cases that anybody can mean
DEAREST = 1e12  # in any currency
NAMES = (
    "budget", "soft", "by_cohort", "total", "at_most", "away", "reserve", "urgent", "missed", "alarm", "fees",
    "for_costs",
)  # fmt: skip
"""What a link can say of a setting."""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class DaySetting:
    """What is wished for, and what everything costs."""

    costs: Costs
    limits: Limits = NO_LIMITS
    urgent: int = 0  # how many cases count as urgent: those that would cost most if the AI decided them
    for_costs: bool = False  # whether cases are routed for these costs too, or only counted by them

    def __post_init__(self) -> None:
        if self.urgent < 0:
            raise UserError(f"urgent: found {self.urgent}, expected a number of cases, at least 0")

    @property
    def free(self) -> DaySetting:
        """The same without a budget: as many cases as the policy wants."""
        return replace(self, limits=replace(self.limits, budget=None, soft=False))

    def with_budget(self, share: float) -> DaySetting:
        """The same with another budget of the same kind."""
        return replace(self, limits=replace(self.limits, budget=share))

    def to_query(self, manifest: Manifest) -> dict[str, str]:
        """What differs from the manifest's costs and no limits, as parameters of a link."""
        usual, limits = manifest.default_costs(), self.limits
        fees = zip(manifest.columns, self.costs.fees, usual.fees, strict=True)
        said = {
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
            "fees": _pairs((column, fee) for column, fee, known in fees if fee != known),
            "for_costs": YES if self.for_costs else None,
        }
        return {name: text for name, text in said.items() if text}


def from_query(query: Mapping[str, str], manifest: Manifest) -> DaySetting:
    """The setting a link is about; what it does not say is as in the manifest and without limits."""
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
    return DaySetting(
        costs=Costs(
            usual.false_negative if missed is None else missed,
            usual.false_positive if alarm is None else alarm,
            tuple((fees | other).values()),
        ),
        limits=limits,
        urgent=_number(query, "urgent", int) or 0,
        for_costs=query.get("for_costs") == YES,
    )


def in_words(setting: DaySetting, manifest: Manifest) -> str:
    """A setting in a sentence without an end, for people who compare two."""
    limits, usual = setting.limits, manifest.default_costs()
    names = dict(zip(manifest.columns, (reader.name for reader in manifest.readers), strict=True))
    said = ["as many cases sent as the run wants" if limits.budget is None else _budget_in_words(limits)]
    said += [f"{', '.join(names[column] for column in limits.away)} away"] if limits.away else []
    said += [f"{names[column]} at most {number}" for column, number in limits.capacity]
    said += [f"at most {limits.total} in all"] if limits.total is not None else []
    said += [f"{limits.reserve} places for the {setting.urgent} most urgent"] if limits.reserve else []
    if setting.costs != usual:
        said.append(f"missed glaucoma {setting.costs.false_negative:g}, false alarm {setting.costs.false_positive:g}")
        said += ["other fees"] if setting.costs.fees != usual.fees else []
        said += ["routed for these costs"] if setting.for_costs else []
    return "; ".join(said)


def costs_in_words(costs: Costs) -> str:
    """What the costs say of each other."""
    missed, alarm = costs.false_negative, costs.false_positive
    if alarm == 0 or missed == 0:
        free = " and ".join(
            name for name, cost in (("a missed glaucoma", missed), ("a false alarm", alarm)) if cost == 0
        )
        return f"Nothing is lost by {free}: the answer that never risks the other error is the cheapest."
    more, less, ratio = ("missed glaucoma", "false alarm", missed / alarm)
    if ratio < 1:
        more, less, ratio = less, more, 1 / ratio
    first = f"One {more} counts as {_times(ratio, less)}."
    fee = sum(costs.fees) / len(costs.fees)
    return first if fee == 0 else f"{first} A missed glaucoma costs as much as {missed / fee:.3g} readings."


def _times(ratio: float, what: str) -> str:
    plural = "glaucomas" if what == "missed glaucoma" else "alarms"
    return f"much as one {what}" if ratio == 1 else f"{ratio:.3g} {what.rsplit(' ', 1)[0]} {plural}"


def _budget_in_words(limits: Limits) -> str:
    share = percent(limits.budget or 0)
    kind = "of the mean probability of deferral" if limits.soft else "of cases sent"
    return f"{share} {kind}" + (" in every cohort" if limits.by_cohort else "")


def _unless(value: float, usual: float) -> str | None:
    return None if value == usual else _exact(value)


def _exact(number: float) -> str:
    """As short as it can be without becoming another number."""
    return repr(float(number)).removesuffix(".0")


def _pairs(pairs: Iterable[tuple[str, float]]) -> str:
    return ",".join(f"{quote(column, safe='')}:{_exact(number)}" for column, number in pairs)


def _read_pairs(query: Mapping[str, str], name: str, kind: Callable[[str], Number]) -> list[tuple[str, Number]]:
    parts = [part.rpartition(":") for part in query.get(name, "").split(",") if part]
    return [(unquote(column), _read(number, name, kind)) for column, _, number in parts]


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
