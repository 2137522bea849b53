"""What the About page reads beyond the frame."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.studio.shell import store
from mpd2.study import reproduction as study
from mpd2.study.tables import StudyTables


@cached
def reproduction() -> pd.DataFrame:
    """Every number the paper prints beside ours, as the study stores it: at the paper's own operating point."""
    return study.reproduction(
        StudyTables({name: store.ablation(name) for name in study.COMPARED}, store.cohort().manifest)
    )
