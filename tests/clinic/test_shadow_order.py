"""One by one equals all at once: any order and any chunks of rows end in the same snapshot, worklists and figures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from shadows import RUNS, arrivals, deciders_of, learned, opened, outcomes, readings

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.answering import add_outcomes, add_readings
from mpd2.clinic.shadow.evidence.comparison import COHORT, compare, weekly
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.snapshot import Snapshot, snapshot
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.clinic.shadow.worklists import overview_of, worklist_of
from mpd2.core.arrays import Ints
from mpd2.core.cohort import Cohort
from mpd2.core.policy import decided_together, route
from mpd2.evaluation.metrics import tally
from mpd2.methods.registry import continuations_of, policy_of
from mpd2.study.operating import as_fitted, together_at

EXACT = ("times", "done", "declined", "waiting", "chosen", "stops", "reasons", "truth_at", "read_at", "basis")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ShadowStore]:
    """An empty store of each kind."""
    address = request.getfixturevalue("empty_database") if request.param == "postgresql" else ""
    with opened(tmp_path / "shadow", address) as made:
        yield made


def all_at_once(cohort: Cohort, run: str, store: ShadowStore) -> Snapshot:
    deciders = deciders_of(run, store)
    assert len(take_in(arrivals(cohort), store, deciders, by=LOCAL).accepted) == len(cohort)
    assert not add_readings(readings(cohort), store, deciders, by=LOCAL).refused
    assert not add_outcomes(outcomes(cohort), store, by=LOCAL).refused
    return snapshot(store, learned(), learned().manifest)


def one_after_another(cohort: Cohort, run: str, store: ShadowStore, order: Ints, chunk: int) -> Snapshot:
    """The same rows, shuffled: those of a case after the case itself."""
    deciders = deciders_of(run, store)
    frames = {"arrivals": arrivals(cohort), "readings": readings(cohort), "outcomes": outcomes(cohort)}
    later = [("readings", row) for row in range(len(frames["readings"]))]
    later += [("outcomes", row) for row in range(len(frames["outcomes"]))]
    waiting: dict[str, list[tuple[str, int]]] = {}
    for kind, row in later:
        waiting.setdefault(frames[kind]["case"].iloc[row], []).append((kind, row))
    for start in range(0, len(order), chunk):
        some = order[start : start + chunk]
        take_in(frames["arrivals"].iloc[some], store, deciders, by=LOCAL)
        rows = [each for case in cohort.ids[some[::-1]] for each in reversed(waiting[case])]
        for kind in ("outcomes", "readings"):
            part = frames[kind].iloc[[row for its, row in rows if its == kind]]
            if kind == "readings":
                add_readings(part, store, deciders, by=LOCAL)
            else:
                add_outcomes(part, store, by=LOCAL)
    return snapshot(store, learned(), learned().manifest)


def the_same(first: Snapshot, second: Snapshot) -> None:
    for name in EXACT:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), name)
    for name in ("ids", "source", "cluster", "state", "absent", "truth", "decisions", "available"):
        np.testing.assert_array_equal(getattr(first.cohort, name), getattr(second.cohort, name), name)
    np.testing.assert_array_equal(first.decisions.label, second.decisions.label)
    np.testing.assert_array_equal(first.decisions.consulted, second.decisions.consulted)
    np.testing.assert_array_equal(first.action, second.action)
    np.testing.assert_allclose(first.beliefs.costs, second.beliefs.costs, rtol=1e-6, atol=1e-9)
    assert first.cohort.fingerprint == second.cohort.fingerprint
    assert first.version == second.version
    assert overview_of(first) == overview_of(second)
    for reader in first.cohort.manifest.columns:
        pd.testing.assert_frame_equal(worklist_of(first, reader), worklist_of(second, reader))
    costs = first.costs()
    pd.testing.assert_frame_equal(compare(first, costs, COHORT), compare(second, costs, COHORT))
    pd.testing.assert_frame_equal(weekly(first, costs), weekly(second, costs))


@pytest.mark.parametrize("run", RUNS)
@settings(max_examples=5, deadline=None)
@given(order=st.permutations(range(54)), chunk=st.integers(1, 54))
def test_any_order_and_any_chunks_end_the_same(
    small_cohort: Cohort, run: str, order: list[int], chunk: int
) -> None:
    with TemporaryDirectory() as folder, opened(Path(folder, "a")) as first, opened(Path(folder, "b")) as second:
        whole = all_at_once(small_cohort, run, first)
        the_same(whole, one_after_another(small_cohort, run, second, np.array(order), chunk))


def test_both_kinds_of_storage_keep_the_same(small_cohort: Cohort, store: ShadowStore, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as other:
        whole = all_at_once(small_cohort, "mpd2-plus", other)
        the_same(whole, one_after_another(small_cohort, "mpd2-plus", store, np.arange(54)[::-1], 7))


@pytest.mark.parametrize("run", RUNS)
def test_figures_are_those_of_the_batch(held_out: Cohort, run: str, tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        shown = all_at_once(held_out, run, store)
        deciders = deciders_of(run, store)
    policy, endings = together_at(deciders.run, held_out, deciders.errors)(as_fitted(deciders.run))
    batch = route(policy, held_out, deciders.run.rule, endings)
    np.testing.assert_array_equal(shown.cohort.ids, held_out.ids)  # which come in by the order of the table
    assert shown.countable.all()
    costs = shown.costs()
    ours, theirs = (tally(held_out, each, costs).cases for each in (shown.decisions, batch))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(tally(shown.cohort, shown.decisions, costs).cases, theirs)


@pytest.mark.parametrize("run", RUNS)
def test_what_would_have_been_done_is_what_the_study_says(held_out: Cohort, run: str, tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        shown, made = all_at_once(held_out, run, store), deciders_of(run, store).run
    study = decided_together(policy_of(made, held_out), held_out, made.rule, continuations_of(made, held_out))
    np.testing.assert_array_equal(shown.decisions.label, study.label)
    np.testing.assert_array_equal(shown.decisions.consulted, study.consulted)


def test_asked_one_at_a_time_the_enquiry_ends_as_the_batch_does(held_out: Cohort, tmp_path: Path) -> None:
    cohort = held_out.rows(np.arange(0, len(held_out), 3))
    said = readings(cohort).set_index(["case", "reader"], drop=False)
    with opened(tmp_path / "a") as store, opened(tmp_path / "b") as other:
        deciders = deciders_of("mpd2-plus", store)
        take_in(arrivals(cohort), store, deciders, by=LOCAL)
        rounds = 0
        while (awaited := snapshot(store, learned(), learned().manifest)).waiting.any():
            open_ = awaited.waiting != ""
            asked = list(zip(awaited.cohort.ids[open_], awaited.waiting[open_], strict=True))
            assert len(add_readings(said.loc[asked], store, deciders, by=LOCAL).accepted) == len(asked)
            rounds += 1
        add_outcomes(outcomes(cohort), store, by=LOCAL)
        ended = snapshot(store, learned(), learned().manifest)
        whole = all_at_once(cohort, "mpd2-plus", other)
    assert rounds > 1  # somebody was asked after somebody else
    np.testing.assert_array_equal(ended.decisions.label, whole.decisions.label)
    np.testing.assert_array_equal(ended.decisions.consulted, whole.decisions.consulted)


def test_killed_at_random_moments_nothing_acknowledged_is_lost_and_nothing_is_there_twice(tmp_path: Path) -> None:
    script = ROOT / "tests" / "helpers" / "shadows.py"
    subprocess.run([sys.executable, str(script), str(tmp_path), "20", "0.6"], check=True, cwd=ROOT,
                   env={"PYTHONPATH": f"{ROOT}:{script.parent}", "OMP_NUM_THREADS": "1", "PATH": ""})  # fmt: skip
    acknowledged = set((tmp_path / "acknowledged").read_text().split())
    cohort = learned().subset(split="test").rows(np.arange(300))
    with opened(tmp_path) as store:
        with store.reading() as connection:
            assert store.flaw(connection) == ""
        kept = store.everything().arrivals["case"].tolist()
        assert len(kept) == len(set(kept)) == store.version()
        assert acknowledged <= set(kept)
        assert acknowledged
        taken = take_in(arrivals(cohort), store, deciders_of("studio", store), by=LOCAL)
        assert len(taken.accepted) == len(cohort) - len(kept)
        assert len(taken.repeated) == len(kept)
