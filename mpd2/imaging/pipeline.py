"""From photographs to measurements: two frozen networks, a reference and a model of quality, kept in one folder.

A folder of a pipeline has `classifier/` and `segmenter/` in the format their networks are published in (or names their
ids, which are then looked for among the models of this machine), `reference.safetensors` if distances are wanted, and
`imaging.json`, which says what belongs together and the digest of every file.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pydantic

from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import digest, replacing_folder
from mpd2.core.manifest import Record
from mpd2.imaging.distance.reference import Reference
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field, crop, find_field
from mpd2.imaging.measurement import ROUTED, Measurement
from mpd2.imaging.models.backend import Backend
from mpd2.imaging.models.classifier import Answers, Classifier
from mpd2.imaging.models.finding import CLASSIFIER, ID, KINDS, SEGMENTER, Found, Kind, find_model, why_missing
from mpd2.imaging.models.heatmap import Heat, heat
from mpd2.imaging.models.processor import Pixels
from mpd2.imaging.models.segmenter import Labels, Segmenter
from mpd2.imaging.models.square import AROUND, Square
from mpd2.imaging.outlines import Outlines, outlines_of_ellipses, outlines_of_labels
from mpd2.imaging.packages import need
from mpd2.imaging.photograph import Photograph
from mpd2.imaging.quality import QualityModel, assess

SETTINGS, REFERENCE = "imaging.json", "reference.safetensors"
DEFAULT = "default"  # the pipeline of the models' folder that is used unless a workspace has its own
WORKSPACE = "imaging"  # the one of a workspace
NO_REFERENCE = "no reference images: how strange the photograph is to the classifier is not known"
ONE_PASS = "the disc was not found again close by: measured on the whole photograph"
CORRECTED = "outlines corrected by a person"


class Part(Record):
    """One network of a pipeline."""

    name: str  # a folder in the pipeline's own, or an id
    files: dict[str, str]  # SHA-256 by file


class Settings(Record):
    """What imaging.json says."""

    format: int = pydantic.Field(1, ge=1, le=1)
    classifier: Part
    segmenter: Part
    reference: str | None = None  # SHA-256 of the file
    quality: dict[str, Any] | None = None  # a QualityModel; None: the one that is shipped
    around: float = pydantic.Field(AROUND, gt=1, le=10)  # disc heights a side of the second pass
    batch: int = pydantic.Field(4, ge=1, le=256)
    notes: str = ""  # where it comes from, in words


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Everything that is needed to measure a photograph."""

    classifier: Classifier
    segmenter: Segmenter
    reference: Reference | None
    quality: QualityModel
    settings: Settings

    @staticmethod
    def load(
        folder: Path, backend: Backend = "torch", models: Path | None = None, allow_pickle: bool = False
    ) -> Pipeline:
        """The pipeline in a folder, every file checked against its digest."""
        settings = read_settings(folder)
        if models is None and folder.name == DEFAULT:
            models = folder.parent
        classifier = _found(folder, settings.classifier, CLASSIFIER, models, allow_pickle)
        segmenter = _found(folder, settings.segmenter, SEGMENTER, models, allow_pickle)
        return Pipeline(
            Classifier.load(classifier.folder, backend=backend, allow_pickle=allow_pickle),
            Segmenter.load(segmenter.folder, backend=backend, allow_pickle=allow_pickle),
            _reference(folder, settings),
            QualityModel.default() if settings.quality is None else QualityModel.from_json(settings.quality),
            settings,
        )

    def measure(self, photographs: Sequence[Photograph]) -> list[Measurement]:
        """What is measured of each, in their order."""
        step = self.settings.batch
        return [
            measurement
            for first in range(0, len(photographs), step)
            for measurement in self._batch(photographs[first : first + step])
        ]

    def answers(self, photographs: Sequence[Photograph]) -> Answers:
        """What the classifier alone says of each: logits and features, as a reference is made of."""
        return self.classifier([crop(each.pixels, find_field(each.pixels)) for each in photographs])

    def heat(self, photograph: Photograph, measurement: Measurement) -> Heat:
        """Which parts of a measured photograph moved the classifier, with two checks of that."""
        return heat(self.classifier, photograph.pixels, measurement.field, measurement.outlines.disc)

    def remeasured(self, measurement: Measurement, outlines: Outlines) -> Measurement:
        """The same photograph after a person corrected its outlines: what follows from them follows."""
        notes = tuple(note for note in measurement.notes if note != CORRECTED)
        corrected = outlines_of_ellipses(outlines.disc, outlines.cup, outlines.resolution)
        return replace(measurement, outlines=corrected, notes=(*notes, CORRECTED))

    def _batch(self, photographs: Sequence[Photograph]) -> list[Measurement]:
        fields = [find_field(photograph.pixels) for photograph in photographs]
        crops = [crop(photograph.pixels, field) for photograph, field in zip(photographs, fields, strict=True)]
        answers = self.classifier(crops)
        outlines = self.outlines([photograph.pixels for photograph in photographs], fields)
        scores = self.reference.score(answers.features, answers.logits) if self.reference else {}
        measured = []
        for index, (photograph, field) in enumerate(zip(photographs, fields, strict=True)):
            found, note = outlines[index]
            distances = {name: float(values[index]) for name, values in scores.items()}
            notes = (*photograph.notes, *note, *(() if self.reference else (NO_REFERENCE,)))
            logits = answers.logits[index]
            measured.append(
                Measurement(
                    logits=(float(logits[0]), float(logits[1])),
                    probability=float(answers.probability[index]),
                    distance=distances.get(ROUTED),
                    distances=distances,
                    quality=assess(photograph.pixels, field, found.disc, self.quality),
                    outlines=found,
                    field=field,
                    notes=notes,
                )
            )
        return measured

    def outlines(self, pixels: Sequence[Pixels], fields: Sequence[Field]) -> list[tuple[Outlines, tuple[str, ...]]]:
        """Outlines in pixels of each photograph, and a note if they come from the first of the two passes."""
        seen = [
            np.where(field.inside[..., None], each, np.uint8(0)) for each, field in zip(pixels, fields, strict=True)
        ]
        wide = self._pass(seen, [Square.of_field(field) for field in fields])
        with_disc = [index for index, found in enumerate(wide) if found.disc is not None]
        squares = [Square.around(_disc(wide[index]), self.settings.around) for index in with_disc]
        close = dict(zip(with_disc, self._pass([seen[i] for i in with_disc], squares), strict=True))
        return [_better(first, close.get(index)) for index, first in enumerate(wide)]

    def _pass(self, pixels: Sequence[Pixels], squares: Sequence[Square]) -> list[Outlines]:
        """One segmentation of a square of each."""
        if not squares:
            return []
        pictures = [square.cut(each) for each, square in zip(pixels, squares, strict=True)]
        return [outward(labels, square) for labels, square in zip(self.segmenter(pictures), squares, strict=True)]


def outward(labels: Labels, square: Square) -> Outlines:
    """The outlines of a segmented square [S, S], in pixels of the photograph it was cut from."""
    size = labels.shape[0]
    inner = outlines_of_labels(labels)
    disc, cup = (None if each is None else square.outward(each, size) for each in (inner.disc, inner.cup))
    seen = tuple(flag for flag in inner.flags if flag in ("in pieces", "not oval", "at the edge"))
    return outlines_of_ellipses(disc, cup, min(1.0, size / square.side), seen)  # enlarging a picture adds no detail


def make_pipeline(
    folder: Path,
    classifier: str | Path = CLASSIFIER.default,
    segmenter: str | Path = SEGMENTER.default,
    reference: Reference | None = None,
    quality: QualityModel | None = None,
    settings: Mapping[str, Any] | None = None,
    models: Path | None = None,
    allow_pickle: bool = False,
) -> Path:
    """Write the folder of a pipeline: networks given as folders are copied into it, ids are named."""
    with replacing_folder(folder) as draft:
        parts = {
            kind.role: _put(draft, name, kind, models, allow_pickle)
            for kind, name in ((CLASSIFIER, classifier), (SEGMENTER, segmenter))
        }
        if reference is not None:
            reference.save(draft / REFERENCE)
        made = Settings(
            classifier=parts["classifier"],
            segmenter=parts["segmenter"],
            reference=None if reference is None else digest(draft / REFERENCE),
            quality=None if quality is None else quality.to_json(),
            **(settings or {}),
        )
        _write_settings(draft, made)
    return folder


def with_reference(folder: Path, reference: Reference) -> Path:
    """Give a pipeline that is there this reference, in place of any it has."""
    settings = read_settings(folder)
    with replacing_folder(folder) as draft:
        shutil.copytree(folder, draft, dirs_exist_ok=True)
        reference.save(draft / REFERENCE)
        _write_settings(draft, settings.model_copy(update={"reference": digest(draft / REFERENCE)}))
    return folder


def read_settings(folder: Path) -> Settings:
    """What a pipeline's folder says of itself."""
    path = folder / SETTINGS
    try:
        return Settings.model_validate_json(path.read_text(encoding="utf-8"))
    except OSError:
        raise UserError(f"{folder}: found no {SETTINGS}, expected the folder of an imaging pipeline") from None
    except pydantic.ValidationError as error:
        raise UserError(f"{path}: {invalid_entries(error)}") from None


def find_pipeline(workspace_folder: Path | None, models: Path, allow_pickle: bool = False) -> Path:
    """The workspace's own pipeline, else the default one; a UserError says how to get what is missing.

    Where both default networks are on this machine and nobody made a pipeline of them yet, one is made, without a
    reference.
    """
    need("transformers", "To measure a photograph")
    own = None if workspace_folder is None else workspace_folder / WORKSPACE
    if own is not None and (own / SETTINGS).is_file():
        return own
    default = models / DEFAULT
    if (default / SETTINGS).is_file():
        return default
    reasons = [why_missing(kind.default, kind, models, allow_pickle) for kind in KINDS]
    if any(reasons):
        raise UserError("\n".join(reason for reason in reasons if reason))
    return make_pipeline(default, models=models, allow_pickle=allow_pickle)


def _write_settings(folder: Path, settings: Settings) -> None:
    (folder / SETTINGS).write_text(settings.model_dump_json(indent=1) + "\n", encoding="utf-8")


def _put(draft: Path, name: str | Path, kind: Kind, models: Path | None, allow_pickle: bool) -> Part:
    found = find_model(name, kind, models, allow_pickle)
    if isinstance(name, str) and ID.fullmatch(name):
        return Part(name=name, files=found.digests())
    (draft / kind.role).mkdir()
    for path in found.files:
        shutil.copyfile(path, draft / kind.role / path.name)
    return Part(name=kind.role, files=found.digests())


def _found(folder: Path, part: Part, kind: Kind, models: Path | None, allow_pickle: bool) -> Found:
    """A network of a pipeline, the very one that it was made with."""
    if part.name != kind.role and not ID.fullmatch(part.name):
        raise UserError(
            f"{folder / SETTINGS}: found {part.name!r} as {kind.words}, "
            "expected a folder in the pipeline's own, or an id"
        )
    found = find_model(folder / kind.role if part.name == kind.role else part.name, kind, models, allow_pickle)
    here = found.digests()
    if changed := sorted(name for name in {*here, *part.files} if here.get(name) != part.files.get(name)):
        raise UserError(
            f"{found.folder}: {', '.join(changed)} changed since the pipeline in {folder} was made, "
            "whose numbers would not be comparable any more; expected the files it was made with"
        )
    return found


def _reference(folder: Path, settings: Settings) -> Reference | None:
    path = folder / REFERENCE
    if settings.reference is None:
        return None
    if not path.is_file() or digest(path) != settings.reference:
        raise UserError(f"{path}: missing or changed since the pipeline was made; expected the file it was made with")
    return Reference.load(path)


def _disc(outlines: Outlines) -> Ellipse:
    if outlines.disc is None:
        raise ValueError("outlines without a disc")
    return outlines.disc


def _better(wide: Outlines, close: Outlines | None) -> tuple[Outlines, tuple[str, ...]]:
    """The second pass if it found the disc as well, else the first."""
    if close is None:
        return wide, ()
    if close.disc is None:
        return wide, (ONE_PASS,)
    return close, ()
