"""What stands around every page."""

import re

import pytest

from mpd2.core.workspace import DEFAULT
from mpd2.studio.shell import store
from mpd2.studio.shell.glossary import banner
from mpd2.studio.shell.registry import PAGES

THERE = [entry for entry in PAGES if entry.path.exists()]


@pytest.mark.parametrize("entry", THERE, ids=lambda entry: entry.key)
def test_a_page_says_what_it_is_about_and_names_no_slice_that_plays_no_part(open_page, entry):
    page = open_page(entry.key, split="val")
    assert not page.exception
    captions = [caption.value for caption in page.caption]
    assert any("on the val cases of all cohorts, n = 885" in text for text in captions) == (entry.about == "slice")
    assert ("Active run: MPD² (studio)" in captions) == (entry.about == "run")
    assert not any(re.search(r":(green|red|gray)\[", text) for text in captions)  # which fade what is in them


def test_the_banner_says_of_every_cohort_where_its_readings_come_from():
    manifest = store.manifest(DEFAULT)
    assert banner(manifest) == (
        "Research software, not a medical device. Readers' answers: REFUGE semi-synthetic, Chákṣu real, ORIGA induced."
    )
