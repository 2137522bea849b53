"""Settings: frozen, validated, and the same after a trip through JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from mpd2.core.errors import UserError
from mpd2.training.config import PAPER, PRESETS, Config, parse_config

CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "seed": st.integers(0, 2**32 - 1),
        "rule": st.sampled_from(["joint", "staged"]),
        "network__width": st.integers(2, 1024),
        "network__temperature": st.floats(0.51, 100),
        "objective__fee_weight": st.floats(0, 9),
        "objective__ai_cost": st.sampled_from(["soft", "hard"]),
        "objective__rank_decay": st.lists(st.floats(0, 1), min_size=1, max_size=5).map(tuple),
        "prior__ceiling": st.floats(0, 1),
        "budget__target": st.none() | st.floats(0, 1),
        "training__epochs": st.integers(1, 999),
        "training__learning_rate": st.floats(1e-30, 1e30),
    },
)


@settings(max_examples=40)
@given(CHANGES)
def test_any_configuration_survives_json(changes):
    config = PAPER.but(**changes)
    assert parse_config(json.loads(json.dumps(config.model_dump(mode="json")))) == config
    assert Config.model_validate_json(config.model_dump_json()) == config


@settings(max_examples=40)
@given(CHANGES)
def test_a_change_changes_what_it_names_and_nothing_else(changes):
    before, after = PAPER.model_dump(), PAPER.but(**changes).model_dump()
    for name, value in changes.items():
        section, _, field = name.rpartition("__")
        found, untouched = (dump[section] if section else dump for dump in (after, before))
        assert found[field] == value
        found[field] = untouched[field]
    assert after == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": 1}, "colour: found 1; Extra inputs are not permitted"),
        ({"budget__goal": 0.5}, "budget.goal: found 0.5; Extra inputs are not permitted"),
        ({"gadget__goal": 0.5}, "gadget: Extra inputs are not permitted"),
        ({"seed": -1}, "seed: found -1; Input should be greater than or equal to 0"),
        ({"seed": 2**32}, "seed: found 4294967296; Input should be less than 4294967296"),
        ({"rule": "random"}, "rule: found 'random'; Input should be 'joint' or 'staged'"),
        ({"network__width": 1}, "network.width: found 1; Input should be greater than or equal to 2"),
        ({"network__dropout": 1.0}, "network.dropout: found 1.0; Input should be less than 1"),
        ({"network__temperature": 1e3}, "network.temperature: found 1000.0; Input should be less than or equal to 100"),
        ({"network__temperature": 0.5}, "network: temperature 0.5 must exceed temperature_floor 0.5"),
        ({"network__temperature_floor": 2.0}, "network: temperature 1.25 must exceed temperature_floor 2.0"),
        ({"objective__ai_cost": "warm"}, "objective.ai_cost: found 'warm'; Input should be 'soft' or 'hard'"),
        ({"objective__fee_weight": -0.1}, "objective.fee_weight: found -0.1; Input should be greater than"),
        ({"objective__rank_decay": ()}, "objective.rank_decay: found (); Tuple should have at least 1 item"),
        ({"objective__rank_decay": (0.5, 1.1)}, "objective.rank_decay.1: found 1.1; Input should be less than"),
        ({"prior__sharpness": 0}, "prior.sharpness: found 0; Input should be greater than 0"),
        ({"budget__target": 1.2}, "budget.target: found 1.2; Input should be less than or equal to 1"),
        ({"budget__penalty": float("nan")}, "budget.penalty: found nan; Input should be a finite number"),
        ({"training__learning_rate": 0.0}, "training.learning_rate: found 0.0; Input should be greater than 0"),
        ({"training__epochs": 0}, "training.epochs: found 0; Input should be greater than or equal to 1"),
        ({"training__epochs": 2.5}, "training.epochs: found 2.5; Input should be a valid integer"),
        ({"training__patience": 0}, "training.patience: found 0; Input should be greater than or equal to 1"),
    ],
)
def test_a_setting_that_is_unknown_or_out_of_range_is_refused_by_name(changes, message):
    with pytest.raises(UserError) as refusal:
        PAPER.but(**changes)
    assert str(refusal.value).startswith(f"configuration: {message}")


def test_every_problem_is_named_at_once():
    with pytest.raises(UserError, match=r"seed: found -1; .*; budget\.target: found 7; "):
        PAPER.but(seed=-1, budget__target=7)


def test_a_configuration_cannot_be_changed_in_place():
    with pytest.raises(ValidationError, match="frozen"):
        PAPER.seed = 1
    with pytest.raises(ValidationError, match="frozen"):
        PAPER.budget.target = None


def test_equal_configurations_are_one_key():
    assert len({PAPER, PAPER.but(seed=7), PAPER.but(seed=42)}) == 2


def test_every_setting_says_what_it_is():
    for name, section in Config.model_fields.items():
        inner = getattr(section.annotation, "model_fields", None)
        for field, about in (inner or {name: section}).items():
            assert about.description, f"{name}.{field}"


def test_the_paper_preset_is_the_published_configuration():
    paper = PRESETS["paper"]
    assert (paper.rule, paper.objective.ai_cost, paper.objective.expected_share) == ("joint", "soft", 0.0)
    assert (paper.training.learning_rate, paper.training.batch_size, paper.training.warm_up) == (3.05e-5, 64, 11)
    assert (paper.budget.target, paper.budget.penalty, paper.budget.dual_step) == (0.70, 23.9, 0.0428)
    weights = paper.objective.fee_weight, paper.objective.gsdp_weight, paper.objective.rank_weight
    assert weights == (0.284, 0.0457, 0.098)
    assert (paper.network.temperature, paper.network.temperature_floor) == (1.25, 0.5)
