"""People's own runs, and configurations kept as presets."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from disk import names
from toy import toy_problem

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.errors import UserError
from mpd2.core.runs import annotate, load_predictions, load_run, save_run
from mpd2.lab.jobs import orders, own_runs
from mpd2.lab.jobs.folder import Search, Workshop
from mpd2.lab.jobs.grid import evidence, one_cell
from mpd2.lab.jobs.search import keep_preset, kept_presets
from mpd2.methods.registry import policy_of
from mpd2.training.config import PAPER
from mpd2.training.population import fit_routers

COHORT = toy_problem(90).cohort
CELLS = ["with both", "without both"]
CONFIGS = [
    PAPER.but(network__width=4, training__epochs=2, training__warm_up=0, training__batch_size=30,
              objective__gsdp_weight=weight, seed=seed)
    for weight in (0.1, 0.0) for seed in (1, 2)
]  # fmt: skip


@pytest.fixture(scope="module")
def grid_run():
    """Two cells of two seeds, trained as one population."""
    run = fit_routers(COHORT, COHORT.manifest.default_costs(), CONFIGS, device="cpu")
    run.notes.update(kind="grid", title="a grid", conditions=[cell for cell in CELLS for _ in range(2)])
    return run


@pytest.fixture
def place(tmp_path, grid_run) -> Workshop:
    """A workshop with that grid in it."""
    workshop = Workshop(tmp_path / "jobs", tmp_path / "runs")
    save_run(grid_run, workshop.runs / "one", policy_of(grid_run, COHORT), COHORT, {})
    return workshop


def test_own_runs_say_what_they_are_and_what_is_none_is_passed_over(place):
    (place.runs / "tuning.db").write_text("")
    (place.runs / "empty").mkdir()
    (run,) = own_runs.own_runs(place)
    assert (run.name, run.title, run.kind, run.routers) == ("one", "a grid", "grid", 4)
    assert own_runs.described("nobody", place) is None
    assert own_runs.own_runs(Workshop(place.jobs, place.runs / "nowhere")) == []


def test_a_new_name_is_seen_at_once_and_the_run_stays_whole(place):
    own_runs.rename("one", " mine ", place, {"yours"}, by=LOCAL)
    assert own_runs.own_runs(place)[0].title == "mine"
    assert load_run(place.runs / "one").notes["conditions"] == [cell for cell in CELLS for _ in range(2)]


@pytest.mark.parametrize(("title", "told"), [("yours", "is taken"), ("  ", "found 0"), ("x" * 81, "found 81")])
def test_a_name_that_is_taken_empty_or_endless_is_refused(place, title, told):
    with pytest.raises(UserError, match=told):
        own_runs.rename("one", title, place, {"yours"}, by=LOCAL)


def test_a_deleted_run_leaves_nothing_and_cannot_be_deleted_twice(place):
    own_runs.delete("one", place, by=LOCAL)
    assert names(place.runs) == []
    with pytest.raises(UserError, match="there is no such run"):
        own_runs.delete("one", place, by=LOCAL)


def test_an_exported_run_can_be_read_where_it_is_unpacked(place, tmp_path):
    with zipfile.ZipFile(io.BytesIO(own_runs.zipped("one", place, by=LOCAL))) as archive:
        archive.extractall(tmp_path / "elsewhere")
    run = load_run(tmp_path / "elsewhere" / "one")
    assert load_predictions(tmp_path / "elsewhere" / "one", run, COHORT).defer.shape == (4, len(COHORT))


def test_an_exported_run_follows_no_link_out_of_its_folder(place, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("of somebody else")
    (place.runs / "one" / "more.json").symlink_to(secret)
    with zipfile.ZipFile(io.BytesIO(own_runs.zipped("one", place, by=LOCAL))) as archive:
        assert "one/more.json" not in archive.namelist()
        assert "one/config.json" in archive.namelist()


def test_a_picture_in_the_name_of_a_run_is_nothing_but_words(place):
    annotate(place.runs / "one", title="mine ![x](http://elsewhere.example/x.png)")
    own_runs.rename("one", "**mine** ![x](http://elsewhere.example/x.png)", place, set(), by=LOCAL)
    assert own_runs.described("one", place).title == "mine ! x (http elsewhere.example/x.png)"


def test_more_runs_than_can_be_looked_through_are_refused(place, monkeypatch):
    monkeypatch.setattr(own_runs, "MOST_RUNS", 1)
    with pytest.raises(UserError, match="found 1 own runs, expected fewer than 1"):
        own_runs.check_room(place)


def test_a_cell_of_a_grid_becomes_a_run_with_the_same_policy(place, grid_run):
    policy = policy_of(grid_run, COHORT)
    own_runs.keep_cell("one", grid_run, policy, CELLS[1], "a cell", COHORT, place, by=LOCAL)
    run = load_run(place.runs / "one-2")
    assert (run.members, run.notes["title"], run.notes["kind"]) == (2, "a cell", "train")
    np.testing.assert_array_equal(policy_of(run, COHORT).defer, policy.defer[2:])


def test_a_cell_nobody_knows_and_a_run_that_is_no_grid_are_refused(grid_run):
    policy = policy_of(grid_run, COHORT)
    with pytest.raises(UserError, match="cell: found 'third'"):
        one_cell(grid_run, policy, "third")
    alone, decided = one_cell(grid_run, policy, CELLS[0])
    with pytest.raises(UserError, match="is no grid"):
        evidence(alone, decided, COHORT)


def test_only_seeds_of_every_cell_are_compared(grid_run):
    lost = replace(grid_run, settings=grid_run.settings[:3], notes={"conditions": [CELLS[0], CELLS[0], CELLS[1]]})
    facts = evidence(lost, policy_of(grid_run, COHORT).member([0, 1, 2]), COHORT)
    assert [len(outcome.policy.defer) for outcome in facts.outcomes.values()] == [1, 1]


def test_a_preset_is_kept_by_a_safe_name_and_other_files_are_passed_over(place):
    assert keep_preset(PAPER.but(budget__target=0.4), "best of: mine/1", place, by=LOCAL) == "best-of-mine-1"
    (place.runs / "broken.json").write_text("{")
    (place.runs / "other.json").write_text('{"nonsense": 1}')
    assert kept_presets(place) == {"best-of-mine-1": PAPER.but(budget__target=0.4)}
    with pytest.raises(UserError, match="expected at least one letter"):
        keep_preset(PAPER, "…", place, by=LOCAL)


def test_a_search_within_limits_is_ordered_and_a_larger_one_refused():
    costs = COHORT.manifest.default_costs()
    wish = orders.Wish(orders.Start("paper", "MPD²", PAPER, costs), PAPER, costs)
    order = orders.tuning(wish, Search(study="mine", trials=80), Path("table.csv"), COHORT)
    assert (order.steps, order.title, order.kind) == (80, "Tuning mine", "tune")
    with pytest.raises(UserError, match="trials: found 500"):
        orders.tuning(wish, Search(study="mine", trials=500), Path("table.csv"), COHORT)
    with pytest.raises(UserError, match="60,000 in all"):
        orders.tuning(wish, Search(study="mine", trials=200, seeds=2), Path("table.csv"), COHORT)


def test_notes_can_be_added_and_the_run_is_still_sound(place):
    annotate(place.runs / "one", remark="kept")
    assert load_run(place.runs / "one").notes["remark"] == "kept"
