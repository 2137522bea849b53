"""Pages opened as a visitor does: through the frame, by key and with what the link says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).parents[2] / "mpd2" / "studio" / "main.py"

OpenPage = Callable[..., AppTest]


@pytest.fixture
def open_page() -> OpenPage:
    """A page by its key, run once; further arguments are parameters of the URL."""

    def opened(key: str, **query: str | list[str]) -> AppTest:
        app = AppTest.from_file(MAIN, default_timeout=60)
        for name, value in query.items():
            app.query_params[name] = value
        app.switch_page(f"../../pages/{key}.py")
        return app.run()

    return opened
