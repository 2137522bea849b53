"""A finished chart shows what it was drawn from, and is drawn once."""

from __future__ import annotations

import altair as alt
import pandas as pd
import pytest

from mpd2.present.charts.kit.drawing import drawn_once, finished
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import CONFIG


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame({"title": ["AI", "router"], "value": [0.25, float("nan")], "n": [3, 4], "there": [True, False]})


def chart(rows: pd.DataFrame) -> alt.LayerChart:
    base = alt.Chart(rows).encode(x="value:Q", y="title:N")
    return (base.mark_point() + base.mark_text().encode(text="n:Q")).properties(title="Two", height=80)


def test_a_drawing_says_what_altair_would_in_the_style_of_all(rows: pd.DataFrame) -> None:
    assert finished(chart(rows)).to_dict() == chart(rows).to_dict() | {"config": CONFIG}


def test_a_page_gets_the_same_settings_and_the_data_apart(rows: pd.DataFrame) -> None:
    shown = finished(chart(rows)).on_page()
    (data,) = shown["datasets"].values()
    assert shown["config"] == CONFIG
    assert data.to_pylist() == [
        {"title": "AI", "value": 0.25, "n": 3, "there": True},
        {"title": "router", "value": None, "n": 4, "there": False},
    ]


def test_a_picture_has_the_width_it_is_given(rows: pd.DataFrame) -> None:
    narrow, wide = (render(finished(chart(rows)).of_width(width), "svg") for width in (100, 700))
    assert len({picture.split(b"viewBox")[1][:30] for picture in (narrow, wide)}) == 2
    assert finished(chart(rows)).of_width(700).to_dict()["width"] == 700


def test_the_same_table_is_drawn_once_and_handed_out_unchangeable(rows: pd.DataFrame) -> None:
    draw = drawn_once(chart)
    first = draw(rows)
    first.on_page()["layer"].clear()
    first.to_dict()["datasets"].clear()
    assert draw(rows.copy()) is first
    assert first.to_dict() == finished(chart(rows)).to_dict()
    assert draw(rows.assign(n=5)) is not first
