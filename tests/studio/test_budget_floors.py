"""A floor is kept under budgets, rosters and capacities, or it is said by how much it cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from mpd2.core.arrays import Bools, Ints
from mpd2.core.costs import Costs
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.intervals import Estimate
from mpd2.lab.jobs.folder import PLACE
from mpd2.planning.day import DaySetting
from mpd2.planning.floors import KEPT, OUT_OF_REACH, Floor, keeps
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.words.budget import floor_in_words
from mpd2.studio.budget import floors
from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

AT_FLOOR = Scenario("mpd2-plus", "val", (), Floor())
CHEAPEST = replace(AT_FLOOR, floor=None)


@pytest.fixture(autouse=True, scope="module")
def nobodys_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("empty")))
        yield


def under(**limits: object) -> DaySetting:
    return DaySetting(store.manifest(DEFAULT).default_costs(), Limits(**limits))


def half_away() -> tuple[str, ...]:
    return store.manifest(DEFAULT).columns[::2]


def labels(about: Scenario, setting: DaySetting) -> Ints:
    return budget_store.day(about, floors.settled(about, setting)).decisions.label


def right(about: Scenario, setting: DaySetting, truth: int) -> Bools:
    rows = store.cases(about).truth == truth
    return labels(about, setting)[rows] == truth


def test_with_few_readings_and_half_the_readers_plus_keeps_the_ais_sensitivity_for_more_false_alarms() -> None:
    setting = under(budget=0.1, away=half_away())
    cases = store.cases(AT_FLOOR)
    ai = (cases.ai_label[cases.truth == 1] == 1).mean()
    assert right(CHEAPEST, setting, 1).mean() < ai <= right(AT_FLOOR, setting, 1).mean()
    assert right(AT_FLOOR, setting, 0).mean() < right(CHEAPEST, setting, 0).mean()
    day = budget_store.day(AT_FLOOR, floors.settled(AT_FLOOR, setting))
    assert day.sent == 89  # of 885
    assert day.load[::2].sum() == 0
    choice = floors.chosen(AT_FLOOR, setting)
    assert choice is not None
    assert choice.state == KEPT
    assert choice.reached == right(AT_FLOOR, setting, 1).mean()


@pytest.mark.parametrize("floor", [Floor(), Floor(0.95), Floor(0.95, sure=True), Floor(0.9, "Spec")], ids=str)
@pytest.mark.parametrize("run", ["mpd2-plus", "studio", "mao", "recalibrated"])
def test_a_floor_is_called_kept_where_the_day_of_val_keeps_it(run: str, floor: Floor) -> None:
    about, truth = Scenario(run, "val", (), floor), 1 if floor.rate == "Sens" else 0
    cases = store.cases(about)
    ai = cases.ai_label[cases.truth == truth] == truth
    for setting in (under(budget=0.05), under(away=half_away()), under(capacity=((half_away()[0], 3),), total=30)):
        choice = floors.chosen(about, setting)
        assert choice is not None
        assert (choice.state == KEPT) == keeps(floor, choice.level, right(about, setting, truth), ai)


def test_a_floor_out_of_reach_says_by_how_much_on_val_and_on_the_slice() -> None:
    about, setting = Scenario("mao", "test", (), Floor(0.9, "Spec")), under(budget=0.05)
    stands = floors.standing(about, floors.settled(about, setting))
    assert stands is not None
    assert stands.choice.state == OUT_OF_REACH
    on_val = right(replace(about, split="val"), setting, 0).mean()
    here = right(about, setting, 0).mean()
    assert stands.choice.reached == on_val < 0.9
    assert (stands.rate.value, stands.above.value) == pytest.approx((here, here - 0.9))
    assert stands.above.low < stands.above.value < stands.above.high
    words = floor_in_words(stands.choice, stands.alarms, stands.without, stands.rate, stands.above)
    assert words.startswith("A specificity of at least 90\xa0% cannot be kept under these limits: at its safest point ")
    assert (
        f"on val is {100 * on_val:.1f}\xa0%, where 90.0\xa0% is demanded: −{100 * (0.9 - on_val):.1f} points" in words
    )
    assert f"On these cases it is {100 * here:.1f}\xa0% (" in words


def test_the_ais_own_rate_is_the_floor_case_by_case_on_the_same_resamples() -> None:
    about = replace(AT_FLOOR, split="test")
    setting, without_rule = floors.settled(about, under(budget=0.0)), replace(about, run="studio")
    stands = floors.standing(without_rule, floors.settled(without_rule, under(budget=0.0)))
    assert stands is not None
    assert stands.above == Estimate(0.0, 0.0, 0.0)  # nobody is asked and the run has no rule: it is the AI
    of_plus = floors.standing(about, setting)
    assert of_plus is not None
    cases = store.cases(about)
    ai = (cases.ai_label[cases.truth == 1] == 1).mean()
    assert of_plus.above.value == pytest.approx(right(about, setting, 1).mean() - ai)
    assert of_plus.above.low < of_plus.above.value < of_plus.above.high


def test_without_limits_or_without_a_floor_nothing_is_chosen() -> None:
    for about, setting in ((AT_FLOOR, under()), (CHEAPEST, under(budget=0.1))):
        assert floors.chosen(about, setting) is None
        assert floors.standing(about, setting) is None
        assert floors.settled(about, replace(setting, weight=7.0)) == setting


def test_costs_of_ones_own_are_routed_for_with_the_weight_that_keeps_the_floor() -> None:
    usual = store.manifest(DEFAULT).default_costs()
    dear = Costs(usual.false_negative, usual.false_positive, tuple(5 * fee for fee in usual.fees))
    setting = DaySetting(dear, for_costs=True)
    settled = floors.settled(AT_FLOOR, setting)
    assert settled.weight is not None
    assert budget_store.routed_costs(AT_FLOOR, settled).false_negative == settled.weight
    cases = store.cases(AT_FLOOR)
    ai = (cases.ai_label[cases.truth == 1] == 1).mean()
    assert right(AT_FLOOR, setting, 1).mean() >= ai
    cheap = floors.settled(AT_FLOOR, under(budget=None))
    assert budget_store.day(AT_FLOOR, settled).sent < budget_store.day(AT_FLOOR, cheap).sent


def test_a_drag_keeps_the_weight_it_starts_from() -> None:
    start = floors.settled(AT_FLOOR, under(budget=0.1))
    assert start.weight is not None
    assert start.with_budget(0.3).weight == start.weight
    assert floors.settled(AT_FLOOR, start.with_budget(0.3)).weight != start.weight
    assert start.to_query(store.manifest(DEFAULT)) == under(budget=0.1).to_query(store.manifest(DEFAULT))


def test_reasons_are_told_by_the_weight_that_decides() -> None:
    setting = floors.settled(AT_FLOOR, under(budget=0.1, away=half_away()))
    assert setting.weight is not None
    costs = budget_store.weighed_costs(AT_FLOOR, setting)
    assert costs.false_negative == setting.weight
    rows = budget_store.worklist(AT_FLOOR, setting)
    expected = budget_store.expected(AT_FLOOR, setting.limits.away, costs)
    cheaper = np.where(expected.positive * costs.false_negative >= (1 - expected.positive) * costs.false_positive, 1, 0)
    kept = (rows["action"] == "ai").to_numpy()
    named = np.array(["healthy", "glaucoma"], object)[cheaper]
    assert rows["answer"].to_numpy()[kept].tolist() == named[kept].tolist()
