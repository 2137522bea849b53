"""Pages opened as a visitor does: through the frame, by key and with what the link says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.shell.registry import DEFAULT

MAIN = Path(__file__).parents[2] / "mpd2" / "studio" / "main.py"

OpenPage = Callable[..., AppTest]


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
