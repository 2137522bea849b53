"""Work on other processes: the same results, also when one of them is lost."""

from __future__ import annotations

import operator
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from dask_machines import Machines, machines
from toy import toy_problem

from mpd2.core.errors import UserError
from mpd2.core.runs import WEIGHTS
from mpd2.lab.cluster import Here, pool
from mpd2.lab.sweep import TABLE, populations_of, sweep
from mpd2.study.definition import CONDITIONS
from mpd2.training.config import PAPER

COHORT = toy_problem(90).cohort
BASE = PAPER.but(network__width=6, training__batch_size=10, training__epochs=40, training__warm_up=1)
POPULATIONS = populations_of(BASE, {name: CONDITIONS[name] for name in ("full", "no-gsdp", "al25")}, range(42, 54))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    with machines(tmp_path_factory.mktemp("dask"), workers=2) as running:
        yield running


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sweep of one process."""
    folder = tmp_path_factory.mktemp("alone")
    sweep(COHORT, POPULATIONS, folder, Here(), lambda text: None)
    return folder


def unwilling(shared: object, item: str) -> str:
    if item == "b":
        raise UserError(f"found {item}, expected {shared}")
    return item


def assert_same(folder: Path, other: Path) -> None:
    assert (folder / TABLE).read_bytes() == (other / TABLE).read_bytes()
    for population in POPULATIONS:
        assert (folder / population.name / WEIGHTS).read_bytes() == (other / population.name / WEIGHTS).read_bytes()


def test_populations_depend_on_conditions_and_seeds_alone():
    assert [population.name for population in POPULATIONS] == [
        "full-42",
        "full-52",
        "no-gsdp-42",
        "no-gsdp-52",
        "al25-42",
        "al25-52",
    ]
    assert [len(population.configs) for population in POPULATIONS] == [10, 2, 10, 2, 10, 2]
    assert {config.seed for population in POPULATIONS for config in population.configs} == set(range(42, 54))


def test_results_come_in_the_order_of_the_items_and_a_users_mistake_comes_as_it_is(cluster):
    with pool(cluster.address, 1) as workers:
        assert list(workers.in_order(operator.add, 10, range(9))) == list(range(10, 19))
        assert sorted(workers.as_done(operator.add, 10, range(9))) == list(range(10, 19))
        with pytest.raises(UserError, match=r"^found b, expected an a$"):
            list(workers.in_order(unwilling, "an a", "ab"))


def test_a_sweep_that_loses_a_worker_half_way_gives_what_one_process_gives(cluster, alone, tmp_path):
    said: list[str] = []

    def kill_one(text: str) -> None:
        said.append(text)
        if len(said) == 1:
            cluster.workers[0].kill()

    with pool(cluster.address, 1) as workers:
        rows = sweep(COHORT, POPULATIONS, tmp_path, workers, kill_one)
    assert cluster.workers[0].wait() == -signal.SIGKILL
    assert len(said) == len(POPULATIONS)
    assert len(rows) == 36
    assert_same(tmp_path, alone)


def test_a_sweep_goes_on_with_the_populations_that_are_missing_or_damaged(alone):
    before = {population.name: (alone / population.name / "config.json").read_bytes() for population in POPULATIONS}
    weights = alone / "no-gsdp-52" / WEIGHTS
    content = weights.read_bytes()
    weights.write_bytes(content[:-1])
    said: list[str] = []
    rows = sweep(COHORT, POPULATIONS, alone, Here(), said.append)
    assert said == ["5 of 6 populations are there already", "no-gsdp-52: 2 routers, 1 of 1 populations done"]
    assert weights.read_bytes() == content
    del before["no-gsdp-52"]
    assert all((alone / name / "config.json").read_bytes() == content for name, content in before.items())
    pd.testing.assert_frame_equal(pd.read_csv(alone / TABLE), rows, check_exact=True)


def test_other_settings_are_trained_anew(alone, tmp_path):
    other = populations_of(BASE.but(training__epochs=1), {"full": CONDITIONS["full"]}, range(42, 44))
    sweep(COHORT, other, tmp_path, Here(), lambda text: None)
    said: list[str] = []
    changed = populations_of(BASE.but(training__epochs=2), {"full": CONDITIONS["full"]}, range(42, 44))
    sweep(COHORT, changed, tmp_path, Here(), said.append)
    assert said == ["full-42: 2 routers, 1 of 1 populations done"]


def test_without_an_address_processes_on_this_machine_do_the_work():
    with pool(None, 2) as workers:
        assert list(workers.in_order(operator.add, 1, range(5))) == [1, 2, 3, 4, 5]
    with pool(None, 1) as workers:
        assert isinstance(workers, Here)


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr("mpd2.lab.cluster.REACHED", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense"):
        message = f"scheduler: no answer from {address}; expected the address"
        with pytest.raises(UserError, match=message), pool(address, 1):
            pass


def test_without_dask_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = r"Dask is not installed here: pip install -r requirements-cluster\.txt$"
    with pytest.raises(UserError, match=message), pool(None, 2):
        pass
