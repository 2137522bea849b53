"""Nothing of a table that somebody uploads is written anywhere unless they say so, whatever is wrong with it."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hostile_tables import EXAMPLE, example, parquet, with_bytes

from mpd2.core.files import ROOT
from mpd2.lab.jobs.folder import PLACE

MARKER = "ZEBRA-7431"
CELL = f"café {MARKER}"


def dated() -> bytes:
    """A date that no library understands."""
    frame = pd.read_csv(io.StringIO(EXAMPLE), dtype=str, keep_default_na=False)
    return frame.assign(date=CELL, vCDR=f"0,5{MARKER}").to_csv(index=False).encode()


POISONED = {
    "latin-1 text": ("a.parquet", with_bytes(CELL.encode("latin-1"), "case_id", pa.string())),
    "latin-1 bytes": ("a.parquet", with_bytes(CELL.encode("latin-1"), "cohort", pa.binary())),
    "a name": ("a.parquet", parquet(example().rename_columns([f"{MARKER}\0{n}" for n in example().column_names]))),
    "latin-1": ("a.csv", EXAMPLE.replace("r1,", f"{CELL},", 1).encode("latin-1")),
    "words for numbers": ("a.csv", dated()),
    "half a quotation": ("a.csv", EXAMPLE.replace("r1,", f'"{CELL},', 1).encode()),
    "no table": ("a.csv", f"{CELL}\n{CELL},{CELL}\n".encode()),
    "a name of a file": (f"{MARKER}.csv", b"\0\0"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PLACE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("kind", POISONED)
def test_a_poisoned_table_leaves_no_word_behind(open_page, kind, place, capfd, caplog):
    name, data = POISONED[kind]
    trial = open_page("your_data", own="trial")
    trial.file_uploader(key="own_table").upload(name, data).run()
    assert not trial.exception
    wizard = open_page("your_data", own="table")
    wizard.file_uploader(key="import_cases").upload(name, data).run()
    assert not wizard.exception
    assert MARKER not in caplog.text + "".join(capfd.readouterr())
    assert not [path for path in place.rglob("*") if path.is_file() and MARKER.encode() in path.read_bytes()]


def test_a_table_has_no_download_but_ours_and_an_error_is_neither_drawn_in_the_log_nor_searched_for():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["client"]["disableDataExport"] is True
    assert settings["client"]["showErrorDetails"] == "none"
    assert settings["client"]["showErrorLinks"] is False
    assert settings["logger"]["enableRich"] is False
