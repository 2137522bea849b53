"""Without the packages of imaging every way into it says what to install, and everything else works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from mpd2.core.errors import UserError
from mpd2.imaging import packages
from mpd2.imaging.photograph import read_photograph
from mpd2.imaging.pipeline import Pipeline, find_pipeline

SHIPPED = ROOT / "data" / "simulated"
MISSING = r"transformers, which is not installed here.*pip install -r requirements-imaging\.txt"
WITHOUT = """
import sys
sys.modules |= dict.fromkeys(("transformers", "pydicom", "openvino", "pylibjpeg"))  # as if they were not installed
from streamlit.testing.v1 import AppTest
page = AppTest.from_file(sys.argv[1], default_timeout=60)
page.query_params["workspace"] = "simulated"
page.switch_page("../../pages/new_case.py")
page.run()
print(len(page.exception), [each.value for each in page.info], [each.value for each in page.code])
"""


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda name: None)


@pytest.mark.usefixtures("nothing_installed")
def test_a_pipeline_says_what_is_missing_where_it_is_looked_for_and_where_it_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=MISSING):
        find_pipeline(SHIPPED, tmp_path)
    with pytest.raises(UserError, match=MISSING):
        Pipeline.load(SHIPPED / "imaging")


@pytest.mark.usefixtures("nothing_installed")
def test_pictures_are_read_and_dicom_files_say_what_is_missing() -> None:
    assert read_photograph(next((SHIPPED / "photographs").iterdir())).pixels.shape == (512, 512, 3)
    with pytest.raises(UserError, match="cannot be read without the package pydicom"):
        read_photograph(bytes(128) + b"DICM" + bytes(500), "a file")


def test_the_page_says_so_and_takes_numbers_by_hand() -> None:
    main = str(ROOT / "mpd2" / "studio" / "main.py")
    command = [sys.executable, "-c", WITHOUT, main]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 ")
    assert "requirements-imaging.txt" in done.stdout
