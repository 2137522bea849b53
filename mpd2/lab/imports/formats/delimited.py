"""Text files whose cells are separated by commas, semicolons, tabs or bars, in the encodings that programs write."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from itertools import islice

from mpd2.core.errors import Problem, TableError
from mpd2.core.table_file.cells import folded
from mpd2.core.text import count
from mpd2.lab.imports.formats.grids import MOST_COLUMNS, Grid

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
SAMPLE = 40  # rows by which the separator is found
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
SPACED = re.compile(r"[^\S\n\r\t]")  # white space within lines; without any no cell need be stripped of it
SAID_FIRST = re.compile(r"^sep=(.)\r?\n", re.IGNORECASE)  # Excel's line that names the separator


def read_grid(data: bytes, name: str) -> Grid:
    """The rows of a text file. A row that spans lines in quotation marks is one row, as in a spreadsheet."""
    text, notes = _decoded(data, name)
    said = SAID_FIRST.match(text)
    if said:
        text = text[said.end() :]
    separator = said.group(1) if said else separator_of(text)
    if separator != ",":
        notes.append(f"Its cells are separated by {SEPARATORS.get(separator, separator)}s.")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows, numbers, problems, blank = [], [], [], 0
    try:
        padded = (separator != "\t" and "\t" in text) or SPACED.search(text) is not None
        for number, row in enumerate(reader, start=1):
            cells = [cell.strip() for cell in row] if padded else row
            if len(cells) > MOST_COLUMNS:
                found, expected = f"{count(len(cells))} cells", f"at most {count(MOST_COLUMNS)}"
                problems.append(Problem(number, "", found, expected))
                break
            if any(cells):
                rows.append(cells)
                numbers.append(number)
            else:
                blank += len(row) > 1
    except csv.Error as error:
        expected = f"{SEPARATORS.get(separator, 'well')}-separated cells, a quotation mark closed where one is opened"
        problems.append(Problem(reader.line_num, "", f"a row that cannot be read ({error})", expected))
    if problems:
        raise TableError(name, folded(problems))
    if blank:
        notes.append(f"{count(blank)} empty rows are left out." if blank > 1 else "1 empty row is left out.")
    return Grid(rows, numbers, tuple(notes))


def separator_of(text: str) -> str:
    """What separates the cells: what makes rows of equal length, and the longest of these.

    >>> [separator_of(text) for text in ("id;x;y\\na;0,5;0,7", "id,x\\na;b,0.5", "id", "a\\tb\\tc, d")]
    [';', ',', ',', '\\t']
    """
    return max(SEPARATORS, key=lambda separator: _evenness(text, separator))


def _evenness(text: str, separator: str) -> tuple[float, int]:
    """The share of the first rows that have as many cells as most, and how many these are."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        lengths = [len(row) for row in islice(rows, SAMPLE) if row]
    except csv.Error:
        return 0.0, 0
    usual, times = Counter(lengths).most_common(1)[0] if lengths else (1, 0)
    return (times / len(lengths), usual) if usual > 1 else (0.0, 1)


def _decoded(data: bytes, name: str) -> tuple[str, list[str]]:
    """The bytes as text, and a note where it had to be guessed how."""
    encoding = next((kind for mark, kind in MARKS.items() if data.startswith(mark)), "") or _unmarked_utf16(data)
    notes: list[str] = []
    try:
        text = data.decode(encoding or "utf-8-sig")
        if encoding:
            notes.append("The file is in UTF-16.")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace") if not encoding else "\0"
        if "\N{REPLACEMENT CHARACTER}" in text:
            text = data.decode("latin-1")
        notes.append(
            "The file is not in UTF-8; it is read as Latin-1 (Western European). See whether letters are right."
        )
    broken = CONTROL.search(text.rstrip("\x1a"))
    if broken:
        row = text.count("\n", 0, broken.start()) + 1
        expected = "a table: CSV, Parquet or Excel (.xlsx)"
        raise TableError(name, [Problem(row, "", "bytes that are not text", expected)])
    return text, notes


def _unmarked_utf16(data: bytes) -> str:
    """The kind of UTF-16 whose every second byte is 0 in what is mostly Latin letters; nothing for all else."""
    sample = data[:2000]
    if len(sample) < 4 or b"\0" not in sample:
        return ""
    even, odd = sample[::2].count(0) / len(sample[::2]), sample[1::2].count(0) / len(sample[1::2])
    return "utf-16-le" if odd > 0.9 and even < 0.1 else "utf-16-be" if even > 0.9 and odd < 0.1 else ""
