"""Whatever somebody uploads is read or refused in words, and nothing is written outside of the workshop."""

from __future__ import annotations

import pytest
from hostile_visitor import KINDS, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

SEARCHING = settings.get_current_profile_name() == "search"


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10 if SEARCHING else 2)  # most are read in a process of their own; `make fuzz` comes back
@given(seed=st.integers(0, 2**32))
def test_a_hostile_upload_is_read_or_refused(kind: str, seed: int) -> None:
    assert outcome(kind, seed) in ("read", "refused")
