"""From what a provider of identities says of somebody to who acts here, or to the reason why nobody does.

Deny by default: whoever lacks a claim, has a value nobody mapped or one of another type has no role. Whoever has
several values that are mapped has the strongest of their roles, in the order of `Role`, and that one alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.settings import Login
from mpd2.core.text import plain_words

Claims = Mapping[str, Any]
SKEW = 120.0  # seconds by which the provider's clock may be ahead of ours
LONGEST_ID, LONGEST_NAME = 255, 80  # characters; the first is OpenID Connect's own limit


@dataclass(frozen=True)
class SignedOut:
    """Nobody is signed in, or no longer, and why; signing in again may help."""

    reason: str


@dataclass(frozen=True)
class NoRole:
    """Somebody is signed in who may do nothing here, and why; signing in again does not help."""

    reason: str


@dataclass(frozen=True)
class Moment:
    """When somebody is looked at, and when they were last seen, in seconds since 1970."""

    now: float
    last_click: float | None = None  # none: this is the first one


def identify(
    claims: Claims, login: Login, audience: str, moment: Moment, visit: str = ""
) -> Actor | SignedOut | NoRole:
    """Who somebody is by their claims; `audience` is this installation's name at the provider, its client id."""
    out = _not_for_us(claims, login, audience) or _over(claims, login, moment)
    if out:
        return SignedOut(out)
    person = _person(claims)
    if person is None:
        return SignedOut("the provider's token does not say who you are (claims iss and sub)")
    role = strongest(roles_of(claims, login))
    if role is None:
        return NoRole(
            f"your account has no role here: its claim {login.claim!r} holds none of the values that have one. "
            "Ask whoever administers this installation"
        )
    return Actor(person, _name(claims), role, visit, _email(claims))


def roles_of(claims: Claims, login: Login) -> frozenset[Role]:
    """Every role somebody's claim is mapped to; none where the claim is missing or not text or a list of text."""
    value = _claim(claims, login.claim)
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        return frozenset()
    return frozenset(login.roles[each] for each in values if each in login.roles)


def strongest(roles: frozenset[Role]) -> Role | None:
    """The last of some roles in the order of `Role`; the others count for nothing.

    >>> strongest(frozenset({Role.RESEARCHER, Role.CLINICIAN}))
    <Role.RESEARCHER: 'researcher'>
    """
    return max(roles, key=list(Role).index, default=None)


def sign_in_of(claims: Claims) -> str:
    """What tells one sign-in from every other, in as many tabs as it is used."""
    return "\n".join(str(claims.get(name, "")) for name in ("iss", "sub", "iat", "nonce", "sid"))


def _not_for_us(claims: Claims, login: Login, audience: str) -> str:
    """Why a token was not made for this installation; empty if it was."""
    if claims.get("is_logged_in") is not True:
        return "you are not signed in"
    given = claims.get("aud")
    meant = [given] if isinstance(given, str) else given
    if not audience or not isinstance(meant, list | tuple) or audience not in meant:
        return "the provider's token was made for another application (claim aud)"
    if login.issuer and claims.get("iss") != login.issuer:
        return "the token comes from another provider than the settings name (claim iss)"
    return ""


def _over(claims: Claims, login: Login, moment: Moment) -> str:
    """Why a sign-in is over; empty if it is not."""
    ends, issued = _time(claims, "exp"), _time(claims, "iat")
    if ends is None or issued is None:
        return "the provider's token does not say from when and until when it is valid (claims iat and exp)"
    authenticated = _time(claims, "auth_time") if "auth_time" in claims else issued
    if authenticated is None or max(issued, authenticated) > moment.now + SKEW:
        return "the provider's token is of a time that has not come; compare its clock with this server's"
    if moment.now >= ends:
        return "the provider's token has expired"
    if moment.now >= min(issued, authenticated) + 60 * login.absolute_minutes:
        return f"you signed in more than {login.absolute_minutes} minutes ago"
    if moment.last_click is not None and moment.now >= moment.last_click + 60 * login.idle_minutes:
        return f"nothing was clicked for {login.idle_minutes} minutes"
    return ""


def _person(claims: Claims) -> str | None:
    """Who it is among all people of all providers; a name or an address can change and be given to somebody else."""
    subject, issuer = claims.get("sub"), claims.get("iss")
    for value in (subject, issuer):
        if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_ID or not value.isprintable():
            return None
    return f"{subject}@{str(issuer).split('://')[-1].rstrip('/')}"


def _name(claims: Claims) -> str:
    """What somebody is called, as shown."""
    given = (claims.get(name) for name in ("name", "preferred_username", "email", "sub"))
    names = (plain_words(value)[:LONGEST_NAME] for value in given if isinstance(value, str))
    return next(filter(None, names), "somebody")


def _email(claims: Claims) -> str:
    """An address that the provider has verified; anybody could enter another one."""
    given = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(given, str):
        return ""
    return given if given.isprintable() and len(given) <= LONGEST_ID else ""


def _claim(claims: Claims, path: str) -> Any:
    """A claim by its name, or by the names that lead to it; a name may itself have dots, as addresses do."""
    if path in claims:
        return claims[path]
    first, _, rest = path.partition(".")
    inner = claims.get(first)
    return _claim(inner, rest) if rest and isinstance(inner, Mapping) else None


def _time(claims: Claims, name: str) -> float | None:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    return float(value)
