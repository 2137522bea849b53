"""From a file to a `Cohort`: read, check every cell, and say everything that is wrong at once."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import MEASURED, SPLITS, STATE, UNKNOWN, Cohort
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.manifest import CohortEntry, Manifest, load_manifest

Purpose = Literal["training", "routing"]

LARGEST = 1_000_000  # measurement that somebody can mean; far larger ones no router can compute with
OTHER = CohortEntry(key="other", name="Other", readings="unknown")  # every cohort a manifest does not know
NOT_TEXT = "bytes that are not UTF-8 text"
SEPARATORS = {",": "comma", ";": "semicolon"}
WORDS = ("case_id", "cohort", "split")  # columns that hold no numbers
DECIMAL_COMMA = re.compile(r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$")
SHOWN, SHOWN_REASON = 40, 120  # characters of a cell and of a library's complaint that a message quotes


def problems_frame(problems: Sequence[Problem]) -> pd.DataFrame:
    """The problems as a table to look at or download, one row each."""
    return pd.DataFrame(
        {
            "row": pd.array([problem.row for problem in problems], dtype="Int64"),
            "column": [problem.column for problem in problems],
            "found": [problem.found for problem in problems],
            "expected": [problem.expected for problem in problems],
            "further rows": [", ".join(map(str, problem.also)) for problem in problems],
        }
    )


def load_cohort(path: Path, manifest: Manifest | None = None, purpose: Purpose = "training") -> Cohort:
    """The cases of a CSV or Parquet file; without a manifest, the TOML file of the same name beside it is read."""
    if manifest is None:
        manifest = load_manifest(path.with_suffix(".toml"))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    return read_cohort(data, path.name, manifest, purpose)


def read_cohort(data: bytes, name: str, manifest: Manifest, purpose: Purpose = "training") -> Cohort:
    """The cases in the bytes of a CSV or Parquet file called `name`; the name's ending says which.

    For training, every case needs a truth and a split, and every reader at least one decision. For routing these may
    be missing, and a column `<reader column>_available` of 0 and 1 may say who can be asked. A case to be routed may
    also come from a cohort the manifest does not know, or name none: it then counts as OTHER, which the manifest of
    these cases has as well. All problems of the cells are reported at once, unless rows do not even fit the header:
    then these are.
    """
    cells = _cells(data, name)
    rules = _rules(cells, manifest, purpose)
    problems = _problems(cells, rules)
    if problems:
        raise TableError(name, problems)
    return _cohort(cells[list(rules)], manifest, fingerprint(data, manifest))


def fingerprint(data: bytes, manifest: Manifest) -> str:
    """A short hash of a table's bytes and its manifest, by which a run knows the table it was made from."""
    return hashlib.sha256(data + manifest.model_dump_json().encode()).hexdigest()[:16]


def write_template(manifest: Manifest) -> str:
    """An empty CSV table with the columns a training table of this manifest has."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        ["case_id", "cohort", "split", "y_true", *manifest.columns, *MEASURED, "hCDR"]
    )
    return text.getvalue()


# Reading: every cell becomes text, "" where it is empty, so that CSV and Parquet are checked by the same rules.


def _cells(data: bytes, name: str) -> pd.DataFrame:
    """The table as text; the index holds the rows as a spreadsheet counts them."""
    readers = {".csv": _csv_cells, ".parquet": _parquet_cells}
    suffix = Path(name).suffix.lower()
    if suffix not in readers:
        raise UserError(f"{name}: found a file ending in {suffix or 'nothing'}, expected {' or '.join(readers)}")
    if not data:
        raise TableError(name, [Problem(None, "", "an empty file", "a table with a header and at least one case")])
    cells = readers[suffix](data, name)
    if cells.empty:
        raise TableError(name, [Problem(None, "", "a header and no rows", "at least one case")])
    return cells


def _csv_cells(data: bytes, name: str) -> pd.DataFrame:
    """Read with the standard library, which, unlike pandas, neither guesses types nor shifts or pads uneven rows.

    Where semicolons separate the cells, as spreadsheets write them in much of Europe, numbers may have decimal commas.
    """
    text = _text(data, name)
    separator = _separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    table: dict[int, list[str]] = {}
    problems = []
    try:
        header = [cell.strip() for cell in next(rows, [])]
        for number, row in enumerate(rows, start=2):
            if len(row) == len(header):
                table[number] = [cell.strip() for cell in row]
            elif row:  # a blank line is no row
                problems.append(Problem(number, "", f"{len(row)} cells", f"{len(header)} as in the header"))
    except csv.Error as error:
        expected = f"{SEPARATORS[separator]}-separated cells"
        problems.append(Problem(rows.line_num, "", f"a row that cannot be read ({error})", expected))
    if problems:
        raise TableError(name, _folded(problems))
    cells = pd.DataFrame.from_dict(table, orient="index", columns=header, dtype=object)
    if separator == ";":
        numbers = ~cells.columns.isin(WORDS)
        cells.loc[:, numbers] = cells.loc[:, numbers].replace(DECIMAL_COMMA, r"\1.\2", regex=True)
    return cells


def _separator(text: str) -> str:
    """What separates the cells of the header, and so of every row.

    >>> _separator("case_id;vCDR\\na;0,5"), _separator("case_id,vCDR\\na;b,0.5"), _separator("case_id")
    (';', ',', ',')
    """
    header = text.partition("\n")[0]
    return max(SEPARATORS, key=header.count)


def _text(data: bytes, name: str) -> str:
    """The bytes as text; a byte-order mark, as spreadsheets write it, is dropped."""
    try:
        text = data.decode("utf-8-sig")
        end = text.find("\0")
        row = None if end < 0 else text.count("\n", 0, end) + 1
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
    if row is not None:
        raise TableError(name, [Problem(row, "", NOT_TEXT, "a CSV table saved as UTF-8")])
    return text


def _parquet_cells(data: bytes, name: str) -> pd.DataFrame:
    try:
        table = pq.read_table(io.BytesIO(data))
        problems = _broken_texts(table)
        if problems:
            raise TableError(name, problems)
        table.validate(full=True)
        cells = table.to_pandas(ignore_metadata=True)
        cells.index += 2
        return cells.astype(object).where(cells.notna(), "").astype(str)
    except (pa.ArrowException, OSError, ValueError) as error:
        found = f"a file that cannot be read ({_shortened(str(error), SHOWN_REASON)})"
        raise TableError(name, [Problem(None, "", found, "a Parquet table")]) from None


def _broken_texts(table: pa.Table) -> list[Problem]:
    """Cells of text that are none: Parquet says what a column holds, and nobody has checked that it is true."""
    problems = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            cells = column.cast(pa.large_binary()).to_pylist()
            rows = [row for row, cell in enumerate(cells, start=2) if cell and not _is_text(cell)]
            if rows:
                problems.append(Problem(rows[0], name, NOT_TEXT, "text saved as UTF-8", tuple(rows[1:])))
    return problems


def _is_text(cell: bytes) -> bool:
    """Whether bytes are UTF-8 without a NUL, which would end a text early."""
    try:
        return "\0" not in cell.decode()
    except UnicodeDecodeError:
        return False


# Checking: a rule says in words and in code what a column must hold.


@dataclass(frozen=True)
class ColumnRule:
    """What every cell of a column must be, or, where `holds` gives one bool, the column as a whole."""

    expected: str
    holds: Callable[[pd.Series], pd.Series | bool]

    def or_empty(self) -> ColumnRule:
        return ColumnRule(f"{self.expected}, or empty", lambda cells: self.holds(cells) | (cells == ""))


def _numbers(cells: pd.Series) -> pd.Series:
    """The cells as numbers, NaN where they are none."""
    return pd.to_numeric(cells, errors="coerce").astype(float)


def _one_of(values: Sequence[str]) -> ColumnRule:
    return ColumnRule(f"one of {', '.join(values)}", lambda cells: cells.isin(values))


# Ids are kept in an array as wide as the longest one, hence a longest length.
ID = ColumnRule("an id of 1 to 100 characters", lambda cells: cells.str.len().between(1, 100))
UNIQUE = ColumnRule("an id that no row above has", lambda cells: ~cells.duplicated() | (cells == ""))
BIT = ColumnRule("0 or 1", lambda cells: _numbers(cells).isin([0, 1]))
FINITE = ColumnRule("a finite number", lambda cells: _numbers(cells).abs() < np.inf)
MEANT = ColumnRule(
    f"a number from -{LARGEST} to {LARGEST}",  # what is no number is refused as not finite
    lambda cells: ~_numbers(cells).abs().between(LARGEST, np.inf, inclusive="neither"),
)
SHARE = ColumnRule("a number from 0 to 1", lambda cells: _numbers(cells).between(0, 1))
ANY_DECISION = ColumnRule("0 or 1 in at least one row", lambda cells: bool((cells != "").any()))


def _rules(cells: pd.DataFrame, manifest: Manifest, purpose: Purpose) -> dict[str, tuple[ColumnRule, ...]]:
    """The rules of every column that must be there, or that may be there and is."""
    required: dict[str, tuple[ColumnRule, ...]] = {
        "case_id": (ID, UNIQUE),
        "cohort": (_one_of([entry.key for entry in manifest.cohorts]),),
        "logit_0": (FINITE, MEANT),
        "logit_1": (FINITE, MEANT),
        "vim_risk_z": (FINITE, MEANT),
        "quality_risk": (SHARE,),
        "vCDR": (SHARE,),
        "aCDR": (SHARE,),
    }
    optional: dict[str, tuple[ColumnRule, ...]] = {
        "hCDR": (SHARE.or_empty(),),
        "prob_1": (SHARE, _softmax_of_logits(cells)),
    }
    outcome: dict[str, ColumnRule] = {"split": _one_of(SPLITS), "y_true": BIT}
    _refuse_clashes(manifest, [*required, *optional, *outcome])
    if purpose == "training":
        required |= {column: (rule,) for column, rule in outcome.items()}
        required |= dict.fromkeys(manifest.columns, (BIT.or_empty(), ANY_DECISION))
    else:
        del required["cohort"]
        optional |= {"cohort": ()} | {column: (rule.or_empty(),) for column, rule in outcome.items()}
        for column, flag in zip(manifest.columns, _flags(manifest), strict=True):
            either = ColumnRule(f"0 or 1, or empty; or else a column {flag} of 0 and 1", BIT.or_empty().holds)
            optional |= {column: (BIT.or_empty(),), flag: (BIT.or_empty(),)}
            required |= {} if {column, flag} & set(cells) else {column: (either,)}
    return required | {column: rules for column, rules in optional.items() if column in cells}


def _flags(manifest: Manifest) -> list[str]:
    """The columns of a routing table that say who can be asked, in the readers' order."""
    return [f"{column}_available" for column in manifest.columns]


def _refuse_clashes(manifest: Manifest, own: Sequence[str]) -> None:
    names = [*own, *_flags(manifest)]
    clashes = [column for column in manifest.columns if column in names]
    if clashes:
        raise UserError(f"manifest, reader columns: found {', '.join(clashes)}, expected names no other column has")


def _softmax_of_logits(cells: pd.DataFrame) -> ColumnRule:
    """A probability given beside the logits must be theirs."""

    def holds(given: pd.Series) -> pd.Series:
        if not {"logit_0", "logit_1"} <= set(cells):
            return pd.Series(True, index=given.index)
        probability = _numbers(given)
        return ~((probability - _probability(cells)).abs() > 1e-3) | ~probability.between(0, 1)

    return ColumnRule("the softmax of the logits, to within 0.001", holds)


def _problems(cells: pd.DataFrame, rules: dict[str, tuple[ColumnRule, ...]]) -> list[Problem]:
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
        return _folded([_problem(rules, *failure) for failure in failures.itertuples(index=False, name=None)])
    return []


def _problem(
    rules: dict[str, tuple[ColumnRule, ...]], column: str, check: str, found: object, row: int | None
) -> Problem:
    """One line of pandera's report in our words."""
    if check == "column_in_dataframe":
        return Problem(None, str(found), "no such column", rules[str(found)][0].expected)
    if row is None:
        return Problem(None, column, "only empty cells", check)
    return Problem(row, column, _shortened(str(found), SHOWN) or "an empty cell", check)


def _shortened(text: str, length: int) -> str:
    """On one line, and no longer than that."""
    line = " ".join(text.split())
    return f"{line[:length]}…" if len(line) > length else line


def _folded(problems: Sequence[Problem]) -> list[Problem]:
    """One problem for each column and expectation; its other rows are listed with the first."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.column, problem.expected), []).append(problem)
    return [
        replace(first, also=tuple(problem.row for problem in rest if problem.row is not None))
        for first, *rest in kinds.values()
    ]


# Building: the table is known to be good.


def _probability(cells: pd.DataFrame) -> Floats:
    """The classifier's probability of glaucoma, [N]."""
    margin = (_numbers(cells["logit_1"]) - _numbers(cells["logit_0"])).to_numpy()
    return np.exp(-np.logaddexp(0, -margin))  # softmax of two, without overflow


def _bits(cells: pd.DataFrame, columns: Sequence[str]) -> Ints:
    """Columns of 0 and 1 side by side; UNKNOWN where a cell is empty or the column is not there."""
    numbers = cells.reindex(columns=list(columns), fill_value="").apply(_numbers)
    return numbers.fillna(UNKNOWN).to_numpy(np.int64)


def _cohort(cells: pd.DataFrame, manifest: Manifest, fingerprint: str) -> Cohort:
    probability = _probability(cells)
    measured = {column: _numbers(cells[column]).to_numpy() for column in MEASURED}
    state = measured | {"prob_1": probability, "uncertainty": np.minimum(probability, 1 - probability)}
    words, flags = _bits(cells, manifest.columns), _bits(cells, _flags(manifest))  # [N, M]
    available = np.where(flags == UNKNOWN, words != UNKNOWN, flags == 1)
    keys = pd.Index([entry.key for entry in manifest.cohorts])
    source = keys.get_indexer(pd.Index(cells.reindex(columns=["cohort"], fill_value="")["cohort"]))
    if (source < 0).any():
        manifest, source = _with_other(manifest, source)
    return Cohort(
        manifest=manifest,
        fingerprint=fingerprint,
        ids=cells["case_id"].to_numpy(str),
        source=source,
        split=cells.reindex(columns=["split"], fill_value="")["split"].to_numpy(str),
        state=np.column_stack([state[name] for name in STATE]),
        horizontal_cdr=_numbers(cells.reindex(columns=["hCDR"])["hCDR"]).to_numpy(),
        truth=_bits(cells, ["y_true"])[:, 0],
        decisions=np.where(available, words, UNKNOWN),
        available=available,
    )


def _with_other(manifest: Manifest, source: Ints) -> tuple[Manifest, Ints]:
    """A manifest that has a place for cases of unknown cohorts, marked by -1, and their cohorts in it, [N]."""
    keys = [entry.key for entry in manifest.cohorts]
    if OTHER.key not in keys:
        manifest = manifest.model_copy(update={"cohorts": (*manifest.cohorts, OTHER)})
        keys.append(OTHER.key)
    return manifest, np.where(source < 0, keys.index(OTHER.key), source)
