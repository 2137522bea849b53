"""Pages opened as a visitor does: through the frame, by key and with what the link says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from time import time
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actions import Role
from mpd2.clinic.settings import SETTINGS
from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.shell.registry import DEFAULT

MAIN = Path(__file__).parents[2] / "mpd2" / "studio" / "main.py"

OpenPage = Callable[..., AppTest]
OpenAs = Callable[..., AppTest]
AUTH = {"redirect_uri": "x", "cookie_secret": "s" * 32, "client_id": "studio"}


@pytest.fixture(autouse=True, scope="session")
def nobodys_runs(tmp_path_factory) -> Iterator[None]:
    """A workshop without a run, whatever somebody has made here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("empty")))
        yield


@pytest.fixture(autouse=True, scope="session")
def packages_read_once() -> Iterator[None]:
    """What Streamlit finds in the installed packages, which it would read anew, all of them, for every page opened."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture
def open_page() -> OpenPage:
    """A page by its key, run once; further arguments are parameters of the URL.

    Unless they say otherwise it is about the study's router at the paper's operating point, whose numbers are stored;
    a parameter that is None is left out.
    """

    def opened(key: str, **query: str | list[str] | None) -> AppTest:
        app = AppTest.from_file(MAIN, default_timeout=60)
        for name, value in ({"run": "studio", "point": "cheapest"} | query).items():
            if value is not None:
                app.query_params[name] = value
        if key != DEFAULT:  # which is what opens by itself
            app.switch_page(f"../../pages/{key}.py")
        return app.run()

    return opened


@pytest.fixture
def open_as(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenAs:
    """A page by its key, opened by somebody whose token has these groups, in an installation with a login."""
    roles = "\n".join(f'"mpd2-{role}" = "{role}"' for role in Role)
    (tmp_path / "settings.toml").write_text(f"[login]\n[login.roles]\n{roles}\n")
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))

    def opened(key: str, *groups: str, **claims: Any) -> AppTest:
        app = AppTest.from_file(MAIN, default_timeout=60)
        app.secrets["auth"] = AUTH
        now = time()
        usual = {
            "is_logged_in": True, "iss": "https://login.example", "sub": "7f3a", "aud": "studio", "iat": now - 60,
            "exp": now + 3600, "name": "Ada", "groups": list(groups), "nonce": str(tmp_path),
        }  # fmt: skip
        app.user = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        app.query_params["run"], app.query_params["point"] = "studio", "cheapest"
        if key != "overview":
            app.switch_page(f"../../pages/{key}.py")
        return app.run()

    return opened
