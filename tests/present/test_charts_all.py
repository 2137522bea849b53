"""What holds for every chart, whatever it shows: read from the picture, on a light and on a dark page."""

from __future__ import annotations

import inspect
import re
import tomllib
from html import unescape
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
from charts import Panel, number, read
from contrasts import TEXT, contrast
from gallery import GALLERY
from places import ROOT

from mpd2.present import charts
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.charts.kit.style import ON_DARK, ON_LIGHT, SEQUENCE

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
FIXED = (
    "optic_disc.optic_disc",
    "report.cohort_costs",
    "report.reader_load",
    "map_print.for_paper",
)  # have a width of their own
NAMELESS = ("optic_disc.optic_disc", "case.policy_bars", "case.input_ranges")  # under a heading of the page
ON_CELLS = ("readers.availability", "readers.kappa", "decision_curve.winners")
INTERVALS = ("ablations.levels", "ablations.effects", "overview.differences", "risk.risk_curves", "runs.against",
             "robustness.resplits", "robustness.rivals", "robustness.transfer", "map.region_mix", "shift.differences",
             "readers.load", "decision_curve.curves", "decision_curve.winners", "gain.split", "calibration.reliability",
             "calibration.slopes", "subgroups.levels", "subgroups.gaps", "clinic.weekly", "clinic.by_part",
             "clinic.reader_rates")  # fmt: skip
UNEVEN = ("robustness.recalibration", "robustness.sample_size", "ablations.budget_control", "decision_curve.curves")
MOST_TICKS = 10


@pytest.fixture(params=GALLERY)
def name(request) -> str:
    return request.param


def picture(name: str, background: str = "white"):
    return read(GALLERY[name](), None if name in FIXED else 1100, background)


def scales(panel: Panel) -> list[list[str]]:
    """The labels of each axis of numbers."""
    return [axis.names for axis in panel.axes if axis.labels and all(_is_number(label) for label in axis.names)]


def _is_number(label: str) -> bool:
    try:
        number(label)
    except ValueError:
        return False
    return True


def test_every_chart_there_is_hangs_in_the_gallery() -> None:
    there = set()
    for module in walk_packages(charts.__path__, f"{charts.__name__}."):
        if not module.ispkg and not module.name.startswith(f"{charts.__name__}.kit."):
            loaded = import_module(module.name)
            for function, made in inspect.getmembers(loaded, callable):
                returned = str(inspect.signature(made).return_annotation) if inspect.isfunction(made) else ""
                drawn = any(kind in returned for kind in ("Chart", Drawing.__name__))
                if drawn and made.__module__ == loaded.__name__ and not function.startswith("_"):
                    there.add(f"{module.name.rpartition('.')[-1]}.{function}")
    assert there - {"budget.at"} == set(GALLERY)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(name: str, scheme: str) -> None:
    background = THEME[scheme]["backgroundColor"]
    texts = picture(name, background).texts
    assert texts
    on_page = [(text, colour) for text, colour, opacity in texts if opacity and colour not in ("white", "black")]
    assert name in ON_CELLS or len(on_page) == sum(opacity > 0 for _, _, opacity in texts)
    assert [(text, colour) for text, colour in on_page if contrast(colour, background) < TEXT] == []


@pytest.mark.parametrize("name", ON_CELLS)
def test_what_stands_on_a_coloured_cell_can_be_read_on_it(name: str) -> None:
    panel = picture(name).panel
    cells = [cell for cell in panel.of("rect") if cell.opacity == 1 and not cell.is_hollow]
    words = [word for word in panel.of("text") if word.fill in ("white", "black")]
    assert len(words) >= len(cells) > 0
    for word in words:
        [under] = [cell for cell in cells if cell.x <= word.x <= cell.x2 and cell.y <= word.y <= cell.y2]
        assert contrast(word.fill, under.fill) >= TEXT, (word.text, under.fill)


def test_no_step_of_the_sequence_leaves_text_unreadable() -> None:
    assert min(max(contrast(step, text) for text in ("white", "black")) for step in SEQUENCE) >= TEXT


def test_the_ink_of_charts_is_that_of_the_page() -> None:
    assert (THEME["light"]["textColor"], THEME["dark"]["textColor"]) == (ON_LIGHT, ON_DARK)


def test_it_says_what_it_shows_and_in_which_units(name: str) -> None:
    shown = picture(name)
    assert shown.titles or name in NAMELESS
    titles = [axis.title for panel in shown.panels for axis in panel.axes if axis.labels]
    numbers = [names for panel in shown.panels for names in scales(panel)]
    assert len([title for title in titles if title]) >= len(numbers) - (name == "shift.distributions")


def test_shares_are_in_per_cent_and_nothing_else_is(name: str) -> None:
    for panel in picture(name).panels:
        for axis in panel.axes:
            if axis.labels and all(_is_number(label) for label in axis.names) and axis.title:
                is_share = any(word in axis.title for word in ("share", "target", "deferral"))
                assert all(label.endswith("%") for label in axis.names) == is_share, (axis.title, axis.names)


def test_the_pointer_names_the_ends_of_an_interval_from_low_to_high(name: str) -> None:
    said = re.findall(r"95 % from: ([^;]+);.*?\bto: ([^;\"]+)", unescape(picture(name).svg))
    assert [ends for ends in said if "null" not in ends and number(ends[0]) > number(ends[1])] == []
    assert said or name not in INTERVALS


def test_no_mark_lies_outside_its_plot(name: str) -> None:
    for panel in picture(name).panels:
        names = [word.middle[1] for word in panel.of("text") if word.x > panel.width]  # beside a curve's end
        beside = [mark for mark in panel.outside(2) if any(abs(mark.middle[1] - place) < 5 for place in names)]
        assert [mark for mark in panel.outside(2) if mark not in beside] == []


def test_an_axis_has_a_few_ticks_at_even_steps(name: str) -> None:
    for panel in picture(name).panels:
        for labels in scales(panel):
            values = [number(label) for label in labels]
            assert 2 <= len(values) <= MOST_TICKS
            if name not in UNEVEN:  # ticks where the data are
                np.testing.assert_allclose(np.diff(values), values[1] - values[0], atol=1e-9)


def test_labels_stand_where_their_rows_and_grid_lines_are(name: str) -> None:
    for panel in picture(name).panels:
        for axis in panel.axes:
            assert len(axis.anchors) <= 1
            places = sorted(place for _, place in axis.labels)
            if len(places) > 2 and name not in UNEVEN:
                np.testing.assert_allclose(np.diff(places), np.diff(places).mean(), atol=1.1)  # rows are whole pixels
