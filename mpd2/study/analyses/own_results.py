"""The results of any workspace in words: what its table can bear, what every method did, and what is not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import Cohort
from mpd2.core.text import NOTHING, brief, count, listed, sentence
from mpd2.evaluation.intervals import LEVEL, Estimate, resamples_for, wilson
from mpd2.study.definition import PLUS_RUN
from mpd2.study.results import SECTIONS, markdown, section
from mpd2.study.robustness import AI, COST
from mpd2.study.sentences import no_patients
from mpd2.study.tables import StudyTables

MAIN = ("Sens", "Spec", "Defer", "ExpertCost", COST)
COSTS = ("ClinicalCost", "ExpertCost", COST)
IN_COHORTS = (AI, "recalibrated", PLUS_RUN)
RECALIBRATED = ("recalibrated-score", "recalibrated")
ASSUMED = 0.85  # sensitivity at which the width of an interval is told
FEW = 20  # positives below which the sensitivity among them is called unknown
HEADINGS = {"plus": "MPD²+ taken apart"}  # in place of those beside a paper
TOLD_APART = ("overall", "cohorts", "paired")  # their sections are here

Rows = list[list[str]]


def own_results(frames: Mapping[str, pd.DataFrame], cohort: Cohort, where: str) -> str:
    """The document about a table, the same for the same tables; `where` is their folder."""
    tables, manifest = StudyTables(frames, cohort.manifest), cohort.manifest
    parts = [
        f"# {manifest.title}",
        f"Written by `python -m mpd2 reproduce` from `{where}`; every figure below follows from them.",
        "## What it can bear",
        "\n".join(f"- {each}" for each in (*about(cohort), *cautions(tables, cohort))),
        f"## {SECTIONS['overall']}",
        _main_note(tables),
        markdown(main_rows(tables, cohort)),
        recalibration_words(tables),
        f"## {SECTIONS['cohorts']}",
        cohort_words(cohort),
        markdown(cohort_rows(tables, cohort)),
    ]
    if "paired" in frames:
        parts += [f"## {SECTIONS['paired']}", PAIRED, markdown(paired_rows(tables)), paired_words(tables)]
    for name in SECTIONS:
        if name in frames and name not in TOLD_APART:
            heading, *rest = section(tables, name)
            parts += [f"## {HEADINGS[name]}" if name in HEADINGS else heading, *rest]
    return "\n\n".join(filter(None, parts)) + "\n"


# ---------------------------------------------------------------------------------- what the table can bear


def about(cohort: Cohort) -> list[str]:
    """What is in the table and where it comes from."""
    manifest, test = cohort.manifest, cohort.subset(split="test")
    task, groups = manifest.task, manifest.groups
    of_groups = f" of {count(len(clusters_of(cohort)))} {groups.word}s" if groups else ""
    parts = [f"{count(int((cohort.split == split).sum()))} {split}" for split in ("train", "val", "test")]
    said = [
        *filter(None, [no_patients(manifest)]),
        f"{count(len(cohort))} rows{of_groups} ({listed(parts)}). The truth is *{task.positive}* in "
        f"{count(int((cohort.truth == 1).sum()))} of them, in test in {count(int((test.truth == 1).sum()))} of "
        f"{count(len(test))}; elsewhere *{task.negative}*.",
        f"{len(manifest.readers)} readers: {listed([reader.name for reader in manifest.readers])}.",
    ]
    origins = {entry.readings for entry in manifest.cohorts}
    said += [f"Where the readings come from: they are {listed(sorted(origins))}."] if origins != {"unknown"} else []
    said += [*manifest.assumptions, *([f"Credit: {manifest.credit}"] if manifest.credit else [])]
    return said


def cautions(tables: StudyTables, cohort: Cohort) -> list[str]:
    """How sure numbers are, and what is too small to be known."""
    test, task = cohort.subset(split="test"), cohort.manifest.task
    sick = int((test.truth == 1).sum())
    unit = f"whole {cohort.manifest.groups.word}s" if cohort.manifest.groups else "cases"
    said = [
        "Research software, not a medical device.",
        f"{known_to(sick, task.positives, 'sensitivity')} Two methods on the same cases can be told apart a little "
        "better than that, as the paired differences show.",
        f"Intervals are {LEVEL:.0%}, over {resamples_for(len(test))} resamples of {unit}, for one figure at a time: of "
        "twenty ties, one looks like a difference.",
        "Rows marked as not deployable know the answers; they bound the others.",
    ]
    oracle = tables.of("readers", by="reader", metric="FN", method="best-oracle") if "readers" in tables.tables else {}
    if oracle:
        missed = next(iter(oracle.values())).value
        found = "each is found by some reader" if missed < 1 else f"no reader on hand finds {missed:.0f}"
        said.append(f"Of {sick} {task.positives} in test, {found}.")
    return said


def known_to(positives: int, word: str, rate: str) -> str:
    """How well a rate can be known from so many cases.

    >>> known_to(34, "findings", "sensitivity")
    '34 findings in test: sensitivity is known to ±12 points.'
    """
    if not positives:
        return f"No {word} in test: {rate} cannot be known."
    low, high = wilson(round(ASSUMED * positives), positives)
    return f"{positives} {word} in test: {rate} is known to ±{50 * float(high - low):.0f} points."


# ---------------------------------------------------------------------------------- tables of its own


def _main_note(tables: StudyTables) -> str:
    groups = tables.manifest.groups
    unit = f"of whole {groups.word}s" if groups else "of cases"
    return (
        f"Cheapest first. Mean over the trained copies of a method, with the interval over resamples {unit}. Missed is "
        f"the mean number over copies, costs are per 1,000 rows. {UNSPREAD}"
    )


def main_rows(tables: StudyTables, cohort: Cohort) -> Rows:
    """Every method, the cheapest first: what it misses, its rates and its costs, with intervals."""
    test = cohort.subset(split="test")
    sick = int((test.truth == 1).sum())
    sizes = {"Sens": sick, "Spec": len(test) - sick}
    columns = {metric: tables.of("overall", metric=metric) for metric in MAIN}
    names = sorted(columns[COST], key=lambda name: columns[COST][name].value)
    body = [
        [
            tables.titles[name],
            _missed(columns["Sens"][name], sick),
            *(_shown(columns[metric][name], metric, sizes.get(metric, 0)) for metric in MAIN),
        ]
        for name in names
    ]
    return [["method", f"missed of {sick}", *MAIN], *body]


def recalibration_words(tables: StudyTables) -> str:
    """The AI beside what it is worth with another threshold or recalibrated, and beside MPD²+."""
    cost, sens = (tables.of("overall", metric=metric) for metric in (COST, "Sens"))
    there = [name for name in (AI, *RECALIBRATED, PLUS_RUN) if name in cost]
    if AI not in there or len(there) < 2:
        return ""
    each = [f"{tables.titles[name]} {_shown(cost[name], COST)}, finding {sens[name].value:.0%}" for name in there]
    return sentence(
        f"the AI as it is, recalibrated, and with readers, by total cost: {'; '.join(each)}. What recalibration alone "
        "brings needs no reader, and is to be set against what readers bring"
    )


def cohort_words(cohort: Cohort) -> str:
    """In how many cohorts a sensitivity can be known at all."""
    task, sick = cohort.manifest.task, _positives(cohort)
    few = [f"{name} ({n})" for name, n in sick.items() if n < FEW]
    if not few:
        return f"Every cohort has at least {FEW} {task.positives} in test."
    return (
        f"With fewer than {FEW} {task.positives} in test a sensitivity is as good as unknown, and so is who is best: "
        f"{listed(few)}."
    )


def cohort_rows(tables: StudyTables, cohort: Cohort) -> Rows:
    """In each cohort the positives in test, and sensitivity and total cost of the AI, recalibrated, and MPD²+."""
    sick = _positives(cohort)
    rows = {(row["cohort"], row["method"], row["metric"]): row for row in tables["cohorts"].to_dict("records")}
    names = [name for name in IN_COHORTS if name in tables.titles]
    heads = [f"{metric} {tables.titles[name]}" for name in names for metric in ("Sens", COST)]
    body = []
    for key, title in tables.cohorts.items():
        sizes = {"Sens": sick[title]}
        cells = [rows[key, name, metric] for name in names for metric in ("Sens", COST)]
        shown = [
            _shown(Estimate(row["value"], row["low"], row["high"]), row["metric"], sizes.get(row["metric"], 0))
            for row in cells
        ]
        body.append([title, str(sick[title]), *shown])
    return [["cohort", tables.manifest.task.positives, *heads], *body]


PAIRED = (
    "What a method has more than the one named in the column, on the same resamples, costs per 1,000 rows: where the "
    "interval leaves out 0, the two differ beyond chance."
)


def paired_rows(tables: StudyTables) -> Rows:
    """Total cost and sensitivity of every method less those of the first reference."""
    first = _reference(tables)
    cost, sens = (tables.of("paired", reference=first, metric=metric) for metric in (COST, "Sens"))
    names = sorted(cost, key=lambda name: cost[name].value)
    body = [[tables.titles[name], _more(cost[name]), str(sens[name])] for name in names]
    return [["method", *(f"{metric}, less {tables.titles[first]}" for metric in (COST, "Sens"))], *body]


def paired_words(tables: StudyTables) -> str:
    """Whom the reference differs from beyond chance."""
    first = _reference(tables)
    cost = tables.of("paired", reference=first, metric=COST)
    groups = {
        "dearer than": [name for name, less in cost.items() if less.low > 0],
        "cheaper than": [name for name, less in cost.items() if less.high < 0],
        "not known to differ from": [name for name, less in cost.items() if less.low <= 0 <= less.high],
    }
    parts = [f"{_some(tables, names)} {word} {tables.titles[first]}" for word, names in groups.items() if names]
    return sentence("; ".join(parts))


def _some(tables: StudyTables, names: Sequence[str]) -> str:
    return f"{tables.named(names)} {'is' if len(names) == 1 else 'are'}"


def _reference(tables: StudyTables) -> str:
    return str(tables["paired"]["reference"].iloc[0])


def _positives(cohort: Cohort) -> dict[str, int]:
    """Positives in test by the cohort's name."""
    test = cohort.subset(split="test")
    return {
        entry.name: int((test.truth[test.source == place] == 1).sum())
        for place, entry in enumerate(cohort.manifest.cohorts)
    }


def _missed(sensitivity: Estimate, sick: int) -> str:
    return NOTHING if np.isnan(sensitivity.value) else f"{sick * (1 - sensitivity.value):.1f}".removesuffix(".0")


def _shown(one: Estimate, metric: str, n: int = 0) -> str:
    """A metric with its interval; a cost per 1,000 rows."""
    if metric not in COSTS:
        return _cell(one, n)
    value, low, high = _per_1000(one)
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def _more(one: Estimate) -> str:
    value, low, high = _per_1000(one)
    return f"{value:+.1f} [{low:+.1f}, {high:+.1f}]"


def _per_1000(one: Estimate) -> tuple[float, float, float]:
    return 1000 * one.value, 1000 * one.low, 1000 * one.high


def _cell(one: Estimate, n: int = 0) -> str:
    """An estimate with its interval; of a rate of `n` cases with Wilson's where no resample differs."""
    if np.isnan(one.low):
        return brief(one.value)
    low, high = (one.low, one.high) if one.low < one.high or not n else map(float, wilson(round(one.value * n), n))
    return f"{brief(one.value)} ({brief(low)} to {brief(high)})"


UNSPREAD = (
    "Where every resample has the same rate, as when nothing is missed, the interval is Wilson's: what did not happen "
    "in a few cases may happen in others."
)
