"""Uploads made hostile at random, by kind: each from a number, so that one that does harm can be made again."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hostile import own_copy, vouch
from hostile_tables import EXAMPLE, ROWS, ended_by_returns, example, parquet, with_bytes, with_lists, with_long_text
from imaging_files import dicom, eye, jpeg, png, png_claiming, tiff, tiff_claiming
from small_workspace import small_workspace

from mpd2.clinic.access.actor import LOCAL
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces import archive

Chance = random.Random
Files = dict[str, bytes]
CELLS = (
    "=cmd|' /C calc'!A0", "@SUM(1)", "![x](http://x.test/x.png)", "<script>alert(1)</script>", "../../../etc/passwd",
    "\u202egpj.exe", "nan", "inf", "-1e309", "9" * 5_000, "1e400", "0x10", "", " ", "é" * 200, "\ufeff", "NULL", "'",
    '"', "a" * 40_000, "\U0010ffff0", "2024-13-45", "9999999-01-01", "1,5", "०१२", "\x0b", "\u2028", "TRUE",
)  # fmt: skip
PATHS = (
    "../evil.txt",
    "/tmp/evil.txt",
    "runs/../../evil.json",
    "runs/a/..",
    "C:\\evil",
    "runs/ai/evil.pkl",
    "a\0b",
    "",
)
NUMBERS = (float("nan"), float("inf"), -1, 10**400, 2**63, 1e308, True, None, [], {}, "x" * 10_000)


def damaged(chance: Chance, data: bytes) -> bytes:
    """Some bytes changed, a piece cut out, doubled or cut off."""
    content = bytearray(data)
    for _ in range(chance.randrange(6)):
        if content:
            content[chance.randrange(len(content))] = chance.randrange(256)
    begin, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    way = chance.randrange(5)
    if way == 0:
        del content[begin:end]
    elif way == 1:
        content[begin:begin] = content[begin:end]
    elif way == 2:
        del content[begin:]
    return bytes(content)


def hostile_frame(chance: Chance) -> pd.DataFrame:
    """The example with strange cells, names and columns."""
    frame = pd.read_csv(io.StringIO(EXAMPLE), dtype=str, keep_default_na=False)
    for _ in range(chance.randrange(8)):
        frame.iat[chance.randrange(len(frame)), chance.randrange(frame.shape[1])] = chance.choice(CELLS)
    for _ in range(chance.randrange(3)):
        column = chance.choice(list(frame))
        frame = frame.rename(columns={column: chance.choice((*CELLS, *frame))})
    size = chance.random()
    if size < 0.15:
        more = pd.DataFrame(chance.choice(CELLS)[:20], frame.index, range(chance.randrange(3_000)))
        frame = pd.concat([frame, more], axis=1)
    elif size < 0.25:
        frame = frame.map(lambda cell: cell[:99]).iloc[[chance.randrange(len(frame)) for _ in range(25_000)]]
    return frame


def csv_table(chance: Chance) -> tuple[str, bytes]:
    """Text with separators."""
    special = {
        0: lambda: b"," * chance.randrange(2_000_000),
        1: lambda: b"\n" * chance.randrange(2_000_000),
        2: lambda: ended_by_returns(chance.randrange(30_000)),
        3: lambda: b'"' * chance.randrange(200_000),
        4: lambda: EXAMPLE.splitlines()[0].encode() + b"\n" + b",".join([b'"'] * 1_000),
        5: lambda: b"a" * chance.randrange(3_000_000),
        6: lambda: bytes(chance.randrange(256) for _ in range(chance.randrange(5_000))),
    }
    way = chance.randrange(20)
    if way in special:
        return "a.csv", special[way]()
    frame = hostile_frame(chance)
    text = frame.to_csv(index=False, sep=chance.choice(",;\t|"), lineterminator=chance.choice(["\n", "\r\n", "\r"]))
    data = text.encode(chance.choice(["utf-8", "utf-16", "utf-8-sig", "utf-32", "latin-1"]), errors="replace")
    return chance.choice(["a.csv", "a.tsv", "a.txt"]), damaged(chance, data) if chance.random() < 0.5 else data


def parquet_table(chance: Chance) -> tuple[str, bytes]:
    """Columns of strange kinds, and files that are larger than they seem."""
    size = 10 ** chance.randrange(1, 6)
    special: dict[int, Callable[[], bytes]] = {
        0: lambda: with_lists(size),
        1: lambda: with_long_text(20 * size, chance.choice(["extra", "case_id", "cohort"])),
        2: lambda: with_bytes(bytes(chance.randrange(256) for _ in range(9)), "case_id", pa.string()),
        3: lambda: with_bytes(b"caf\xe9\0", "cohort", chance.choice([pa.string(), pa.binary()])),
        4: lambda: _many_rows(10 * size),
        5: lambda: _strange_kind(chance),
    }
    way = chance.randrange(10)
    data = special[way]() if way in special else parquet(pa.Table.from_pandas(_named_once(hostile_frame(chance))))
    return "a.parquet", damaged(chance, data) if chance.random() < 0.4 else data


def _named_once(frame: pd.DataFrame) -> pd.DataFrame:
    frame = frame.loc[:, ~frame.columns.astype(str).duplicated()].reset_index(drop=True)
    return frame.set_axis(frame.columns.astype(str), axis=1)


def _many_rows(rows: int) -> bytes:
    pq.write_table(pa.table({"case_id": pa.array(np.zeros(rows, np.int8))}), file := io.BytesIO(), compression="zstd")
    return file.getvalue()


def _strange_kind(chance: Chance) -> bytes:
    values = {
        "struct": pa.array([{"a": {"b": 1}}] * ROWS),
        "map": pa.array([[("k", 1)]] * ROWS, pa.map_(pa.string(), pa.int8())),
        "decimal": pa.array([None] * ROWS, pa.decimal128(38, 10)),
        "time": pa.array([2**62] * ROWS, pa.timestamp("s")),
        "duration": pa.array([2**62] * ROWS, pa.duration("ns")),
        "null": pa.nulls(ROWS),
        "half": pa.array(np.full(ROWS, np.inf, np.float16)),
    }
    kinds = sorted(values)
    kinds.remove("time")
    column = chance.choice(["case_id", "vCDR", "cohort", "extra"])
    table, kind = example(), chance.choice(kinds)
    if column == "extra":
        return parquet(table.append_column(column, values[kind]))
    return parquet(table.set_column(table.column_names.index(column), column, values[kind]))


def excel_table(chance: Chance) -> tuple[str, bytes]:
    """A workbook whose cells or whose parts are strange."""
    packed = io.BytesIO()
    frame = hostile_frame(chance).iloc[:60, :60].map(lambda cell: str(cell)[:32_000].replace("\x0b", ""))
    frame = frame.set_axis([str(name)[:32_000] for name in frame], axis=1)
    frame.to_excel(packed, index=False, engine="xlsxwriter", header=chance.random() < 0.9)
    parts = _parts(packed.getvalue())
    for _ in range(chance.randrange(3)):
        name = chance.choice(sorted(parts))
        parts[name] = chance.choice(
            [damaged(chance, parts[name]), b"", b"<a>" * 20_000, _spread(parts[name]), parts[name] * 3]
        )
    data = _zipped(parts)
    return "a.xlsx", damaged(chance, data) if chance.random() < 0.3 else data


def _spread(sheet: bytes) -> bytes:
    """A cell in the last corner."""
    return sheet.replace(b"</sheetData>", b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>')


def _parts(data: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def _zipped(files: Files) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return packed.getvalue()


@cache
def _exported() -> bytes:
    with TemporaryDirectory() as folder:
        return archive.exported(small_workspace(Workshop(Path(folder) / "jobs", Path(folder) / "runs")), by=LOCAL)


def workspace_file(chance: Chance) -> bytes:
    """An exported workspace with strange paths and contents, vouched for as whoever means harm would."""
    files = _parts(_exported())
    for _ in range(chance.randrange(4)):
        name = chance.choice([*sorted(files), *PATHS, "runs/ai/predictions.parquet", "map/coordinates.parquet"])
        contents = (parquet_table(chance)[1], hostile_json(chance), damaged(chance, files.get(name, b"x")))
        files[name] = chance.choice(contents)
    if chance.random() < 0.8:
        digests = {path: sha256(data).hexdigest() for path, data in files.items() if path != "digests.json"}
        name = chance.choice(["nights", "../evil", "a" * 40, ".", "Nul\0", "nights"])
        files["digests.json"] = json.dumps({"format": 1, "name": name, "files": digests}).encode()
    data = _zipped({name: content for name, content in files.items() if name})
    return damaged(chance, data) if chance.random() < 0.3 else data


def run_folder(chance: Chance, folder: Path) -> None:
    """A run some of whose files are strange, vouched for."""
    own_copy(folder, chance.choice(["mao", "ai", "studio"]))
    for _ in range(chance.randrange(1, 4)):
        path = folder / chance.choice([file.name for file in sorted(folder.iterdir())])
        if path.name == "config.json":
            path.write_bytes(chance.choice([hostile_json(chance), damaged(chance, path.read_bytes())]))
            return
        path.write_bytes(chance.choice([parquet_table(chance)[1], damaged(chance, path.read_bytes()), b""]))
        if chance.random() < 0.7:
            vouch(folder, path.name)


def photograph(chance: Chance) -> bytes:
    """A picture that is damaged, or claims to be huge."""
    pixels = eye(80, 96)
    size = 10 ** chance.randrange(1, 9)
    data = chance.choice([
        lambda: jpeg(pixels), lambda: png(pixels), lambda: tiff(pixels), lambda: dicom(pixels),
        lambda: png_claiming(min(size, 2**31 - 1), 3), lambda: tiff_claiming(min(size, 2**31 - 1)),
    ])()  # fmt: skip
    return damaged(chance, data)


def hostile_json(chance: Chance) -> bytes:
    """JSON that is deep, long, or of unexpected kinds; or nearly JSON."""
    special = [
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b'{"format": ' + b"9" * 5_000 + b"}",
        b"\xff\xfe",
        b"",
    ]
    if chance.random() < 0.3:
        return chance.choice(special)
    return (
        damaged(chance, json.dumps(_value(chance, 4)).encode())
        if chance.random() < 0.4
        else json.dumps(_value(chance, 4)).encode()
    )


def _value(chance: Chance, depth: int) -> object:
    names = (
        "format",
        "name",
        "files",
        "method",
        "settings",
        "costs",
        "notes",
        "created",
        "state",
        "epoch",
        "kind",
        "title",
    )
    if depth and chance.random() < 0.7:
        return {chance.choice(names): _value(chance, depth - 1) for _ in range(chance.randrange(6))}
    return chance.choice((*NUMBERS, *CELLS))
