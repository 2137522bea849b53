"""The device asked for, or a clear no."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest
import torch

from mpd2.core.errors import UserError
from mpd2.training.devices import ENOUGH_WORK, describe_devices, pick_device, threads_for


def pretend(monkeypatch, *, cuda: bool, mps: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(True, True, "cuda"), (True, False, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_the_fastest_there_is(monkeypatch, cuda, mps, expected):
    pretend(monkeypatch, cuda=cuda, mps=mps)
    assert pick_device().type == expected
    assert pick_device("cpu").type == "cpu"


def test_what_is_found_is_told_in_words(monkeypatch):
    pretend(monkeypatch, cuda=False, mps=False)
    assert describe_devices(3) == f"CPU, 3 of {os.cpu_count()} cores for training (no CUDA found)"
    pretend(monkeypatch, cuda=False, mps=True)
    assert describe_devices(1).startswith("Apple GPU (MPS) or CPU")
    pretend(monkeypatch, cuda=True, mps=False)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: SimpleNamespace(name="GPU", total_memory=2**34))
    assert describe_devices(1) == "GPU, 16 GB"


def test_a_device_that_is_not_there_is_refused_with_what_to_do(monkeypatch):
    pretend(monkeypatch, cuda=False, mps=False)
    with pytest.raises(UserError, match=r"^device: cuda is not there on this machine; use auto or cpu$"):
        pick_device("cuda")


def test_an_unknown_device_is_refused_with_those_there_are():
    with pytest.raises(UserError, match=r"^device: found 'tpu', expected one of auto, cuda, mps, cpu$"):
        pick_device("tpu")


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    ("members", "cores", "expected"),
    [(1, 8, 1), (2 * ENOUGH_WORK - 1, 8, 1), (2 * ENOUGH_WORK, 8, 2), (100 * ENOUGH_WORK, 8, 2), (100, 1, 1)],
)
def test_each_thread_gets_routers_enough_and_a_core_of_its_own(monkeypatch, members, cores, expected):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    with threads_for(members) as threads:
        assert threads == expected
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_the_threads_come_back_also_after_an_error():
    with pytest.raises(KeyError), threads_for(1):
        raise KeyError
    assert torch.get_num_threads() == 2
