"""Ours less the paper's, cell by cell, with the reason for the difference where one is known.

Every number the paper prints stands beside ours of the same method, cohort and metric, at the paper's own operating
point, as the tables of the study store it. A reason is *shown* where numbers of the two say so, and *likely* where it
is known that something is made otherwise and nobody has measured by how much it matters. There is no third kind: what
neither explains is not known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from mpd2.core.text import brief
from mpd2.evaluation.intervals import TAILS
from mpd2.evaluation.metrics import METRICS, NUMBER
from mpd2.study.definition import ABLATIONS, PAPER_RUN
from mpd2.study.tables import StudyTables

COMPARED = ("overall", "cohorts", "collapse", "retention", "readers", *ABLATIONS)
"""The tables of the study of which the paper prints one."""

COLUMNS = (
    "table", "cohort", "method", "title", "metric", "value", "low", "high", "sd", "n", "published", "published_sd",
    "difference", "inside", "by_seeds", "reason", "evidence",
)  # fmt: skip
LAST_DIGIT = 0.0006  # what printing three decimals can hide
PAPER_SEEDS = 10  # behind each mean the paper prints
PLAIN = "-plain"  # ends the name of a method's form that knows no costs
SHOWN, LIKELY, UNKNOWN = "shown", "likely", "not known"


@dataclass(frozen=True)
class Reason:
    """Why two numbers differ."""

    name: str  # in a cell
    known: str  # SHOWN, LIKELY or UNKNOWN
    words: str
    source: str  # where that can be looked up


SAME = Reason("the same", SHOWN, "The two are equal as far as three printed decimals can tell.", "the number itself")
SEEDS = Reason(
    "seeds", SHOWN, "Another seed changes ours by as much: the spread over seeds covers the difference.",
    "the standard deviation over seeds, ours and the paper's",
)  # fmt: skip
UNDEFINED = Reason(
    "no value", SHOWN,
    "The paper prints 0, which stands for no value: all cases that were kept have one answer or one truth. Not so in "
    "all of our models.",
    "the paper's table of the cases left to the AI",
)  # fmt: skip
OTHER_LOAD = Reason(
    "another load", SHOWN,
    "The paper's share of the busiest readers cannot be of the load that its concentration beside it is of: the "
    "squares of these shares alone exceed it. It does not say of which load it is.",
    "the two columns of the same row",
)  # fmt: skip
THRESHOLD = Reason(
    "threshold", LIKELY, "From which load on a reader counts as idle is not printed; here it is 1 % of the soft load.",
    "mpd2/evaluation/metrics.py",
)  # fmt: skip
ONE_RUN = Reason(
    "one run", SHOWN,
    "The paper's main table shows one run, ours the mean of ten. The mean of ten that the paper prints for the same "
    "configuration is nearer to ours.",
    "the paper's ablation of the objective, first row",
)  # fmt: skip
THE_SAME_RUN = Reason(
    "of one run", LIKELY, "The number is of the paper's one run, ours of ten; the paper prints no mean of ten for it.",
    "RESULTS.md, One run or ten?",
)  # fmt: skip
COSTS = Reason(
    "costs in a baseline", LIKELY,
    "The paper chooses among models of its baselines by their surrogate loss, we train and choose by cost. Our own "
    "form without costs is nearer to the paper's number.",
    "the paper's appendix on baselines, and our plain forms",
)  # fmt: skip
MAKING = Reason(
    "made otherwise", LIKELY,
    "Ours follows the paper's text: inputs standardised on train, shuffled batches, one temperature, deferral trained "
    "through both regularisers. The released implementation does none of these, and its groups come from image "
    "embeddings that are not released.",
    "the released implementation; RESULTS.md, Read this first",
)  # fmt: skip
NOT_KNOWN = Reason("not known", UNKNOWN, "Nothing we know of explains the difference.", "")


def cells(tables: StudyTables, name: str) -> pd.DataFrame:
    """The numbers of one table that the paper prints too: how far apart they are, and whether chance covers that.

    `inside`: the paper's lies in our interval (over cases; of ablations over seeds). `by_seeds`: another seed, or ten
    others where the paper prints a mean, could have given it.
    """
    rows = tables[name].dropna(subset=["published", "value"])
    low, high = (rows[end].to_numpy(float) for end in ("low", "high"))
    printed, difference = rows["published"], rows["value"] - rows["published"]
    return rows.assign(
        table=name,
        difference=difference,
        inside=(printed >= low - LAST_DIGIT) & (printed <= high + LAST_DIGIT),
        by_seeds=difference.abs() <= LAST_DIGIT + _allowance(rows, tables.seeds),
    )


def reproduction(tables: StudyTables) -> pd.DataFrame:
    """Every number the paper prints beside ours, with COLUMNS: the difference, its reason and the evidence for it."""
    rows = pd.concat([cells(tables, name) for name in COMPARED], ignore_index=True)
    rows = rows.assign(reason=NOT_KNOWN.name, evidence="")
    for reason, applies in reversed(RULES):  # so that the first that applies has the last word
        evidence = applies(rows, tables)
        there = evidence.notna()
        rows.loc[there, "reason"], rows.loc[there, "evidence"] = reason.name, evidence[there]
    return rows[list(COLUMNS)]


def furthest(rows: pd.DataFrame) -> pd.DataFrame:
    """In each table the cell in which the two are furthest apart; counts, which have another size, are left out."""
    units = rows["metric"].map(lambda name: METRICS[name].unit if name in METRICS else NUMBER)
    sized = rows[units != NUMBER]
    return sized.loc[sized["difference"].abs().groupby(sized["table"], sort=False).idxmax()]


def one_run(sd: float, seeds: int) -> float:
    """How far one more run may be from the mean of ours."""
    return float(stats.t.ppf(TAILS[1], max(seeds - 1, 1)) * np.nan_to_num(sd) * np.sqrt(1 + 1 / seeds))


def _allowance(rows: pd.DataFrame, seeds: int) -> np.ndarray:
    """How far a printed number may be from ours by the luck of seeds: that of one run, or a mean of several."""
    ours, theirs = rows["sd"].fillna(0.0).to_numpy(float), rows["published_sd"].to_numpy(float)
    means = stats.t.ppf(TAILS[1], seeds + PAPER_SEEDS - 2) * np.sqrt(ours**2 / seeds + theirs**2 / PAPER_SEEDS)
    return np.where(np.isnan(theirs), one_run(1.0, seeds) * ours, means)


# ---------------------------------------------------------------------------------- when a reason applies

Rule = Callable[[pd.DataFrame, StudyTables], pd.Series]
"""From all cells to the evidence in each; NaN where the reason does not apply."""


def _told(rows: pd.DataFrame, where: pd.Series, words: str = "") -> pd.Series:
    return pd.Series(words, rows.index).where(where)


def _same(rows: pd.DataFrame, _: StudyTables) -> pd.Series:
    return _told(rows, rows["difference"].abs() <= LAST_DIGIT)


def _seeds(rows: pd.DataFrame, _: StudyTables) -> pd.Series:
    return _told(rows, rows["by_seeds"])


def _undefined(rows: pd.DataFrame, _: StudyTables) -> pd.Series:
    where = (rows["table"] == "retention") & (rows["metric"] == "MCC") & (rows["published"] == 0)
    return _told(rows, where, "printed as 0.000")


def _other_load(rows: pd.DataFrame, tables: StudyTables) -> pd.Series:
    """Shares whose squares alone make a larger HHI than the one printed beside them."""
    printed = tables["regularisation"].pivot(index="method", columns="metric", values="published")
    readers = len(tables.manifest.readers)
    squares = printed["Top1"] ** 2 + (printed["Top2"] - printed["Top1"]) ** 2
    least = (squares - 1 / readers) / (1 - 1 / readers)
    words = {
        method: f"HHI would be at least {brief(least[method])}, printed is {brief(printed['HHI'][method])}"
        for method in printed.index[least > printed["HHI"]]
    }
    where = (rows["table"] == "regularisation") & rows["metric"].isin(["Top1", "Top2"])
    return rows["method"].map(words).where(where)


def _threshold(rows: pd.DataFrame, _: StudyTables) -> pd.Series:
    return _told(rows, rows["metric"] == "DeadFrac")


def _mean_of_ten(rows: pd.DataFrame, tables: StudyTables) -> pd.Series:
    """The paper's own mean of ten for the same configuration, for cells of its one run; NaN where it prints none."""
    names = dict.fromkeys(tables["objective"]["metric"])
    ten = {metric: tables.of("objective", metric=metric)["full"].published for metric in names}
    ten["Defer"] = ten.get("DeferHard", np.nan)
    ten["TotalCost"] = ten.get("ClinicalCost", np.nan) + ten.get("ExpertCost", np.nan)  # printed are its two parts
    return rows["metric"].map(ten).where((rows["table"] == "overall") & (rows["method"] == PAPER_RUN))


def _one_run(rows: pd.DataFrame, tables: StudyTables) -> pd.Series:
    mean = _mean_of_ten(rows, tables)
    nearer = (rows["value"] - mean).abs() < rows["difference"].abs()
    return mean.map(lambda value: f"the paper's mean of ten: {brief(value)}").where(nearer)


def _same_run(rows: pd.DataFrame, tables: StudyTables) -> pd.Series:
    return _told(rows, (rows["method"] == PAPER_RUN) & _mean_of_ten(rows, tables).isna())


def _costs(rows: pd.DataFrame, tables: StudyTables) -> pd.Series:
    """Cells of a baseline to which our form without costs is nearer than the one with them."""
    keys = ["table", "cohort", "metric", "method"]
    plain = pd.concat([tables[name].assign(table=name) for name in dict.fromkeys(rows["table"])])
    plain = plain[plain["method"].str.endswith(PLAIN)].assign(method=lambda f: f["method"].str.removesuffix(PLAIN))
    value = rows[keys].merge(plain[[*keys, "value"]], how="left", on=keys)["value"].set_axis(rows.index)
    nearer = (value - rows["published"]).abs() < rows["difference"].abs()
    return value.map(lambda one: f"ours without costs: {brief(one)}").where(nearer)


def _making(rows: pd.DataFrame, _: StudyTables) -> pd.Series:
    return _told(rows, rows["table"].isin(list(ABLATIONS)))


RULES: tuple[tuple[Reason, Rule], ...] = (
    (SAME, _same),
    (SEEDS, _seeds),
    (UNDEFINED, _undefined),
    (OTHER_LOAD, _other_load),
    (THRESHOLD, _threshold),
    (ONE_RUN, _one_run),
    (THE_SAME_RUN, _same_run),
    (COSTS, _costs),
    (MAKING, _making),
)
"""The reasons in the order in which they are tried, with what finds the cells they apply to."""

REASONS = {reason.name: reason for reason in (*(reason for reason, _ in RULES), NOT_KNOWN)}
