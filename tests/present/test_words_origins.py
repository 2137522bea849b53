"""Simulated cases are never shown as patients': pages, reports, sheets and results say so before anything else."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from briefings import STAMP, briefing_of
from pptx import Presentation

from mpd2.core.cohort import Cohort
from mpd2.core.manifest import Manifest
from mpd2.imaging.simulation.law import fitted_law
from mpd2.imaging.simulation.manifest import simulated_manifest
from mpd2.imaging.simulation.programme import draw
from mpd2.present.documents.case_sheet import case_sheet
from mpd2.present.documents.html import to_html
from mpd2.present.documents.slides import to_slides
from mpd2.present.words.origins import no_patients, origins
from mpd2.studio.shell.glossary import banner
from mpd2.study.analyses.own_results import about

SAID = "Simulated cases, no patients"


@pytest.fixture(scope="module")
def drawn() -> Cohort:
    programme = draw(fitted_law(), 200, seed=1)
    return programme.cohort(simulated_manifest(programme.law, "Simulated", "cases.csv"))


def test_the_banner_of_every_page_begins_with_it(drawn: Cohort) -> None:
    assert banner(drawn.manifest).startswith(f"**{SAID}")
    assert "all simulated, no patients" in banner(drawn.manifest)


def test_a_report_and_its_slides_say_it_whoever_is_asked(drawn: Cohort) -> None:
    for active in ("mine", "ai"):
        briefing = briefing_of(drawn, active=active)
        assert briefing.caution.startswith(SAID)
        assert briefing.caveats[0].startswith(SAID)
        assert SAID in to_html(briefing).decode()
        deck = Presentation(BytesIO(to_slides(briefing)))
        texts = [shape.text_frame.text for shape in deck.slides[0].shapes if shape.has_text_frame]
        assert any(SAID in text for text in texts)


def test_results_begin_with_it(drawn: Cohort) -> None:
    assert about(drawn)[0].startswith(SAID)


def test_the_sheet_of_a_case_says_it(drawn: Cohort) -> None:
    columns = {"who": "AI", "action": "ai", "share": 1.0, "votes": 1, "expected_cost": 0.1}
    actions = pd.DataFrame([columns | {"available": True, "chosen": True}])
    sheet = case_sheet(drawn.rows(np.array([0])), actions, "It is so.", "", STAMP).decode()
    assert SAID in sheet


def test_where_only_some_are_simulated_these_are_named(small_cohort: Cohort) -> None:
    entries = [entry.model_dump() for entry in small_cohort.manifest.cohorts]
    entries[0]["readings"] = "simulated"
    mixed = small_cohort.manifest.but(cohorts=entries)
    assert no_patients(mixed) == f"The cases of {entries[0]['name']} are simulated: no patients, and no readers."
    assert f"those of {entries[0]['name']} are simulated" in briefing_of(replace(small_cohort, manifest=mixed)).caution


def test_other_tables_say_nothing_of_it(small_cohort: Cohort) -> None:
    manifest: Manifest = small_cohort.manifest
    assert no_patients(manifest) == ""
    assert "simulated" not in banner(manifest)
    assert "simulated" not in " ".join(about(small_cohort))
    assert "simulated" not in origins(manifest.cohorts)
