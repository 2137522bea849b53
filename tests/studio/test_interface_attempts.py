"""Wrong tokens: ten different ones of an address within a minute are enough."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mpd2.studio.server.interface.attempts import ADDRESSES, MOST, WHILE, Attempts


def test_an_address_is_not_listened_to_after_so_many_and_again_after_a_while() -> None:
    attempts = Attempts()
    for at in range(MOST):
        assert attempts.wait("10.0.0.1", at) == 0
        attempts.failed("10.0.0.1", f"wrong {at}", at)
    assert attempts.wait("10.0.0.1", MOST) == WHILE - MOST
    assert attempts.wait("10.0.0.2", MOST) == 0
    assert attempts.wait("10.0.0.1", WHILE) == 0


def test_the_same_wrong_token_again_and_again_shuts_nobody_out() -> None:
    attempts = Attempts()
    for at in range(1000):
        attempts.failed("10.0.0.1", "withdrawn", at / 100)
    assert attempts.wait("10.0.0.1", 10.0) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.floats(0, 300)), max_size=200))
def test_nobody_waits_longer_than_a_while_and_only_whoever_has_tried(tries: list[tuple[int, int, float]]) -> None:
    attempts = Attempts()
    for who, token, at in sorted(tries, key=lambda each: each[2]):
        attempts.failed(f"10.0.0.{who}", f"wrong {token}", at)
        assert 0 <= attempts.wait(f"10.0.0.{who}", at) <= WHILE
    assert attempts.wait("10.0.0.9", 300) == 0
    assert all(attempts.wait(f"10.0.0.{who}", 300 + WHILE) == 0 for who in range(4))


def test_addresses_of_one_home_network_count_as_one() -> None:
    attempts = Attempts()
    for at in range(MOST):
        attempts.failed(f"2001:db8:1:2::{at + 1:x}", f"wrong {at}", 0)
    assert attempts.wait("2001:db8:1:2:ffff::1", 1) > 0
    assert attempts.wait("2001:db8:1:3::1", 1) == 0


def test_no_more_addresses_are_remembered_than_memory_should_hold() -> None:
    attempts = Attempts()
    for at in range(ADDRESSES + 500):
        attempts.failed(f"10.{at >> 16}.{at >> 8 & 255}.{at & 255}", "wrong", 0)
    assert len(attempts._wrong) == ADDRESSES
