"""Without a login the server serves this machine alone; with one, only if the login is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mpd2.clinic.settings import SETTINGS
from mpd2.core.errors import UserError
from mpd2.studio.serving import OPEN, SHORTEST_SECRET, WORDS, check_serving, client_id

AUTH: dict[str, Any] = {"redirect_uri": "x", "cookie_secret": "s" * SHORTEST_SECRET, "client_id": "studio"}


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that ask for a login."""
    (tmp_path / "settings.toml").write_text('[login]\nroles = { staff = "viewer" }\n')
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "", None, "10.1.2.3", "studio.example", "127.0.0.1.example"])
def test_without_a_login_only_loopback_is_served_unless_the_words_are_said(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SETTINGS, raising=False)
    for said in (None, "", "yes", "1", "true", WORDS.upper()):
        if said is not None:
            monkeypatch.setenv(OPEN, said)
        with pytest.raises(UserError, match="there is no login, and it would listen on"):
            check_serving(address, {})
    monkeypatch.setenv(OPEN, WORDS)
    check_serving(address, {})


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_without_a_login_this_machine_is_served(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTINGS, raising=False)
    check_serving(address, {})


@pytest.mark.usefixtures("login")
@pytest.mark.parametrize("missing", AUTH)
def test_a_login_that_is_half_there_does_not_start(missing: str) -> None:
    check_serving("0.0.0.0", AUTH)
    with pytest.raises(UserError, match=missing):
        check_serving("127.0.0.1", {name: value for name, value in AUTH.items() if name != missing})


@pytest.mark.usefixtures("login")
def test_a_cookies_secret_that_could_be_guessed_does_not_start() -> None:
    with pytest.raises(UserError, match="at least 32 random characters"):
        check_serving("0.0.0.0", AUTH | {"cookie_secret": "s" * (SHORTEST_SECRET - 1)})


def test_our_name_at_a_provider_is_that_of_the_one_somebody_came_through() -> None:
    auth = {"client_id": "ours", "second": {"client_id": "theirs"}}
    assert (client_id(auth), client_id(auth, "second"), client_id({}, "second")) == ("ours", "theirs", "")
