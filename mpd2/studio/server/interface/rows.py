"""From rows of JSON to the cells of a table, as every other way in gives them to the library: all of them text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from mpd2.clinic.shadow.columns import FIRST
from mpd2.core.errors import Problem
from mpd2.core.table_file.cells import shortened
from mpd2.core.text import count, numbered
from mpd2.studio.server.interface.bodies import SHOWN, Rows
from mpd2.studio.server.interface.fields import EXPECTED, Field

LONGEST = 1_000  # characters of a cell
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII)
"""Local times without an offset would be an hour wrong, half of the year."""
EXACT = 2**53  # beyond it not every whole number can be told from the next


@dataclass(frozen=True)
class Checked:
    """Rows of a request: those that can be handed on as a table, and what is wrong with the others."""

    cells: pd.DataFrame  # its index is the row as a spreadsheet counts them
    problems: dict[int, list[Problem]] = field(default_factory=dict)  # by that row


def checked(rows: Rows, fields: Sequence[Field]) -> Checked:
    """The cells of rows, without those of rows that say what nobody knows or say it in another form."""
    known = {each.name: each for each in fields}
    problems = {at: found for at, row in enumerate(rows, FIRST) if (found := _problems(at, row, known))}
    said = {name for row in rows for name in row} & set(known)
    kept = [(at, row) for at, row in enumerate(rows, FIRST) if at not in problems]
    columns = [name for name in known if name in said or known[name].required]
    cells = pd.DataFrame(
        [[_text(row.get(name)) for name in columns] for _, row in kept],
        index=[at for at, _ in kept],
        columns=columns,
        dtype=object,
    )
    return Checked(cells, problems)


def number_of(row: int) -> int:
    """Which row of the request it was, the first being 1."""
    return row - FIRST + 1


def _problems(at: int, row: dict[str, Any], known: dict[str, Field]) -> list[Problem]:
    strange = [name for name in row if name not in known]
    found = []
    if strange:
        more = f" and {count(len(strange) - 1)} more" if len(strange) > 1 else ""
        found.append(Problem(at, strange[0][:SHOWN], f"an entry nobody knows{more}", "those that openapi.json names"))
    for name, each in known.items():
        given = row.get(name)
        if given is None:
            if each.required:
                found.append(Problem(at, name, "nothing", EXPECTED[each.form]))
        elif wrong := _wrong(given, each):
            found.append(Problem(at, name, *wrong))
    return found


def _wrong(given: Any, each: Field) -> tuple[str, str] | None:
    """What was found and what is expected, if a value is not of its form."""
    expected = EXPECTED[each.form]
    if isinstance(given, dict | list):
        return "a list" if isinstance(given, list) else "an object", expected
    if isinstance(given, str):
        if each.form not in ("words", "time"):
            return "words", f"{expected} without quotation marks"
        if len(given) > LONGEST:
            return numbered(len(given), "character"), f"at most {count(LONGEST)}"
        if each.form == "time" and not TIMES.fullmatch(given):
            return shortened(given, SHOWN), expected
        return ("a control character", "words without") if CONTROL.search(given) else None
    if each.form in ("words", "time") or isinstance(given, bool):
        return _shown(given), expected
    if abs(given) > EXACT:
        return f"{given:.3g}", f"{expected} from -{count(EXACT)} to {count(EXACT)}"
    return None


def _text(given: Any) -> str:
    """A cell.

    >>> _text(None), _text("a "), _text(1), _text(0.1), _text(-0.0), _text(3.0)
    ('', 'a', '1', '0.1', '0', '3')
    """
    if given is None or isinstance(given, str):
        return (given or "").strip()
    return str(int(given)) if given == int(given) else repr(given)


def _shown(given: Any) -> str:
    return str(given).lower() if isinstance(given, bool) else "a number"
