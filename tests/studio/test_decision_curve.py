"""The tab Decision curve of the Overview: what it reads, counts and says."""

from __future__ import annotations

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from mpd2.evaluation.clinical.decision_curve import MOVED, ratio_of
from mpd2.evaluation.clinical.winners import cells
from mpd2.planning.floors import Floor
from mpd2.studio.overview import decision_curve as tab
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study import decision_curve as study

SLICE = Scenario(run="mpd2-plus", cohorts=("chaksu",))


def opened(part: str, run: str, floor: bool = False) -> AppTest:
    """The tab alone, for a slice of one cohort."""

    def page(part: str, run: str, floor: bool) -> None:
        import streamlit as st

        from mpd2.planning.floors import Floor
        from mpd2.studio.overview import decision_curve
        from mpd2.studio.shell.scenario import Scenario

        st.query_params["curve_part"] = part
        decision_curve.draw(Scenario(run=run, cohorts=("chaksu",), floor=Floor() if floor else None))

    return AppTest.from_function(page, args=(part, run, floor), default_timeout=120).run()


def test_of_a_slice_every_deployable_run_is_counted() -> None:
    rows = tab.curves(SLICE)
    assert set(rows["n"]) == {len(store.cases(SLICE))}
    assert {"mpd2-plus", "studio", "ai", "mao", "recalibrated", MOVED} <= set(rows["method"])
    assert "oracle" not in set(rows["method"])


def test_a_floor_is_a_place_on_the_curve_and_changes_nothing_of_it() -> None:
    without, page = opened("curve", "mpd2-plus"), opened("curve", "mpd2-plus", floor=True)
    assert not without.exception
    assert not page.exception
    costs = store.point("mpd2-plus", Scenario(run="mpd2-plus", floor=Floor())).costs
    words = f"this operating point: {ratio_of(costs):.3g}"
    [before], [now] = (each.get("vega_lite_chart") for each in (without, page))
    marked = [any(words.encode() in part.data.data for part in chart.proto.datasets) for chart in (before, now)]
    assert marked == [False, True]
    assert page.markdown[0].value == without.markdown[0].value


@pytest.mark.parametrize("run", ["mpd2-plus", "mao", "oracle"])
def test_both_parts_are_drawn_for_any_run(run: str) -> None:
    curve, grid = opened("curve", run), opened("map", run)
    assert not curve.exception
    assert not grid.exception
    assert "false alarms and the readers' fees" in curve.caption[0].value
    assert grid.markdown[0].value.startswith("Of 70 combinations of what a miss weighs")


def test_the_active_run_is_on_the_map_whoever_it_is() -> None:
    rows = tab.least(Scenario(run="mao", cohorts=("chaksu",)))
    assert {"mao", *study.RIVALS, study.BASELINE} == set(rows["method"])
    assert len(cells(rows)) == 70


def test_where_each_is_best_is_told_in_words() -> None:
    rows = pd.DataFrame(
        [
            {"method": name, "title": name.upper(), "ratio": ratio, "best": name == best, "tied": name != best == "a"}
            for ratio, best in ((1.0, "a"), (1.25, "a"), (1.6, "b")) for name in "ab"
        ]
    )  # fmt: skip
    table = tab.best_table(rows)
    assert table.columns.tolist() == list(tab.BEST.values())
    assert table.to_numpy().tolist() == [["1 to 1.25", "A", "within chance"], ["1.6", "B", "beyond chance"]]
