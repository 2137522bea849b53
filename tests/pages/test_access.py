"""Pages as people of each role find them; what is not theirs is neither drawn nor offered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from people import OWNER
from places import DATA
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actions import RULES, Role
from mpd2.clinic.settings import SETTINGS
from mpd2.core.table_file import load_cohort
from mpd2.lab.jobs.folder import PLACE, Job, Order, Status, Workshop
from mpd2.studio.shell import identity
from mpd2.studio.shell.registry import PAGES
from mpd2.training.config import PAPER

OpenAs = Callable[..., AppTest]


def drawn(app: AppTest) -> str:
    """Everything that is said on a page."""
    parts = (app.title, app.header, app.subheader, app.markdown, app.caption, app.warning, app.error, app.text)
    return "\n".join(str(element.value) for kind in parts for element in kind)


@pytest.mark.parametrize(
    ("role", "key"), [(role, page.key) for role in Role for page in PAGES if role not in RULES[page.needs]]
)
def test_a_page_that_is_not_for_a_role_says_so_and_draws_nothing_else(open_as: OpenAs, role: Role, key: str) -> None:
    app = open_as(key, f"mpd2-{role}")
    assert not app.exception
    (said,) = [error.value for error in app.error]
    assert f"you are signed in as {role}" in said
    assert not app.main.button
    assert not app.main.dataframe


NOT_LET_IN: list[tuple[dict[str, Any], str]] = [
    ({"is_logged_in": False}, "Sign in"), ({"exp": 0}, "Sign in"), ({"groups": None}, "No role"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PAGES)), ids=[page.key for page in PAGES])
def test_whoever_is_not_let_in_gets_no_page_by_any_address(open_as: OpenAs, number: int) -> None:
    claims, title = NOT_LET_IN[number % len(NOT_LET_IN)]
    app = open_as(PAGES[number].key, "mpd2-admin", **claims)
    assert not app.exception
    assert [each.value for each in app.title] == [title]
    assert not app.sidebar.selectbox
    assert [each.key for each in app.button] == [{"Sign in": "sign_in:default", "No role": "sign_out"}[title]]


def test_settings_that_cannot_be_read_let_nobody_in(
    open_as: OpenAs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.toml").write_text("[login]\nroles = 3\n")
    assert [each.value for each in open_as("overview", "mpd2-admin").title] == ["Sign in"]
    monkeypatch.setenv(SETTINGS, str(tmp_path / "gone.toml"))
    assert [each.value for each in open_as("overview", "mpd2-admin").title] == ["Sign in"]


def test_without_a_login_the_sidebar_says_that_there_is_a_single_user(open_page: Callable[..., AppTest]) -> None:
    app = open_page("about")
    assert identity.SINGLE in "\n".join(caption.value for caption in app.sidebar.caption)


def test_the_sidebar_says_who_is_signed_in_and_which_of_several_roles_counts(open_as: OpenAs) -> None:
    said = drawn(open_as("about", "mpd2-clinician", "mpd2-viewer"))
    assert "Ada, clinician (the strongest of clinician and viewer)" in said


def test_a_viewer_finds_no_id_on_the_map(open_as: OpenAs) -> None:
    ids = [f'"{name}"' for name in load_cohort(DATA / "glaucoma.csv").subset(split="test").ids]
    seen = {role: open_as("map", f"mpd2-{role}").get("plotly_chart")[0].proto.spec for role in ("viewer", "reader")}
    assert all(name in seen["reader"] for name in ids)
    assert not any(name in seen["viewer"] for name in ids)


def test_somebody_elses_job_can_be_looked_at_but_not_cancelled(
    open_as: OpenAs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path / "workshop"))
    job = Job(Workshop.here().jobs / "20260101-000000-000000-theirs")
    job.folder.mkdir(parents=True)
    job.write(Order(kind="train", title="theirs", configs=(PAPER,), cost_false_negative=1, cost_false_positive=1,
                    table=DATA / "glaucoma.csv", fingerprint="f", owner=OWNER.id))  # fmt: skip
    job.write(Status(state="failed", reason="of a test"))
    for role, off in ((Role.RESEARCHER, True), (Role.ADMIN, False)):
        app = open_as("retrain", f"mpd2-{role}")
        assert "theirs" in drawn(app)
        button = app.button(key=f"forget:{job.name}")
        assert button.disabled is off
        assert ("belongs to owner@test" in button.help) is off
