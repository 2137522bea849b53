"""REFUGE (Orlando et al. 2020), as the challenge distributes it and as it is passed on.

Photographs are known by their names (g0001 and n0001 of train, V0001 of val, T0001 of test), wherever archives were
unpacked: `Training400/Glaucoma/g0001.jpg`, `REFUGE-Validation400/V0001.jpg`, `Test400/T0001.jpg`, or
`train/Images/g0001.jpg`. Labels of val and test stand in a table with a column ImgName (`Fovea_locations.xlsx`,
`Glaucoma_label_and_Fovea_location.xlsx`, `index.json`). A mask shows disc and cup; there is one a photograph, fused
from those of seven people, unless folders are named after annotators.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mpd2.core.errors import UserError
from mpd2.core.manifest import Reader
from mpd2.imaging.cohorts import masks, sheets
from mpd2.imaging.cohorts.adapter import (
    LONE_LABEL,
    NO_PHOTOGRAPH,
    NO_TRUTH,
    PICTURES,
    Adapter,
    CaseFiles,
    Found,
    Left,
    Shares,
    files_in,
    parts_of,
    told_apart,
)
from mpd2.imaging.cohorts.masks import Masks
from mpd2.imaging.labelling.geometry_readers import PanelSettings

NAME = re.compile(r"[gnvt]\d{4,5}", re.IGNORECASE)
SPLIT = {"g": "train", "n": "train", "v": "val", "t": "test"}
ANNOTATOR = re.compile(r"(?:expert|annotator|reader)[ ._-]?(\d+)")
SMALLER = ("crop", "square")  # in the name of a folder with copies
FOLDERS = {"glaucoma": 1, "non-glaucoma": 0, "nonglaucoma": 0, "non_glaucoma": 0}


class Refuge(Adapter):
    """The adapter."""

    key = "refuge"
    name = "REFUGE"
    credit = "REFUGE: Orlando et al. 2020; Fang et al. 2022. CC BY 4.0."
    truth_from = "the clinical label published with the challenge"
    readings = "semi-synthetic"
    readers = tuple(
        Reader(column=f"refuge_expert_{number}", name=f"REFUGE {number}", group="REFUGE", fee=fee)
        for number, fee in enumerate((0.303, 0.300, 0.180, 0.240, 0.147, 0.240, 0.222), 1)
    )
    panel = PanelSettings()
    expected = (
        "photographs called g0001.jpg, n0001.jpg, V0001.jpg and T0001.jpg (as in Training400/Glaucoma, "
        "REFUGE-Validation400 and Test400), masks of the same names as .bmp in folders Disc_Cup_Masks, and tables with "
        "the labels of V and T (Fovea_locations.xlsx, Glaucoma_label_and_Fovea_location.xlsx or index.json)"
    )
    shares: Mapping[str, Shares] = {}  # the challenge's own splits

    def cases(self, folder: Path) -> Found:
        """Every photograph with a label."""
        files = files_in(folder, self.expected)
        drawn = [path for path in files if _is_mask(path, folder)]
        tables = [path for path in files if path.suffix.lower() in sheets.ENDINGS]
        used = {*drawn, *tables}
        rest = [path for path in files if path not in used and not _is_copy(path, folder)]
        images = [path for path in rest if path.suffix.lower() in PICTURES and NAME.fullmatch(path.stem)]
        if not images:
            raise UserError(f"{folder}: found no photograph of REFUGE, expected {self.expected}")
        labels, left = _labels(tables, folder)
        outlined = _masks(drawn, folder)
        cases = []
        for image in images:
            truth, why = _truth(image, folder, labels)
            if truth is None:
                left.append(Left(image.relative_to(folder).as_posix(), why))
                continue
            name = image.stem.lower()
            cases.append(
                CaseFiles(f"refuge-{name}", image, truth, SPLIT[name[0]], masks=dict(sorted(outlined[name].items())))
            )
        found = told_apart(cases, folder)
        left += _not_used(rest, images, labels, folder)
        return Found(found.cases, (*left, *found.left))


ADAPTER = Refuge()


def _is_mask(path: Path, folder: Path) -> bool:
    parts = parts_of(path, folder)
    inside = any("mask" in part for part in parts) or (
        path.suffix.lower() == ".bmp" and bool(NAME.fullmatch(path.stem))
    )
    return inside and path.suffix.lower() in masks.ENDINGS and not _is_copy(path, folder)


def _is_copy(path: Path, folder: Path) -> bool:
    return any(word in part for part in parts_of(path, folder) for word in SMALLER)


def _labels(tables: Iterable[Path], folder: Path) -> tuple[dict[str, int], list[Left]]:
    """The truth by a photograph's name, from every table that has one."""
    labels: dict[str, int] = {}
    left = []
    for path in tables:
        try:
            rows = sheets.rows_of(path)
        except UserError as error:
            left.append(Left(path.relative_to(folder).as_posix(), str(error), case=False))
            continue
        name = sheets.column(rows, "imgname", "imagename", "filename")
        truth = sheets.column(rows, "glaucoma label", "label", "glaucoma")
        if name is None or truth is None:
            continue
        known = ((sheets.stem(row.get(name, "")), sheets.binary(row.get(truth, ""))) for row in rows)
        labels |= {stem: value for stem, value in known if value is not None}
    return labels, left


def _truth(image: Path, folder: Path, labels: dict[str, int]) -> tuple[int | None, str]:
    """What a photograph shows, by its name, its folder and the tables, which must agree."""
    name = image.stem.lower()
    by_name = {"g": 1, "n": 0}.get(name[0])
    by_folder = next((FOLDERS[part] for part in reversed(parts_of(image, folder)) if part in FOLDERS), None)
    known = {value for value in (by_name, by_folder, labels.get(name)) if value is not None}
    if len(known) > 1:
        return None, "its name, its folder and the tables say different things of it"
    return (known.pop(), "") if known else (None, NO_TRUTH)


def _masks(drawn: Iterable[Path], folder: Path) -> dict[str, dict[int, Masks]]:
    """By a photograph's name and annotator, 0 where no folder names one; the first of several."""
    found: dict[str, dict[int, Masks]] = defaultdict(dict)
    for path in drawn:
        number = next((int(hit[1]) for part in parts_of(path, folder) if (hit := ANNOTATOR.search(part))), 0)
        found[path.stem.lower()].setdefault(number, Masks(path))
    return found


def _not_used(rest: Sequence[Path], images: Sequence[Path], labels: dict[str, int], folder: Path) -> list[Left]:
    extra = sorted(set(rest) - set(images))
    lone = sorted(set(labels) - {image.stem.lower() for image in images})
    return [
        *(Left(path.relative_to(folder).as_posix(), NO_PHOTOGRAPH, case=False) for path in extra),
        *(Left(name, LONE_LABEL, case=False) for name in lone),
    ]
