"""Charts of the Overview page."""

from __future__ import annotations

import pandas as pd
import pytest

from mpd2.present.charts.kit.export import render
from mpd2.present.charts.overview import differences, front_in_words, tradeoff


@pytest.fixture
def plane() -> pd.DataFrame:
    """Four methods, of which two are on the front and one has a figure in the paper."""
    frame = pd.DataFrame(
        {
            "method": ["studio", "ai", "mao", "own'run"],
            "title": ["MPD² (studio)", "AI only", "Mao two-stage", "My own"],
            "score_value": [0.82, 0.51, 0.84, 0.7],
            "cost_value": [0.17, 0.38, 0.21, 0.25],
            "on_front": [True, False, True, False],
            "front_share": [0.9, 0.0, 0.6, 0.1],
            "score_published": [None, None, 0.76, None],
            "cost_published": [None, None, 0.21, None],
        }
    ).assign(score="F1", cost="TotalCost", n=899)
    ends = {f"{axis}_{end}": frame[f"{axis}_value"] + by for axis in ("score", "cost")
            for end, by in (("low", -0.02), ("high", 0.02))}  # fmt: skip
    return frame.assign(**ends)


def drawn(figure: object) -> str:
    return render(figure, "svg").decode()


def test_the_ai_and_the_active_run_are_named(plane: pd.DataFrame) -> None:
    picture = drawn(tradeoff(plane, "studio"))
    assert all(f">{title}<" in picture for title in ("MPD² (studio)", "AI only"))
    assert ">My own<" not in picture


def test_the_front_is_told_from_cheap_to_dear(plane: pd.DataFrame) -> None:
    assert front_in_words(plane).endswith(": MPD² (studio) (90\xa0%), Mao two-stage (60\xa0%).")


def test_any_run_can_be_the_active_one(plane: pd.DataFrame) -> None:
    assert ">My own<" in drawn(tradeoff(plane, "own'run"))
    assert drawn(tradeoff(plane, "ai")).count(">AI only<") == 1
    assert drawn(tradeoff(plane, "oracle"))  # not in the plane at all


def test_the_papers_figures_are_drawn_only_when_asked_for(plane: pd.DataFrame) -> None:
    without, beside = (drawn(tradeoff(plane, "studio", printed)) for printed in (False, True))
    assert "in the paper: Mao two-stage" not in without
    assert beside.count("in the paper: ") == 1


def test_differences_are_sorted_with_the_undeployable_last() -> None:
    paired = pd.DataFrame({"method": ["oracle", "ai", "mao"], "title": ["Oracle", "AI only", "Mao two-stage"]})
    paired = paired.assign(difference=[-0.1, 0.2, 0.01], low=[-0.2, 0.1, -0.1], high=[0.0, 0.3, 0.1])
    figure = differences(paired.assign(reference="studio", metric="TotalCost", n=899), "studio")
    picture = drawn(figure)
    places = [picture.index(f">{title}<") for title in ("Mao two-stage", "AI only", "Oracle")]
    assert places == sorted(places)
    assert "Difference in total cost to the active run" in picture
