"""From cohorts' folders to a table: photographs measured, readers' words taken, drawn or retrieved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import UserError
from mpd2.core.files import digest
from mpd2.core.manifest import Manifest
from mpd2.core.rng import Stream, stream
from mpd2.imaging.cohorts.adapter import Left
from mpd2.imaging.cohorts.describing import FILE, PATIENT, manifest_of
from mpd2.imaging.cohorts.gathering import Case, Gathered
from mpd2.imaging.folders import Journal, measure_part, parts_of
from mpd2.imaging.labelling.embeddings import Encoder, embed
from mpd2.imaging.labelling.geometry_readers import VERTICAL, fit_panel, geometry
from mpd2.imaging.labelling.retrieval import induced, nearest
from mpd2.imaging.measurement import COLUMNS
from mpd2.imaging.outlines import Outlines
from mpd2.imaging.photograph import Photograph, read_photograph
from mpd2.imaging.pipeline import SETTINGS, Pipeline

PLACES = 6  # of a number in the table
NO_DISC = "its mask shows no disc"
UNREADABLE = "photograph cannot be read"
TOO_LARGE = "a ratio of cup to disc above 1 was measured, which cannot be: its ratios are left empty"
RATIOS = ("vCDR", "hCDR", "aCDR")

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many are done, and of how many."""


@dataclass(frozen=True, eq=False)
class Built:
    """A table that can be a workspace's."""

    frame: pd.DataFrame
    manifest: Manifest
    gathered: Gathered  # the cases in it, and everything that is left out
    disagreement: float | None  # mean |vCDR measured − vCDR of the masks| where both are known
    compared: int  # in how many cases


def build_table(
    gathered: Gathered,
    pipeline_folder: Path,
    journal: Path,
    encoders: Sequence[Encoder] = (),
    cropped: bool = True,
    seed: int = 0,
    tell: Progress | None = None,
    models: Path | None = None,
) -> Built:
    """Measure, label and describe; what was measured is kept in the journal of the file `journal`, and not anew."""
    tell = tell or (lambda what, done, of: None)
    gathered, measured = measure(gathered, pipeline_folder, journal, tell, models)
    gathered, features = outlined(gathered, tell)
    asked = encoders if len(gathered.rows("induced")) else ()
    vectors = [_vectors(gathered, encoder, cropped, tell) for encoder in asked]
    decisions = readings(gathered, features, vectors, seed)
    gathered, states = possible(gathered, pd.DataFrame([measured[case.files.id] for case in gathered.cases]))
    frame = pd.concat([_about(gathered, decisions), states[list(COLUMNS)].map(_rounded)], axis=1)
    manifest = manifest_of(gathered, frame, [encoder.name for encoder in encoders], cropped)
    return Built(frame, manifest, gathered, *_disagreement(gathered, states, features))


def measure(
    gathered: Gathered, pipeline_folder: Path, journal: Path, tell: Progress, models: Path | None = None
) -> tuple[Gathered, dict[str, dict[str, float | str]]]:
    """The measured row of every case by its id; cases whose photograph cannot be read are left out with the reason."""
    kept = Journal.open(journal, digest(pipeline_folder / SETTINGS))
    ids = dict(zip(gathered.names, (case.files.id for case in gathered.cases), strict=True))
    jobs = parts_of(gathered.folder, gathered.names)
    pipeline: Pipeline | None = None
    done = 0
    for job in jobs:
        if job.key not in kept.done:
            pipeline = Pipeline.load(pipeline_folder, models=models) if pipeline is None else pipeline
            kept.add(job.key, measure_part(pipeline, job))
        done += len(job.files)
        tell("measured", done, len(ids))
    rows = {row[FILE]: row for job in jobs for row in kept.done[job.key]}
    broken = {name: row for name, row in rows.items() if "reason" in row}
    left = [Left(name, f"{UNREADABLE}: {row['reason']}") for name, row in broken.items()]
    found = {ids[name]: row for name, row in rows.items() if name not in broken}
    return gathered.without(left, (ids[name] for name in broken)), found


def possible(gathered: Gathered, states: pd.DataFrame) -> tuple[Gathered, pd.DataFrame]:
    """Measured rows without ratios that cannot be: where one is above 1 all are empty, and a note says so."""
    wrong = (states[list(RATIOS)].apply(pd.to_numeric) > 1).any(axis=1).to_numpy()
    cleared = states.astype(dict.fromkeys(RATIOS, object))
    cleared.loc[wrong, list(RATIOS)] = ""
    left = [Left(gathered.cases[row].files.id, TOO_LARGE, case=False) for row in np.flatnonzero(wrong)]
    return gathered.without(left, ()), cleared


def outlined(gathered: Gathered, tell: Progress) -> tuple[Gathered, dict[str, Floats]]:
    """Geometry of the cohorts with semi-synthetic readers by key, [N_k, J, 5]; cases without a disc are left out."""
    left: dict[str, Left] = {}
    found = {}
    for adapter in (each for each in gathered.cohorts if each.panel is not None):
        readers = len(adapter.readers)
        cases = [case for case in gathered.cases if case.cohort == adapter.key]
        drawn: list[list[Outlines]] = []
        for done, case in enumerate(cases, 1):
            try:
                drawn.append(_outlines(case, readers))
            except UserError as error:
                drawn.append([])
                left[case.files.id] = Left(case.files.id, f"mask {error}")
            tell(f"masks of {adapter.name} read", done, len(cases))
        features = geometry(drawn, readers)
        known = ~np.isnan(features[:, 0, 0])
        for case in (case for case, there in zip(cases, known, strict=True) if not there):
            left.setdefault(case.files.id, Left(case.files.id, NO_DISC))
        found[adapter.key] = features[known]
    return gathered.without(list(left.values()), left), found


def readings(gathered: Gathered, features: Mapping[str, Floats], vectors: Sequence[Floats], seed: int) -> Ints:
    """What every reader says of every case, [N, M]; UNKNOWN where nothing."""
    columns = [reader.column for adapter in gathered.cohorts for reader in adapter.readers]
    said = np.full((len(gathered.cases), len(columns)), UNKNOWN)
    for row, case in enumerate(gathered.cases):
        for column, word in case.files.decisions.items():
            said[row, columns.index(column)] = word
    for adapter in (each for each in gathered.cohorts if each.panel is not None):
        rows, first = gathered.of(adapter.key), columns.index(adapter.readers[0].column)
        truth, seen = gathered.truth[rows], features[adapter.key]
        panel = fit_panel(seen, truth, gathered.split[rows], adapter.panel)
        random = stream(seed, Stream.LABELLING, crc32(adapter.key.encode()))
        said[rows, first : first + len(adapter.readers)] = panel.read(seen, truth, random)
    asked = gathered.rows("induced")
    if len(asked):
        said[asked] = _retrieved(gathered, said, vectors, asked)
    return said


def _retrieved(gathered: Gathered, said: Ints, vectors: Sequence[Floats], asked: Ints) -> Ints:
    names = " and ".join(adapter.name for adapter in gathered.cohorts if adapter.readings == "induced")
    pool = np.setdiff1d(np.arange(len(said)), asked)
    if not len(pool):
        raise UserError(f"{names}: has no readers of its own, expected the folder of another cohort beside it")
    if not vectors:
        raise UserError(f"{names}: its readers are retrieved, for which at least one encoder is expected")
    truth = gathered.truth
    alike = nearest([each[asked] for each in vectors], truth[asked], [each[pool] for each in vectors], truth[pool])
    return induced(alike, said[pool])


def _outlines(case: Case, readers: int) -> list[Outlines]:
    """The outlines of each annotator in order, or the only one there is."""
    if 0 in case.files.masks and len(case.files.masks) == 1:
        return [case.files.masks[0].outlines()]
    nothing = Outlines(None, None)
    own = [case.files.masks.get(number) for number in range(1, readers + 1)]
    return [nothing if each is None else each.outlines() for each in own]


def _disagreement(gathered: Gathered, states: pd.DataFrame, features: Mapping[str, Floats]) -> tuple[float | None, int]:
    """Mean |vCDR measured − vCDR of the masks|, and of how many."""
    measured = pd.to_numeric(states["vCDR"]).to_numpy(np.float64)
    apart = [
        np.abs(measured[gathered.of(key)] - np.median(seen[:, :, VERTICAL], axis=1)) for key, seen in features.items()
    ]
    known = np.concatenate([np.zeros(0), *apart])
    known = known[~np.isnan(known)]
    return (float(known.mean()), len(known)) if len(known) else (None, 0)


def _vectors(gathered: Gathered, encoder: Encoder, cropped: bool, tell: Progress) -> Floats:
    """Unit vectors of all photographs, [N, F]."""

    def photographs() -> Iterator[Photograph]:
        for done, case in enumerate(gathered.cases, 1):
            yield read_photograph(case.files.image)
            tell(f"seen by {encoder.name}", done, len(gathered.cases))

    return embed(encoder, photographs(), cropped)


def _about(gathered: Gathered, decisions: Ints) -> pd.DataFrame:
    """The columns that are not measured."""
    cases = gathered.cases
    readers = [reader.column for adapter in gathered.cohorts for reader in adapter.readers]
    words = np.where(decisions == UNKNOWN, "", decisions.astype(str))  # [N, M]
    return pd.DataFrame(
        {
            "case_id": [case.files.id for case in cases],
            "cohort": [case.cohort for case in cases],
            "split": gathered.split,
            "y_true": gathered.truth,
            PATIENT: [case.files.patient or case.files.id for case in cases],
            FILE: gathered.names,
            **{column: words[:, place] for place, column in enumerate(readers)},
        }
    )


def _rounded(value: float | str) -> float | str:
    return value if isinstance(value, str) else round(value, PLACES)
