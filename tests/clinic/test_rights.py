"""Nobody gets what their role does not have: tried for every role and action, and for every function that acts.

Both are generated: a new action without a rule, an action that nothing asks for and a new function that takes an actor
without standing in the list below each fail a test.
"""

from __future__ import annotations

import ast
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import pytest
from people import ADMIN, OWNER, PEOPLE, RESEARCHER
from places import DATA, ROOT
from shadows import START, learned, opened

from mpd2.clinic.access import exports
from mpd2.clinic.access.actions import RULES, Action, Role
from mpd2.clinic.access.actor import LOCAL, Actor
from mpd2.clinic.access.authorise import NotAllowed, authorise, may, refusal
from mpd2.clinic.record import reading
from mpd2.clinic.record.search import Search as Filter
from mpd2.clinic.shadow import answering, erasing, intake, worklists
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.rows import Key, Setting
from mpd2.clinic.shadow.snapshot import snapshot
from mpd2.core.runs import annotate, load_run
from mpd2.core.workspace import Workspace
from mpd2.lab import activation, photographs, recalibration, received, uploads, watched_folder
from mpd2.lab.jobs import own_runs, queue, search
from mpd2.lab.jobs.folder import Building, Job, Order, Search, Status, Workshop
from mpd2.lab.owners import own_workspace, owner_of_workspace
from mpd2.lab.shadowing import Shadow
from mpd2.lab.tuning import storage, study
from mpd2.lab.workspaces import adding, archive, copying, removing, shelf
from mpd2.study.build import BuildSize
from mpd2.training.config import PAPER

PAGES_ALONE = {Action.SEE_FIGURES, Action.SEE_CASE, Action.SIGN_IN, Action.SIGN_OUT}
"""Actions that no library function asks for, since all that is done is that somebody looks, comes or goes."""
HAS_ASKED = {"mpd2.lab.workspaces.shelf.new_folder"}
"""Functions that take an actor as the owner of what they make, for others that have asked."""


# ---------------------------------------------------------------------------------- every role and action


def test_every_action_has_a_rule_and_no_rule_is_empty() -> None:
    assert set(RULES) == set(Action)
    assert all(RULES.values())


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("role", Role)
def test_a_role_may_do_what_the_rules_say_and_nothing_else(role: Role, action: Action) -> None:
    by = PEOPLE[role]
    assert may(by, action) is (role in RULES[action])
    if may(by, action):
        authorise(by, action)
    else:
        with pytest.raises(NotAllowed, match=f"{action}: you are signed in as {role}"):
            authorise(by, action)


@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("owner", ["somebody else", ""])
def test_what_belongs_to_another_or_to_nobody_only_admins_change(role: Role, action: Action, owner: str) -> None:
    assert may(PEOPLE[role], action, owner) is (role is Role.ADMIN)
    assert may(PEOPLE[role], action, PEOPLE[role].id) is (role in RULES[action])


def test_the_local_user_may_do_everything() -> None:
    assert all(may(LOCAL, action, owner) for action in Action for owner in (None, "", "somebody"))


def test_a_refusal_says_who_could() -> None:
    assert "the role of admin or researcher" in refusal(PEOPLE[Role.VIEWER], Action.TRAIN)
    assert "belongs to owner@test" in refusal(RESEARCHER, Action.REMOVE_RUN, OWNER.id)
    assert "before there were owners" in refusal(RESEARCHER, Action.REMOVE_RUN, "")


def asked_for(folder: str) -> set[Action]:
    """The actions that some source in a folder names, but for the table of rules."""
    named: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if path.name != "actions.py":
            tree = ast.parse(path.read_text(encoding="utf-8"))
            named |= {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Action"
            }
    return {Action[name] for name in named}


def test_every_action_is_asked_for_by_a_library_function() -> None:
    library = set().union(*(asked_for(f"mpd2/{room}") for room in ("clinic", "present", "lab", "cli")))
    assert library | PAGES_ALONE == set(Action)
    assert asked_for("mpd2/studio") >= PAGES_ALONE


# ---------------------------------------------------------------------------------- every function that acts


@dataclass
class Scene:
    """A workshop in which somebody has made one of everything."""

    place: Workshop
    job: Job
    workspace: Workspace
    cells: pd.DataFrame
    deciders: Deciders  # with an empty store


Call = Callable[[Scene, Actor], Any]


def order(scene_table: Path, **changes: Any) -> Order:
    settings: dict[str, Any] = {"kind": "train", "configs": (PAPER,), **changes}
    return Order(
        title="mine", cost_false_negative=1, cost_false_positive=1, table=scene_table, fingerprint="f", **settings
    )


@pytest.fixture
def scene(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The workshop; everything in it belongs to OWNER."""
    place = Workshop(tmp_path / "jobs", tmp_path / "runs")
    shutil.copytree(DATA / "runs" / "ai", place.runs / "one")
    annotate(place.runs / "one", owner=OWNER.id)
    folder = place.workspaces / "clinic"
    folder.mkdir(parents=True)
    for name in ("glaucoma.csv", "manifest.toml"):
        shutil.copy(DATA / name, folder / name)
    own_workspace(folder, OWNER)
    job = Job(place.jobs / "20260101-000000-000000-mine")
    job.folder.mkdir(parents=True)
    job.write(order(folder / "glaucoma.csv", owner=OWNER.id))
    job.write(Status(state="done"))
    cells = pd.read_csv(folder / "glaucoma.csv", dtype=str, keep_default_na=False).head(1)
    with opened(tmp_path_factory.mktemp("shadow")) as store:
        deciders = Deciders(store, load_run(place.runs / "one"), "digest", learned(), None)
        yield Scene(place, job, Workspace("clinic", folder, shipped=False), cells, deciders)


def _make_study(scene: Scene) -> None:
    with storage.connected(scene.place.studies) as connected:
        optuna.create_study(storage=connected, study_name="search").set_user_attr(study.OWNER, OWNER.id)
    with storage.connected(scene.place.studies) as connected:  # which may tidy the file once
        assert study.owner_of_study(connected, "search") == OWNER.id


def _delete_study(scene: Scene, by: Actor) -> None:
    with storage.connected(scene.place.studies) as connected:
        study.delete_study(connected, "search", by=by)


def _keep_cell(scene: Scene, by: Actor) -> None:
    run = load_run(scene.place.runs / "one")
    own_runs.keep_cell("one", run, None, "cell", "title", None, scene.place, by=by)  # refused before they are used


SAID = pd.DataFrame([{"case": "r1", "truth": 1}])
AWAY = Setting(START.date(), {"away": learned().manifest.columns[0]})


def shadow_of(scene: Scene) -> Shadow:
    """Shadow mode with the scene's store, which folders are taken into."""
    for table in scene.workspace.folder.glob("*.csv"):
        os.utime(table, (0, 0))  # nobody writes to it any more
    return Shadow(scene.place, scene.deciders.store, scene.workspace, scene.deciders, "one", ())


def _submit(kind: str, **changes: Any) -> Call:
    return lambda scene, by: queue.submit(order(scene.workspace.table, kind=kind, **changes), scene.place, by=by)


ACTS: dict[str, list[tuple[Action, bool, Call]]] = {
    "mpd2.lab.jobs.queue.submit": [
        (Action.TRAIN, False, _submit("train")),
        (Action.TRAIN, False, _submit("grid")),
        (Action.TUNE, False, _submit("tune", search=Search(study="s", trials=2))),
        (
            Action.BUILD_WORKSPACE,
            True,
            _submit("build", configs=(), building=Building(workspace="clinic", size=BuildSize())),
        ),
    ],
    "mpd2.lab.jobs.queue.cancel": [(Action.CANCEL_JOB, True, lambda s, by: queue.cancel(s.job, s.place, by=by))],
    "mpd2.lab.jobs.queue.forget": [(Action.REMOVE_JOB, True, lambda s, by: queue.forget(s.job, s.place, by=by))],
    "mpd2.lab.jobs.own_runs.rename": [
        (Action.NAME_RUN, True, lambda s, by: own_runs.rename("one", "x", s.place, set(), by=by))
    ],
    "mpd2.lab.jobs.own_runs.delete": [(Action.REMOVE_RUN, True, lambda s, by: own_runs.delete("one", s.place, by=by))],
    "mpd2.lab.jobs.own_runs.zipped": [(Action.EXPORT_RUN, False, lambda s, by: own_runs.zipped("one", s.place, by=by))],
    "mpd2.lab.jobs.own_runs.keep_cell": [(Action.TRAIN, False, _keep_cell)],
    "mpd2.lab.jobs.search.keep_preset": [
        (Action.KEEP_PRESET, False, lambda s, by: search.keep_preset(PAPER, "mine", s.place, by=by))
    ],
    "mpd2.lab.tuning.study.delete_study": [(Action.REMOVE_STUDY, True, _delete_study)],
    "mpd2.lab.workspaces.shelf.create": [
        (
            Action.MAKE_WORKSPACE,
            False,
            lambda s, by: shelf.create(
                "new", s.workspace.table.read_bytes(), s.workspace.manifest_path.read_text(), s.place, by=by
            ),
        )
    ],
    "mpd2.lab.workspaces.adding.add_rows": [
        (Action.ADD_CASES, True, lambda s, by: adding.add_rows("clinic", s.cells, "more.csv", s.place, by=by))
    ],
    "mpd2.lab.workspaces.archive.exported": [
        (Action.EXPORT_WORKSPACE, False, lambda s, by: archive.exported(s.workspace, by=by))
    ],
    "mpd2.lab.workspaces.archive.write_archive": [
        (Action.EXPORT_WORKSPACE, False, lambda s, by: archive.write_archive(s.workspace, io.BytesIO(), by=by))
    ],
    "mpd2.lab.workspaces.archive.open_archive": [
        (Action.MAKE_WORKSPACE, False, lambda s, by: archive.open_archive(io.BytesIO(b""), s.place, by=by))
    ],
    "mpd2.lab.workspaces.copying.copy": [
        (Action.MAKE_WORKSPACE, False, lambda s, by: copying.copy("clinic", "new", "keep", s.place, by=by))
    ],
    "mpd2.lab.workspaces.removing.remove": [
        (Action.REMOVE_WORKSPACE, True, lambda s, by: removing.remove("clinic", s.place, by=by))
    ],
    "mpd2.lab.uploads.read_own": [
        (
            Action.UPLOAD,
            False,
            lambda s, by: uploads.read_own(s.workspace.table.read_bytes(), "t.csv", s.workspace.manifest(), by=by),
        )
    ],
    "mpd2.lab.uploads.try_out": [
        (
            Action.ROUTE_CASE,
            False,
            lambda s, by: uploads.try_out(load_run(s.place.runs / "one"), "one", s.workspace.cohort(), by=by),
        )
    ],
    "mpd2.lab.received.receive": [
        (Action.UPLOAD, False, lambda s, by: received.receive(b"id,x\na,1\n", "t.csv", by=by))
    ],
    "mpd2.lab.photographs.measure": [
        (Action.MEASURE, False, lambda s, by: photographs.measure(b"", "a.png", None, by=by))
    ],
    "mpd2.lab.activation.propose": [
        (Action.PROPOSE_RUN, False, lambda s, by: activation.propose("one", "why", s.place, by=by))
    ],
    "mpd2.lab.activation.activate": [
        (Action.ACTIVATE_RUN, False, lambda s, by: activation.activate("one", s.place, by=by))
    ],
    "mpd2.lab.recalibration.ask_from_shadow": [
        (Action.TRAIN, False, lambda s, by: recalibration.ask_from_shadow(None, "new", by=by))
    ],
    "mpd2.lab.recalibration.ask": [
        (Action.TRAIN, False, lambda s, by: recalibration.ask("one", s.cells, "local.csv", "new", s.place, by=by))
    ],
    "mpd2.lab.watched_folder.take_in_folder": [
        (
            Action.ROUTE_CASE,
            False,
            lambda s, by: watched_folder.take_in_folder(s.workspace.folder, shadow_of(s), by=by),
        )
    ],
    "mpd2.clinic.shadow.intake.take_in": [
        (Action.ROUTE_CASE, False, lambda s, by: intake.take_in(s.cells, s.deciders.store, s.deciders, by=by))
    ],
    "mpd2.clinic.shadow.answering.add_readings": [
        (Action.ANSWER_CASE, False, lambda s, by: answering.add_readings(SAID, s.deciders.store, s.deciders, by=by))
    ],
    "mpd2.clinic.shadow.answering.add_outcomes": [
        (Action.ADD_OUTCOMES, False, lambda s, by: answering.add_outcomes(SAID, s.deciders.store, by=by))
    ],
    "mpd2.clinic.shadow.answering.override": [
        (
            Action.OVERRIDE,
            False,
            lambda s, by: answering.override(Key("case", START), "ai", "why", s.deciders.store, by=by),
        )
    ],
    "mpd2.clinic.shadow.answering.acknowledge": [
        (Action.ACKNOWLEDGE_ALARM, False, lambda s, by: answering.acknowledge("a", "why", s.deciders.store, by=by))
    ],
    "mpd2.clinic.shadow.answering.set_day": [
        (
            Action.CHANGE_SETTING,
            False,
            lambda s, by: answering.set_day(Setting(START.date()), s.deciders.store, s.deciders, by=by),
        ),
        (
            Action.CHANGE_ROSTER,
            False,
            lambda s, by: answering.set_day(AWAY, s.deciders.store, s.deciders, by=by),
        ),
    ],
    "mpd2.clinic.shadow.erasing.erase_case": [
        (Action.ERASE_CASES, False, lambda s, by: erasing.erase_case(s.deciders.store, "case", by=by))
    ],
    "mpd2.clinic.shadow.erasing.erase_before": [
        (Action.ERASE_CASES, False, lambda s, by: erasing.erase_before(s.deciders.store, START, by=by))
    ],
    "mpd2.clinic.shadow.worklists.seen_worklist": [
        (
            Action.SEE_WORKLIST,
            False,
            lambda s, by: worklists.seen_worklist(
                snapshot(s.deciders.store, learned(), learned().manifest), learned().manifest.columns[0], by=by
            ),
        )
    ],
    "mpd2.clinic.access.exports.export_figures": [
        (Action.EXPORT_FIGURES, False, lambda s, by: exports.export_figures(lambda: b"", "chart", by=by))
    ],
    "mpd2.clinic.access.exports.export_cases": [
        (Action.EXPORT_CASES, False, lambda s, by: exports.export_cases(lambda: b"", "worklist", by=by))
    ],
    "mpd2.clinic.access.exports.keep_note": [
        (Action.NOTE, False, lambda s, by: exports.keep_note("case", "words", by=by))
    ],
    "mpd2.clinic.record.reading.found": [(Action.SEE_RECORD, False, lambda s, by: reading.found(Filter(), by=by))],
    "mpd2.clinic.record.reading.history": [(Action.SEE_CASE, False, lambda s, by: reading.history("case", by=by))],
    "mpd2.clinic.record.reading.verified": [(Action.VERIFY_RECORD, False, lambda s, by: reading.verified(by=by))],
    "mpd2.clinic.record.reading.exported": [
        (Action.EXPORT_RECORD, False, lambda s, by: reading.exported(lambda: b"", 1, by=by))
    ],
}  # fmt: skip
"""Every function that acts: the action it asks for, whether it changes what has an owner, and how to call it."""


def acting() -> set[str]:
    """Every library function that takes an actor by the keyword `by` and cannot do without."""
    found: set[str] = set()
    for room in ("clinic", "present", "lab"):
        for path in (ROOT / "mpd2" / room).rglob("*.py"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and any(each.arg == "by" for each in node.args.kwonlyargs):
                    required = node.args.kw_defaults[[each.arg for each in node.args.kwonlyargs].index("by")] is None
                    assert required, f"{module}.{node.name}: by has a default"
                    found.add(f"{module}.{node.name}")
    return found - HAS_ASKED


def test_every_function_that_takes_an_actor_is_tried_below() -> None:
    assert acting() == set(ACTS)
    for name in ACTS:
        module, _, function = name.rpartition(".")
        assert callable(getattr(import_module(module), function))


def test_what_pages_read_of_uploads_goes_through_functions_that_ask() -> None:
    for path in (ROOT / "mpd2" / "studio").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "imports.files import read_table" not in text, path
        assert "read_photograph(" not in text, path


def on_disk(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


CASES = [(name, *each) for name, tries in ACTS.items() for each in tries]


@pytest.mark.parametrize(
    ("name", "action", "owned", "call"), CASES, ids=[f"{each[0]}-{each[1].name}" for each in CASES]
)
def test_whoever_may_not_is_refused_and_nothing_on_disk_has_changed(
    scene: Scene, name: str, action: Action, owned: bool, call: Call
) -> None:
    if name == "mpd2.lab.tuning.study.delete_study":
        _make_study(scene)
    before, version = on_disk(scene.place.jobs.parent), scene.deciders.store.version()
    refused = [by for by in PEOPLE.values() if not may(by, action, OWNER.id if owned else None)]
    assert refused or action is Action.EXPORT_FIGURES
    for by in refused:
        with pytest.raises(NotAllowed, match=f"^{action}: "):
            call(scene, by)
    assert on_disk(scene.place.jobs.parent) == before
    assert scene.deciders.store.version() == version


# ---------------------------------------------------------------------------------- owners


def test_a_job_belongs_to_whoever_asks_for_it_whatever_the_order_says(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "RUNNING", 0)  # it only waits
    forged = order(scene.workspace.table, owner="somebody@else")
    assert queue.submit(forged, scene.place, by=RESEARCHER).owner == RESEARCHER.id


def test_an_owner_changes_their_own_and_an_admin_changes_anybodys(scene: Scene) -> None:
    own_runs.rename("one", "by its owner", scene.place, set(), by=OWNER)
    own_runs.rename("one", "by an admin", scene.place, set(), by=ADMIN)
    queue.forget(scene.job, scene.place, by=OWNER)
    own_runs.delete("one", scene.place, by=OWNER)


def test_a_workspace_with_things_of_others_is_removed_by_an_admin_alone(scene: Scene) -> None:
    scene.job.write(order(scene.workspace.table, owner=RESEARCHER.id))
    before = on_disk(scene.place.jobs.parent)
    with pytest.raises(NotAllowed, match="others have made 1 jobs"):
        removing.remove("clinic", scene.place, by=OWNER)
    assert on_disk(scene.place.jobs.parent) == before
    removing.remove("clinic", scene.place, by=ADMIN)
    assert not scene.workspace.folder.exists()


def test_a_copy_belongs_to_whoever_made_it_and_an_export_names_nobody(scene: Scene) -> None:
    copied = copying.copy("clinic", "mine", "keep", scene.place, by=RESEARCHER).workspace
    assert owner_of_workspace(copied.folder) == RESEARCHER.id
    packed = archive.exported(scene.workspace, by=RESEARCHER)
    assert packed == archive.exported(Workspace("clinic", copied.folder, shipped=False), by=RESEARCHER)
    assert b"owner" not in packed


def test_a_preset_that_is_there_is_replaced_by_an_admin_alone(scene: Scene) -> None:
    search.keep_preset(PAPER, "mine", scene.place, by=OWNER)
    with pytest.raises(NotAllowed):
        search.keep_preset(PAPER, "mine", scene.place, by=OWNER)
    search.keep_preset(PAPER, "mine", scene.place, by=ADMIN)
