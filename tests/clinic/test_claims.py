"""From a provider's claims to an actor: only what was mapped gets in, and only for as long as it is valid."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import LOCAL, Actor
from mpd2.clinic.access.claims import SKEW, Moment, NoRole, SignedOut, identify, roles_of, sign_in_of
from mpd2.clinic.access.sign_ins import SignIns
from mpd2.clinic.settings import Login

NOW = 1_800_000_000.0
US = "studio"
LOGIN = Login(roles={f"mpd2-{role}": role for role in Role})


def claims(**changes: Any) -> dict[str, Any]:
    """Somebody who may come in, but for the changes; None takes a claim away."""
    usual = {
        "is_logged_in": True, "iss": "https://login.example/realms/eye", "sub": "7f3a", "aud": US, "name": "Ada",
        "iat": NOW - 60, "exp": NOW + 3600, "groups": ["staff", "mpd2-clinician"],
    }  # fmt: skip
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def identified(login: Login = LOGIN, moment: Moment | None = None, **changes: Any) -> Actor | SignedOut | NoRole:
    return identify(claims(**changes), login, US, moment or Moment(NOW), "visit")


def test_somebody_with_a_mapped_group_is_who_the_token_says() -> None:
    assert identified() == Actor("7f3a@login.example/realms/eye", "Ada", Role.CLINICIAN, "visit")


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ({"email": "ada@example.org", "email_verified": True}, "ada@example.org"),
        ({"email": "ada@example.org", "email_verified": False}, ""),
        ({"email": "ada@example.org", "email_verified": "true"}, ""),
        ({"email": "ada@example.org"}, ""),
        ({"email": ["ada@example.org"], "email_verified": True}, ""),
        ({"email_verified": True}, ""),
    ],
)
def test_an_address_counts_if_the_provider_has_verified_it(said: dict[str, Any], known: str) -> None:
    found = identified(**said)
    assert isinstance(found, Actor)
    assert found.email == known


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(anything)
def test_no_value_that_was_not_mapped_gives_a_role(value: Any) -> None:
    assert isinstance(identified(groups=value), NoRole)


@given(st.lists(st.sampled_from(sorted(LOGIN.roles)), min_size=1), st.lists(st.text(max_size=5)))
def test_of_several_roles_the_strongest_counts_whatever_else_is_in_the_claim(
    mapped: list[str], other: list[str]
) -> None:
    found = identified(groups=[*other, *mapped])
    assert isinstance(found, Actor)
    assert list(Role).index(found.role) == max(list(Role).index(LOGIN.roles[value]) for value in mapped)


@given(st.sampled_from(sorted(LOGIN.roles)), anything)
def test_a_list_with_something_that_is_not_text_gives_no_role(value: str, other: Any) -> None:
    assume(not isinstance(other, str))
    assert roles_of({"groups": [value, other]}, LOGIN) == frozenset()


def test_dots_lead_into_nested_claims_and_a_name_may_have_dots_itself() -> None:
    nested = Login(claim="realm_access.roles", roles={"a": Role.VIEWER})
    named = Login(claim="https://example.org/roles", roles={"a": Role.ADMIN})
    assert roles_of({"realm_access": {"roles": ["a"]}}, nested) == {Role.VIEWER}
    assert roles_of({"https://example.org/roles": "a"}, named) == {Role.ADMIN}
    assert roles_of({"realm_access": ["roles"]}, nested) == frozenset()


@pytest.mark.parametrize("missing", ["is_logged_in", "iss", "sub", "aud", "iat", "exp"])
def test_without_a_claim_that_is_needed_nobody_is_signed_in(missing: str) -> None:
    assert isinstance(identified(**{missing: None}), SignedOut)


@given(st.sampled_from(["is_logged_in", "iss", "sub", "aud", "iat", "exp", "auth_time"]), anything)
def test_a_claim_of_another_type_never_raises_and_never_makes_somebody_else(name: str, value: Any) -> None:
    found = identified(**{name: value})
    assert isinstance(found, SignedOut | NoRole) or (found.role is Role.CLINICIAN and found.id != LOCAL.id)


@pytest.mark.parametrize("audience", ["another", "", ["another"], {"studio": 1}, [], ["studi", "o"]])
def test_a_token_for_another_application_is_refused(audience: Any) -> None:
    assert isinstance(identified(aud=audience), SignedOut)


def test_an_installation_that_does_not_know_its_own_name_lets_nobody_in() -> None:
    assert isinstance(identify(claims(aud=""), LOGIN, "", Moment(NOW)), SignedOut)


def test_a_token_of_another_issuer_than_the_settings_name_is_refused() -> None:
    login = Login(roles=LOGIN.roles, issuer="https://login.example/realms/eye")
    assert isinstance(identified(login), Actor)
    assert isinstance(identified(login, iss="https://elsewhere.example"), SignedOut)


def test_the_same_subject_of_two_issuers_is_two_people() -> None:
    one, other = identified(), identified(iss="https://elsewhere.example")
    assert isinstance(one, Actor)
    assert isinstance(other, Actor)
    assert one.id != other.id


@given(st.integers(1, 1440), st.integers(1, 1440), st.floats(0, 200_000), st.floats(0, 200_000), st.floats(0, 200_000))
def test_somebody_is_in_until_the_first_of_three_limits_and_not_a_second_longer(
    idle: int, absolute: int, age: float, left: float, silent: float
) -> None:
    login = Login(roles=LOGIN.roles, idle_minutes=idle, absolute_minutes=absolute)
    issued, ends, click = NOW - age, NOW + left - 100_000, NOW - silent
    within = ends > NOW and issued + 60 * absolute > NOW and click + 60 * idle > NOW
    found = identified(login, Moment(NOW, click), iat=issued, exp=ends)
    assert isinstance(found, Actor if within else SignedOut)


def test_the_absolute_limit_counts_from_when_somebody_proved_who_they_are() -> None:
    long_ago = NOW - 60 * LOGIN.absolute_minutes
    assert isinstance(identified(iat=NOW, auth_time=long_ago + 1), Actor)
    assert isinstance(identified(iat=NOW, auth_time=long_ago), SignedOut)


def test_a_token_from_the_future_is_refused_but_for_a_little_skew() -> None:
    assert isinstance(identified(iat=NOW + SKEW), Actor)
    assert isinstance(identified(iat=NOW + SKEW + 1), SignedOut)


def test_an_ended_sign_in_stays_ended_and_a_click_is_remembered() -> None:
    seen, this, next_one = SignIns(), sign_in_of(claims()), sign_in_of(claims(iat=NOW))
    seen.click(this, NOW)
    assert seen.last_click(this) == NOW
    assert seen.last_click(next_one) is None
    seen.end(this, NOW)
    assert seen.has_ended(this)
    assert not seen.has_ended(next_one)
    seen.forget_before(NOW + 1)
    assert not seen.has_ended(this)
