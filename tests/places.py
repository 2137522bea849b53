"""Where the shipped files are."""

from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
