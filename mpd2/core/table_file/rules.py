"""Checking a table: a rule says in words and in code what a column must hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from mpd2.core.cohort import SPLITS
from mpd2.core.errors import Problem, UserError
from mpd2.core.manifest import Input, Manifest
from mpd2.core.state import PROBABILITY
from mpd2.core.table_file.building import availability_columns, softmax
from mpd2.core.table_file.cells import SHOWN, folded, numbers, shortened

Purpose = Literal["training", "routing"]

LARGEST = 1_000_000  # measurement that somebody can mean; far larger ones no router can compute with


@dataclass(frozen=True)
class ColumnRule:
    """What every cell of a column must be, or, where `holds` gives one bool, the column as a whole."""

    expected: str
    holds: Callable[[pd.Series], pd.Series | bool]

    def or_empty(self) -> ColumnRule:
        return ColumnRule(f"{self.expected}, or empty", lambda cells: self.holds(cells) | (cells == ""))


def _one_of(values: Sequence[str]) -> ColumnRule:
    return ColumnRule(f"one of {', '.join(values)}", lambda cells: cells.isin(values))


# Ids are kept in an array as wide as the longest one, hence a longest length.
# A NUL at the end of a text is lost in an array: two ids would become one.
ID = ColumnRule(
    "an id of 1 to 100 characters",
    lambda cells: cells.map(lambda cell: 1 <= len(cell) <= 100 and "\0" not in cell).astype(bool),
)
UNIQUE = ColumnRule("an id that no row above has", lambda cells: ~cells.duplicated() | (cells == ""))
BIT = ColumnRule("0 or 1", lambda cells: numbers(cells).isin([0, 1]))
FINITE = ColumnRule("a finite number", lambda cells: numbers(cells).abs() < np.inf)
MEANT = ColumnRule(
    f"a number from -{LARGEST} to {LARGEST}",  # what is no number is refused as not finite
    lambda cells: ~numbers(cells).abs().between(LARGEST, np.inf, inclusive="neither"),
)
SHARE = ColumnRule("a number from 0 to 1", lambda cells: numbers(cells).between(0, 1))
ANY_DECISION = ColumnRule("0 or 1 in at least one row", lambda cells: bool((cells != "").any()))


def rules_of(cells: pd.DataFrame, manifest: Manifest, purpose: Purpose) -> dict[str, tuple[ColumnRule, ...]]:
    """The rules of every column that must be there, or that may be there and is."""
    row, training = manifest.row, purpose == "training"
    required: dict[str, tuple[ColumnRule, ...]] = {row.case: (ID, UNIQUE)}
    optional: dict[str, tuple[ColumnRule, ...]] = {}
    if row.cohort and (training or row.cohort in cells):
        required[row.cohort] = (_one_of([entry.key for entry in manifest.cohorts]),) if training else ()
    required |= dict.fromkeys(manifest.ai.columns, (SHARE,) if manifest.ai.probability else (FINITE, MEANT))
    required |= {each.column: _input_rules(each) for each in manifest.inputs}
    if manifest.groups:
        (required if training else optional)[manifest.groups.column] = (ID,)
    optional |= dict.fromkeys(manifest.drawn, (SHARE.or_empty(),))
    if manifest.ai.logits:
        optional[PROBABILITY] = (SHARE, _softmax_of_logits(cells, manifest.ai.logits))
    outcome: dict[str, ColumnRule] = {row.split: _one_of(SPLITS), row.truth: BIT}
    _refuse_clashes(manifest, [*required, *optional, *outcome])
    if training:
        required |= {column: (rule,) for column, rule in outcome.items()}
        required |= dict.fromkeys(manifest.columns, (BIT.or_empty(), ANY_DECISION))
    else:
        optional |= {column: (rule.or_empty(),) for column, rule in outcome.items()}
        bit = BIT.or_empty()
        for column, flag in zip(manifest.columns, availability_columns(manifest), strict=True):
            either = ColumnRule(f"0 or 1, or empty; or else a column {flag} of 0 and 1", bit.holds)
            optional |= {column: (bit,), flag: (bit,)}
            required |= {} if {column, flag} & set(cells) else {column: (either,)}
    return required | {column: rules for column, rules in optional.items() if column in cells}


def _input_rules(given: Input) -> tuple[ColumnRule, ...]:
    """What the cells of an input must hold: words that have a number, or numbers, in its range if that is strict."""
    rules: tuple[ColumnRule, ...] = (FINITE, MEANT)
    if given.codes:
        rules = (_one_of(list(given.codes)),)
    elif given.strict:
        rules = (_within(given.low, given.high),)
    return tuple(rule.or_empty() for rule in rules) if given.missing else rules


def _within(low: float | None, high: float | None) -> ColumnRule:
    least, most = (-LARGEST if low is None else low), (LARGEST if high is None else high)
    return ColumnRule(f"a number from {least:g} to {most:g}", lambda cells: numbers(cells).between(least, most))


def _refuse_clashes(manifest: Manifest, own: Sequence[str]) -> None:
    names = [*own, *availability_columns(manifest)]
    clashes = [column for column in manifest.columns if column in names]
    if clashes:
        raise UserError(f"manifest, reader columns: found {', '.join(clashes)}, expected names no other column has")


def _softmax_of_logits(cells: pd.DataFrame, logits: tuple[str, str]) -> ColumnRule:
    """A probability given beside the logits must be theirs."""

    def holds(given: pd.Series) -> pd.Series:
        if not set(logits) <= set(cells):
            return pd.Series(True, index=given.index)
        probability = numbers(given)
        return ~((probability - softmax(cells, logits)).abs() > 1e-3) | ~probability.between(0, 1)

    return ColumnRule("the softmax of the logits, to within 0.001", holds)


def problems_of(cells: pd.DataFrame, rules: dict[str, tuple[ColumnRule, ...]]) -> list[Problem]:
    """Everything in the table that breaks a rule."""
    # pandera takes about 0.4 s to import: whoever imports this module without reading a table need not wait for it.
    import pandera.pandas as pandera

    if not set(rules) & set(cells):
        return [
            Problem(1, "", "none of the column names", f"a comma- or semicolon-separated header: {', '.join(rules)}")
        ]
    twice = set(cells.columns[cells.columns.duplicated()]) & set(rules)
    if twice:
        return [Problem(1, column, "this name more than once", "one column of this name") for column in sorted(twice)]

    def check(rule: ColumnRule) -> pandera.Check:
        return pandera.Check(rule.holds, error=rule.expected, ignore_na=False)

    columns = {column: pandera.Column(checks=[check(rule) for rule in group]) for column, group in rules.items()}
    try:
        pandera.DataFrameSchema(columns).validate(cells, lazy=True)
    except pandera.errors.SchemaErrors as errors:
        failures = errors.failure_cases[["column", "check", "failure_case", "index"]]
        return folded([_problem(rules, *failure) for failure in failures.itertuples(index=False, name=None)])
    return []


def failing_rows(cells: pd.DataFrame, rules: dict[str, tuple[ColumnRule, ...]]) -> list[Problem]:
    """Everything in single rows that breaks a rule, a problem a row and cell; a column that is missing fails them all.

    Quicker than `problems_of` for the few rows that come in at a time.
    """
    found = []
    suspect = _in_doubt(cells, rules)
    for column, group in rules.items():
        if column not in cells:
            expected = group[0].expected if group else "a cell"
            found += [Problem(row, column, "no such column", expected) for row in cells.index.tolist()]
            continue
        for rule in group:
            if rule not in suspect:
                continue
            fails = ~np.broadcast_to(rule.holds(cells[column]), len(cells))
            bad = cells[column][fails]
            found += [
                Problem(row, column, shortened(str(cell), SHOWN) or "an empty cell", rule.expected)
                for row, cell in zip(bad.index.tolist(), bad, strict=True)
            ]
    return found


def _in_doubt(cells: pd.DataFrame, rules: dict[str, tuple[ColumnRule, ...]]) -> set[ColumnRule]:
    """The rules that some cell breaks; the cells of all columns under the same rule are looked at together."""
    under: dict[ColumnRule, list[str]] = {}
    for column, group in rules.items():
        for rule in group if column in cells else ():
            under.setdefault(rule, []).append(column)
    every, place = cells.to_numpy(object), {name: at for at, name in enumerate(cells)}
    together = {
        rule: pd.Series(every[:, [place[name] for name in columns]].ravel(), dtype=object)
        if len(columns) > 1
        else cells[columns[0]]
        for rule, columns in under.items()
    }
    return {rule for rule, all_cells in together.items() if not np.all(rule.holds(all_cells))}


def _problem(
    rules: dict[str, tuple[ColumnRule, ...]], column: str, check: str, found: object, row: int | None
) -> Problem:
    """One line of pandera's report in our words."""
    if check == "column_in_dataframe":
        return Problem(None, str(found), "no such column", rules[str(found)][0].expected)
    if row is None:
        return Problem(None, column, "only empty cells", check)
    return Problem(row, column, shortened(str(found), SHOWN) or "an empty cell", check)
