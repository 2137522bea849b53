"""What a cohort's folder has to say, and which cohorts are known.

An adapter knows one published layout: which file is whose photograph, what the truth is, who outlined and who decided
what. It opens no photograph. What it cannot use it names with the reason, and goes on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol

from mpd2.core.errors import UserError
from mpd2.core.manifest import Reader
from mpd2.imaging.cohorts import COHORTS
from mpd2.imaging.cohorts.masks import Masks
from mpd2.imaging.labelling.geometry_readers import PanelSettings

PICTURES = (".jpg", ".jpeg", ".png", ".tif", ".tiff")
NO_PHOTOGRAPH = "no photograph by its ending: passed over"
NO_TRUTH = "no label says what it is"
LONE_LABEL = "a label without a photograph"

Shares = tuple[float, float, float]
"""Of train, val and test."""
WHOLE_TRAIN: Shares = (1.0, 0.0, 0.0)
WHOLE_TEST: Shares = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class CaseFiles:
    """One case, as its cohort has it."""

    id: str  # unique among all cohorts
    image: Path
    truth: int  # 1 or 0
    split: str | None = None  # the published one; None where it has to be drawn
    pool: str = ""  # among which cases it is drawn: a key of the adapter's shares
    patient: str = ""  # "" where nothing tells
    masks: Mapping[int, Masks] = field(default_factory=dict)  # by annotator, counted from 1; 0 is a mask fused from all
    decisions: Mapping[str, int] = field(default_factory=dict)  # 0 or 1 by the reader's column


@dataclass(frozen=True)
class Left:
    """Something that was not used, or not as it is."""

    what: str  # a file within the cohort's folder, or a case
    why: str
    case: bool = True  # whether a case is lost by it

    @property
    def words(self) -> str:
        """In a line."""
        return f"{self.what}: {self.why}"


@dataclass(frozen=True)
class Found:
    """What an adapter makes of a folder."""

    cases: tuple[CaseFiles, ...]
    left: tuple[Left, ...] = ()


class Adapter(Protocol):
    """One cohort."""

    key: str  # in the table, and of the command line's option
    name: str
    credit: str
    truth_from: str  # where the truth comes from, in a sentence
    readings: Literal["real", "semi-synthetic", "induced"]
    """Where readers' words come from: the cohort's own files, their outlines, or the most alike cases of the others."""
    readers: tuple[Reader, ...]  # those it adds to the table; their fees
    shares: Mapping[str, Shares]  # how each pool is divided where no split is published
    panel: PanelSettings | None = None  # how semi-synthetic readers are drawn; a cohort without them has none
    expected: str  # the layout in words, for whoever has another folder

    def cases(self, folder: Path) -> Found:
        """The cases of a folder in the published layout, and what is left out; a UserError if it is not that layout."""


def adapters() -> dict[str, Adapter]:
    """Every known cohort by key, in the order of their readers."""
    found = [import_module(f"mpd2.imaging.cohorts.{name}").ADAPTER for name in COHORTS]
    return {adapter.key: adapter for adapter in found}


def files_in(folder: Path, expected: str) -> list[Path]:
    """Every file of a folder and below it, in order; hidden ones and what archives of other systems leave are not."""
    if not folder.is_dir():
        raise UserError(f"{folder}: found no such folder, expected {expected}")
    inside = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in inside if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)]


def parts_of(path: Path, folder: Path) -> tuple[str, ...]:
    """The folders between `folder` and a file of it, in small letters.

    >>> parts_of(Path("/data/Train/Bosch/1.JPG"), Path("/data"))
    ('train', 'bosch')
    """
    return tuple(part.lower() for part in path.relative_to(folder).parts[:-1])


def told_apart(found: Iterable[CaseFiles], folder: Path) -> Found:
    """Cases with an id of their own: of several that are called the same and have one truth, the first; else none."""
    by_id: dict[str, list[CaseFiles]] = defaultdict(list)
    for case in found:
        by_id[case.id].append(case)
    kept, left = [], []
    for same in by_id.values():
        first, *others = same
        if len({case.truth for case in same}) > 1:
            why = f"called the same as {len(others)} more with another label: none of them is taken"
            left += [Left(_within(case.image, folder), why) for case in same]
            continue
        kept.append(first)
        why = f"called the same as {_within(first.image, folder)}, which is taken"
        left += [Left(_within(case.image, folder), why, case=False) for case in others]
    return Found(tuple(kept), tuple(left))


def summary(left: Sequence[Left], named: int = 3) -> list[str]:
    """What was left out and why, a line a reason, with the first few by name.

    >>> summary([Left("a.jpg", "no mask"), Left("b.jpg", "no mask"), Left("c", "x", case=False)], named=1)
    ['2 cases left out, no mask: a.jpg and 1 more', '1 note, x: c']
    """
    reasons = Counter((each.why, each.case) for each in left)
    lines = []
    for (why, case), count in sorted(reasons.items(), key=lambda entry: (not entry[0][1], -entry[1], entry[0][0])):
        what = [each.what for each in left if (each.why, each.case) == (why, case)]
        more = f" and {count - named} more" if count > named else ""
        noun = f"{'case' if count == 1 else 'cases'} left out" if case else "note" if count == 1 else "notes"
        lines.append(f"{count} {noun}, {why}: {', '.join(what[:named])}{more}")
    return lines


def _within(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
