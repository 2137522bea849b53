"""What the Ablations page reads of a workspace's study, each part worked out once for everybody."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.evaluation.tables import BUDGET_CONTROL, OBJECTIVE, REGULARISATION
from mpd2.present.charts import ablations as charts
from mpd2.studio.shell import results, store
from mpd2.study.sentences import regularisers_buy
from mpd2.study.tables import StudyTables

METRICS = {"objective": OBJECTIVE, "regularisation": REGULARISATION, "budget": BUDGET_CONTROL}


@cached
def metrics(workspace: str, study: str) -> list[str]:
    """What the conditions of a study can be compared by."""
    known = set(results.stored(workspace, "effects")["metric"])
    return [metric for metric in METRICS[study] if metric in known]


@cached
def conditions(workspace: str, study: str) -> pd.DataFrame:
    """The table of a study, its conditions in words."""
    return charts.in_words(results.stored(workspace, study), study)


@cached
def of_metric(workspace: str, study: str, metric: str) -> pd.DataFrame:
    """One metric of every condition."""
    rows = conditions(workspace, study)
    return rows[rows["metric"] == metric]


@cached
def changes(workspace: str, study: str, metric: str) -> pd.DataFrame:
    """What each condition changes in a metric."""
    return charts.effects_of(results.stored(workspace, "effects"), study, metric)


@cached
def controlled(workspace: str, study: str) -> pd.DataFrame:
    """Soft and hard deferral of every condition."""
    rows = conditions(workspace, study)
    return rows[rows["metric"].isin(charts.KINDS)]


@cached
def seeds(workspace: str) -> int:
    """How many routers each condition has."""
    return _study(workspace).seeds


@cached
def bought_by_regularisers(workspace: str) -> str:
    """What GSDP and Rank-JS come to, in words."""
    return regularisers_buy(_study(workspace))


def _study(workspace: str) -> StudyTables:
    found = {name: results.stored(workspace, name) for name in ("objective", "effects")}
    return StudyTables(found, store.manifest(workspace))
