"""What is done with a case on arrival: a function of that case, the run and the setting of its day alone.

Limits are therefore prices, fixed beforehand by the val cases of the table the run learned from: a case is sent if it
is worth more than a place. Nobody has to know what else comes in on a day, and the order of arrival cannot matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from mpd2.clinic.shadow.rows import Basis, Setting
from mpd2.clinic.shadow.standing.enquiry import Beliefs, Terms, standing
from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import OperatingPoint
from mpd2.core.error_rates import ErrorModel
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.policy import NOBODY, Policy, mean_policy, preferences
from mpd2.core.runs import FILLS, Run
from mpd2.methods.base import DecidesAnew, Enquires
from mpd2.methods.plus.asking import Enquired
from mpd2.methods.registry import method_of, policy_of
from mpd2.planning.arrivals import can_arrive, place_prices
from mpd2.planning.day import CASES_A_DAY, DaySetting, from_query
from mpd2.planning.hard_stop import StopThresholds, fit_limits
from mpd2.planning.plan import cases_at
from mpd2.planning.ranked_cases import RankedCases
from mpd2.planning.recosting import exchange_rate, in_unit_of, reordered, savings
from mpd2.planning.worklist import reasons
from mpd2.study.operating import continuations_at, exchange_rates, expectations_at, policy_at

AI = "ai"
FEWEST_OWN = 100  # first cases of a clinic that others are compared with, at least


@dataclass(frozen=True)
class Decision:
    """What is done with one case, before anybody knows the truth."""

    action: str  # ai, or the column of the reader who is asked first
    then: tuple[str, ...]  # readers who might be asked after that; none where the first has the last word
    kept: int  # the label if nobody is asked
    positive: float | None  # P(positive); none where the run has no such thing
    cost_kept: float | None  # expected if the case is kept
    cost_asked: float | None  # expected if whoever would be asked first is; none where nobody can be
    price: float  # log-odds the case had to be worth to be sent, before the reader's own price
    stop: str  # what the hard stop says; empty if nothing
    reason: str  # in sentences


@dataclass(frozen=True, eq=False)
class Decided:
    """What is done with N cases."""

    beliefs: Beliefs  # [N]; what is done follows from them
    price: float
    stops: np.ndarray  # [N] str
    reasons: tuple[str, ...]  # [N]


@dataclass(frozen=True)
class Prices:
    """What a place costs, in log-odds."""

    place: float
    readers: tuple[float, ...]  # [M]


@dataclass(frozen=True, eq=False)
class Decider:
    """One run under one setting; made once, and asked of every case that comes in."""

    run: Run
    run_digest: str
    learned: Cohort  # every case of the table the run learned from
    errors: ErrorModel | None
    setting: Setting
    day: DaySetting
    point: OperatingPoint  # by which it decides
    rate: float  # log-odds for a unit of expected saving, of the val cases
    prices: Prices
    stop: StopThresholds

    @classmethod
    def of(cls, run: Run, run_digest: str, learned: Cohort, errors: ErrorModel | None, setting: Setting) -> Decider:
        """Whatever a run needs to decide under a setting; prices are those of the val cases of what it learned from."""
        run.check_readers(learned)
        if setting.compare_with is not None and setting.compare_with < FEWEST_OWN:
            found = f"found {setting.compare_with} cases to compare with"
            raise UserError(f"setting: {found}, expected at least {FEWEST_OWN}")
        val, day = learned.subset(split="val"), day_setting(setting, learned.manifest)
        point = _point(run, setting, day, val, errors)
        free = Prices(0.0, (0.0,) * learned.readers)
        stop = fit_limits(learned.subset(split="train"))
        first = cls(run, run_digest, learned, errors, setting, day, point, 0.0, free, stop)
        first = replace(first, rate=first.rate_of(val))
        return replace(first, prices=_prices_of(first.ranked(val), day))

    @property
    def manifest(self) -> Manifest:
        """What cases are known by."""
        return self.learned.manifest

    @cached_property
    def terms(self) -> Terms:
        """What an enquiry about a case needs besides its beliefs."""
        method = method_of(self.run)
        if not isinstance(method, Enquires):
            return Terms(self.point.costs, 1, fuse=False)
        fuse = method.outlook(self.run, self.learned.rows(np.arange(1)))(self.point).fuse
        return Terms(self.point.costs, method.most_readers(self.run), fuse)

    @cached_property
    def basis(self) -> Basis:
        """By what it decides, as it is kept with every case."""
        costs = self.point.costs
        return Basis({
            "run": self.run_digest,
            "method": self.run.method,
            "setting": self.setting.content(),
            "inputs": list(self.manifest.layout.names),
            "drawn": list(self.manifest.drawn),
            "readers": list(self.manifest.columns),
            "costs": [costs.false_negative, costs.false_positive, *costs.fees],
            "limit": self.terms.limit,
            "fuse": self.terms.fuse,
        })  # fmt: skip

    def decided(self, cohort: Cohort) -> Decided:
        """What is done with each of some cases, whichever others come with them."""
        ranked = self.ranked(cohort)
        expected = expectations_at(self.run, ranked.cohort, self.point, self.errors)
        method, cases, readers = method_of(self.run, cohort), len(cohort), cohort.readers
        answers = np.zeros((cases, readers, 0))
        if isinstance(method, Enquires):
            answers = method.outlook(self.run, ranked.cohort)(self.point).answers
        net = self._wish(ranked) - self.prices.place - self._reader_prices
        unknown = np.full((cases, 1 + readers), np.nan)
        beliefs = Beliefs(
            kept=ranked.kept,
            positive=unknown[:, 0] if expected is None else expected.positive,
            worth=np.where(np.isfinite(ranked.order), net, -np.inf),
            costs=unknown if expected is None else expected.cost,
            answers=answers,
        )
        why = [""] * cases if expected is None else reasons(ranked, beliefs.action, expected)
        stops = self.stop.stops(self.filled(cohort))["stop"].to_numpy(str)
        return Decided(beliefs, self.prices.place, stops, tuple(why))

    def decide(self, cohort: Cohort) -> list[Decision]:
        """The same, a case at a time."""
        found = self.decided(cohort)
        beliefs, columns = found.beliefs, self.manifest.columns
        possible = np.isfinite(beliefs.worth)
        best = beliefs.worth.argmax(-1)
        goes_on = beliefs.answers.shape[-1] > 0 and self.terms.limit > 1
        return [
            Decision(
                action=columns[act - 1] if act else AI,
                then=tuple(columns[j] for j in np.flatnonzero(possible[i]) if goes_on and act and j != act - 1),
                kept=int(beliefs.kept[i]),
                positive=_unless_nan(beliefs.positive[i]),
                cost_kept=_unless_nan(beliefs.costs[i, 0]),
                cost_asked=_unless_nan(beliefs.costs[i, 1 + best[i]]) if possible[i].any() else None,
                price=found.price,
                stop=str(found.stops[i]),
                reason=found.reasons[i],
            )
            for i, act in enumerate(beliefs.action.tolist())
        ]

    def next_question(self, case: Cohort, said: Mapping[str, int | None]) -> str | None:
        """Whose answer is awaited about one case, by column, after what some have said; None where they declined."""
        reader = int(self._standing(case, said).waiting[0])
        return None if reader == NOBODY else self.manifest.columns[reader]

    def label(self, case: Cohort, said: Mapping[str, int | None]) -> int | None:
        """The answer of one case after what some have said; none while another answer is awaited."""
        label = int(self._standing(case, said).label[0])
        return None if label == UNKNOWN else label

    def _standing(self, case: Cohort, said: Mapping[str, int | None]) -> Enquired:
        words, declined = np.full((1, case.readers), UNKNOWN), np.zeros((1, case.readers), bool)
        for column, word in said.items():
            reader = self.manifest.columns.index(column)
            words[0, reader], declined[0, reader] = UNKNOWN if word is None else word, word is None
        return standing(self.decided(case).beliefs, words, declined, self.terms)

    def filled(self, cohort: Cohort) -> Cohort:
        """The cases with what was not measured filled in as the run does, whatever else came in with them."""
        return cohort.filled_with(self.run.notes.get(FILLS) or self._fills)

    def ranked(self, cohort: Cohort) -> RankedCases:
        """The cases ranked by the run at its operating point, under the roster of the day; no other case counts."""
        there = self.filled(cohort).with_available(self.day.limits.present(cohort.manifest))
        method = method_of(self.run, cohort)
        if isinstance(method, DecidesAnew):
            policy, endings = method.together(self.run, there)(self.point)
            preference = preferences(policy, self.run.rule)
            return RankedCases(there, policy.defer, preference, preference, endings)
        policy, preference = self._preference(there)
        several = continuations_at(self.run, there, self.point)
        if several is not None or self.errors is None:
            return RankedCases(there, policy.defer, preference, preference, several and several.together())
        order = reordered(preference, savings(self.errors.predict(there), self.point.costs), self.rate)
        return RankedCases(there, policy.defer, preference, order)

    def rate_of(self, val: Cohort) -> float:
        """Log-odds that a unit of expected saving is worth to the run among some cases; 0 where it does not matter."""
        if self.errors is None or isinstance(method_of(self.run), DecidesAnew):
            return 0.0
        there = self.filled(val).with_available(self.day.limits.present(val.manifest))
        return exchange_rate(self._preference(there)[1], savings(self.errors.predict(there), self.point.costs))

    def _preference(self, there: Cohort) -> tuple[Policy, Floats]:
        policy = mean_policy(policy_at(self.run, there, self.point, self.errors))
        return policy, preferences(policy, self.run.rule)

    def _wish(self, ranked: RankedCases) -> Floats:
        return ranked.wish(self.day.limits.soft)

    @cached_property
    def _reader_prices(self) -> Floats:
        return np.array(self.prices.readers)

    @cached_property
    def _fills(self) -> dict[str, float]:
        return self.learned.train_fills()


def day_setting(setting: Setting, manifest: Manifest) -> DaySetting:
    """The limits and costs of a setting, refused where they need to know the whole day."""
    day = from_query(setting.day, manifest, CASES_A_DAY)
    if not can_arrive(day.limits):
        raise UserError(
            "setting: found a soft budget, a budget by cohort or a reserve, which need the whole day's cases; expected "
            "a hard budget for all, places a day, readers' places or none of them"
        )
    return day


def _point(run: Run, setting: Setting, day: DaySetting, val: Cohort, errors: ErrorModel | None) -> OperatingPoint:
    """The costs by which cases are decided, in the run's unit."""
    costs = in_unit_of(run.costs, day.costs) if day.for_costs else run.costs
    if setting.weight is not None:
        costs = replace(costs, false_negative=setting.weight)
    rates = exchange_rates(run, partial(policy_of, run), val, errors) if costs != run.costs else ()
    return OperatingPoint(costs, setting.confident, rates)


def _prices_of(past: RankedCases, day: DaySetting) -> Prices:
    """What a place costs under the limits of a day, if its cases are like past ones."""
    limits, manifest = day.limits, past.cohort.manifest
    if limits.budget is None and limits.total is None and not limits.capacity:
        return Prices(0.0, (0.0,) * len(manifest.columns))
    rooms = np.minimum(limits.capacities(manifest), day.day).astype(np.int64)
    places = [day.day, int(rooms[limits.present(manifest)].sum())]
    places += [] if limits.budget is None else [int(cases_at(limits.budget, np.array([day.day]))[0])]
    places += [] if limits.total is None else [limits.total]
    place, readers = place_prices(past.order, min(places), rooms, day.day, limits.budget is not None)
    return Prices(float(place), tuple(readers.tolist()))


def _unless_nan(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
