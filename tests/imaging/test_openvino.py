"""OpenVINO behind its gate: it answers as torch does, or not at all."""

from __future__ import annotations

import pytest
from openvino_answers import answer_otherwise, answered_after_the_gate, differences, in_a_process, timings

from mpd2.core.errors import UserError


def test_it_answers_as_torch_does(tmp_path):
    found = in_a_process(differences, tmp_path)
    assert max(found["logits"], found["features"]) < 1e-5
    assert found["unchecked"] == 0
    assert found["seen"] > 0  # two programs that compute alike, not one twice
    assert found["same_labels"] > 0.9999


def test_other_answers_than_torch_gives_are_refused_with_the_difference():
    with pytest.raises(UserError, match=r"differ by \d\.\de.\d\d of their size.*--backend torch"):
        in_a_process(answer_otherwise)


def test_only_the_first_few_pictures_are_answered_twice():
    assert in_a_process(answered_after_the_gate) == (1, 5)


def test_the_benchmark_times_both_backends_and_says_whether_they_agree():
    found, words = in_a_process(timings)
    for network in found["networks"].values():
        assert network["same"]
        ratio = network["torch"]["core_seconds"] / network["openvino"]["core_seconds"]
        assert network["openvino_times_as_fast"] == pytest.approx(ratio)
    assert found["folder"] is None
    assert "classifier" in words
