"""Errors that speak to the person who caused them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError

LISTED = 5  # further rows that a message names before "and 40 more"
NAMED = 3  # entries of a file that a message names


class UserError(Exception):
    """Something a user can put right; the message says what is wrong, where, and what to do."""


class EmptyCohort(UserError):
    """A filter left no case."""


class Interrupted(UserError):
    """Work was ended from outside, which says nothing about what it worked on."""


class Cancelled(Exception):
    """Long work was asked to stop before its end."""


@dataclass(frozen=True)
class Problem:
    """One kind of problem in one column: where it is first, and where else."""

    row: int | None  # as a spreadsheet counts, the header being row 1; None if it is about no single row
    column: str  # "" if it is about no single column
    found: str
    expected: str
    also: tuple[int, ...] = ()  # further rows with the same problem
    file: str = ""  # where it is, if not in the table itself

    def sentence(self, name: str) -> str:
        """The problem in words, for a table called `name`.

        >>> Problem(214, "y_true", "2", "0 or 1", (305, 611)).sentence("a.csv")
        'a.csv, row 214, column y_true: found 2, expected 0 or 1. 2 more rows have the same problem: 305, 611.'
        """
        place = [self.file or name]
        place += [f"row {self.row}"] if self.row is not None else []
        place += [f"column {self.column}"] if self.column else []
        sentence = f"{', '.join(place)}: found {self.found}, expected {self.expected}."
        if not self.also:
            return sentence
        more = "1 more row has" if len(self.also) == 1 else f"{len(self.also)} more rows have"
        rows = ", ".join(map(str, self.also[:LISTED]))
        rest = f" and {len(self.also) - LISTED} more" if len(self.also) > LISTED else ""
        return f"{sentence} {more} the same problem: {rows}{rest}."


class TableError(UserError):
    """A table that cannot be used, with every problem found in it."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(problem.sentence(name) for problem in problems))
        self.problems = tuple(problems)


def invalid_entries(error: ValidationError) -> str:
    """The first entries of a file that are not as they should be, and what is expected of each."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    named = [
        f"{'.'.join(map(str, problem['loc'][:NAMED])) or 'file'}: {problem['msg']}" for problem in problems[:NAMED]
    ]
    return "; ".join(named) + (f"; and {len(problems) - NAMED} more" if len(problems) > NAMED else "")
