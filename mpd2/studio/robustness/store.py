"""What the Robustness page reads."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.evaluation.clinical.sample_size import Seen, Spread, seen_by, spread_of
from mpd2.evaluation.tables import ALL
from mpd2.planning.floors import Floor
from mpd2.present.words.answer import in_words
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.analyses.sensitivity import floor_words
from mpd2.study.experiments import FLOORS
from mpd2.study.sentences import resplit_words, transfer_words
from mpd2.study.tables import StudyTables

TABLES = ("resplits", "rivals", "transfer", "recalibration")
AT_FLOOR = ("floors", "floor_rivals")
NEW_COHORT = ("transfer", "recalibration")


@cached
def study(workspace: str) -> StudyTables:
    """The tables of the page that there are, with the names of methods and cohorts."""
    there = [name for name in TABLES if results.has(workspace, name)]
    return StudyTables({name: results.stored(workspace, name) for name in there}, store.manifest(workspace))


def judged_floor(about: Scenario) -> Floor | None:
    """The floor of the scenario where resplits were judged at it; none: as cheap as can be."""
    return about.floor if about.floor in FLOORS and about.confident is None else None


def has_resplits(workspace: str, floor: Floor | None) -> bool:
    """Whether methods were judged over resplits, at the floor."""
    names = TABLES[:2] if floor is None else AT_FLOOR
    return results.has(workspace, *names) and all(len(rows) for rows in over_resplits(workspace, floor))


@cached
def over_resplits(workspace: str, floor: Floor | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every method over resplits on all cases, and its difference from one of them; each at the floor."""
    if floor is None:
        levels = results.stored(workspace, "resplits")
        return levels[levels["cohort"] == ALL], results.stored(workspace, "rivals")
    levels, rivals = (results.stored(workspace, name) for name in AT_FLOOR)
    return levels[levels["floor"] == str(floor)], rivals[rivals["floor"] == str(floor)]


@cached
def of_metric(workspace: str, floor: Floor | None, metric: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same of one metric."""
    levels, rivals = over_resplits(workspace, floor)
    return levels[levels["metric"] == metric], rivals[rivals["metric"] == metric]


@cached
def on_other_splits(workspace: str, floor: Floor | None) -> str:
    """What other splits of the cases come to, in words."""
    if floor is None:
        return in_words(resplit_words(study(workspace)))
    at_floor = StudyTables({"floors": over_resplits(workspace, floor)[0]}, store.manifest(workspace))
    return in_words(floor_words(at_floor))


@cached
def spreads(about: Scenario) -> dict[str, Spread]:
    """What of the active run decides how sure its rates are, from all test cases."""
    return spread_of(store.cases(about), store.outcome(about.run, about).decisions)


@cached
def seen(about: Scenario, reader: int) -> Seen:
    """Whom the active run lets a reader see."""
    return seen_by(store.cases(about), store.outcome(about.run, about).decisions, reader)


@cached
def in_unseen(workspace: str, cohort: str) -> str:
    """What a cohort that no method was trained on comes to, in words."""
    rows = results.stored(workspace, "transfer")
    one = StudyTables({"transfer": rows[rows["cohort"] == cohort]}, store.manifest(workspace))
    return in_words(transfer_words(one))
