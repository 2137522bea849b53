"""The map of cases for paper."""

from __future__ import annotations

from html import unescape

import numpy as np
import pandas as pd
import pytest
from strategies import made_up_manifest

from mpd2.core.cohort import Cohort
from mpd2.core.policy import Policy, route
from mpd2.evaluation import regions
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.map import FADED, PANELS, paints
from mpd2.present.charts.map_print import for_paper

PAINTS = paints(made_up_manifest(1))


@pytest.fixture(scope="module")
def table(small_cohort: Cohort) -> pd.DataFrame:
    scores = np.random.default_rng(0).normal(size=(2, len(small_cohort), 1 + small_cohort.readers))
    policy = Policy.from_scores(scores, small_cohort.available)
    outcome = Outcome("random", None, route(policy, small_cohort), policy)
    evidence = Evidence(small_cohort, small_cohort.manifest.default_costs(), {"random": outcome})
    x, y = np.random.default_rng(1).normal(size=(2, len(small_cohort)))
    return regions.cases(evidence, "random").assign(x=x, y=y)


def drawn(table: pd.DataFrame, names: list[str], picked: list[str]) -> str:
    return unescape(render(for_paper(table, {name: PAINTS[name] for name in names}, picked), "svg").decode())


@pytest.mark.parametrize("name", PAINTS)
def test_every_case_is_a_point_and_none_a_pixel(table, name):
    picture = drawn(table, [name], [])
    known = int(table[PAINTS[name].column].notna().sum())
    assert f"{PAINTS[name].title} (n = {known})" in picture
    assert picture.count('aria-roledescription="point"') == known
    assert "<image" not in picture


def test_what_is_not_picked_is_faded_as_on_screen(table):
    picture = drawn(table, list(PANELS), table["case_id"][:3].tolist())
    assert picture.count(f'opacity="{FADED}"') == len(PANELS) * (len(table) - 3)
