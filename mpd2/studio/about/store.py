"""What the About page reads beyond the frame."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.evaluation import tables
from mpd2.present.documents import checklists
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study import reproduction as study
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables


@cached
def reproduction() -> pd.DataFrame:
    """Every number the paper prints beside ours, as the study stores it: at the paper's own operating point."""
    return study.reproduction(
        StudyTables({name: store.ablation(name) for name in study.COMPARED}, store.cohort().manifest)
    )


@cached
def checklist(key: str, about: Scenario) -> pd.DataFrame:
    """A reporting checklist filled from the active run on the slice."""
    whole, facts = store.cohort(), store.compared(tuple(dict.fromkeys((about.run, AI))), about)
    known = checklists.facts(
        store.run(about.run),
        whole,
        facts,
        tables.overall(facts, store.weights(about)),
        about.run,
        about.describe(whole),
        about.point_in_words(),
    )
    return checklists.filled(key, known)
