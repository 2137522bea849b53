"""The pages as data: navigation, titles, questions and tests all follow from this list."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mpd2.clinic.access.actions import Action
from mpd2.core.files import ROOT

FOLDER = ROOT / "pages"
About = Literal["slice", "run", "study"]
"""What a page is about: the active run on the slice, the run wherever it is applied, or neither."""


@dataclass(frozen=True)
class PageEntry:
    """One page and the question it answers."""

    key: str  # file name without ending, and path in the URL
    section: str
    title: str
    question: str
    icon: str
    about: About = "slice"
    needs: Action = Action.SEE_FIGURES  # what somebody must be allowed to do to open it

    @property
    def path(self) -> Path:
        """The page's file."""
        return FOLDER / f"{self.key}.py"


PAGES = (
    PageEntry("overview", "Results", "Overview", "Is it worth it?", ":material/dashboard:"),
    PageEntry("risk", "Results", "Risk", "Where does it break?", ":material/stacked_line_chart:"),
    PageEntry("map", "Results", "Map", "Where does it defer?", ":material/scatter_plot:"),
    PageEntry("robustness", "Results", "Robustness", "Does it hold elsewhere?", ":material/travel_explore:", "run"),
    PageEntry("ablations", "Results", "Ablations", "What does each term buy?", ":material/tune:", "study"),
    PageEntry(
        "clinic", "Clinic", "Clinic", "What would it have done today?", ":material/local_hospital:", "study"
    ),
    PageEntry("case", "Clinic", "Case", "Why did this one go there?", ":material/visibility:", needs=Action.SEE_CASE),
    PageEntry(
        "new_case",
        "Clinic",
        "New case",
        "What would it do with this one?",
        ":material/add_circle:",
        "run",
        Action.MEASURE,
    ),
    PageEntry("budget", "Clinic", "Budget", "What if we could send fewer?", ":material/balance:"),
    PageEntry("readers", "Clinic", "Readers", "Who should read what?", ":material/groups:"),
    PageEntry(
        "record",
        "Clinic",
        "Record",
        "What was done, and by whom?",
        ":material/history:",
        "study",
        Action.SEE_RECORD,
    ),
    PageEntry(
        "retrain", "Lab", "Retrain", "What happens if I change it?", ":material/model_training:", "run", Action.TRAIN
    ),
    PageEntry(
        "your_data", "Lab", "Your data", "Does it hold for mine?", ":material/upload_file:", "run", Action.UPLOAD
    ),
    PageEntry("about", "About", "About", "How does it work, and what may it be used for?", ":material/info:", "run"),
)
DEFAULT = "overview"
SECTIONS = ("Clinic", "Results", "Lab", "About")


def entry(key: str) -> PageEntry:
    """A page by its key."""
    return next(page for page in PAGES if page.key == key)
