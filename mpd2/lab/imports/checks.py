"""What is odd about a table that can be read, in plain words, and what can be known with so many cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Ints
from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import SPLITS, UNKNOWN, Cohort
from mpd2.core.state import LOG_ODDS
from mpd2.core.text import GAP, count, listed, percent
from mpd2.evaluation.intervals import wilson
from mpd2.lab.imports.profiles import auc

FEWEST_ROWS = 150
FEW_POSITIVES = 10  # of a reader, below which little is known of their misses
FEW_CASES = 30  # of a cohort
SAME = 0.99  # agreement with the truth from which on a column may have been made from it
SEPARATES = 0.995  # AUC from which on an input may have been made from the truth
ASSUMED = 0.85  # sensitivity and specificity for which the width of an interval is told
LISTED = 5
LEAKS = "Was it made from the truth (leakage)? Then leave it out: nobody knows it before the truth is known."


@dataclass(frozen=True)
class Notice:
    """Something to look at; with an error the table cannot be used."""

    error: bool
    text: str
    column: str = ""
    rows: tuple[int, ...] = ()  # as the person's spreadsheet counts them


def check(cohort: Cohort, rows: Sequence[int] | None = None) -> tuple[Notice, ...]:
    """All that is odd about a table, errors first; `rows` are its rows in the person's file, else counted from 2."""
    found = [
        *_size(cohort),
        *_splits(cohort),
        *_cohorts(cohort),
        *_readers(cohort),
        *_inputs(cohort),
        *_duplicates(cohort),
    ]
    numbers = list(range(2, len(cohort) + 2) if rows is None else rows)
    told = [replace(notice, rows=tuple(int(numbers[place]) for place in notice.rows)) for notice in found]
    return tuple(sorted(told, key=lambda notice: not notice.error))


def known(cohort: Cohort) -> tuple[str, ...]:
    """What can be known with so many cases: how wide intervals on the test cases are."""
    test = cohort.split == "test"
    task = cohort.manifest.task
    found = []
    for truth, rate in ((1, "sensitivity"), (0, "specificity")):
        n = int((test & (cohort.truth == truth)).sum())
        many = task.positives if truth else f"{task.cases} that are {task.negative}"
        word = many if truth and n != 1 else task.positive if truth else many
        if not n:
            found.append(f"With no {word} in test, {rate} cannot be known.")
            continue
        low, high = wilson(round(ASSUMED * n), n)
        half = 100 * float(high - low) / 2
        width = f"±{GAP}{half:.0f} points" if half >= 1.5 else f"±{GAP}{half:.1f} points"
        found.append(f"With {count(n)} {word} in test, {rate} is known to {width}.")
    groups = cohort.manifest.groups
    if groups and test.any():
        part = cohort.rows(test)
        n = len(clusters_of(part))
        if n < len(part):
            several = f"{count(n)} {groups.word}s in {count(len(part))} rows"
            found.append(f"Intervals count {groups.word}s, not rows: test has {several}, so they can be wider.")
    return tuple(found)


def _size(cohort: Cohort) -> Iterator[Notice]:
    if len(cohort) < FEWEST_ROWS:
        yield Notice(True, f"The table has {count(len(cohort))} rows; at least {FEWEST_ROWS} are needed.")


def _splits(cohort: Cohort) -> Iterator[Notice]:
    task = cohort.manifest.task
    for part in SPLITS:
        truths = cohort.truth[cohort.split == part]
        if not len(truths):
            yield Notice(True, f"No case is in {part}.", cohort.manifest.row.split)
            continue
        for truth in (1, 0):
            if not (truths == truth).any():
                yield Notice(True, f"No case of {part} is {task.answers[truth]}.", cohort.manifest.row.split)
    clusters = clusters_of(cohort)
    divided = cohort.split != cohort.split[clusters.first][clusters.of]
    if divided.any() and cohort.manifest.groups:
        groups = cohort.manifest.groups
        several = np.unique(clusters.of[divided])
        named = listed([str(cohort.ids[clusters.first[which]]) for which in several[:LISTED]])
        verb = "is" if len(several) == 1 else "are"
        text = (
            f"{count(len(several))} {groups.word}{'' if len(several) == 1 else 's'} {verb} in more than one split "
            f"(that of {named}): what is learned would be judged on the same {groups.word}."
        )
        yield Notice(True, text, groups.column, tuple(np.flatnonzero(divided).tolist()))


def _cohorts(cohort: Cohort) -> Iterator[Notice]:
    sizes = np.bincount(cohort.source, minlength=len(cohort.manifest.cohorts))
    few = {entry.name: n for entry, n in zip(cohort.manifest.cohorts, sizes.tolist(), strict=True) if n < FEW_CASES}
    if few and len(cohort.manifest.cohorts) > 1:
        told = listed([f"{name} ({n})" for name, n in few.items()])
        text = f"Little can be said of cohorts with fewer than {FEW_CASES} cases: {told}."
        yield Notice(False, text, cohort.manifest.row.cohort)


def _readers(cohort: Cohort) -> Iterator[Notice]:
    task = cohort.manifest.task
    sick, well, train = cohort.truth == 1, cohort.truth == 0, cohort.split == "train"
    for reader, said in zip(cohort.manifest.readers, cohort.decisions.T, strict=True):
        read = said != UNKNOWN
        for truth, name in ((sick, task.positives), (well, f"{task.cases} that are {task.negative}")):
            n = int((read & truth).sum())
            if n < FEW_POSITIVES:
                unsure = "misses" if truth is sick else "false alarms"
                some = f"only {n}" if n else "no"
                text = f"{reader.name}: {some} {name} read, so that little is known of {unsure}."
                yield Notice(False, text, reader.column)
        if not (read & train).any():
            text = f"{reader.name}: nothing read in train, so that nothing can be learned of this reader."
            yield Notice(False, text, reader.column)
        both = read & (cohort.truth != UNKNOWN)
        if both.sum() >= FEW_POSITIVES and _beyond_chance(said[both], cohort.truth[both]):
            alike = float((said[both] == cohort.truth[both]).mean())
            if alike >= SAME:
                share = "every answer agrees" if alike == 1 else f"{percent(alike, 1)} of answers agree"
                text = f"{reader.name}: {share} with the truth. Was the truth made from these readings (leakage)?"
                yield Notice(False, text, reader.column)


def _beyond_chance(said: Ints, truth: Ints) -> bool:
    """Whether agreement is more than rare positives alone make: more than half of the positives are found."""
    return bool((truth == 1).any() and (said[truth == 1] == 1).mean() > 0.5)


def _inputs(cohort: Cohort) -> Iterator[Notice]:
    """Every input, and the AI's own answer."""
    layout = cohort.layout
    for each in cohort.manifest.inputs:
        title = each.title or each.column
        values = np.where(cohort.absent[:, layout.position(each.column)], np.nan, cohort.column(each.column))
        there = values[~np.isnan(values)]
        if not len(there):
            yield Notice(False, f"{title} is empty in every row: it tells nothing.", each.column)
            continue
        if there.min() == there.max():
            yield Notice(False, f"{title} is {there[0]:g} in every row: it tells nothing.", each.column)
            continue
        yield from _leak(cohort, values, title, each.column)
        outside = _outside(values, each.low, each.high)
        if outside.any() and not each.codes:
            n = int(outside.sum())
            rows = "row" if n == 1 else "rows"
            text = f"{title} is outside its usual range ({_range(each.low, each.high)}) in {count(n)} {rows}."
            yield Notice(False, text, each.column, tuple(np.flatnonzero(outside).tolist()))
    scores = cohort.ai_log_odds
    if scores.min() == scores.max():
        column = cohort.manifest.ai.columns[-1]
        yield Notice(False, "The AI's answer is the same in every row: it tells nothing.", column)
    else:
        yield from _leak(cohort, scores, "The AI's answer", cohort.manifest.ai.columns[-1])


def _leak(cohort: Cohort, values: np.ndarray, title: str, column: str) -> Iterator[Notice]:
    area = auc(values, cohort.truth)
    if np.isnan(area):
        return
    apart = max(area, 1 - area)
    if apart == 1:
        how = f"separates {cohort.manifest.task.positives} from all others without a mistake"
        yield Notice(False, f"{title} {how}. {LEAKS}", column)
    elif apart >= SEPARATES and column not in cohort.manifest.ai.columns:
        how = f"tells the truth almost without a mistake (AUC {min(apart, 0.999):.3f})"
        yield Notice(False, f"{title} {how}. {LEAKS}", column)


def _outside(values: np.ndarray, low: float | None, high: float | None) -> Bools:
    outside = np.zeros(len(values), bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    return outside


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"up to {high:g}" if low is None else f"from {low:g}"
    return f"{low:g} to {high:g}"


def _duplicates(cohort: Cohort) -> Iterator[Notice]:
    """Rows that say the same of all but the id."""
    names = [name for name in cohort.layout.measured if name != LOG_ODDS] + list(cohort.layout.scores)
    together = cohort.cluster if cohort.manifest.groups else np.zeros(len(cohort), int)
    cells = np.column_stack([cohort.source, cohort.truth, together, cohort.decisions])
    frame = pd.DataFrame(cells).join(pd.DataFrame(cohort.state[:, cohort.layout.positions(names)], columns=names))
    again = frame.duplicated().to_numpy()
    if again.any() and len(names) > 1:
        n = int(again.sum())
        rows = "row is" if n == 1 else "rows are"
        text = f"{count(n)} {rows} the same as a row above in every cell but the id: are cases in the table twice?"
        yield Notice(False, text, cohort.manifest.row.case, tuple(np.flatnonzero(again).tolist()))
