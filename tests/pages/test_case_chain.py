"""A run that goes on asking tells its steps on the Case page, and every page takes it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from places import DATA
from streamlit.testing.v1 import AppTest

from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY
from mpd2.core.runs import load_run
from mpd2.methods.plus.asking import decide
from mpd2.methods.plus.method import outlook_of

OpenPage = Callable[..., AppTest]
PLUS, TITLE = "mpd2-plus", "MPD²+"


def texts(app: AppTest) -> str:
    kinds = (app.title, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(element.value for kind in kinds for element in kind)


@pytest.fixture(scope="module")
def asked(benchmark: Cohort) -> dict[int, str]:
    """By how many readers are asked about it, all members together, the first such val case."""
    val, run = benchmark.subset(split="val"), load_run(DATA / "runs" / PLUS)
    made = decide(outlook_of(run, val).together(), val.decisions, run.costs, limit=3)
    count = (made.consulted != NOBODY).sum(-1)  # [N]
    return {number: str(val.ids[np.flatnonzero(count == number)[0]]) for number in (0, 1, 2)}


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_steps_are_told_from_how_common_glaucoma_is_to_the_label(
    number: int, asked: dict[int, str], open_page: OpenPage
) -> None:
    page = open_page("case", run=PLUS, point="cheapest", split="val", case=asked[number])
    assert not page.exception
    shown = texts(page)
    assert page.tabs[0].label == "Step by step"
    assert ("Keep it" in shown) == (number == 0)
    steps = next(frame.value for frame in page.dataframe if "probability" in frame.value)
    assert len(steps) == 2 + number
    assert steps["known"].iloc[0] == "How common glaucoma is"
    assert all(" says " in known for known in steps["known"].iloc[2:])
    assert steps["next"].iloc[-1].startswith("decide")
    label = steps["next"].iloc[-1].removeprefix("decide: ")
    assert f"Final answer: {label} (" in shown


def test_other_runs_have_no_steps(asked: dict[int, str], open_page: OpenPage) -> None:
    page = open_page("case", run="studio", split="val", case=asked[0])
    assert "Step by step" not in [tab.label for tab in page.tabs]


@pytest.mark.parametrize("key", ["overview", "risk", "map", "readers"])
def test_every_page_takes_it(key: str, open_page: OpenPage) -> None:
    page = open_page(key, run=PLUS)
    assert not page.exception
    assert re.search(rf"{re.escape(TITLE)}, .+ on the test cases", texts(page))
