"""Charts of the Readers page."""

from __future__ import annotations

import pandas as pd

from mpd2.figures.readers import label_places


def test_names_of_readers_at_one_height_stand_on_different_sides() -> None:
    points = pd.DataFrame(
        {
            "kind": ["reader", "ai", "reader", "reader", "reader"],
            "Sens": [0.80, 0.80, 0.81, 0.70, 0.69],
            "Spec": [0.95, 0.95, 0.95, 0.80, 0.80],
        }
    )
    assert label_places(points).tolist() == ["above", "", "below", "right", "above"]
