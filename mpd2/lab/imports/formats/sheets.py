"""The cells of one sheet as text, read by calamine after a look at where they are.

calamine is fast, but lays a sheet out as one full rectangle, with a copy of its text in every cell. What it is given is
therefore made here: the sheet alone, once its rectangle is known to be of a reasonable size, and shared texts by their
number.
"""

from __future__ import annotations

import datetime as dt
import io
import re
import string
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from python_calamine import CalamineWorkbook

from mpd2.core.errors import Problem, TableError
from mpd2.core.text import count
from mpd2.lab.imports.formats.grids import MOST_COLUMNS

LAST_ROW = 2**20  # that a sheet can have
TOO_FAR = 4  # letters that no column has
MOST_AREA = 50_000_000  # cells, filled or not, of 32 bytes each: every row that is allowed, with 250 columns
MOST_TEXTS = 10_000_000  # shared ones; with the cells that show them they would not fit in a file that is allowed
FILLED = 4  # of how many cells one is filled at least where a sheet may have any size
LOOKED_ABOVE = 60  # rows that a header and what stands above it may take
WHOLE = 2**53  # up to which a float that is a whole number is written as one

MARK = "\U0010ffff"  # before the number of a shared text: no character, and none that an escape can stand for
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
ESCAPED = re.compile(r"_x(?![Dd][89A-Fa-f])([0-9A-Fa-f]{4})_")  # but for halves of a character
TABLE = b"sheetData"
PREFIX = rb"(?:[^\s<>/:]*:)?"
ERROR = re.compile(rb"t(?<=\st)\s*=\s*(?:\"e\"|'e')(?=[^<>]{0,99}>\s*<" + PREFIX + rb"[vf][\s/>])")
LONG = rb"[+-]?\d{16,}\s*<"
LONG_CELL = re.compile(rb"(<" + PREFIX + rb"c(?=[\s>])[^<>]*+)(>\s*<" + PREFIX + rb"v>" + LONG + rb")")
NUMERIC = re.compile(rb"\st\s*=\s*(?:\"n\"|'n')")
TYPED = re.compile(rb"\st\s*=")
FORMULA = rb"(?:<" + PREFIX + rb"f(?=[\s/>])[^<>]*(?:/>|>[^<]*</[^<>]*>)\s*)?"
NO_DAY = re.compile(
    rb"(<" + PREFIX + rb"c(?=\s)(?! r=\"\w+\"(?: t=\"\w+\")?/?>)[^<>]*+)"  # what has no format is passed over
    rb"(>\s*" + FORMULA + rb"<" + PREFIX + rb"v>(?:-|\+?\d{7}|[\d.]+[eE]\+?\d))"
)
FORMAT = re.compile(rb"\ss\s*=\s*(?:\"\d*\"|'\d*')")
USUAL_CELL = re.compile(
    rb"[<:]c(?=[\s/>])(?: r=\"([A-Z]{1,3})([0-9]{1,7})\"(?: (?:s|t|cm|vm|ph)=\"\w*\")*+ ?/?>)?"
)  # whatever prefix it has, if any, is left to a closer look

FOLDER = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
FRAME = {
    "_rels/.rels": f'<Relationships><Relationship Id="a" Type="{FOLDER}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/_rels/workbook.xml.rels": f'<Relationships><Relationship Id="a" Type="{FOLDER}/worksheet" '
    'Target="worksheets/sheet.xml"/></Relationships>',
}


@dataclass(frozen=True)
class SheetParts:
    """What of a workbook has to do with one of its sheets."""

    sheet: bytes
    texts: bytes  # those that its cells share; none if empty
    styles: bytes
    since_1904: bool  # whether days are counted from there


def column_number(letters: str) -> int:
    """The place of a column, from 1.

    >>> [column_number(letters) for letters in ("A", "Z", "AA", "XFD")]
    [1, 26, 27, 16384]
    """
    number = 0
    for letter in letters.upper():
        number = 26 * number + string.ascii_uppercase.index(letter) + 1
    return number


def read_rows(parts: SheetParts, name: str, most: int | None) -> tuple[list[list[str]], list[int]]:
    """The rows of a sheet that are not blank, up to `most` and a header, all of one length; and their numbers."""
    sheet = _as_calamine_needs(parts.sheet)
    _refuse_spread(sheet, name, most)
    texts = _shared_texts(parts.texts, most)
    rows, numbers = [], []
    for number, values in enumerate(_values(_alone(sheet, len(texts), parts)), start=1):
        row = [_text(value, texts) for value in values]
        while row and not row[-1]:
            row.pop()
        if row:
            rows.append(row)
            numbers.append(number)
        if most is not None and len(rows) > most + LOOKED_ABOVE:
            break  # too many already: the rest need not be read to say so
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows], numbers


def _as_calamine_needs(sheet: bytes) -> bytes:
    """The cells of a sheet, with all that calamine would lose, and without what it stumbles over.

    It loses text in CDATA, the names of errors and digits of long numbers, and may break off at what stands around the
    cells, and at numbers that no day has in cells with the format of a date.
    """
    begin, end = sheet.find(TABLE), sheet.rfind(TABLE)
    if begin < 0:
        raise ValueError("a sheet without cells")
    sheet = b"<worksheet>" + sheet[sheet.rindex(b"<", 0, begin) : sheet.index(b">", end) + 1] + b"</worksheet>"
    plain, *quoted = sheet.split(b"<![CDATA[")
    if quoted:
        halves = [part.partition(b"]]>") for part in quoted]
        sheet = plain + b"".join(escape(text.decode()).encode() + rest for text, _, rest in halves)
    if b'"e"' in sheet or b"'e'" in sheet:
        sheet = ERROR.sub(b't="str"', sheet)
    if re.search(b">" + LONG, sheet):
        sheet = LONG_CELL.sub(_as_string, sheet)
    return NO_DAY.sub(lambda cell: FORMAT.sub(b"", cell[1]) + cell[2], sheet)


def _as_string(cell: re.Match[bytes]) -> bytes:
    tag = NUMERIC.sub(b"", cell[1])
    return cell[0] if TYPED.search(tag) else tag + b' t="str"' + cell[2]


@dataclass(frozen=True)
class _Extent:
    """Where cells are."""

    columns: dict[int, int]  # each with the row of the first cell
    rows: set[int]
    cells: int

    def problem(self, most: int | None) -> Problem | None:
        """What is wrong with more columns than a table has, or with cells that lie too far apart."""
        if not self.cells:
            return None
        last = max(self.columns)
        if last > MOST_COLUMNS:
            found, expected = f"{count(last)} cells", f"at most {count(MOST_COLUMNS)}"
            return Problem(self.columns[last], "", found, expected)
        if min(self.rows) < 1 or max(self.rows) > LAST_ROW:
            return Problem(max(self.rows), "", "a row that no sheet has", f"at most {count(LAST_ROW)}")
        high, wide = max(self.rows) - min(self.rows) + 1, last - min(self.columns) + 1
        limit = MOST_AREA if most is not None else max(MOST_AREA, FILLED * self.cells)
        if high * wide <= limit:
            return None
        found = f"cells that are spread over {count(high)} rows and {count(wide)} columns"
        expected = f"at most {count(limit)} cells in all; delete what stands far from the table"
        return Problem(None, "", found, expected)


def _refuse_spread(sheet: bytes, name: str, most: int | None) -> None:
    """Refuse a sheet whose rectangle is too large; what a quick look leaves open, a closer one decides."""
    extent = _usual_extent(sheet)
    if extent is None or extent.problem(most):
        problem = _filled_extent(sheet).problem(most)
        if problem:
            raise TableError(name, [problem])


def _usual_extent(sheet: bytes) -> _Extent | None:
    """Where all cells are, also empty ones; None unless every tag says so in the way that programs usually write it."""
    if b"<!" in sheet:
        return None
    columns: dict[bytes | None, bytes] = {}
    rows: set[bytes] = set()
    cells = 0
    for cell in USUAL_CELL.finditer(sheet):
        letters, digits = cell.groups()
        if letters not in columns:
            columns[letters] = digits
        rows.add(digits)
        cells += 1
    if None in columns:
        return None
    numbered = {column_number(letters.decode()): int(row) for letters, row in columns.items() if letters}
    return _Extent(numbered, set(map(int, rows)), cells)


class _Local(dict[str, str]):
    """The names of elements without their prefix."""

    def __missing__(self, tag: str) -> str:
        return self.setdefault(tag, tag.partition(":")[2] or tag)


def _filled_extent(sheet: bytes) -> _Extent:
    """Where the cells with something in them are; one that does not say follows the one before, as calamine counts."""
    local = _Local()
    columns: dict[str | int, str | int] = {}
    rows: set[str | int] = set()
    row, letters, since = 1, "", 1  # where a cell that does not say is: so many cells after the column last named
    place: str | None = ""
    filled, inside, begun = 0, False, False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row, letters, since, place, filled, inside, begun
        kind = local[tag]
        if kind == "c":
            if inside:
                raise ValueError("a cell within a cell")
            inside, place = True, attributes.get("r")
            if place is not None:
                letters, since = place.rstrip(string.digits), 0
        elif kind in ("v", "is"):
            filled += 1
            if place is None:
                columns.setdefault(column_number(letters[:TOO_FAR]) + since, row)
                rows.add(row)
            else:
                digits = place[len(letters) :]
                columns.setdefault(letters, digits)
                rows.add(digits)
        elif kind == "row":
            if inside:
                raise ValueError("a row within a cell")
            if "r" in attributes:
                row = int(attributes["r"].lstrip(string.ascii_letters))
        elif kind == "sheetData":
            if begun:
                raise ValueError("two tables in one sheet")
            begun, row, letters, since = True, 1, "", 1

    def end(tag: str) -> None:
        nonlocal row, letters, since, inside
        kind = local[tag]
        if kind == "c":
            inside = False
            since += 1
        elif kind == "row":
            row, letters, since = row + 1, "", 1

    parser = _parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(sheet, True)
    numbered = {column_number(key[:TOO_FAR]) if isinstance(key, str) else key: int(at) for key, at in columns.items()}
    return _Extent(numbered, {int(at) for at in rows}, filled)


def _parser() -> expat.XMLParserType:
    """A parser that follows no definition, and reads bytes as calamine does."""
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ValueError("definitions in its XML")

    parser.StartDoctypeDeclHandler = refuse
    return parser


def _shared_texts(part: bytes, most: int | None) -> list[str]:
    """The texts that cells share, without what is only said of how they sound."""
    texts: list[str] = []
    pieces: list[str] = []
    local = _Local()
    sounds = 0
    parser = _parser()

    def start(tag: str, _: dict[str, str]) -> None:
        nonlocal sounds
        kind = local[tag]
        if kind == "t" and not sounds:
            parser.CharacterDataHandler = pieces.append
        elif kind == "rPh":
            sounds += 1

    def end(tag: str) -> None:
        nonlocal sounds
        kind = local[tag]
        if kind == "t":
            parser.CharacterDataHandler = None
        elif kind == "rPh":
            sounds -= 1
        elif kind == "si":
            texts.append(_clean(ESCAPED.sub(lambda found: chr(int(found[1], 16)), "".join(pieces))))
            pieces.clear()
            if most is not None and len(texts) > MOST_TEXTS:
                raise ValueError(f"more than {count(MOST_TEXTS)} texts")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    if part:
        parser.Parse(part, True)
    return texts


def _alone(sheet: bytes, texts: int, parts: SheetParts) -> io.BytesIO:
    """A workbook of one sheet, whose shared texts are their numbers."""
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        for part, content in FRAME.items():
            archive.writestr(part, content)
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns:r="{FOLDER}"><workbookPr date1904="{int(parts.since_1904)}"/>'
            '<sheets><sheet name="sheet" sheetId="1" r:id="a"/></sheets></workbook>',
        )
        numbers = "".join(f"<si><t>{MARK}{number}</t></si>" for number in range(texts))
        archive.writestr("xl/sharedStrings.xml", f"<sst>{numbers}</sst>")
        archive.writestr("xl/worksheets/sheet.xml", sheet)
        if parts.styles:
            archive.writestr("xl/styles.xml", parts.styles)
    book.seek(0)
    return book


def _values(book: io.BytesIO) -> Iterator[list[Any]]:
    """The cells of a workbook's first sheet, row by row from the first, also those before any that is filled."""
    try:
        with CalamineWorkbook.from_filelike(book) as opened:
            cells = opened.get_sheet_by_index(0)
        left = [""] * (cells.start[1] if cells.start else 0)
        for values in cells.iter_rows():
            yield left + values
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # calamine's, which is no Exception and cannot be imported
            raise ValueError(str(error)) from None
        raise


def _clean(text: str) -> str:
    return CONTROL.sub("", text).strip()


def _text(value: Any, texts: list[str]) -> str:
    """A cell as somebody would type it; `texts` are the shared ones.

    >>> [_text(value, ["b"]) for value in (True, 3.0, 0.1, " a ", MARK + "0", dt.date(2024, 3, 1), dt.time(8, 30))]
    ['TRUE', '3', '0.1', 'a', 'b', '2024-03-01', '08:30:00']
    >>> [_text(dt.datetime(2024, 3, 1, hour), []) for hour in (0, 8)]
    ['2024-03-01', '2024-03-01 08:00:00']
    """
    match value:
        case "":
            return ""
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < WHOLE else str(value)
        case str():
            return texts[int(value[1:])] if value.startswith(MARK) else _clean(value)
        case bool():
            return str(value).upper()
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(sep=" ")
        case _:
            return str(value)
