"""What is ready before the first visitor comes."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import weakref
from collections.abc import Iterator

import pytest
import streamlit as st
from streamlit.config import get_config_options, get_option

from mpd2.core.cache import CACHE
from mpd2.evaluation import explain
from mpd2.planning.worklist import ordered
from mpd2.studio import warm
from mpd2.studio.case import store
from mpd2.studio.shell.scenario import Scenario


class Heard(logging.Handler):
    """What a log lets through."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


@pytest.fixture(scope="module", autouse=True)
def said() -> Iterator[list[str]]:
    """What was said of spinners while everything was made from nothing, and what is said since."""
    log, heard = logging.getLogger(warm.SPINNERS), Heard()
    get_config_options()  # whoever reads them first sets the level of every log
    level = log.level
    log.setLevel(logging.WARNING)
    log.addHandler(heard)
    CACHE.clear()
    warm.warm_up()
    warm.warm_pages()
    yield heard.said
    log.removeHandler(heard)
    log.setLevel(level)
    gc.unfreeze()


def test_the_first_case_of_the_worklist_is_already_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    about = Scenario()
    first = ordered(store.listing(about), "costly")["case_id"].iloc[0]
    monkeypatch.setattr(explain, "attribute", lambda *_: pytest.fail("explained anew"))
    assert store.reasons(about, first)


def test_the_other_pages_wait_until_the_first_visitor_has_been_served(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(warm, "warm_pages", lambda: told.append("warm"))

    async def served(pause: float) -> list[str]:
        monkeypatch.setattr(warm, "PAUSE", pause)
        async with warm.warming():
            await asyncio.sleep(0.05)
        return list(told)

    assert asyncio.run(served(60)) == []
    assert asyncio.run(served(0)) == ["warm"]


def test_garbage_goes_while_the_server_runs_though_no_rerun_collects_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Knot:
        """Something that only a collection can take away."""

        def __init__(self) -> None:
            self.itself = self

    monkeypatch.setattr(warm, "TIDY", 0.01)
    gone = weakref.ref(Knot())

    async def served() -> None:
        async with warm.tidied():
            while gone() is not None:
                await asyncio.sleep(0.01)

    assert get_option("runner.postScriptGC") is False
    gc.disable()  # what is collected now and then by itself
    asyncio.run(asyncio.wait_for(served(), 60))
    gc.enable()


def test_what_pages_are_made_of_is_imported_and_set_aside() -> None:
    loaded = {"studio.shell.frame", "studio.case.view", "present.charts.map", "present.documents.slides"}
    assert {f"mpd2.{name}" for name in loaded} <= set(sys.modules)
    assert gc.get_freeze_count() > 100_000


def test_nobody_is_told_of_spinners_that_nobody_sees(said: list[str]) -> None:
    assert said == []
    with st.spinner("Counting …"):
        pass
    assert "ScriptRunContext" in said[0]  # as is told of one that warming does not keep quiet
