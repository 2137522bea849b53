"""Whether the server may serve at all: with a login that is whole, or without one to this machine alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

import streamlit as st

from mpd2.clinic.settings import load_settings
from mpd2.core.errors import UserError

OPEN = "MPD2_OPEN_WITHOUT_LOGIN"
WORDS = "everybody who reaches this port may change everything"
"""What the variable must say, word for word, before a server without login listens beyond this machine."""
NEEDED = ("redirect_uri", "cookie_secret")  # of the section [auth] of the secrets
DEFAULT = "default"  # Streamlit's name for a provider without one
SHORTEST_SECRET = 32  # characters of the cookie's secret: whoever guesses it is whom they like


def check_or_exit() -> None:
    """End the program with the reason if it may not serve."""
    try:
        check_serving(st.get_option("server.address"), auth_section())
    except UserError as error:
        sys.exit(f"MPD² Studio does not start: {error}")


def check_serving(address: str | None, auth: Mapping[str, Any]) -> None:
    """Refuse a login that is only half there, and an address beyond this machine where there is no login."""
    if load_settings().login is not None:
        _check_login(auth)
    elif not is_loopback(address) and os.environ.get(OPEN) != WORDS:
        raise UserError(
            f"there is no login, and it would listen on {address or 'every network'}. Configure a login "
            "(docs/access.md), let it listen on 127.0.0.1, or, if everybody who can reach it is meant to be its "
            f'administrator, set {OPEN}="{WORDS}"'
        )


def is_loopback(address: str | None) -> bool:
    """Whether only this machine can reach an address; a name other than localhost could be any.

    >>> [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", None, "clinic.example")]
    [True, True, True, False, False, False, False]
    """
    if not address or address == "localhost":
        return address == "localhost"
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def auth_section() -> Mapping[str, Any]:
    """What the secrets say of the provider of identities; nothing where there are none."""
    found = st.secrets.get("auth", {}) if st.secrets.load_if_toml_exists() else {}
    return found if isinstance(found, Mapping) else {}


def providers(auth: Mapping[str, Any]) -> list[str]:
    """The providers people can sign in with, by name; the one without a name is the default."""
    named = [name for name, part in auth.items() if isinstance(part, Mapping) and part.get("client_id")]
    return [*([DEFAULT] if auth.get("client_id") else []), *named]


def client_id(auth: Mapping[str, Any], provider: str = DEFAULT) -> str:
    """Our own name at a provider; empty if the secrets do not say it."""
    named = auth.get(provider, {})
    own = named.get("client_id") if isinstance(named, Mapping) else None
    return str(own or auth.get("client_id", ""))


def _check_login(auth: Mapping[str, Any]) -> None:
    missing = [name for name in NEEDED if not auth.get(name)]
    missing += [] if providers(auth) else ["client_id"]
    if missing:
        raise UserError(f"the settings ask for a login, but the secrets, [auth], do not say {', '.join(missing)}")
    if len(str(auth["cookie_secret"])) < SHORTEST_SECRET:
        raise UserError(f"secrets, [auth], cookie_secret: expected at least {SHORTEST_SECRET} random characters")
