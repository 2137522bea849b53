"""A clinic with an active run and programs of every role that ask its interface, as the server has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Row, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient
from streamlit.web.server.starlette.starlette_app import create_streamlit_middleware

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.access.tokens import new_token, settings_lines
from mpd2.clinic.settings import SETTINGS
from mpd2.clinic.shadow.schema import ARRIVALS
from mpd2.lab.activation import activate, propose
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.studio.server.headers import SecurityHeaders
from mpd2.studio.server.interface.routes import PREFIX, routes

RUN = "glaucoma/mpd2-plus"
NOON = datetime(2024, 11, 16, 12, tzinfo=UTC)
TOKENS = {role: new_token() for role in Role}


def written_settings(folder: Path, more: str = "") -> Path:
    """Settings with a token of every role, whose name is the role's."""
    folder.mkdir(exist_ok=True)
    path = folder / "settings.toml"
    lines = [settings_lines(str(role), role, token) for role, token in TOKENS.items()]
    path.write_text("\n".join([more, *lines]), encoding="utf-8")
    return path


@contextmanager
def installed(folder: Path, more: str = "") -> Iterator[Path]:
    """An installation in a folder, with these settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(folder))
        patch.setenv(SETTINGS, str(written_settings(folder, more)))
        yield folder


def activated(run: str = RUN) -> None:
    """Make a run the clinic's, where there is no login."""
    place = Workshop.here()
    propose(run, "to try it", place, by=LOCAL)
    activate(run, place, by=LOCAL)


def new_cases(number: int, first: int = 0, at: datetime = NOON) -> list[dict[str, Any]]:
    """So many cases of the benchmark's, as an intake sends them, a minute apart; each is another one."""
    random = np.random.default_rng(first)
    return [
        {
            "case": f"new-{first + each}",
            "time": (at + timedelta(minutes=first + each)).isoformat(),
            "cohort": ("chaksu", "refuge", "origa")[each % 3],
            **dict(zip(("logit_0", "logit_1", "vim_risk_z"), random.normal(0, 1.5, 3).round(4).tolist(), strict=True)),
            **dict(zip(("quality_risk", "vCDR", "aCDR"), random.uniform(0.1, 0.9, 3).round(4).tolist(), strict=True)),
        }
        for each in range(number)
    ]


def kept_arrivals() -> list[Row[Any]]:
    """Every arrival of the installation, as its table has it."""
    with Shadow.here(Workshop.here()).store.reading() as connection:
        return list(connection.execute(select(ARRIVALS).order_by(ARRIVALS.c.number)))


def program(role: Role | None = None, peer: str = "127.0.0.1", token: str = "", **headers: str) -> TestClient:
    """A program with the token of a role, another one or none, in front of the routes as the server has them."""
    app = Starlette(routes=routes(), middleware=[Middleware(SecurityHeaders), *create_streamlit_middleware()])
    shown = token or (TOKENS[role] if role else "")
    headers |= {"Authorization": f"Bearer {shown}"} if shown else {}
    return TestClient(
        app,
        base_url=f"http://mpd2.test{PREFIX}",
        client=(peer, 50_000),
        headers=headers,
        raise_server_exceptions=False,
    )


def said(answer: Any) -> str:
    """Why something was refused."""
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == answer.status_code
    return str(body["detail"])
