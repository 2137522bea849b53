"""Charts of risk."""

from __future__ import annotations

import pandas as pd
import pytest

from mpd2.present.charts import risk
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import AI, READER, ROUTER

METHODS = {"studio": 0.1, "ai": 0.6, "mean-reader": 0.25, "mao": 0.11, "verma": 0.12}


@pytest.fixture
def rows() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"method": name, "title": name.title(), "stratum": level, "value": cost * level / 3,
             "low": cost * level / 3 - 0.02, "high": cost * level / 3 + 0.02, "n": 60}
            for name, cost in METHODS.items()
            for level in (1, 2, 3)
        ]
    )  # fmt: skip


def test_the_chart_is_a_valid_picture(rows):
    assert render(risk.risk_curves(rows, "studio", "Structural risk"), "svg").startswith(b"<svg")


def test_a_point_says_which_method_and_stratum_was_picked(rows):
    params = risk.risk_curves(rows, "studio", "Structural risk").to_dict()["params"]
    [picked] = [param for param in params if param["name"] == risk.PICKED]
    assert picked["select"]["fields"] == ["method", "stratum"]


def test_bands_can_be_left_out(rows):
    with_bands, without = (risk.risk_curves(rows, "studio", "AI risk", bands).to_dict() for bands in (True, False))
    assert len(with_bands["layer"]) == len(without["layer"]) + 1


def test_everybody_has_their_own_mark_and_like_colours_differ_in_their_dashes(rows):
    layers = risk.risk_curves(rows, "studio", "AI risk").to_dict()["layer"]
    [line] = [layer["encoding"] for layer in layers if layer["mark"]["type"] == "line"]
    colours = dict(zip(line["color"]["scale"]["domain"], line["color"]["scale"]["range"], strict=True))
    assert (colours["studio"], colours["ai"], colours["mean-reader"]) == (ROUTER.colour, AI.colour, READER.colour)
    dashes = dict(zip(line["strokeDash"]["scale"]["domain"], line["strokeDash"]["scale"]["range"], strict=True))
    assert dashes["mao"] != dashes["verma"]


def test_names_lie_by_their_lines_and_never_on_each_other(rows):
    places = risk.labels(rows)
    gap = risk.LABEL_GAP * rows["high"].max()
    assert places["place"].diff().dropna().min() >= gap - 1e-9
    far = places.set_index("method").loc["ai"]
    assert far["place"] == pytest.approx(far["value"])
    assert places["place"].mean() == pytest.approx(places["value"].mean())


def test_the_sentence_tells_the_hardest_stratum_of_those_with_a_mark(rows):
    assert risk.in_words(rows, "studio") == (
        "Clinical cost of a case in the hardest of 3 strata, with its 95 % interval: "
        "Studio 0.100 (0.080 to 0.120), Ai 0.600 (0.580 to 0.620), "
        "Mean-Reader 0.250 (0.230 to 0.270)."
    )
