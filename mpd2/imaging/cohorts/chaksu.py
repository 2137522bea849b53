"""Chákṣu IMAGE (Kumar et al. 2023), as it is published: Train and Test, three cameras, five people.

    Train/1.0_Original_Fundus_Images/{Bosch,Forus,Remidio}/Image101.jpg
    Train/3.0_Doctors_Annotations_Binary_OD_OC/Expert 1/Bosch/{Disc,Cup}/Image101.tif
    Train/4.0_OD_OC_Fusion_Images/Expert 1/Bosch/Image101.tif          (instead of 3.0)
    Train/6.0_Glaucoma_Decision/Glaucoma_Decision_Comparison_Bosch_majority.csv
    Train/6.0_Glaucoma_Decision/Expert 1/Bosch.csv                     (instead of the former)

A table calls a photograph `Image101.jpg-Image101-1.jpg`. Two of the people misspell what they say, folders differ in
their capitals, and the two halves may share one table: all of that is understood.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

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

PEOPLE = 5
IMAGES, BINARY, FUSED, DECISIONS = "1.0", "3.0", "4.0", "6.0"
CAMERAS = {"bosch": "bosch", "forus": "forus", "remidio": "remidio", "remedio": "remidio"}
EXPERT = re.compile(r"expert[ ._-]?(\d)")
LISTED = re.compile(r"(.+?)\.(?:jpe?g|png|tiff?)(?:-.*)?", re.IGNORECASE)
PATIENT = re.compile(r"(p\d+)[_-]", re.IGNORECASE)
AGAIN = re.compile(r"-\d+$")
COLUMN = "chaksu_expert_{}"


class Name(NamedTuple):
    """How a photograph is known: the two halves and the cameras count anew."""

    half: str
    camera: str
    stem: str

    @property
    def words(self) -> str:
        """For a message."""
        return "/".join(self)


Said = dict[int, int]
"""0 or 1 by person, 1 to 5; 0 is the majority."""


class Chaksu(Adapter):
    """The adapter."""

    key = "chaksu"
    name = "Chákṣu"
    credit = "Chákṣu IMAGE: Kumar et al. 2023. CC BY 4.0."
    truth_from = "the majority of the five readers, so that truth and readings are not independent"
    readings = "real"
    readers = tuple(
        Reader(column=COLUMN.format(number), name=f"Chákṣu {number}", group="Chákṣu", fee=fee)
        for number, fee in enumerate((0.310, 0.253, 0.300, 0.180, 0.130), 1)
    )
    expected = (
        "folders Train and Test, each with 1.0_Original_Fundus_Images/Bosch, Forus and Remidio and with "
        "6.0_Glaucoma_Decision/Glaucoma_Decision_Comparison_Bosch_majority.csv and so on"
    )
    shares: Mapping[str, Shares] = {"train": (0.68, 0.32, 0.0)}  # the paper's 686 and 323 of 1,009

    def cases(self, folder: Path) -> Found:
        """Every photograph on which somebody decided."""
        files = files_in(folder, self.expected)
        by_kind = defaultdict(list)
        for path in files:
            by_kind[_kind(path, folder)].append(path)
        images, left = _images(by_kind[IMAGES], folder)
        if not images:
            raise UserError(f"{folder}: found no photograph of Chákṣu, expected {self.expected}")
        said, unread = _decisions(by_kind[DECISIONS], folder)
        outlined = _masks(by_kind[BINARY], by_kind[FUSED], folder, set(images))
        torn = _patients(images)
        cases = []
        for name, image in images.items():
            known = said.get(name) or said.get(name._replace(half="")) or {}
            truth = _truth(known)
            if truth is None:
                left.append(Left(name.words, NO_TRUTH if not known else "as many say one thing as the other"))
                continue
            cases.append(_case(name, image, truth, known, outlined.get(name, {}), torn))
        found = told_apart(cases, folder)
        lone = _lone(said, images)
        return Found(found.cases, (*left, *unread, *found.left, *lone))


ADAPTER = Chaksu()


def _case(
    name: Name, image: Path, truth: int, known: Said, outlined: Mapping[int, Masks], torn: Mapping[str, set[str]]
) -> CaseFiles:
    patient = _patient(name)
    if patient and len(torn[patient]) > 1:
        patient = f"{patient}-{name.half}"  # the published halves stand; a note says that they share patients
    return CaseFiles(
        id="-".join(("chaksu", name.camera, name.half, re.sub(r"\s+", "_", name.stem))),
        image=image,
        truth=truth,
        split="test" if name.half == "test" else None,
        pool=name.half,
        patient=patient,
        masks=dict(sorted(outlined.items())),
        decisions={COLUMN.format(number): word for number, word in sorted(known.items()) if number},
    )


def _kind(path: Path, folder: Path) -> str:
    """Which of the numbered folders a file is in."""
    kinds = (IMAGES, BINARY, FUSED, DECISIONS)
    return next((kind for part in parts_of(path, folder) for kind in kinds if part.startswith(f"{kind}_")), "")


def _place(path: Path, folder: Path) -> tuple[str, str]:
    """Half and camera of a file, "" for what its folders do not say."""
    parts = parts_of(path, folder)
    half = next((word for part in parts for word in ("train", "test") if word in part.split("_")[0]), "")
    return half, next((CAMERAS[part] for part in parts if part in CAMERAS), "")


def _images(paths: Sequence[Path], folder: Path) -> tuple[dict[Name, Path], list[Left]]:
    images: dict[Name, Path] = {}
    left = []
    for path in paths:
        within = path.relative_to(folder).as_posix()
        half, camera = _place(path, folder)
        name = Name(half, camera, path.stem.lower())
        if path.suffix.lower() not in PICTURES:
            left.append(Left(within, NO_PHOTOGRAPH, case=False))
        elif not half or not camera:
            left.append(Left(within, "its folder names no half or no camera", case=False))
        elif name in images:
            left.append(Left(within, f"called the same as {images[name].name}, which is taken", case=False))
        else:
            images[name] = path
    return images, left


def _decisions(paths: Iterable[Path], folder: Path) -> tuple[dict[Name, Said], list[Left]]:
    """What was said of each photograph; tables of all five come before those of one."""
    together: dict[Name, Said] = defaultdict(dict)
    alone: dict[Name, Said] = defaultdict(dict)
    left = []
    for path in (path for path in paths if path.suffix.lower() in sheets.ENDINGS):
        camera = next((CAMERAS[word] for word in CAMERAS if word in path.stem.lower()), "")
        if not camera or "vs" in path.stem.lower() or "staple" in path.stem.lower():
            continue
        try:
            rows = sheets.rows_of(path)
        except UserError as error:
            left.append(Left(path.relative_to(folder).as_posix(), str(error), case=False))
            continue
        images = sheets.column(rows, "images", "image")
        columns = _columns(rows, path, folder)
        if images is None or not columns:
            continue
        target = together if len(columns) > 1 else alone
        for row in rows:
            listed = LISTED.fullmatch(row.get(images, ""))
            if listed:
                name = Name(_place(path, folder)[0], camera, listed[1].lower())
                words = {number: word for number, of in columns.items() if (word := _word(row.get(of, ""))) is not None}
                target[name] = words | target[name]
    return {name: alone.get(name, {}) | together.get(name, {}) for name in {**together, **alone}}, left


def _columns(rows: Sequence[Mapping[str, str]], path: Path, folder: Path) -> dict[int, str]:
    """The column of each person, and that of the majority as 0."""
    head = list(rows[0]) if rows else []
    people = {int(hit[1]): name for name in head if (hit := EXPERT.fullmatch(name))}
    decision = next((name for name in head if name.endswith("decision")), None)
    if people:
        return people | ({0: decision} if decision else {})
    person = next((int(hit[1]) for part in parts_of(path, folder) if (hit := EXPERT.fullmatch(part))), None)
    return {person: decision} if person is not None and decision is not None else {}


def _word(text: str) -> int | None:
    """NORMAL, GLAUCOMA SUSPECT, GLAUCOMA  SUSUPECT.

    >>> _word("NORMAL"), _word("GLAUCOMA  SUSUPECT"), _word("")
    (0, 1, None)
    """
    word = text.strip().lower()
    return 0 if word.startswith("normal") else 1 if "glaucoma" in word or "sus" in word else None


def _truth(known: Said) -> int | None:
    """The published majority, else that of those who said something; None without one."""
    if 0 in known:
        return known[0]
    words = list(known.values())
    return None if 2 * sum(words) == len(words) else int(2 * sum(words) > len(words))


def _masks(
    binary: Iterable[Path], fused: Iterable[Path], folder: Path, images: set[Name]
) -> dict[Name, dict[int, Masks]]:
    """Each person's outlines of each photograph: a picture of the disc and one of the cup, else one of both."""
    parts: dict[tuple[Name, int], dict[str, Path]] = defaultdict(dict)
    for path in binary:
        structure = next((word for part in parts_of(path, folder) for word in ("disc", "cup") if part == word), "")
        if structure:
            parts[_drawn(path, folder, images)][structure] = path
    found: dict[Name, dict[int, Masks]] = defaultdict(dict)
    for (name, person), pair in parts.items():
        if "disc" in pair and "cup" in pair:
            found[name][person] = Masks(pair["disc"], pair["cup"])
    for path in fused:
        name, person = _drawn(path, folder, images)
        if person and path.suffix.lower() in masks.ENDINGS:
            found[name].setdefault(person, Masks(path))
    return found


def _drawn(path: Path, folder: Path, images: set[Name]) -> tuple[Name, int]:
    """Whose outline of which photograph a mask is; some masks are numbered behind the photograph's name."""
    half, camera = _place(path, folder)
    name = Name(half, camera, path.stem.lower())
    if name not in images:
        name = name._replace(stem=AGAIN.sub("", name.stem))
    return name, next((int(hit[1]) for part in parts_of(path, folder) if (hit := EXPERT.fullmatch(part))), 0)


def _patient(name: Name) -> str:
    """Only some photographs of one camera name the person: P11_image_1."""
    hit = PATIENT.match(name.stem)
    return f"chaksu-{name.camera}-{hit[1].lower()}" if hit else ""


def _patients(images: Iterable[Name]) -> dict[str, set[str]]:
    """The halves in which each person is."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in images:
        found[_patient(name)].add(name.half)
    return found


def _lone(said: Mapping[Name, Said], images: Mapping[Name, Path]) -> list[Left]:
    """Labels whose photograph is in neither half, and people who are in both."""
    there = {(name.camera, name.stem) for name in images}
    lone = sorted({name for name in said if (name.camera, name.stem) not in there})
    both = sorted(patient for patient, halves in _patients(images).items() if patient and len(halves) > 1)
    return [
        *(Left(name.words, LONE_LABEL, case=False) for name in lone),
        *(Left(patient, "this person is in both published halves, which stand", case=False) for patient in both),
    ]
