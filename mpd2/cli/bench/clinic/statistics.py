"""Do the clinic's statistics keep what they promise? Intervals at every look, alarms for nothing, changes found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from mpd2.cli.bench.clinic.drifts import alarms_a_year, among, arrivals, average_run_lengths, planted, watched
from mpd2.cli.output import aligned, say
from mpd2.clinic.shadow.deciders import keeping_sensitivity
from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.evidence.monitoring import learned_of, past_of
from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import ErrorModel
from mpd2.core.policy import decided_together
from mpd2.core.rng import Stream, stream
from mpd2.core.runs import Run
from mpd2.evaluation.intervals import wilson
from mpd2.evaluation.over_time.monitors import A_DAY, FALSE_ALARMS, ODDS_RATIO, SLACK, cusum
from mpd2.evaluation.over_time.reader_updates import updated_rates
from mpd2.evaluation.over_time.sequences import (
    ALPHA,
    TIGHT_AT,
    ClusterSums,
    difference_sequence,
    mean_sequence,
    rate_sequence,
    ratio_sequence,
)
from mpd2.methods.registry import continuations_of, policy_of

PARTS = ("intervals", "readers", "monitors")
WEEKS, A_WEEK = 52, 2_100
FEW_A_WEEK = 60  # cases of the test split a week, replayed once each
ROWS = 3  # of a patient at most, where rows belong together
READERS = 12
OTHER_SETTINGS = (52.0, 365.0)  # alarms for nothing a year


def bench_clinic_statistics(
    cohort: Cohort, run: Run, errors: ErrorModel | None, replays: int, others: bool = True, parts: Sequence[str] = PARTS
) -> dict[str, Any]:
    """Everything by simulation on a table's cases and a run's decisions, or some PARTS; plain values, for JSON."""
    found: dict[str, Any] = {"setting": {"replays": replays}}
    if "intervals" in parts:
        say("intervals")
        coverage = sequence_coverage(_Differences.of(run, cohort.rows(cohort.split != "train")), replays)
        coverage += once_each(_Differences.of(run, cohort.subset(split="test")), replays)
        found["setting"] |= {"alpha": ALPHA, "tight_at": TIGHT_AT, "weeks": WEEKS, "a_week": A_WEEK}
        found["coverage"] = coverage
    if "readers" in parts:
        say("readers")
        found["readers"] = reader_coverage(replays)
    if "monitors" in parts:
        say("monitors")
        decider = Decider.of(run, "", cohort, errors, keeping_sensitivity(run, cohort, errors))
        setting, rung = _monitors(decider, replays, others)
        found["setting"] |= setting
        found |= rung
    return found | {"seconds": speed()}


def _monitors(decider: Decider, replays: int, others: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """How often what the clinic's page watches rings, without a change and after one."""
    cohort = decider.learned
    learned, later = learned_of(decider), past_of(decider, cohort.rows(cohort.split != "train"))
    watching, local = watched(decider, learned), watched(decider, among(later))
    setting = {
        "monitors": len(watching), "false_alarms_a_year": FALSE_ALARMS, "cases_a_day": A_DAY, "slack": SLACK,
        "odds_ratio": ODDS_RATIO, "learned": len(learned.every.cohort), "stream": len(later.cohort),
    }  # fmt: skip
    found: dict[str, Any] = {
        "run_lengths": average_run_lengths(watching, learned, replays),
        "alarms_a_year": {
            "learned": alarms_a_year(watching, arrivals(watching, learned)),
            "later cases": alarms_a_year(watching, arrivals(watching, among(later))),
            "later cases, compared with themselves": alarms_a_year(local, arrivals(local, among(later))),
        },
        "delays": planted(watching, later, decider, replays),
    }
    if others:
        found["other_settings"] = [
            {"false_alarms_a_year": each}
            | {"delays": planted(watched(decider, learned, each), later, decider, replays, beside=False)}
            for each in OTHER_SETTINGS
        ]
    return setting, found


class _Differences:
    """Of each case how the run and the AI alone end: whether either errs, and what either costs."""

    def __init__(self, wrong: Bools, ai_wrong: Bools, cost: Floats) -> None:
        self.wrong, self.sign, self.cost = wrong, wrong.astype(int) - ai_wrong.astype(int), cost

    @staticmethod
    def of(run: Run, cohort: Cohort) -> _Differences:
        decisions = decided_together(policy_of(run, cohort), cohort, run.rule, continuations_of(run, cohort))
        fees = np.append(run.costs.fees, 0.0)[decisions.consulted].sum(-1)  # nobody is the last, and free

        def errors(label: np.ndarray) -> Floats:
            missed, alarmed = (label == 0) & (cohort.truth == 1), (label == 1) & (cohort.truth == 0)
            return run.costs.false_negative * missed + run.costs.false_positive * alarmed

        wrong, ai_wrong = decisions.label != cohort.truth, cohort.ai_label != cohort.truth
        return _Differences(wrong, ai_wrong, errors(decisions.label) + fees - errors(cohort.ai_label))

    def sums(self, counts: Floats, kinds: Floats) -> tuple[Floats, ...]:
        """Errors, +1, −1, cost and its square of counts by kind of case, [..., K] to [...] each."""
        wrong, sign, cost = kinds.T
        return counts @ wrong, counts @ (sign > 0), counts @ (sign < 0), counts @ cost, counts @ cost**2


def sequence_coverage(of: _Differences, replays: int) -> list[dict[str, Any]]:
    """How many replays of a year of weeks each kind of interval is right in at every look; cases drawn at random."""
    random = stream(0, Stream.SIMULATION)
    kinds, chance = np.unique(np.column_stack([of.wrong, of.sign, of.cost]), axis=0, return_counts=True)
    drawn = random.multinomial(A_WEEK, chance / chance.sum(), size=(replays, WEEKS)).cumsum(1).astype(float)
    n = np.broadcast_to(np.arange(1, WEEKS + 1) * float(A_WEEK), drawn.shape[:2])
    truth = (of.wrong.mean(), of.sign.mean(), of.cost.mean())
    rows = _of_sums(of.sums(drawn, kinds), n, truth, f"{A_WEEK:,} a week, drawn at random")
    return [*rows, _of_clusters(of.cost, replays, random)]


def once_each(of: _Differences, replays: int) -> list[dict[str, Any]]:
    """The same on every case once, in random order; what is estimated is what all of them come to."""
    random, size = stream(1, Stream.SIMULATION), len(of.cost)
    order = random.permuted(np.tile(np.arange(size), (replays, 1)), axis=1)
    ends = np.append(np.arange(FEW_A_WEEK, size, FEW_A_WEEK), size)
    parts = [of.wrong, of.sign > 0, of.sign < 0, of.cost, of.cost**2]
    sums = tuple(np.cumsum(part.astype(float)[order], axis=1)[:, ends - 1] for part in parts)
    n = np.broadcast_to(ends.astype(float), sums[0].shape)
    truth = (of.wrong.mean(), of.sign.mean(), of.cost.mean())
    return _of_sums(sums, n, truth, f"{size:,} cases once each, {FEW_A_WEEK} a week")


def _of_sums(sums: tuple[Floats, ...], n: Floats, truth: tuple[float, ...], cases: str) -> list[dict[str, Any]]:
    wrong, plus, minus, cost, squares = sums
    half = 1.959964 * np.sqrt(np.maximum(squares / n - (cost / n) ** 2, 0) / n)
    ends = {
        "share of errors": (truth[0], rate_sequence(wrong, n), wilson(wrong, n)),
        "difference of errors": (truth[1], difference_sequence(plus, minus, n), None),
        "difference of cost": (truth[2], mean_sequence(cost, squares, n), (cost / n - half, cost / n + half)),
    }
    return [
        {"what": what, "cases": cases} | _judged(true, *sequence) | _ordinary(true, ordinary)
        for what, (true, sequence, ordinary) in ends.items()
    ]


def _of_clusters(cost: Floats, replays: int, random: np.random.Generator) -> dict[str, Any]:
    """Costs of patients with 1 to ROWS rows that are all alike: the widest a cluster can make an interval."""
    patients = A_WEEK // 2
    sums = []
    for _ in range(WEEKS):
        own, size = random.choice(cost, (replays, patients)), random.integers(1, ROWS + 1, (replays, patients))
        parts = (own * size, size, (own * size) ** 2, own * size * size, size**2, np.ones_like(own))
        sums.append([part.sum(1) for part in parts])
    total = np.cumsum(np.array(sums, float), axis=0).transpose(1, 2, 0)  # [6, R, weeks]
    ends = ratio_sequence(ClusterSums(*total))
    return {"what": "difference of cost", "cases": f"{patients:,} patients a week of 1 to {ROWS} rows"} | _judged(
        cost.mean(), *ends
    )


def _judged(truth: float, low: Floats, high: Floats) -> dict[str, Any]:
    right = ((low <= truth) & (truth <= high)).all(1).mean()
    width = np.median(high - low, axis=0)
    return {
        "always_right": float(right),
        "error": float(np.sqrt(right * (1 - right) / len(low))),
        "half_width_first_week": _half(width[0]),
        "half_width_last_week": _half(width[-1]),
    }


def _half(width: float) -> float | None:
    return float(width / 2) if np.isfinite(width) else None


def _ordinary(truth: float, ends: tuple[Floats, Floats] | None) -> dict[str, Any]:
    """How often an ordinary 95 % interval, looked at as often, is right at every look."""
    if ends is None:
        return {}
    return {"ordinary_always_right": float(((ends[0] <= truth) & (truth <= ends[1])).all(1).mean())}


def reader_coverage(replays: int) -> list[dict[str, Any]]:
    """How many readers' and newcomers' intervals are right, in populations that are more and less alike."""
    rows = []
    for mean, strength in ((0.85, 20.0), (0.6, 8.0)):
        random = stream(6, Stream.SIMULATION)
        right, newcomers, plain = [], [], []
        for _ in range(replays):
            rates = random.beta(mean * strength, (1 - mean) * strength, size=READERS + 1)
            learned, new = random.integers(0, 150, READERS), random.integers(0, 30, READERS)
            hits, more = random.binomial(learned, rates[:-1]), random.binomial(new, rates[:-1])
            found = updated_rates(hits, learned, more, new)
            right.append(((found.low <= rates[:-1]) & (rates[:-1] <= found.high)).mean())
            newcomers.append(found.population[1] <= rates[-1] <= found.population[2])
            own = np.where(learned + new > 0, (hits + more) / np.maximum(learned + new, 1), 0.5)
            plain.append([np.square(own - rates[:-1]).mean(), np.square(found.rate - rates[:-1]).mean()])
        rows.append(
            {"mean": mean, "readings_alike": strength, "right": float(np.mean(right))}
            | {"error": float(np.std(right) / np.sqrt(replays)), "newcomers_right": float(np.mean(newcomers))}
            | {"error_newcomers": float(np.std(newcomers) / np.sqrt(replays))}
            | dict(zip(("rms_alone", "rms_shrunk"), np.sqrt(np.mean(plain, axis=0)).tolist(), strict=True))
        )
    return rows


def speed() -> dict[str, float]:
    """Seconds for 200 weeks of 10 parts, and for 100,000 cases of 30 monitors; the least of three."""
    random = stream(7, Stream.SIMULATION)
    n = np.cumsum(np.full((200, 10), A_WEEK // 10), axis=0)
    plus, minus = n // 25, n // 50
    values = random.normal(size=(100_000, 30))
    deeds: dict[str, Callable[[], object]] = {
        "rate_sequence, 2,000": lambda: rate_sequence(plus, n),
        "difference_sequence, 2,000": lambda: difference_sequence(plus, minus, n),
        "cusum, 100,000 by 30": lambda: cusum(values),
        "updated_rates, 12 readers": lambda: updated_rates(np.arange(40, 52), np.full(12, 60), 5, 6),
    }
    return {name: min(_seconds(deed) for _ in range(3)) for name, deed in deeds.items()}


def _seconds(deed: Callable[[], object]) -> float:
    begin = perf_counter()
    deed()
    return perf_counter() - begin


def describe_clinic_statistics(found: dict[str, Any]) -> str:
    """The figures as text."""
    coverage = [
        (each["what"], each["cases"], f"{each['always_right']:.1%}", _share(each.get("ordinary_always_right")))
        for each in found.get("coverage", ())
    ]
    lengths = [
        (each["monitor"], f"{each['promised']:,.0f}", f"{each['found']:,.0f} ± {1.96 * each['error']:,.0f}")
        for each in found.get("run_lengths", ())
    ]
    years = [(name, f"{sum(each.values()):.1f}") for name, each in found.get("alarms_a_year", {}).items()]
    delays = [
        (
            each["change"],
            each["monitor"],
            _cases(each["median_cases"]),
            _cases(each["median_values"]),
            f"{each['within']:.0%}",
        )
        for each in found.get("delays", ())
    ]
    seconds = [(name, f"{each:.3f}") for name, each in found["seconds"].items()]
    tables: list[tuple[tuple[str, ...], list[tuple[str, ...]]]] = [
        (("always right", "", "sequence", "ordinary"), [*coverage]),
        (("run length", "promised", "found"), [*lengths]),
        (("alarms a year, all monitors", ""), [*years]),
        (("change", "monitor", "median cases", "its values", "within 500"), [*delays]),
        (("seconds", ""), [*seconds]),
    ]
    return "\n\n".join(aligned([head, *rows]) for head, rows in tables if rows)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _cases(value: float | None) -> str:
    return "never" if value is None else f"{value:,.0f}"
