"""How results are printed."""

from __future__ import annotations

import json
from collections.abc import Sequence


def print_json(value: object) -> None:
    """Strict JSON: what has no value must already be None."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def aligned(rows: Sequence[Sequence[object]]) -> str:
    """Rows as text, their columns under one another.

    >>> print(aligned([("", "train", "val"), ("north", 10, 5)]))
           train  val
    north  10     5
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells)
