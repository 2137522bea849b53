"""Results are cached for everybody, and not copied: no page may change one."""

from __future__ import annotations

import pandas as pd

from mpd2.core.cache import CACHE, fingerprint
from mpd2.studio.shell.registry import PAGES

LINK = {"split": "val", "cohorts": "refuge"}  # computed, not read from the shipped tables


def tables() -> dict[int, tuple[pd.DataFrame, bytes]]:
    """Every table in the cache by its identity, with what it contains now."""
    return {id(value): (value, fingerprint(value)) for value in CACHE.values() if isinstance(value, pd.DataFrame)}


def test_no_page_changes_a_table_that_others_see(open_page):
    CACHE.clear()
    for entry in PAGES:
        assert not open_page(entry.key, **LINK).exception
    before = tables()
    assert len(before) > 10
    for entry in PAGES:
        assert not open_page(entry.key, **LINK).exception
    after = tables()
    assert before.keys() == after.keys(), "nothing was made anew"
    assert [fingers for _, fingers in before.values()] == [after[key][1] for key in before]
