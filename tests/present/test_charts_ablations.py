"""Charts of the Ablations page."""

from __future__ import annotations

import pandas as pd
import pytest

from mpd2.present.charts.ablations import budget_control, condition_name, effects, effects_of, in_words, levels
from mpd2.present.charts.kit.export import render
from mpd2.study.definition import ABLATIONS, BUDGETS, CONDITIONS, TARGETS


def table(conditions: dict[str, object], metrics: list[str]) -> pd.DataFrame:
    rows = pd.DataFrame([(name, metric) for name in conditions for metric in metrics], columns=["method", "metric"])
    return rows.assign(title="?", value=0.4, low=0.35, high=0.45, n=10, published=0.42)


@pytest.fixture
def changes() -> pd.DataFrame:
    """Every condition against the full objective and every budget against none."""
    pairs = [(name, "full") for name in ABLATIONS["objective"] if name != "full"]
    pairs += [(name, "noal") for name in BUDGETS if name != "noal"]
    rows = pd.DataFrame(pairs, columns=["first", "second"])
    return rows.assign(metric="F1", difference=-0.01, low=-0.03, high=0.01, n=10)


def drawn(figure: object) -> str:
    return render(figure, "svg").decode()


def test_every_condition_has_a_name_of_its_own_in_its_study() -> None:
    for study, conditions in ABLATIONS.items():
        assert len({condition_name(name, study == "budget") for name in conditions}) == len(conditions)
    assert condition_name("full") == CONDITIONS["full"].title


@pytest.mark.parametrize("study", ABLATIONS)
def test_levels_show_every_condition_and_the_papers_figure(study: str) -> None:
    rows = in_words(table(ABLATIONS[study], ["F1", "Acc"]), study)
    picture = drawn(levels(rows, "F1"))
    assert all(f">{title}<" in picture for title in rows["title"])
    assert picture.count("in the paper: ") == len(ABLATIONS[study])


def test_a_study_is_compared_with_its_own_reference(changes: pd.DataFrame) -> None:
    assert effects_of(changes, "regularisation", "F1")["first"].tolist() == ["no-gsdp", "no-rank-js", "no-gsdp-rank-js"]
    budgets = effects_of(changes, "budget", "F1")
    assert budgets["second"].unique().tolist() == ["noal"]
    assert budgets["title"].tolist()[-1] == "budget 70\N{NO-BREAK SPACE}%"
    assert "Change against no budget" in drawn(effects(budgets))
    assert "Change against full objective" in drawn(effects(effects_of(changes, "objective", "F1")))


def test_budget_control_leaves_out_the_condition_without_a_target() -> None:
    picture = drawn(budget_control(table(BUDGETS, ["DeferSoft", "DeferHard", "F1"])))
    with_target = [target for target in TARGETS.values() if target is not None]
    assert picture.count("realised: ") == 2 * len(with_target)
    assert picture.count("in the paper: ") == 2 * len(with_target)
