"""The picture of the method with a run's numbers: every case once, every reading once."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from contrasts import contrast

from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.present.charts.kit.export import render
from mpd2.present.documents.method_picture import NAMED, PICTURE, SNUG, boxes, picture, with_numbers

STAMP = 'Run <b>&"mine"</b>, n = 54'
SVG = "{http://www.w3.org/2000/svg}"


def evidence_of(cohort, consulted: np.ndarray, label: np.ndarray) -> Evidence:
    run = Outcome("Run", None, Decisions(consulted[None], label[None]))
    return Evidence(cohort, cohort.manifest.default_costs(), {"run": run})


@pytest.fixture(scope="module")
def evidence(small_cohort) -> Evidence:
    """The first reader there is reads the first half; of the rest every third is overruled."""
    n = len(small_cohort)
    readers = np.where(np.arange(n) < n // 2, small_cohort.available.argmax(-1), NOBODY)
    overruled = (readers == NOBODY) & (np.arange(n) % 3 == 0)
    label = np.where(overruled, 1 - small_cohort.ai_label, small_cohort.ai_label)
    return evidence_of(small_cohort, readers[:, None], label)


def numbers(ways) -> list[int]:
    return [int(re.match(r"[\d,]+", way.number)[0].replace(",", "")) for way in ways]


def test_every_case_goes_one_way(evidence):
    ways = boxes(evidence, "run")
    kept, overruled, *readings = numbers(ways)
    assert kept + overruled + sum(readings) == len(evidence.cohort)  # one reading a case here
    assert overruled == 9
    assert [way.name for way in ways[:2]] == ["Keep the AI’s word", "Overrule it, nobody asked"]


def test_the_busiest_readers_are_named_and_the_others_counted(small_cohort):
    n, m = len(small_cohort), small_cohort.readers
    readers = np.arange(n) % m * (np.arange(n) % 2 == 0)
    ways = boxes(evidence_of(small_cohort, readers[:, None], small_cohort.ai_label), "run")
    kept, *readings = numbers(ways)
    assert kept == 0
    assert sum(readings) == n
    asked = len(set(readers.tolist()))
    assert ways[-1].name == f"Ask {asked - NAMED} others"
    assert readings[:NAMED] == sorted(readings[:NAMED], reverse=True)
    assert ways[1].name == f"Ask {small_cohort.manifest.readers[0].name}"


def test_a_run_that_asks_nobody_and_overrules_nobody_keeps_every_case(small_cohort):
    nobody = np.full((len(small_cohort), 1), NOBODY)
    ways = boxes(evidence_of(small_cohort, nobody, small_cohort.ai_label), "run")
    assert [way.number for way in ways] == [f"{len(small_cohort)} of {len(small_cohort)} cases", "0 cases"]


def test_the_picture_holds_the_numbers_and_what_it_is_about(evidence):
    drawn = ET.fromstring(with_numbers(evidence, "run", STAMP))
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    for way in boxes(evidence, "run"):
        assert way.name in texts
        assert way.number in texts
        assert contrast(way.ink, way.colour) >= 4.5
    label, truth = evidence.outcomes["run"].decisions.label[0], evidence.cohort.truth
    assert f"{((label == 0) & (truth == 1)).sum()} missed" in texts
    assert f"{((label == 1) & (truth == 0)).sum()} false alarms" in texts
    assert STAMP in texts
    assert "Photograph" in texts
    assert "Ask reader 1" not in texts


def test_nothing_stands_outside_the_picture(evidence):
    drawn = ET.fromstring(with_numbers(evidence, "run", STAMP))
    _, _, width, height = map(float, drawn.get("viewBox").split())
    for box in drawn.iter(f"{SVG}rect"):
        assert float(box.get("x")) + float(box.get("width")) <= width
        assert float(box.get("y")) + float(box.get("height")) <= height


def test_it_can_be_kept_as_a_drawing_and_as_a_photograph(evidence):
    picture = with_numbers(evidence, "run", "")
    assert render(picture, "png").startswith(b"\x89PNG")
    assert ET.fromstring(render(picture, "svg")).tag == f"{SVG}svg"


def test_the_picture_of_the_page_has_a_place_for_the_numbers():
    assert 'id="outcomes"' in PICTURE.read_text(encoding="utf-8")


def test_words_too_long_for_their_box_stay_general(small_cohort):
    manifest = small_cohort.manifest
    task = manifest.task.model_copy(
        update={"positive": "atrial fibrillation", "negative": "another rhythm", "case": "ECG"}
    )
    texts = [text.text for text in ET.fromstring(picture(manifest.but(task=task.model_dump()))).iter(f"{SVG}text")]
    assert {"ECG", "yes or no"} <= set(texts)
    hostile = manifest.task.model_dump() | {"case": "<b>&"}
    assert "B &" in [text.text for text in ET.fromstring(picture(manifest.but(task=hostile))).iter(f"{SVG}text")]


def test_long_words_are_fitted_into_their_box_and_short_ones_left(small_cohort):
    root = ET.fromstring(picture(small_cohort.manifest))
    widths = {text.text: text.get("textLength") for text in root.iter(f"{SVG}text") if text.get("data-says")}
    assert any(widths.values())
    assert all((width is not None) == (len(words) > SNUG) for words, width in widths.items())
    assert all(float(width) < 190 for width in widths.values() if width)  # what a box is wide
