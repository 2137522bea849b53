"""What is made ready for visitors: the landing page before the first one comes, the others while that one reads."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from mpd2 import studio
from mpd2.core.errors import UserError
from mpd2.core.workspace import shipped_workspaces
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.jobs.maintenance import beside
from mpd2.planning.worklist import ORDERS, ordered
from mpd2.present import charts
from mpd2.present.charts import overview
from mpd2.present.charts.clinical import gain
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.case import store as case_store
from mpd2.studio.clinic import store as clinic_store
from mpd2.studio.overview import store as overview_store
from mpd2.studio.overview.answer import MAIN
from mpd2.studio.readers import store as reader_store
from mpd2.studio.robustness import store as robustness_store
from mpd2.studio.shell import results, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.claims import AI

SCRIPT = "main"  # of the studio: run for a visitor, not imported
TABLES = ("overall", "cohorts", "paired", "collapse", "retention", "tradeoff")
VIEW = "overall"  # the table the Overview begins with
LAZY = ("streamlit.emojis", "streamlit.material_icon_names", "pandas.io.formats.style")
"""What comes with the first icon and with the first table."""

PAUSE = 6.0  # seconds in which the first visitor has the server alone
TIDY = 10.0  # seconds between two collections of garbage
SPINNERS = "streamlit.runtime.scriptrunner_utils.script_run_context"


def warm_up() -> None:
    """Load what every page is made of, and what the first visitor sees first."""
    for package in (charts, studio):
        _import_all(package)
    for name in LAZY:
        import_module(name)
    inspect.stack()  # Streamlit asks for it with the first element, and the first time it looks up every module's file
    with _nobody_watching():
        _landing_page(Scenario())
    _set_aside()


def warm_pages() -> None:
    """Work out the default view of every other page, and the first one of every other workspace that is shipped."""
    with _nobody_watching():
        _default_views(Scenario())
        with suppress(UserError):  # no run is in use, or it is not what it was: said on the page
            clinic_store.warm(Workshop.here())
        for other in shipped_workspaces():
            with suppress(UserError):  # what is wrong with it is said on its pages
                _landing_page(Scenario(store.default_run(other.name), workspace=other.name))
    _set_aside()


def warming() -> AbstractAsyncContextManager[None]:
    """Warm the other pages in a while, unless the block ends before."""
    return beside(_later())


def tidied() -> AbstractAsyncContextManager[None]:
    """Collect garbage every few seconds for the length of the block; after every rerun, each visitor would wait."""
    return beside(_tidy())


async def _tidy() -> None:
    while True:
        await asyncio.sleep(TIDY)
        gc.collect()


async def _later() -> None:
    await asyncio.sleep(PAUSE)
    await asyncio.to_thread(warm_pages)


def _default_views(about: Scenario) -> None:
    _rates(about)
    results.embedding(about.workspace)
    results.risk(about, "reliability", results.STUDY_STRATA)
    reader_store.quality(about)
    results.terms(about.workspace)
    robustness_store.on_other_splits(about.workspace, robustness_store.judged_floor(about))
    first = ordered(case_store.listing(about), next(iter(ORDERS)))["case_id"].iloc[0]
    case_store.facts(about, first)
    for explained in (case_store.reasons, case_store.flips, case_store.stand_ins, case_store.similar):
        explained(about, first)
    usual = state.usual(about)
    budget_store.measure(about, usual)
    budget_store.sweep_texts(about, usual)
    budget_store.backdrop(about, usual)


def _landing_page(about: Scenario) -> None:
    store.damage(about.workspace, about.run)
    overview_store.people(about, AS_COUNTED)
    overview_store.not_in_people(about)
    for name in (AI, about.run):
        overview_store.cells(name, about, AS_COUNTED)
    if overview_store.can_split(about):
        gain.split(overview_store.gain(about, AS_COUNTED), store.manifest(about.workspace).task)
    results.table(VIEW, about)
    overview_store.paired(about, "TotalCost")
    overview_store.standing(VIEW, about)
    overview_store.never_available(about)


def _rates(about: Scenario) -> None:
    """The other half of the Overview."""
    for name in TABLES:
        results.table(name, about)
    results.answer(about)
    budget_store.small_curves(about)
    budget_store.day(about, state.usual(about))
    overview.tradeoff(overview_store.plane(about, *MAIN), about.run)


def _set_aside() -> None:
    """Keep what never goes away from being looked through whenever garbage is collected."""
    gc.collect()
    gc.freeze()


def _import_all(package: ModuleType) -> None:
    for module in walk_packages(package.__path__, f"{package.__name__}."):
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
