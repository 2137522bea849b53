"""What is made ready before the first visitor comes."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from mpd2 import figures, studio
from mpd2.curves import SCORES
from mpd2.figures import overview
from mpd2.studio import budget_state, budget_store, case_store, reader_store, store
from mpd2.studio.scenario import Scenario
from mpd2.worklist import ORDERS, ordered

SCRIPT = "main"  # of the studio: run for a visitor, not imported
TABLES = ("overall", "cohorts", "paired", "collapse", "retention", "tradeoff")
COST = "TotalCost"  # the one the charts begin with
LAZY = ("streamlit.emojis", "streamlit.material_icon_names")  # long lists that come with the first icon
LAZY = ("streamlit.emojis", "streamlit.material_icon_names")  # long lists that come with the first icon
SPINNERS = "streamlit.runtime.scriptrunner_utils.script_run_context"


def warm_up() -> None:
    """Load what the default view of every page is made of, then set it aside from garbage collection.

    Streamlit collects garbage after every rerun; looking through what never goes away would take most of it.
    """
    for package in (figures, studio):
        _import_all(package)
    for name in LAZY:
        import_module(name)
    for name in LAZY:
        import_module(name)
    with _nobody_watching():
        _default_views(Scenario())
        _landing_page(Scenario())
    gc.collect()
    gc.freeze()


def _default_views(about: Scenario) -> None:
    store.embedding()
    for name in TABLES:
        store.table(name, about)
    store.answer(about)
    store.risk(about, "reliability", store.STUDY_STRATA)
    reader_store.readers(about)
    first = ordered(case_store.listing(about), next(iter(ORDERS)))["case_id"].iloc[0]
    case_store.facts(about, first)
    for explained in (case_store.attribution, case_store.flips, case_store.stand_ins, case_store.similar):
        explained(about.run, first)
    usual = budget_state.usual()
    budget_store.told(about, usual)
    budget_store.backdrop(about, usual)


def _landing_page(about: Scenario) -> None:
    """Draw what the first visitor sees first."""
    paired, planes = store.table("paired", about), store.table("tradeoff", about)
    overview.differences(paired[(paired["reference"] == about.run) & (paired["metric"] == COST)], about.run)
    for score in SCORES:
        overview.tradeoff(planes[(planes["cost"] == COST) & (planes["score"] == score)], about.run, False)


def _import_all(package: ModuleType) -> None:
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        if not module.name.endswith(f".{SCRIPT}"):
            import_module(module.name)


@contextmanager
def _nobody_watching() -> Iterator[None]:
    """Keep Streamlit from complaining, in its log, that nobody sees the spinner of a cache."""
    log = logging.getLogger(SPINNERS)
    level = log.level
    log.setLevel(logging.ERROR)
    yield
    log.setLevel(level)
