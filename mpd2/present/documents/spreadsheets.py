"""Tables as CSV that a spreadsheet opens without running anything in them."""

from __future__ import annotations

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

RUN = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a text begins that a spreadsheet may take for a formula
ROW_END = "\r\n"  # a text that holds either sign is then put between quotation marks and cannot begin a row
QUOTE = "'"  # before a text, it makes a spreadsheet show it as it is


def to_csv(table: pd.DataFrame) -> bytes:
    """The table in UTF-8. Numbers stay numbers; a text that could be taken for a formula has a QUOTE before it.

    >>> to_csv(pd.DataFrame({"case": ["=1+1", "a=b"], "d": [-0.5, 2.0]})).decode().split()
    ['case,d', "'=1+1,-0.5", 'a=b,2.0']
    """
    texts = [name for name, kind in table.dtypes.items() if not (is_numeric_dtype(kind) or is_bool_dtype(kind))]
    safe = table.assign(**{str(name): table[name].astype(object).map(_quoted) for name in texts})
    return safe.to_csv(index=False, lineterminator=ROW_END).encode()


def _quoted(cell: object) -> object:
    return f"{QUOTE}{cell}" if isinstance(cell, str) and cell.startswith(RUN) else cell
