"""For whom it works: results by cohort and by what is known of a case, each group against all other cases.

Bands are thirds of the training cases, so that the cases that are judged have no part in where they begin. With many
comparisons some look beyond chance that are not: besides its own interval each gap has one that holds for all of them
together, as wide as the largest of all standardised gaps is by chance in 95 % of resamples (Westfall and Young, 1993).

A group in which nobody errs is not thereby certain: every resample has half an imagined right answer and half a wrong
one among the sick and among the well, on either side, of random weight (the bootstrap of Jeffreys' interval).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.text import plain_words
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import LEVEL, mean_of, percentiles, sd_of
from mpd2.evaluation.metrics import COUNTED, COUNTS, metrics_of

JUDGED = ("Sens", "Spec", "TotalCost", "Defer")
IMAGINED = 0.5  # answers of either kind, on average
FEWEST = 5  # cases of the kind a metric is about, in a group and outside it, below which nothing is compared
BANDS = 3
OTHERS = 3  # inputs without a role that are looked at
ANSWERS = [COUNTS.index(name) for name in ("TP", "FP", "FN", "TN")]
COHORT = "cohort"  # the kind of group that is no band


@dataclass(frozen=True, eq=False)
class Group:
    """Some of the cases."""

    kind: str  # COHORT, or the state variable
    title: str  # as shown
    rows: Bools  # [N]


def banded(manifest: Manifest) -> dict[str, tuple[str, str, str]]:
    """The inputs whose thirds are groups, and the name of each third from low to high.

    How poor the recording is, how unlike training, one input of structure, and up to OTHERS that have no role: more
    would be comparisons of which some look beyond chance.
    """
    layout, case = manifest.layout, manifest.task.case
    named = dict.fromkeys(layout.qualities[:1], (f"good {case}", f"middling {case}", f"poor {case}"))
    named |= dict.fromkeys(layout.distances[:1], (f"familiar {case}", f"less familiar {case}", f"unfamiliar {case}"))
    roles = [[layout.variables[at] for at in layout.of_role(role)] for role in ("structure", "other")]
    for role, most in zip(roles, (1, OTHERS), strict=True):
        measured = [each for each in role if each.measured and each.name not in named][:most]
        named |= {each.name: (f"low {each.title}", f"middling {each.title}", f"high {each.title}") for each in measured}
    return named


def groups(cohort: Cohort, train: Cohort) -> list[Group]:
    """The cohorts, then the thirds of each variable; a group that has no case, or all, is left out.

    A variable of few values has a group for each of them, and cells that are empty in the table are in no group.
    """
    manifest = cohort.manifest
    every = [Group(COHORT, entry.name, cohort.sources == entry.key) for entry in manifest.cohorts]
    for variable, names in banded(manifest).items():
        there = ~cohort.absent[:, cohort.layout.position(variable)]
        seen = train.column(variable)[~train.absent[:, train.layout.position(variable)]]
        values = cohort.column(variable)
        distinct = np.unique(seen)
        if len(distinct) <= BANDS:
            words = value_words(manifest, variable)
            every += [Group(variable, words(value), there & (values == value)) for value in distinct.tolist()]
        else:
            ends = np.quantile(seen, np.arange(1, BANDS) / BANDS)
            band = np.searchsorted(ends, values, side="right")  # [N]
            every += [Group(variable, name, there & (band == place)) for place, name in enumerate(names)]
    return [group for group in every if group.rows.any() and not group.rows.all()]


def value_words(manifest: Manifest, variable: str) -> Callable[[float], str]:
    """How a value of an input is called: by the word the table has for it, else by its number."""
    titles, found = manifest.layout.titles, [each for each in manifest.inputs if each.column == variable]
    words = {value: word for each in found for word, value in each.codes.items()}
    return lambda value: f"{titles[variable]} {plain_words(words.get(value, f'{value:g}'))}"


def subgroups(
    evidence: Evidence, run: str, split: Sequence[Group], weights: Floats, beside: str = "ai"
) -> pd.DataFrame:
    """JUDGED metrics of a run in each group, how far it is from all other cases, and the same of the run `beside` it.

    Values and gaps on the shared resamples `weights`, [R, N]. Columns: kind, group, metric, n, positives, value, low,
    high, beside (its value), gap (group less all others), gap_low, gap_high, wide_low, wide_high (for all comparisons
    together), beyond and beyond_all (whether the narrow and the wide interval exclude 0). A gap between fewer than
    FEWEST cases of the kind the metric is about is NaN and no comparison.
    """
    if not split:
        raise UserError("subgroups: found no group with a case outside it, expected at least one")
    drawn = np.vstack([np.ones(len(evidence.cohort)), weights])  # as observed first, [1 + R, N]
    inside, gaps = _in_and_apart(evidence, run, split, drawn)  # [1 + R, G, K]
    counted = _comparable(evidence.cohort, split)  # [G, K]
    gaps = np.where(counted, gaps, np.nan)
    low, high = _holding(inside)
    gap_low, gap_high = _holding(gaps)
    wide = widened(gaps)
    other, _ = _in_and_apart(evidence, beside, split, drawn[:1])
    sick = evidence.cohort.truth == 1
    columns = {
        "value": inside[0], "low": low, "high": high, "beside": other[0], "gap": gaps[0],
        "gap_low": gap_low, "gap_high": gap_high, "wide_low": gaps[0] - wide, "wide_high": gaps[0] + wide,
        "beyond": (gap_low > 0) | (gap_high < 0), "beyond_all": np.abs(gaps[0]) > wide,
    }  # fmt: skip
    return pd.DataFrame({
        "kind": np.repeat([group.kind for group in split], len(JUDGED)),
        "group": np.repeat([group.title for group in split], len(JUDGED)),
        "metric": np.tile(JUDGED, len(split)),
        "n": np.repeat([int(group.rows.sum()) for group in split], len(JUDGED)),
        "positives": np.repeat([int((group.rows & sick).sum()) for group in split], len(JUDGED)),
        **{name: values.ravel() for name, values in columns.items()},
    })  # fmt: skip


@dataclass(frozen=True)
class Comparisons:
    """How many gaps were looked at, and how many stand out."""

    made: int
    by_chance: float  # expected beyond their own 95 % if there were no gap at all
    beyond: int  # by their own interval
    beyond_all: int  # by the interval for all together


def comparisons(rows: pd.DataFrame) -> Comparisons:
    """Of a table of `subgroups`."""
    made = int(rows["gap"].notna().sum())
    return Comparisons(made, (1 - LEVEL) * made, int(rows["beyond"].sum()), int(rows["beyond_all"].sum()))


def widened(gaps: Floats) -> Floats:
    """Half the width of intervals that hold for all gaps together, [1 + R, G, K] to [G, K]; the observed come first.

    NaN where there is no gap.
    """
    spread = sd_of(gaps[1:])  # [G, K]
    moved = np.where(spread > 0, np.abs(gaps[1:] - gaps[0]) / np.where(spread > 0, spread, 1.0), 0.0)
    largest = np.nan_to_num(moved, nan=0.0).max((1, 2))  # [R]
    return float(np.quantile(largest, LEVEL)) * spread


def _in_and_apart(evidence: Evidence, run: str, split: Sequence[Group], drawn: Floats) -> tuple[Floats, Floats]:
    """JUDGED of each group, and how far that is from all other cases, mean over members, both [R, G, K].

    The first of the R weightings is of the cases as they are, the others are resamples.
    """
    if run not in evidence.outcomes:
        raise UserError(f"subgroups: found no run {run!r}, expected one of {', '.join(evidence.outcomes)}")
    tally = evidence.tallies[run]
    every = tally.weighted(drawn)  # [R, ..., C]
    imagined = np.random.default_rng(0).gamma(IMAGINED, size=(len(drawn), len(split), 2, len(ANSWERS)))
    imagined[0] = 0.0
    inside, outside = [], []
    for place, group in enumerate(split):
        counts = np.tensordot(drawn[:, group.rows], tally.cases[..., group.rows, :], axes=((1,), (-2,)))
        inside.append(_judged(counts, imagined[:, place, 0]))
        outside.append(_judged(every - counts, imagined[:, place, 1]))
    values = np.stack(inside, axis=1)
    return values, values - np.stack(outside, axis=1)


def _judged(counts: Floats, imagined: Floats) -> Floats:
    """JUDGED of COUNTS, [R, ..., C], mean over members, [R, K]; rates with imagined ANSWERS, [R, 4]."""
    metrics = metrics_of(counts)[..., [COUNTED.index(name) for name in JUDGED]].reshape(len(counts), -1, len(JUDGED))
    tp, fp, fn, tn = np.moveaxis(counts[..., ANSWERS].reshape(len(counts), -1, len(ANSWERS)) + imagined[:, None], -1, 0)
    for name, right, wrong in (("Sens", tp, fn), ("Spec", tn, fp)):
        there = ~np.isnan(metrics[..., JUDGED.index(name)])
        rate = np.divide(right, right + wrong, out=np.full(right.shape, np.nan), where=there)
        metrics[..., JUDGED.index(name)] = rate
    return mean_of(metrics, axis=1)


def _holding(samples: Floats) -> tuple[Floats, Floats]:
    """The percentile interval of resamples, made to hold what was observed, which comes first."""
    low, high = percentiles(samples[1:])
    return np.minimum(low, samples[0]), np.maximum(high, samples[0])


def _comparable(cohort: Cohort, split: Sequence[Group]) -> Bools:
    """Whether a group and the others both have enough cases for a metric, [G, K]."""
    about = {"Sens": cohort.truth == 1, "Spec": cohort.truth == 0}
    kinds = np.stack([about.get(name, np.ones(len(cohort), bool)) for name in JUDGED])  # [K, N]
    rows = np.stack([group.rows for group in split])  # [G, N]
    inside, outside = (part.astype(int) @ kinds.T.astype(int) for part in (rows, ~rows))
    return np.asarray(np.minimum(inside, outside) >= FEWEST)
