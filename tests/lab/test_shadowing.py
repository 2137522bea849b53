"""Shadow mode of an installation: the active run, its store, a folder that is watched, and the commands."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from shadows import arrivals, outcomes, readings

from mpd2.cli import main
from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.installation import Installation
from mpd2.clinic.record.search import Search
from mpd2.clinic.settings import SETTINGS, load_settings
from mpd2.clinic.shadow.answering import add_outcomes, set_day
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.rows import Setting
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.lab.activation import activate, propose
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.lab.watched_folder import TAKEN, take_in_folder

RUN = "glaucoma/mpd2-plus"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A workshop with an active run."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    made = Workshop.here()
    use(RUN, made)
    return made


def use(run: str, place: Workshop) -> None:
    propose(run, "to see what it would do", place, by=LOCAL)
    activate(run, place, by=LOCAL)


@pytest.fixture
def cases(held_out: Cohort) -> Cohort:
    return held_out.rows(np.arange(0, len(held_out), 30))


def test_without_an_active_run_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run is active; propose one and let a second person activate it"):
        Shadow.here(Workshop(tmp_path / "jobs", tmp_path / "runs"))
    assert not (tmp_path / "clinic").exists()


def test_it_is_kept_ready_until_another_run_is_active(place: Workshop, cases: Cohort) -> None:
    shadow = Shadow.here(place)
    assert Shadow.here(place) is shadow
    assert (shadow.title, shadow.workspace.name, shadow.store.file) == (
        RUN, "glaucoma", place.jobs.parent / "clinic" / "shadow.db",
    )  # fmt: skip
    take_in(arrivals(cases), shadow.store, shadow.deciders, by=LOCAL)
    use("glaucoma/studio", place)
    other = Shadow.here(place)
    assert other.run.method != shadow.run.method
    again = arrivals(cases).assign(time="2024-12-24")
    take_in(again, other.store, other.deciders, by=LOCAL)
    shown = other.snapshot()
    assert len(shown) == 2 * len(cases)
    assert len(set(shown.runs.tolist())) == 2
    assert shown.decisions.label.shape == (2 * len(cases),)


def test_a_snapshot_is_made_anew_only_where_something_was_added(place: Workshop, cases: Cohort) -> None:
    shadow = Shadow.here(place)
    take_in(arrivals(cases), shadow.store, shadow.deciders, by=LOCAL)
    first = shadow.snapshot()
    assert shadow.snapshot() is first
    add_outcomes(outcomes(cases), shadow.store, by=LOCAL)
    assert shadow.snapshot().countable.sum() > first.countable.sum()


def test_an_own_run_is_traced_to_the_workspace_it_learned_from(place: Workshop) -> None:
    import shutil

    from places import DATA

    shutil.copytree(DATA / "runs" / "best-reader", place.runs / "mine")
    use("mine", place)
    assert Shadow.here(place).workspace.name == "glaucoma"


def test_what_is_decided_is_in_the_record_before_anybody_knows_the_truth(
    place: Workshop, cases: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.toml").write_text("[record]\n")
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    shadow = Shadow.here(place)
    take_in(arrivals(cases), shadow.store, shadow.deciders, by=LOCAL)
    take_in(arrivals(cases), shadow.store, shadow.deciders, by=LOCAL)
    record = Installation.here().record
    assert record is not None
    entries = record.search(Search(action=str(Action.ROUTE_CASE)), limit=1000)
    assert len(entries) == len(cases)
    about = entries[0].about
    assert about["choice"] in ("ai", *cases.manifest.columns)
    assert {"run", "setting", "inputs", "positive", "available", "label"} <= set(about)
    assert not any(case in json.dumps(entry.about) for entry in entries for case in cases.ids)


def test_settings_say_where_it_is_kept_and_who_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = "0" * 64
    (tmp_path / "settings.toml").write_text(
        '[clinic]\nfolder = "elsewhere"\nwatched = "incoming"\n[clinic.readers]\n"ada@example.org" = "north-1"\n'
        f'[[clinic.tokens]]\nname = "the archive"\nsha256 = "{digest}"\nrole = "clinician"\n'
    )
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    found = load_settings().clinic
    assert (found.readers, found.tokens[0].sha256) == ({"ada@example.org": "north-1"}, digest)
    (tmp_path / "settings.toml").write_text('[[clinic.tokens]]\nname = "x"\nsha256 = "secret"\nrole = "admin"\n')
    with pytest.raises(UserError, match=r"clinic.tokens.0"):
        load_settings()


# ---------------------------------------------------------------------------------- a folder that is watched


def test_a_table_that_appears_is_taken_in_once_and_put_aside(place: Workshop, cases: Cohort, tmp_path: Path) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    frame = arrivals(cases)
    frame.loc[1, "time"] = "soon"
    frame.to_csv(incoming / "monday.csv", index=False)
    (incoming / "broken.csv").write_text("")
    (incoming / "note.txt").write_text("not a table")
    shadow = Shadow.here(place)
    assert take_in_folder(incoming, shadow, by=LOCAL) == []  # somebody may still be writing
    for table in incoming.glob("*.csv"):
        os.utime(table, (0, 0))
    found = {each.name: each.taken for each in take_in_folder(incoming, shadow, by=LOCAL)}
    assert len(found["monday.csv"].accepted) == len(cases) - 1
    assert "an empty file" in found["broken.csv"].refused[0].found
    assert sorted(path.name for path in incoming.iterdir()) == ["note.txt", TAKEN]
    report = json.loads((incoming / TAKEN / "monday.csv.json").read_text())
    assert report["accepted"] == len(cases) - 1
    assert "row 3, column time: found soon" in report["refused"][0]
    assert take_in_folder(incoming, shadow, by=LOCAL) == []


# ---------------------------------------------------------------------------------- a day by commands


def test_a_day_goes_by_commands(
    place: Workshop, cases: Cohort, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {"cases": arrivals(cases), "readings": readings(cases), "outcomes": outcomes(cases)}
    for name, frame in tables.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)

    def told(*line: str, code: int = 0) -> str:
        assert main(["clinic", *line]) == code
        return capsys.readouterr().out

    assert f"{len(cases)} taken in" in told("intake", str(tmp_path / "cases.csv"))
    assert json.loads(told("intake", str(tmp_path / "cases.csv"), "--json")) == {
        "accepted": 0, "repeated": len(cases), "refused": [],
    }  # fmt: skip
    shadow = Shadow.here(place)
    reader = next(name for name in shadow.snapshot().waiting if name)
    assert told("worklist", reader).startswith("case,time,cohort,ai_answer")
    rows = json.loads(told("worklist", reader, "--json"))
    assert {row["case"] for row in rows} <= set(cases.ids.tolist())
    assert "taken in" in told("readings", str(tmp_path / "readings.csv"))
    assert json.loads(told("worklist", reader, "--json")) == []
    assert "taken in" in told("outcomes", str(tmp_path / "outcomes.csv"))
    assert "with the AI alone" in told("report")
    report = json.loads(told("report", "--json", "--by", "cohort"))
    assert report["arrivals"] == len(cases)
    assert {"compared", "weekly", "watched", "alarms", "suggestion"} <= set(report)
    said = told("setting", "--from", "2026-11-16", "--budget", "0.3", "--at-most", f"{reader}=40", "--day", "300")
    assert json.loads(said)["day"] == {"day": "300", "budget": "0.3", "at_most": f"{reader}:40"}
    assert json.loads(told("setting"))[0]["start"] == "2026-11-16"
    tables["cases"].assign(time="soon").to_csv(tmp_path / "cases.csv", index=False)
    told("intake", str(tmp_path / "cases.csv"), code=1)


def test_cases_are_erased_by_command_also_where_no_run_is_active(
    place: Workshop, cases: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shadow = Shadow.here(place)
    take_in(arrivals(cases), shadow.store, shadow.deciders, by=LOCAL)
    (place.clinic / "active.json").unlink(missing_ok=True)
    first = str(cases.ids[0])
    assert main(["clinic", "erase", "--case", first]) != 0
    assert "give --yes to go on" in capsys.readouterr().err
    assert main(["clinic", "erase", "--case", first, "--reason", "asked for", "--yes"]) == 0
    said = capsys.readouterr().out
    assert "1 case of 1 arrival erased" in said
    assert "Backups that were made before" in said
    assert main(["clinic", "erase", "--yes"]) != 0
    assert "ids are kept for ever" in capsys.readouterr().err
    (tmp_path / "settings.toml").write_text("[clinic]\nretention_days = 1\n")
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    assert main(["clinic", "erase", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"] == len(cases) - 1
    assert not set(cases.ids.tolist()) & set(shadow.snapshot().cohort.ids.tolist())
    assert main(["clinic", "erase", "--before", "soon", "--yes"]) != 0
    assert main(["clinic", "erase", "--tidy"]) == 0


def test_the_folder_that_is_watched_may_stand_in_the_settings(
    place: Workshop, cases: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clinic", "intake", "--watch", "--once"]) != 0
    assert "found no folder, here or in the settings" in capsys.readouterr().err
    (tmp_path / "incoming").mkdir()
    (tmp_path / "settings.toml").write_text('[clinic]\nwatched = "incoming"\n')
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    arrivals(cases).to_csv(tmp_path / "incoming" / "a.csv", index=False)
    os.utime(tmp_path / "incoming" / "a.csv", (0, 0))
    assert main(["clinic", "intake", "--watch", "--once"]) == 0
    assert f"a.csv: {len(cases)} taken in" in capsys.readouterr().out


def test_a_setting_nobody_can_mean_is_refused(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["clinic", "setting", "--from", "soon"]) != 0
    assert "expected one such as 2026-11-16" in capsys.readouterr().err
    shadow = Shadow.here(place)
    with pytest.raises(UserError, match="reader: found nobody"):
        set_day(Setting(date(2026, 1, 1), {"away": "nobody"}), shadow.store, shadow.deciders, by=LOCAL)
