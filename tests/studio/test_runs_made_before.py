"""A run that was made before rows were added is still shown, applied to the cases of today, and says so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_workspace import nights, small_workspace

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.workspace import Workspace
from mpd2.evaluation.reports import publish_run
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.adding import add_rows
from mpd2.methods.registry import METHODS
from mpd2.planning.floors import parse_floor
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

ABOUT = Scenario("recalibrated-score", workspace="nights", floor=None)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """With two runs of its study and an own one, then with nine rows more."""
    monkeypatch.setenv("MPD2_WORKSHOP", str(tmp_path))
    made = small_workspace(Workshop.here())
    cohort = made.cohort()
    for folder in (made.runs / "ai", made.runs / "recalibrated-score", Workshop.here().runs / "mine"):
        method = METHODS["ai" if folder.name == "mine" else folder.name]
        publish_run(method.fit(cohort, cohort.manifest.default_costs(), (42,)), cohort, folder)
    return made


def added(first: int) -> None:
    rows = nights(3, seed=first, first=first).assign(part="test")
    add_rows("nights", rows.set_axis(pd.RangeIndex(2, len(rows) + 2)), "new.csv", Workshop.here(), by=LOCAL)


def test_runs_are_applied_to_the_cases_of_today_and_say_so(workspace: Workspace) -> None:
    before = store.outcome(ABOUT.run, ABOUT)
    assert store.made_before("nights", ABOUT.run) == ""
    added(60)
    assert store.made_before("nights", ABOUT.run) == "made before 9 rows were added"
    after = store.outcome(ABOUT.run, ABOUT)
    n = before.decisions.label.shape[1]
    assert after.decisions.label.shape[1] == n + 9
    assert (after.decisions.label[:, :n] == before.decisions.label).all()
    np.testing.assert_allclose(after.policy.defer[:, :n], before.policy.defer, atol=1e-6)


def test_a_floor_is_chosen_anew(workspace: Workspace) -> None:
    added(60)
    about = Scenario("recalibrated-score", workspace="nights", floor=parse_floor("ai", 0.3))
    choice = store.choice(about.run, about)
    assert choice is not None
    assert store.outcome(about.run, about).decisions.label.shape[1] == len(store.cases(about))


def test_own_runs_stay_with_the_workspace(workspace: Workspace) -> None:
    added(60)
    assert [run.name for run in store.own_runs("nights")] == ["mine"]
    assert store.made_before("nights", "own-mine") == "made before 9 rows were added"
    assert store.damaged_runs("nights") == []
    (workspace.folder / "earlier.json").write_text("{")
    assert store.own_runs("nights") == []
    assert store.made_before("nights", "ai") == "made from another table"
