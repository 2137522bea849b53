"""The Case page on a beamer, and its worklist in files."""

import zipfile
from pathlib import Path

from playwright.sync_api import expect
from visits import settled

BEAMER = {"width": 1280, "height": 720}


def test_the_decision_and_its_chart_are_above_the_fold_of_a_beamer(visit):
    for path in ("case?case=cha_110", "case?case=r455&run=mpd2-plus"):  # five and seven readers
        page = visit(path)
        page.set_viewport_size(BEAMER)
        card = page.get_by_test_id("stMetric").last
        chart = settled(page).get_by_test_id("stVegaLiteChart").first
        expect(chart).to_be_visible()
        for element in (card, chart):
            box = element.bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= BEAMER["height"]
        long = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        assert long < 2000
        page.close()


def test_a_reader_takes_a_sheet_of_ones_own(visit):
    page = visit("budget?split=val&budget_topic=worklist")
    with page.expect_download() as download:
        page.get_by_role("button", name="A sheet for each reader (ZIP)").click()
    names = zipfile.ZipFile(Path(download.value.path())).namelist()
    assert names[0].endswith("all-cases.csv")
    assert len(names) > 2
    settled(page).close()
