"""A workspace: one folder with a table, its manifest, and all that is made of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from mpd2.core.cache import cached, depends_on
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import FIRST_WORKSPACE, ROOT
from mpd2.core.manifest import Manifest, load_manifest
from mpd2.core.table_file import MANIFEST, load_cohort

SHIPPED = ROOT / "data"
DATASHEET = "README.md"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
DEFAULT = FIRST_WORKSPACE


@dataclass(frozen=True)
class Workspace:
    """A folder by its name, which stands in links and on the command line."""

    name: str
    folder: Path
    shipped: bool = False  # part of the product: it is neither changed nor removed

    @property
    def manifest_path(self) -> Path:
        """What the table is about."""
        return self.folder / MANIFEST

    @property
    def table(self) -> Path:
        """The cases."""
        return self.folder / self.manifest().table

    @property
    def runs(self) -> Path:
        """The runs of the study, a folder each."""
        return self.folder / "runs"

    @property
    def map(self) -> Path:
        """The map of every case."""
        return self.folder / "map"

    @property
    def datasheet(self) -> Path:
        """Where the cases come from, in words; there need be none."""
        return self.folder / DATASHEET

    def manifest(self) -> Manifest:
        """What the table is about, read anew."""
        return load_manifest(self.manifest_path)

    def cohort(self) -> Cohort:
        """Every case, read anew."""
        return load_cohort(self.table, self.manifest())


def checked_name(name: str) -> str:
    """A name that can stand in a link and be a folder, or why it cannot."""
    if not NAME.fullmatch(name):
        raise UserError(f"workspace: found the name {name!r}, expected up to 40 of a to z, 0 to 9 and -, no - first")
    return name


def shipped_workspaces() -> list[Workspace]:
    """Those that come with the product, the default first."""
    return list(_shipped_in(SHIPPED))


@cached
def _shipped_in(place: Path) -> tuple[Workspace, ...]:
    depends_on(place)
    for folder in place.glob("*/"):
        depends_on(folder / MANIFEST)
    folders = sorted(path.parent for path in place.glob(f"*/{MANIFEST}"))
    found = [Workspace(folder.name, folder, shipped=True) for folder in folders]
    return tuple(sorted(found, key=lambda each: each.name != DEFAULT))
