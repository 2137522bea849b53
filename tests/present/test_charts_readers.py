"""Charts of the Readers page."""

from __future__ import annotations

import pandas as pd

from mpd2.present.charts.readers import label_places


def test_readers_are_named_and_whoever_the_legend_names_is_not() -> None:
    points = pd.DataFrame({
        "kind": ["reader", "ai", "run", "reader"], "title": ["Anna", "AI", "Router", "Ben"],
        "Sens": [0.80, 0.70, 0.75, 0.81], "Spec": [0.95, 0.85, 0.80, 0.95],
        "Sens_low": [0.70, 0.60, 0.65, 0.71], "Spec_low": [0.90, 0.80, 0.75, 0.90],
    })  # fmt: skip
    anna, ai, run, ben = label_places(points)
    assert (ai, run) == ("", "")
    assert anna
    assert ben
    assert anna != ben
