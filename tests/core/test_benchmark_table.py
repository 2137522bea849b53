"""The shipped table against what is published about it: counts, to the last case."""

from __future__ import annotations

import numpy as np
import pytest

from mpd2.core.arrays import Ints
from mpd2.core.cohort import Cohort

SPLIT_SIZES = {
    "refuge": {"train": 400, "val": 400, "test": 400},
    "chaksu": {"train": 686, "val": 323, "test": 336},
    "origa": {"train": 325, "val": 162, "test": 163},
}

# column: cases read, missed glaucomas, false alarms and clinical cost on test (the paper's per-expert table)
READERS = {
    "chaksu_expert_1": (415, 6, 16, 0.087),
    "chaksu_expert_2": (386, 7, 56, 0.254),
    "chaksu_expert_3": (412, 9, 25, 0.135),
    "chaksu_expert_4": (403, 12, 36, 0.194),
    "chaksu_expert_5": (382, 37, 4, 0.209),
    "refuge_expert_1": (452, 12, 14, 0.100),
    "refuge_expert_2": (446, 10, 23, 0.122),
    "refuge_expert_3": (443, 12, 101, 0.396),
    "refuge_expert_4": (471, 13, 68, 0.272),
    "refuge_expert_5": (484, 7, 74, 0.258),
    "refuge_expert_6": (447, 7, 78, 0.293),
    "refuge_expert_7": (431, 21, 27, 0.191),
}


def confusion(label: Ints, truth: Ints) -> tuple[int, int, int, int]:
    """TN, FP, FN, TP."""
    tn, fp, fn, tp = np.bincount(2 * truth + label, minlength=4).tolist()
    return tn, fp, fn, tp


def scores(label: Ints, truth: Ints) -> tuple[float, float, float]:
    """Accuracy, MCC and clinical cost at 2 a missed glaucoma and 1.5 a false alarm."""
    tn, fp, fn, tp = confusion(label, truth)
    mcc = (tp * tn - fp * fn) / np.sqrt(float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    return (tn + tp) / len(truth), float(mcc), (2 * fn + 1.5 * fp) / len(truth)


@pytest.mark.parametrize("key", SPLIT_SIZES)
def test_splits_have_the_published_sizes(key: str, benchmark: Cohort) -> None:
    sizes = {split: len(benchmark.subset(split=split, cohorts=[key])) for split in ("train", "val", "test")}
    assert sizes == SPLIT_SIZES[key]


def test_the_table_holds_3195_cases_and_twelve_readers_in_the_order_of_its_columns(benchmark: Cohort) -> None:
    assert benchmark.decisions.shape == (3195, 12)
    assert benchmark.manifest.columns == (
        *(f"refuge_expert_{j}" for j in range(1, 8)),
        *(f"chaksu_expert_{j}" for j in range(1, 6)),
    )
    assert [len(benchmark.subset(split=split)) for split in ("train", "val", "test")] == [1411, 885, 899]


@pytest.mark.parametrize(
    ("key", "counts"),
    [("refuge", (954, 126, 3, 117)), ("origa", (196, 286, 12, 156)), ("chaksu", (770, 387, 20, 168))],
)
def test_the_ai_alone_errs_as_often_as_published(
    key: str, counts: tuple[int, int, int, int], benchmark: Cohort
) -> None:
    cases = benchmark.subset(cohorts=[key])
    assert confusion(cases.ai_label, cases.truth) == counts


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (["refuge", "chaksu", "origa"], (0.755, 0.482, 0.372)),
        (["refuge"], (0.883, 0.610, 0.179)),
        (["chaksu"], (0.732, 0.455, 0.408)),
        (["origa"], (0.491, 0.263, 0.773)),
    ],
)
def test_the_ai_alone_on_test_has_the_published_accuracy_mcc_and_cost(
    keys: list[str], row: tuple[float, float, float], benchmark: Cohort
) -> None:
    cases = benchmark.subset(split="test", cohorts=keys)
    # Half a unit of the third decimal either way: REFUGE's accuracy is 353/400 = 0.8825, printed as 0.883.
    assert scores(cases.ai_label, cases.truth) == pytest.approx(row, abs=0.0005 + 1e-9)


def test_costs_of_the_ai_action_add_up_to_the_published_cost(benchmark: Cohort) -> None:
    test = benchmark.subset(split="test")
    assert round(float(test.manifest.default_costs().of_actions(test)[:, 0].mean()), 3) == 0.372


@pytest.mark.parametrize("column", READERS)
def test_every_reader_errs_as_often_on_test_as_published(column: str, benchmark: Cohort) -> None:
    test = benchmark.subset(split="test")
    position = test.manifest.columns.index(column)
    read = test.rows(test.available[:, position])
    _, fp, fn, _ = confusion(read.decisions[:, position], read.truth)
    assert (len(read), fn, fp, round((2 * fn + 1.5 * fp) / len(read), 3)) == READERS[column]


def test_there_are_444_distinct_masks(benchmark: Cohort) -> None:
    assert len(np.unique(benchmark.available, axis=0)) == 444


def test_fees_are_the_published_ones_and_tiers_follow_from_them(benchmark: Cohort) -> None:
    fees = [0.303, 0.300, 0.180, 0.240, 0.147, 0.240, 0.222, 0.310, 0.253, 0.300, 0.180, 0.130]
    assert benchmark.manifest.fees.tolist() == fees
    tiers = ["A" if fee >= 0.30 else "B" if fee >= 0.20 else "C" for fee in fees]
    assert [reader.tier for reader in benchmark.manifest.readers] == tiers
    costs = benchmark.manifest.costs
    assert (costs.false_negative, costs.false_positive) == (2.0, 1.5)


def test_the_manifest_says_whose_readings_are_real(benchmark: Cohort) -> None:
    readings = {entry.key: entry.readings for entry in benchmark.manifest.cohorts}
    assert readings == {"refuge": "semi-synthetic", "chaksu": "real", "origa": "induced"}
    assert all("CC BY 4.0" in entry.credit for entry in benchmark.manifest.cohorts)


def test_panels_are_complete_on_their_own_cohorts_and_mixed_on_origa(benchmark: Cohort) -> None:
    own = np.array([reader.group for reader in benchmark.manifest.readers]) == "REFUGE"
    assert (benchmark.subset(cohorts=["refuge"]).available == own).all()
    assert (benchmark.subset(cohorts=["chaksu"]).available == ~own).all()
    readers_a_case = benchmark.subset(cohorts=["origa"]).available.sum(-1)
    assert (readers_a_case.min(), readers_a_case.max()) == (2, 5)


def test_readings_and_truth_are_tied_as_the_datasheet_warns(benchmark: Cohort) -> None:
    refuge, chaksu = benchmark.subset(cohorts=["refuge"]), benchmark.subset(cohorts=["chaksu"])
    correct = (refuge.decisions == refuge.truth[:, None]).sum(-1)
    assert correct.min() == 4
    majority = (chaksu.decisions == 1).sum(-1) >= 3
    assert (majority & (chaksu.truth == 0)).sum() == 0
    assert (~majority & (chaksu.truth == 1)).sum() == 22
