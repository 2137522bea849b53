"""A trained method on disk: exact, plain, whole or not at all."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from disk import full_disk, names

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import error_rates
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy, choose
from mpd2.core.runs import Run, load_errors, load_predictions, load_run, predictions_frame, save_run

CONTENT = ["config.json", "history.parquet", "metrics.json", "predictions.parquet", "weights.safetensors"]


@pytest.fixture(scope="module")
def run(small_cohort) -> Run:
    """Two members with arrays of every kind a method may keep."""
    random = np.random.default_rng(0)
    return Run(
        method="mpd2",
        settings=({"seed": 3, "rate": 0.1, "decay": [0.5, None]}, {"seed": 4, "rate": 1e-30, "decay": []}),
        arrays={
            "single": random.normal(size=(2, 3)).astype(np.float32),
            "double": random.normal(size=(2, 4, 3)).transpose(0, 2, 1),  # not contiguous
            "whole": np.array([[1], [2**40]]),
            "yes or no": np.array([[True, False]] * 2),
            "none": np.zeros((2, 0)),
        },
        rule="staged",
        costs=Costs(2.0, 1.5, tuple(np.linspace(0.1, 0.3, small_cohort.readers).tolist())),
        readers=small_cohort.manifest.columns,
        fingerprint=small_cohort.fingerprint,
        history=pd.DataFrame({"epoch": [1, 1], "seed": [3, 4], "loss": np.array([0.3, 0.1], np.float32)}),
        notes={"best_epoch": [7, 9], "problems": ["member 3 stopped"]},
    )


@pytest.fixture(scope="module")
def policy(small_cohort) -> Policy:
    random = np.random.default_rng(1)
    scores = random.normal(size=(2, len(small_cohort), 1 + small_cohort.readers)) * 3
    return Policy.from_scores(scores, small_cohort.available).rounded()


@pytest.fixture
def folder(tmp_path, run, policy, small_cohort):
    save_run(run, tmp_path / "run", policy, small_cohort, {"TotalCost": 0.1 + 0.2})
    return tmp_path / "run"


def test_a_run_comes_back_exactly(folder, run):
    loaded = load_run(folder)
    for name in ("method", "settings", "rule", "costs", "readers", "fingerprint", "notes", "version", "created"):
        assert getattr(loaded, name) == getattr(run, name), name
    assert loaded.arrays.keys() == run.arrays.keys()
    for name, array in run.arrays.items():
        assert loaded.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded.arrays[name], array)
    pd.testing.assert_frame_equal(loaded.history, run.history)


def test_a_run_without_history_comes_back_without(tmp_path, run, policy, small_cohort):
    save_run(dataclasses.replace(run, history=pd.DataFrame()), tmp_path / "run", policy, small_cohort, {})
    assert load_run(tmp_path / "run").history.empty


def test_a_run_is_five_plain_files(folder):
    assert names(folder) == CONTENT
    assert json.loads((folder / "metrics.json").read_text()) == {"TotalCost": 0.1 + 0.2}
    assert not any(path.read_bytes().startswith((b"\x80", b"PK")) for path in folder.iterdir())  # pickle, zipped pickle


def test_the_stored_policy_is_the_one_that_was_saved(folder, run, policy, small_cohort):
    stored = load_predictions(folder, run, small_cohort)
    np.testing.assert_array_equal(stored.defer, policy.defer)
    np.testing.assert_array_equal(stored.allocation, policy.allocation)


def test_predictions_are_found_by_case_in_any_order(folder, run, policy, small_cohort):
    rows = np.array([20, 3, 41])
    stored = load_predictions(folder, run, small_cohort.rows(rows))
    np.testing.assert_array_equal(stored.defer, policy.defer[:, rows])
    np.testing.assert_array_equal(stored.allocation, policy.allocation[:, rows])


def test_a_prediction_names_its_member_its_case_and_whom_it_asks(run, policy, small_cohort):
    frame = predictions_frame(run, policy, small_cohort)
    assert len(frame) == 2 * len(small_cohort)
    actions = choose(policy, "staged")
    for e, i in ((0, 0), (1, 5), (1, 53)):
        row = frame[(frame["seed"] == 3 + e) & (frame["case_id"] == small_cohort.ids[i])].iloc[0]
        assert row["action"] == ["ai", *run.readers][actions[e, i]]
        assert row["defer"] == policy.defer[e, i]
        assert row[list(run.readers)].tolist() == policy.allocation[e, i].tolist()


def test_a_case_that_was_not_predicted_is_named(tmp_path, run, policy, small_cohort):
    first = small_cohort.rows(np.arange(10))
    save_run(run, tmp_path / "run", Policy(policy.defer[:, :10], policy.allocation[:, :10], first.available), first, {})
    with pytest.raises(UserError, match=f"no prediction is stored for case {small_cohort.ids[10]}$"):
        load_predictions(tmp_path / "run", run, small_cohort)


def test_another_table_is_refused(folder, run, small_cohort):
    other = dataclasses.replace(small_cohort, fingerprint="abc")
    with pytest.raises(UserError, match=rf"^this run was made from table {run.fingerprint}, the table here is abc;"):
        load_predictions(folder, run, other)


def test_stored_predictions_are_not_used_for_readers_who_have_left(folder, run, small_cohort):
    nobody = small_cohort.with_available(np.zeros(small_cohort.readers, bool))
    with pytest.raises(UserError, match=r"its predictions ask readers who are not available here; apply the run anew$"):
        load_predictions(folder, run, nobody)


def test_other_readers_are_refused_by_name(run, small_cohort):
    def with_readers(readers) -> Cohort:
        manifest = small_cohort.manifest.model_copy(update={"readers": tuple(readers)})
        return dataclasses.replace(small_cohort, manifest=manifest)

    run.check_readers(small_cohort)
    readers = small_cohort.manifest.readers
    for others in (readers[:2], readers[::-1]):
        columns = ", ".join(reader.column for reader in others)
        with pytest.raises(UserError, match=rf"^this run knows the readers .*; the table has {columns}$"):
            run.check_readers(with_readers(others))


@pytest.mark.parametrize("name", [name for name in CONTENT if name != "config.json"])
def test_a_damaged_or_missing_file_is_refused_by_name(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match=rf"run/{name}: damaged or changed since the run was written; make the run"):
        load_run(folder)
    (folder / name).unlink()
    with pytest.raises(UserError, match=rf"run: {name} is missing; the run is incomplete$"):
        load_run(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"config\.json: damaged: "),
        ("[]", r"config\.json: not a run this version can read$"),
        ('{"format": 2}', r"not a run this version can read: format: Input should be 1; .*; and 8 more$"),
        ('{"format": 1, "rule": "either"}', r"not a run this version can read: method: Field required; rule: "),
    ],
)
def test_a_configuration_that_is_not_one_is_refused(folder, text, message):
    (folder / "config.json").write_text(text)
    with pytest.raises(UserError, match=message):
        load_run(folder)


@pytest.mark.parametrize(
    "key", ["method", "settings", "costs", "readers", "fingerprint", "created", "notes", "version", "files"]
)
def test_a_configuration_without_an_entry_is_refused(folder, key):
    config = json.loads((folder / "config.json").read_text())
    del config[key]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=f"not a run this version can read: {key}: Field required$"):
        load_run(folder)


def test_a_place_without_a_run_is_told(tmp_path):
    with pytest.raises(UserError, match=r"there is no run here \(no config\.json\)$"):
        load_run(tmp_path)


def test_a_file_the_configuration_does_not_vouch_for_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    del config["files"]["weights.safetensors"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match=r"weights\.safetensors: damaged or changed"):
        load_run(folder)


def test_a_run_replaces_the_one_before(folder, run, policy, small_cohort):
    save_run(dataclasses.replace(run, notes={"second": True}), folder, policy, small_cohort, {})
    assert load_run(folder).notes == {"second": True}
    assert names(folder.parent) == ["run"]


@pytest.mark.parametrize("left", [50, 1000, 3000])
def test_a_full_disk_leaves_the_old_run_and_no_debris(folder, run, policy, small_cohort, left):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with full_disk(left), pytest.raises(UserError, match=r"run: could not be written: .*; nothing was changed$"):
        save_run(run, folder, policy, small_cohort, {})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert names(folder.parent) == ["run"]


def test_what_cannot_be_written_leaves_the_old_run_and_no_debris(folder, run, policy, small_cohort):
    with pytest.raises(TypeError):
        save_run(run, folder, policy, small_cohort, {"not json": object()})
    assert load_run(folder).notes == run.notes
    assert names(folder.parent) == ["run"]


def test_a_run_keeps_how_often_everybody_errs(tmp_path, run, policy, small_cohort):
    errors = error_rates(small_cohort)
    save_run(run, tmp_path / "run", policy, small_cohort, {}, errors=errors)
    kept = load_errors(tmp_path / "run")
    for before, after in zip(errors.predict(small_cohort), kept.predict(small_cohort), strict=True):
        np.testing.assert_array_equal(before, after)
    (tmp_path / "run" / "errors.safetensors").unlink()
    with pytest.raises(UserError, match=r"errors\.safetensors is missing"):
        load_run(tmp_path / "run")


def test_a_run_without_estimated_errors_says_so(tmp_path, run, policy, small_cohort):
    save_run(run, tmp_path / "run", policy, small_cohort, {})
    assert load_run(tmp_path / "run").method == run.method
    with pytest.raises(UserError, match="keeps no estimate of errors"):
        load_errors(tmp_path / "run")
