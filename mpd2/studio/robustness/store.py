"""What the Robustness page reads."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import cached
from mpd2.evaluation.clinical.sample_size import Seen, Spread, seen_by, spread_of
from mpd2.evaluation.tables import ALL
from mpd2.planning.floors import Floor
from mpd2.present.words.answer import in_words
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.analyses.sensitivity import floor_words
from mpd2.study.experiments import FLOORS
from mpd2.study.sentences import resplit_words, transfer_words
from mpd2.study.tables import StudyTables

TABLES = ("resplits", "rivals", "transfer", "recalibration")


@cached
def study() -> StudyTables:
    """The tables of the page with the names of methods and cohorts."""
    return StudyTables({name: store.ablation(name) for name in TABLES}, store.cohort().manifest)


def judged_floor(about: Scenario) -> Floor | None:
    """The floor of the scenario where resplits were judged at it; none: as cheap as can be."""
    return about.floor if about.floor in FLOORS and about.confident is None else None


def over_resplits(floor: Floor | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every method over resplits on all cases, and its difference from one of them; each at the floor."""
    if floor is None:
        levels = store.ablation("resplits")
        return levels[levels["cohort"] == ALL], store.ablation("rivals")
    levels, rivals = (store.ablation(name) for name in ("floors", "floor_rivals"))
    return levels[levels["floor"] == str(floor)], rivals[rivals["floor"] == str(floor)]


@cached
def on_other_splits(floor: Floor | None) -> str:
    """What other splits of the cases come to, in words."""
    if floor is None:
        return in_words(resplit_words(study()))
    at_floor = StudyTables({"floors": over_resplits(floor)[0]}, store.cohort().manifest)
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
def in_unseen(cohort: str) -> str:
    """What a cohort that no method was trained on comes to, in words."""
    rows = store.ablation("transfer")
    one = StudyTables({"transfer": rows[rows["cohort"] == cohort]}, store.cohort().manifest)
    return in_words(transfer_words(one))
