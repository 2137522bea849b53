"""What the server and a reading process send each other: a line of JSON, then bytes. Nothing in it is executed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from mpd2.core.errors import Problem, TableError, UserError

About = dict[str, Any]  # what JSON can hold


def packed(about: About, parts: Sequence[bytes] = ()) -> bytes:
    """A message: what it is about, and files."""
    return b"".join((json.dumps({**about, "sizes": [len(part) for part in parts]}).encode(), b"\n", *parts))


def unpacked(message: bytes) -> tuple[About, list[bytes]]:
    """The same taken apart; a `ValueError` if it is not whole."""
    line, newline, rest = message.partition(b"\n")
    about: About = json.loads(line)
    if not newline or sum(about["sizes"]) != len(rest):
        raise ValueError("half a message")
    parts, begin = [], 0
    for size in about["sizes"]:
        parts.append(rest[begin : begin + size])
        begin += size
    return about, parts


def refusal(error: UserError) -> About:
    """An error that speaks to whoever sent the file."""
    problems = [asdict(problem) for problem in error.problems] if isinstance(error, TableError) else []
    return {"refused": str(error), "problems": problems}


def refused(about: About, name: str) -> UserError:
    """The same error again."""
    if not about["problems"]:
        return UserError(about["refused"])
    return TableError(name, [Problem(**{**each, "also": tuple(each["also"])}) for each in about["problems"]])


def cells_to_bytes(cells: pd.DataFrame) -> bytes:
    """A table of text as Arrow writes it, its rows' numbers first; a text that stands in many cells is there once."""
    columns: list[pa.Array] = [pa.array(cells.index.to_numpy(np.int64))]
    for place in range(cells.shape[1]):
        codes, texts = pd.factorize(cells.iloc[:, place].to_numpy(object))
        indices, words = pa.array(codes.astype(np.int32)), pa.array(texts, pa.large_string())
        columns.append(pa.DictionaryArray.from_arrays(indices, words))
    batch = pa.record_batch(columns, names=["", *map(str, cells.columns)])
    file = pa.BufferOutputStream()
    with pa.ipc.new_stream(file, batch.schema) as stream:
        stream.write_batch(batch)
    return file.getvalue().to_pybytes()


def cells_from_bytes(data: bytes) -> pd.DataFrame:
    """The same table again; a text that stands in many cells is kept once."""
    with pa.ipc.open_stream(data) as stream:
        table = stream.read_all().combine_chunks()
    numbers, *columns = (column.chunk(0) for column in table.columns)
    texts = [column.dictionary.to_numpy(zero_copy_only=False).astype(object) for column in columns]
    filled = [words[column.indices.to_numpy()] for words, column in zip(texts, columns, strict=True)]
    frame = pd.DataFrame(dict(enumerate(filled)), index=pd.Index(numbers.to_numpy()), dtype=object)
    frame.columns = table.column_names[1:]
    return frame
