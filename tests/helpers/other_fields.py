"""Tables of other fields than the benchmark's: their words, inputs and groups are their own."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.core.cohort import SPLITS, Cohort
from mpd2.core.manifest import Manifest, parse_manifest
from mpd2.core.table_file import cohort_from_frame

RHYTHM = """
version = 2
title = "Rhythm of the heart in one hospital"
credit = "One hospital, 2025."
assumptions = ["Fees were agreed upon, not measured."]

[task]
positive = "finding"
negative = "no finding"
one = "a finding"
case = "tracing"
people = "tracings"
currency = "CHF"
unit = 400.0

[columns]
case = "recording"
truth = "gold"
cohort = "device"
split = "part"

[ai]
probability = "net"
threshold = 0.4

[groups]
column = "patient"

[costs]
false_negative = 5.0
false_positive = 1.0

[[inputs]]
column = "noise"
title = "noise"
means = "How noisy the tracing is."
unit = "mV"
role = "risk"
signal = "quality"

[[inputs]]
column = "novelty"
role = "risk"
signal = "distance"

[[inputs]]
column = "qrs"
title = "QRS width"
unit = "ms"
role = "structure"

[[inputs]]
column = "age"
unit = "years"
missing = true

[[inputs]]
column = "sex"
codes = {female = 0.0, male = 1.0}

[[readers]]
column = "resident"
name = "Resident"
fee = 0.1

[[readers]]
column = "cardiologist"
name = "Cardiologist"
fee = 0.3

[[cohorts]]
key = "bedside"
name = "Bedside"
readings = "real"

[[cohorts]]
key = "wearable"
name = "Wearable"
"""

SLEEP = """
version = 2
title = "Nights in a laboratory"

[task]
positive = "sleep apnoea"
negative = "none"
case = "night"

[columns]
case = "recording"
truth = "gold"
cohort = ""
split = "part"

[ai]
logit = "net"

[costs]
false_negative = 3.0
false_positive = 1.0

[[readers]]
column = "resident"
name = "Technician"
fee = 0.2

[[cohorts]]
key = "all"
name = "Laboratory"
"""

FIELDS = {"rhythm": RHYTHM, "sleep": SLEEP}


def manifest_of(field: str) -> Manifest:
    """What the table of a field is about."""
    return parse_manifest(FIELDS[field], field)


def cohort_of(field: str, cases: int = 90) -> Cohort:
    """Cases of a field by lot, dealt evenly to the splits, three to a patient, with some empty cells."""
    manifest, random = manifest_of(field), np.random.default_rng(0)
    truth = random.integers(0, 2, cases)
    likely = np.clip(0.5 + 0.25 * (2 * truth - 1) + random.normal(0, 0.2, cases), 0.02, 0.98)
    names = {"recording": [f"r{n}" for n in range(cases)], "patient": [f"p{n // 3}" for n in range(cases)]}
    table = pd.DataFrame(names).assign(
        gold=truth,
        part=np.array(SPLITS)[np.arange(cases) // 3 % len(SPLITS)],
        device=np.array(["bedside", "wearable"])[np.arange(cases) // 9 % 2],
        net=likely if manifest.ai.probability else np.log(likely / (1 - likely)),
        noise=random.random(cases),
        novelty=random.normal(size=cases),
        qrs=random.normal(100, 20, cases).round(1),
        age=np.where(np.arange(cases) % 10, random.integers(20, 90, cases), np.nan),
        sex=np.array(["female", "male"])[np.arange(cases) % 2],
        resident=np.where(random.random(cases) < 0.8, truth, 1 - truth),
        cardiologist=np.where(random.random(cases) < 0.95, truth, 1 - truth),
    )
    return cohort_from_frame(table[_used(manifest)], manifest)


def _used(manifest: Manifest) -> list[str]:
    groups = [manifest.groups.column] if manifest.groups else []
    inputs = [each.column for each in manifest.inputs]
    return [*manifest.row.names, *manifest.ai.columns, *inputs, *groups, *manifest.columns]
