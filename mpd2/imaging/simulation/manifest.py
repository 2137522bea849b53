"""What the table of a simulated programme is about: its question and costs as in the benchmark, its people made up."""

from __future__ import annotations

from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.imaging.measurement import INPUTS
from mpd2.imaging.simulation.law import COLUMNS, Law

FEES = (0.303, 0.300, 0.180, 0.240, 0.147, 0.240, 0.222, 0.310, 0.253, 0.300, 0.180, 0.130)
"""What each of the twelve readers charges, as in the benchmark."""
PANELS = {"Panel 1": 7, "Panel 2": 5}
TIERS = ((0.30, "A"), (0.20, "B"), (0.0, "C"))
MISS, FALSE_ALARM = 2.0, 1.5  # as in the benchmark
FILE = "file"
PATIENT = "patient_id"

MAY_FAIL = ("vim_risk_z", "vCDR", "aCDR")  # a pipeline without a reference, an outline that is not found

ASSUMPTIONS = (
    "Every case, the AI's answers and the readers' words are simulated. No patient, no photograph of a person and no "
    "reader is behind them: they show how methods learn, and say nothing about eyes.",
    "Readers err independently of each other given the truth, the measurements and the site.",
    "What errors and readings cost is as in the benchmark.",
)


def simulated_manifest(law: Law, title: str, table: str, photographs: bool = False, measured: bool = False) -> Manifest:
    """The manifest of a table drawn from a law, whose cohorts are all marked as simulated.

    Where photographs were `measured`, what could not be measured of one is missing, and an input says so.
    """
    if law.readers != len(FEES):
        raise UserError(f"readers of the law: found {law.readers}, expected {len(FEES)}, each with a fee")
    panels = [panel for panel, size in PANELS.items() for _ in range(size)]
    readers = [
        {
            "column": f"reader_{place}",
            "name": f"Reader {place}",
            "group": panel,
            "fee": fee,
            "tier": next(tier for least, tier in TIERS if fee >= least),
        }
        for place, (panel, fee) in enumerate(zip(panels, FEES, strict=True), start=1)
    ]
    cohorts = [{"key": site.key, "name": site.name, "readings": "simulated"} for site in law.sites]
    return Manifest.model_validate(
        {
            "title": title,
            "table": table,
            "assumptions": ASSUMPTIONS,
            "task": {"positive": "glaucoma", "negative": "healthy", "case": "photograph"},
            "ai": {"logits": COLUMNS[:2]},
            "inputs": [each.model_copy(update={"missing": measured and each.column in MAY_FAIL}) for each in INPUTS],
            "groups": {"column": PATIENT, "word": "patient"},
            "drawing": {"vertical": "vCDR", "horizontal": "hCDR", "area": "aCDR"},
            "photographs": {"column": FILE} if photographs else None,
            "costs": {"false_negative": MISS, "false_positive": FALSE_ALARM},
            "readers": readers,
            "cohorts": cohorts,
        }
    )


README = """# {title}

**Simulated cases, no patients.** {cases:,} cases drawn by `python -m mpd2 simulate` (seed {seed}) from a law whose
margins are those of the glaucoma benchmark: how common the disease is at each site, how often the AI and each reader
err, and how the measurements are spread. No eye, photograph or reading of a person is in it.

- The truth given a case's measurements and site, and what each reader says given these and the truth, have known
  probabilities, so that the least cost any rule can reach is known.
- Readers err independently of each other given the truth, the measurements and the site.
- The law: {made}.
- Both eyes of a patient are cases, in the same split, at the same site; they tend to be diseased together.
- {photographs}
"""


def datasheet(law: Law, title: str, cases: int, seed: int, photographs: str) -> str:
    """What the workspace says of itself."""
    return README.format(title=title, cases=cases, seed=seed, made=law.made, photographs=photographs)
