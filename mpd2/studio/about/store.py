"""What the About page reads beyond the frame."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.evaluation import tables
from mpd2.present.documents import checklists
from mpd2.studio.shell import results, store, workspaces
from mpd2.studio.shell.scenario import Scenario
from mpd2.study import reproduction as study
from mpd2.study.claims import AI
from mpd2.study.tables import StudyTables


@cached
def reproduction(workspace: str) -> pd.DataFrame:
    """Every number the paper prints beside ours, as the study stores it: at the paper's own operating point."""
    found = {name: results.stored(workspace, name) for name in study.COMPARED}
    return study.reproduction(StudyTables(found, store.manifest(workspace)))


@cached
def checklist(key: str, about: Scenario) -> pd.DataFrame:
    """A reporting checklist filled from the active run on the slice."""
    whole, facts = store.cohort(about.workspace), store.compared(tuple(dict.fromkeys((about.run, AI))), about)
    known = checklists.facts(
        store.run(about.workspace, about.run),
        whole,
        facts,
        tables.overall(facts, store.weights(about)),
        about.run,
        about.describe(whole),
        about.point_in_words(),
    )
    published = workspaces.has_published(about.workspace)
    return checklists.filled(key, known, checklists.conditions(whole.manifest, published))
