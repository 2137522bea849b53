"""What the Map page reads, worked out once for everybody who looks at the same run and slice."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.evaluation import regions
from mpd2.present.charts import map as charts
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario

NEIGHBOURS = 15  # cases an average is taken over: few enough to stay local, enough for a share


@cached
def cases(about: Scenario, named: bool) -> pd.DataFrame:
    """Every case of the slice with its place on the map; without `named` it has a number in place of its id."""
    evidence = store.evidence(about)
    x, y = results.embedding(about.workspace).of(evidence.cohort).T
    rows = regions.cases(evidence, about.run).assign(x=x, y=y)
    if not named:
        rows["case_id"] = [f"number {place}" for place in range(1, len(rows) + 1)]
    return rows


@cached
def averaged(about: Scenario, named: bool) -> pd.DataFrame:
    """The same cases, each with the mean of its neighbours in what the panels are coloured by."""
    return regions.smoothed(cases(about, named), [paint.column for paint, _ in charts.PANELS.values()], NEIGHBOURS)


@cached
def in_words(about: Scenario) -> str:
    """Where the run defers, in words."""
    return regions.deferral_in_words(cases(about, named=True))
