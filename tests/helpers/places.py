"""Where things are: the project's folder, the shipped files, and the modules that tests share."""

from pathlib import Path

HELPERS = Path(__file__).parent
ROOT = HELPERS.parents[1]
DATA = ROOT / "data" / "glaucoma"
