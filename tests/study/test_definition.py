"""A study knows its runs, keeps what they need and finds every router again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_study import CHANGES, tiny_study

from mpd2.core.errors import UserError
from mpd2.core.policy import Policy
from mpd2.core.runs import load_predictions, load_run, save_run
from mpd2.evaluation.published import published
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.registry import METHODS, policy_of
from mpd2.study.definition import (
    ABLATIONS,
    ABLATIONS_RUN,
    BUDGETS,
    CONDITIONS,
    CONTENDERS,
    OBJECTIVE,
    PAPER_RUN,
    ROUTERS,
    TARGETS,
    Study,
)
from mpd2.training import population
from mpd2.training.config import PAPER
from mpd2.training.population import fit_routers


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A tiny study with a router's run, a baseline's and the ablations."""
    study = tiny_study(tmp_path_factory.mktemp("study") / "data")
    for name in (PAPER_RUN, "mao", ABLATIONS_RUN):
        study.make(name)
    return study


# What is compared


def test_every_method_is_a_contender_and_mpd2_is_one_twice() -> None:
    keys = [contender.method.key for contender in CONTENDERS.values()]
    assert set(keys) == set(METHODS)
    assert [name for name, key in zip(CONTENDERS, keys, strict=True) if key == Mpd2.key] == sorted(ROUTERS)[::-1]
    assert len({contender.title for contender in CONTENDERS.values()}) == len(CONTENDERS)


def test_every_published_method_and_condition_has_its_own() -> None:
    ours = {contender.published for contender in CONTENDERS.values()} - {None}
    assert ours == set(published("overall")["method"])
    tables = {"objective": "objective", "regularisation": "regularisation", "budget": "deferral"}
    for name, table in tables.items():
        assert {c.published for c in ABLATIONS[name].values()} == set(published(f"ablation_{table}")["method"])


def test_conditions_differ_in_what_they_are_about() -> None:
    configs = {name: PAPER.but(**condition.changes) for name, condition in CONDITIONS.items()}
    assert len(set(map(repr, configs.values()))) == len(CONDITIONS)
    assert configs["full"] == PAPER == PAPER.but(**BUDGETS["full"].changes)
    assert {name: configs[name].budget.target for name in BUDGETS} == TARGETS
    assert configs["clinical-only"].objective.fee_weight == 0
    assert configs["clinical-only"].budget.target is None


# Recipes


def test_a_recipe_depends_on_settings_seeds_and_table_alone(study: Study) -> None:
    names = (PAPER_RUN, "mao", ABLATIONS_RUN)
    others = [
        replace(study, seeds=(42, 44)),
        replace(study, cohort=replace(study.cohort, fingerprint="another table")),
    ]
    for name in names:
        assert replace(study, data=Path("elsewhere")).recipe(name) == study.recipe(name)
        assert all(other.recipe(name) != study.recipe(name) for other in others)
    longer = replace(study, changes={**CHANGES, "training__epochs": 8})
    assert [longer.recipe(name) != study.recipe(name) for name in names] == [True, False, True]
    assert len({study.recipe(name) for name in (*study.contenders, ABLATIONS_RUN)}) == len(study.contenders) + 1


def test_a_fault_says_why_a_run_has_to_be_made(study: Study, tmp_path: Path) -> None:
    assert study.fault(PAPER_RUN) is None
    assert study.fault("keswani") == "missing"
    assert replace(study, seeds=(1, 2)).fault(PAPER_RUN) == "out of date"
    other = tiny_study(tmp_path / "data")
    other.make("ai")
    (other.folder("ai") / "metrics.json").unlink()
    assert "metrics.json is missing" in str(other.fault("ai"))


# What is kept


def test_a_router_keeps_every_split_and_a_baseline_all_but_train(study: Study) -> None:
    for name, splits in ((PAPER_RUN, ["train", "val", "test"]), ("mao", ["val", "test"])):
        run = load_run(study.folder(name))
        told = json.loads((study.folder(name) / "metrics.json").read_text())
        assert list(told) == splits
        assert len(told["test"]["overall"]["metrics"]["TotalCost"]["members"]) == run.members == 2
        assert run.arrays
        for split in splits:
            cases = study.cohort.subset(split=split)
            stored = load_predictions(study.folder(name), run, cases)
            np.testing.assert_allclose(stored.actions, policy_of(run, cases).actions, atol=1e-6)
    with pytest.raises(UserError, match="no prediction is stored"):
        study.evidence("train", ["mao"])


def test_evidence_names_methods_as_the_tables_do(study: Study) -> None:
    found = study.evidence("val", ["mao", PAPER_RUN])
    assert [(o.title, o.published) for o in found.outcomes.values()] == [
        ("Mao two-stage", "Mao-TwoStage"),
        ("MPD² (paper)", "MPD²-Router"),
    ]
    assert set(found.cohort.split) == {"val"}
    assert found.tallies[PAPER_RUN].cases.shape[:2] == (2, len(found.cohort))


# Ablations


def test_a_router_of_the_ablations_is_the_one_trained_alone(study: Study) -> None:
    told = study.ablation(BUDGETS).outcomes
    cases = study.cohort.subset(split="test")
    for name, seed, member in (("al25", 43, 1), ("noal", 42, 0)):
        config = PAPER.but(**{**CHANGES, **BUDGETS[name].changes, "seed": seed})
        alone = policy_of(fit_routers(study.cohort, study.costs, [config]), cases)
        policy = told[name].policy
        assert policy is not None
        np.testing.assert_allclose(policy.defer[member], alone.defer[0], atol=1e-4)


def test_a_router_that_could_not_be_trained_leaves_its_seed_out_and_no_other_out_of_place(
    study: Study, tmp_path: Path
) -> None:
    run = load_run(study.folder(ABLATIONS_RUN))
    cases = study.cohort.subset(split="test")
    policy = load_predictions(study.folder(ABLATIONS_RUN), run, cases)
    kept = [position for position in range(run.members) if position != 2]  # the second condition with the first seed
    part = Policy(policy.defer[kept], policy.allocation[kept], policy.available)
    hurt = replace(study, data=tmp_path / "data")
    short = replace(run, settings=tuple(run.settings[position] for position in kept))
    save_run(short, hurt.folder(ABLATIONS_RUN), part, cases, {})
    assert study.ablation_seeds() == (42, 43)
    assert hurt.ablation_seeds() == (43,)
    whole, rest = study.ablation(OBJECTIVE).outcomes, hurt.ablation(OBJECTIVE).outcomes
    for name in OBJECTIVE:
        np.testing.assert_array_equal(rest[name].decisions.label, whole[name].decisions.label[1:])

    save_run(replace(run, settings=run.settings[:1]), hurt.folder(ABLATIONS_RUN), policy.member(slice(1)), cases, {})
    with pytest.raises(UserError, match="no seed that trained in every condition, tried 42, 43"):
        hurt.ablation_seeds()


def test_a_problem_in_training_is_told(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limping = replace(load_run(study.folder(PAPER_RUN)), notes={"problems": ["member 2 stopped in epoch 3"]})
    monkeypatch.setattr(population, "fit_routers", lambda *_, **__: limping)
    said: list[str] = []
    tiny_study(tmp_path / "data").make(PAPER_RUN, say=said.append)
    assert said == ["paper: member 2 stopped in epoch 3"]


def test_a_training_that_fails_leaves_nothing(tmp_path: Path) -> None:
    study = replace(tiny_study(tmp_path / "data"), changes={**CHANGES, "training__learning_rate": 1e30})
    with pytest.raises(UserError, match="no router could be trained"):
        study.make(PAPER_RUN)
    assert study.fault(PAPER_RUN) == "missing"
