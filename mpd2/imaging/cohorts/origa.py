"""ORIGA-light (Zhang et al. 2010): Images/001.jpg, Masks/001.png or Semi-automatic-annotations/001.mat, OrigaList.csv.

OrigaList.csv has Filename, ExpCDR, Set (A or B) and Glaucoma; where it is missing, origa_info.csv has Image and Label.
Set A is train, as published; set B is divided into val and test. Copies (Images_Cropped, Images_Square) are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from mpd2.core.errors import UserError
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

MASKS = ("masks", "semi-automatic-annotations")  # the first is preferred
COPIES = ("crop", "square", "proc")
DIGITS = 3  # of a photograph's number


class Origa(Adapter):
    """The adapter."""

    key = "origa"
    name = "ORIGA"
    credit = "ORIGA-light: Zhang et al. 2010. CC BY 4.0."
    truth_from = "the label published with the photographs"
    readings = "induced"
    readers = ()
    expected = (
        "a folder Images with 001.jpg and so on, OrigaList.csv (Filename, Set, Glaucoma) or origa_info.csv (Image, "
        "Label), and Masks/001.png or Semi-automatic-annotations/001.mat"
    )
    shares: Mapping[str, Shares] = {"B": (0.0, 0.5, 0.5), "": (0.5, 0.25, 0.25)}  # the paper's 325, 162 and 163

    def cases(self, folder: Path) -> Found:
        """Every photograph with a label."""
        files = files_in(folder, self.expected)
        images = {_number(path.name): path for path in reversed(files) if _is_image(path, folder)}
        if not images:
            raise UserError(f"{folder}: found no photograph of ORIGA, expected {self.expected}")
        known, left = _known([path for path in files if path.suffix.lower() in sheets.ENDINGS], folder)
        if not known:
            raise UserError(f"{folder}: found no table with the labels of ORIGA, expected {self.expected}")
        outlined = _masks(files, folder)
        cases = []
        for path in (path for path in files if _is_image(path, folder)):
            number = _number(path.name)
            row = known.get(number)
            if row is None:
                left.append(Left(path.relative_to(folder).as_posix(), NO_TRUTH))
                continue
            truth, part = row
            drawn = {0: outlined[number]} if number in outlined else {}
            split = "train" if part == "A" else None
            cases.append(CaseFiles(f"origa-{number}", path, truth, split, "B" if part == "B" else "", masks=drawn))
        found = told_apart(cases, folder)
        left += [
            Left(path.relative_to(folder).as_posix(), NO_PHOTOGRAPH, case=False)
            for path in files
            if "images" in parts_of(path, folder) and path.suffix.lower() not in PICTURES
        ]
        left += [Left(number, LONE_LABEL, case=False) for number in sorted(set(known) - set(images))]
        return Found(found.cases, (*left, *found.left))


ADAPTER = Origa()


def _number(name: str) -> str:
    """A photograph's number as its file has it; tables write 1, 001.jpg or a whole path.

    >>> _number("1"), _number("D:/ORIGA/Images/012.jpg")
    ('001', '012')
    """
    return sheets.stem(name).rjust(DIGITS, "0")


def _is_image(path: Path, folder: Path) -> bool:
    parts = parts_of(path, folder)
    elsewhere = any("mask" in part or "annot" in part or _is_copy(part) for part in parts)
    return path.suffix.lower() in PICTURES and not elsewhere and _number(path.name).isdecimal()


def _is_copy(part: str) -> bool:
    return any(word in part for word in COPIES)


def _known(tables: Iterable[Path], folder: Path) -> tuple[dict[str, tuple[int, str]], list[Left]]:
    """Truth and published set by number; OrigaList before the others."""
    known: dict[str, tuple[int, str]] = {}
    left = []
    for path in sorted(tables, key=lambda path: "list" not in path.stem.lower()):
        try:
            rows = sheets.rows_of(path)
        except UserError as error:
            left.append(Left(path.relative_to(folder).as_posix(), str(error), case=False))
            continue
        known = _of_rows(rows) | known
    return known, left


def _of_rows(rows: list[Mapping[str, str]] | list[dict[str, str]]) -> dict[str, tuple[int, str]]:
    name, truth = sheets.column(rows, "filename", "image"), sheets.column(rows, "glaucoma", "label")
    part = sheets.column(rows, "set")
    if name is None or truth is None:
        return {}
    found = {}
    for row in rows:
        label = sheets.binary(row.get(truth, ""))
        if label is not None and row.get(name):
            found[_number(row[name])] = (label, row.get(part, "").upper() if part else "")
    return found


def _masks(files: Iterable[Path], folder: Path) -> dict[str, Masks]:
    found: dict[str, tuple[int, Masks]] = {}
    for path in files:
        rank = next((MASKS.index(part) for part in parts_of(path, folder) if part in MASKS), None)
        if rank is None or path.suffix.lower() not in masks.ENDINGS:
            continue
        number = _number(path.name)
        if number not in found or rank < found[number][0]:
            found[number] = (rank, Masks(path))
    return {number: drawn for number, (_, drawn) in found.items()}
