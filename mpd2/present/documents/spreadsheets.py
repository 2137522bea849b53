"""Tables as CSV that a spreadsheet opens without running anything in them."""

from __future__ import annotations

import re

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # how what may be taken for a formula begins
AFTER_SEMICOLON = re.compile(r"(;[\s\"]*)(?=[=+\-@＝＋－＠])")  # where many spreadsheets of Europe begin another cell
ROW_END = "\r\n"  # a text that holds either sign is then put between quotation marks and cannot begin a row
QUOTE = "'"  # before a text, it makes a spreadsheet show it as it is


def to_csv(table: pd.DataFrame) -> bytes:
    """The table in UTF-8. Numbers stay numbers; what could be taken for a formula has a QUOTE before it, names too.

    >>> to_csv(pd.DataFrame({"case": ["=1+1", "a=b"], "d": [-0.5, 2.0]})).decode().split()
    ['case,d', "'=1+1,-0.5", 'a=b,2.0']
    """
    columns = [table.iloc[:, place] for place in range(table.shape[1])]
    numbers = [is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype) for column in columns]
    kept = [
        column if number else column.astype(object).map(_quoted)
        for column, number in zip(columns, numbers, strict=True)
    ]
    safe = pd.concat(kept, axis=1) if kept else table
    return safe.to_csv(index=False, header=[str(_quoted(name)) for name in table], lineterminator=ROW_END).encode()


def _quoted(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    inside = AFTER_SEMICOLON.sub(rf"\1{QUOTE}", cell)
    return f"{QUOTE}{inside}" if cell.startswith(RUN) else inside
