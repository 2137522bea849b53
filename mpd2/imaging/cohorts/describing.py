"""What a table of photographs is about: its manifest, and a datasheet in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from mpd2.core.manifest import (
    Classifier,
    ClinicalCosts,
    CohortEntry,
    Drawing,
    Grouping,
    Input,
    Manifest,
    Photographs,
    Task,
)
from mpd2.core.text import listed, numbered
from mpd2.imaging import measurement
from mpd2.imaging.cohorts.adapter import Adapter, summary
from mpd2.imaging.cohorts.gathering import Gathered

TABLE, FILE, PATIENT = "cases.csv", "file", "patient"
INPUTS = tuple(each.model_copy(update={"missing": each.role == "structure"}) for each in measurement.INPUTS)
COSTS = ClinicalCosts(false_negative=2.0, false_positive=1.5)  # the paper's
MEASURED = "The numbers of a photograph were measured by the networks in the folder imaging, which has their digests."
CHOSEN = "What errors and readings cost is as the paper has it: chosen, not measured."


def manifest_of(gathered: Gathered, frame: pd.DataFrame, encoders: Sequence[str], cropped: bool) -> Manifest:
    """The manifest of a table; an input that was never measured is not in it."""
    there = [each for each in INPUTS if (frame[each.column].astype(str) != "").any()]
    patients = frame[PATIENT].duplicated().any()
    return Manifest(
        title=f"Glaucoma screening: {listed([adapter.name for adapter in gathered.cohorts])}",
        table=TABLE,
        credit=" ".join(adapter.credit for adapter in gathered.cohorts),
        assumptions=(*_assumptions(gathered.cohorts, encoders, cropped), MEASURED, CHOSEN),
        task=Task(positive="glaucoma", negative="healthy", case="photograph"),
        ai=Classifier(logits=("logit_0", "logit_1")),
        inputs=tuple(there),
        groups=Grouping(column=PATIENT) if patients else None,
        drawing=Drawing(vertical="vCDR", horizontal="hCDR", area="aCDR") if _drawable(there) else None,
        photographs=Photographs(column=FILE),
        costs=COSTS,
        readers=tuple(reader for adapter in gathered.cohorts for reader in adapter.readers),
        cohorts=tuple(
            CohortEntry(key=adapter.key, name=adapter.name, readings=adapter.readings, credit=adapter.credit)
            for adapter in gathered.cohorts
        ),
    )


def datasheet(gathered: Gathered, manifest: Manifest) -> str:
    """Where the cases come from and what was left out, as Markdown."""
    counts = Counter((case.cohort, case.split) for case in gathered.cases)
    lines = [f"# {manifest.title}", "", "Made from the cohorts' own folders; no photograph is in this folder.", ""]
    lines += ["| cohort | train | val | test | truth | readings |", "| --- | --- | --- | --- | --- | --- |"]
    for adapter in gathered.cohorts:
        sizes = " | ".join(str(counts[adapter.key, split]) for split in ("train", "val", "test"))
        lines.append(f"| {adapter.name} | {sizes} | {adapter.truth_from} | {adapter.readings} |")
    lines += ["", *(f"- {assumption}" for assumption in manifest.assumptions)]
    lost = sum(each.case for each in gathered.left)
    lines += ["", f"## Left out: {numbered(lost, 'case')}", "", *(f"- {line}" for line in summary(gathered.left))]
    return "\n".join(lines) + "\n"


def _assumptions(cohorts: Sequence[Adapter], encoders: Sequence[str], cropped: bool) -> list[str]:
    found = [f"{adapter.name}: the truth is {adapter.truth_from}." for adapter in cohorts]
    found += [
        f"{adapter.name}: nobody has given these readings. They are drawn from the truth and outlines of disc and cup, "
        "with settings chosen by us; outlines fused from several people stand for each of them."
        for adapter in cohorts
        if adapter.readings == "semi-synthetic"
    ]
    seen = f"{listed(list(encoders))} {'sees' if len(encoders) == 1 else 'see'}"
    found += [
        f"{adapter.name}: nobody has given these readings. They are those of the seven most alike photographs of the "
        f"same truth in the other cohorts, of any split, as {seen} {'the field of view' if cropped else 'them'}."
        for adapter in cohorts
        if adapter.readings == "induced"
    ]
    return found


def _drawable(inputs: Sequence[Input]) -> bool:
    return {"vCDR", "aCDR"} <= {each.column for each in inputs}
