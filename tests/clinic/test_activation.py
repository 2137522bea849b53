"""Activating a run for the clinic takes two people; what was proposed is what is used."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from people import ADMIN, OWNER, RESEARCHER
from places import DATA

from mpd2.cli import main
from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import LOCAL, Actor
from mpd2.clinic.access.authorise import NotAllowed
from mpd2.clinic.settings import SETTINGS
from mpd2.core.errors import UserError
from mpd2.core.runs import CONFIG
from mpd2.lab.activation import activate, active_run, propose, standing
from mpd2.lab.jobs import own_runs
from mpd2.lab.jobs.folder import PLACE, Workshop

REASON = "misses fewer"


@pytest.fixture
def place(tmp_path: Path) -> Workshop:
    """A workshop with two runs."""
    for name in ("one", "two"):
        shutil.copytree(DATA / "runs" / "ai", tmp_path / "runs" / name)
    return Workshop(tmp_path / "jobs", tmp_path / "runs")


def test_one_proposes_another_activates_and_the_run_is_the_clinics(place: Workshop) -> None:
    propose("one", REASON, place, by=RESEARCHER)
    assert active_run(place) is None
    made = activate("one", place, by=ADMIN)
    assert active_run(place) == place.runs / "one"
    assert not made.alone
    assert RESEARCHER.id in made.in_words()
    assert ADMIN.id in made.in_words()


def test_nobody_activates_what_they_proposed_themselves(place: Workshop) -> None:
    propose("one", REASON, place, by=ADMIN)
    with pytest.raises(NotAllowed, match="second person"):
        activate("one", place, by=ADMIN)
    assert active_run(place) is None
    activate("one", place, by=Actor("other", "Another admin", Role.ADMIN))


@pytest.mark.parametrize("login", [False, True])
def test_the_local_user_takes_both_steps_only_where_there_is_no_login(
    place: Workshop, login: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if login:
        (tmp_path / "settings.toml").write_text('[login]\nroles = { staff = "admin" }\n')
        monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    propose("one", REASON, place, by=LOCAL)
    if login:
        with pytest.raises(NotAllowed, match="second person"):
            activate("one", place, by=LOCAL)
    else:
        assert "alone" in activate("one", place, by=LOCAL).in_words()


def test_a_run_that_was_changed_after_it_was_proposed_is_not_activated_nor_used(place: Workshop) -> None:
    propose("one", REASON, place, by=OWNER)
    shutil.rmtree(place.runs / "one")
    shutil.copytree(DATA / "runs" / "paper", place.runs / "one")
    with pytest.raises(UserError, match="changed since it was proposed"):
        activate("one", place, by=ADMIN)
    propose("one", REASON, place, by=OWNER)
    activate("one", place, by=ADMIN)
    shutil.rmtree(place.runs / "one")
    shutil.copytree(DATA / "runs" / "ai", place.runs / "one")
    with pytest.raises(UserError, match="changed since it was activated"):
        active_run(place)


def test_another_name_does_not_make_it_another_run_and_a_run_in_use_is_not_deleted(place: Workshop) -> None:
    propose("one", REASON, place, by=OWNER)
    activate("one", place, by=ADMIN)
    own_runs.rename("one", "renamed", place, set(), by=LOCAL)
    assert active_run(place) is not None
    with pytest.raises(UserError, match="active in the clinic"):
        own_runs.delete("one", place, by=LOCAL)


def test_only_what_is_proposed_is_activated_and_the_one_before_is_remembered(place: Workshop) -> None:
    for name in ("one", "two"):
        propose(name, REASON, place, by=OWNER)
        activate(name, place, by=ADMIN)
    assert [each.proposal.run for each in standing(place).before] == ["one"]
    with pytest.raises(UserError, match="is not proposed"):
        activate("one", place, by=ADMIN)


@pytest.mark.parametrize("run", ["../one", ".one", "a/b/c", "", "glaucoma/.."])
def test_a_name_that_leads_elsewhere_is_no_run(place: Workshop, run: str) -> None:
    with pytest.raises(UserError):
        propose(run, REASON, place, by=LOCAL)


def test_a_damaged_file_is_refused_and_not_taken_for_nothing(place: Workshop) -> None:
    propose("one", REASON, place, by=LOCAL)
    (place.jobs.parent / "clinic" / "activation.json").write_text("{}}")
    with pytest.raises(UserError, match="cannot be read"):
        standing(place)


def test_the_command_line_proposes_activates_and_tells(
    place: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(PLACE, str(tmp_path))
    assert main(["clinic", "propose", "one", "--reason", REASON]) == 0
    assert main(["clinic", "activate", "one"]) == 0
    assert main(["clinic", "status"]) == 0
    assert "single local user alone" in capsys.readouterr().out
    config = json.loads((place.runs / "one" / CONFIG).read_text())
    (place.runs / "one" / CONFIG).write_text(json.dumps(config | {"files": {}}))
    assert main(["clinic", "status"]) == 1
