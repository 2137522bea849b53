"""Other splits: how many cases go where, what chance decides, and what a cohort left out may show."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cohorts, made_up_manifest

from mpd2.core.clusters.splits import leave_cohort_out, resplit
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError

LUCK = st.integers(0, 1000)


def sizes(cohort: Cohort) -> Counter[tuple[str, str, int]]:
    """How many cases of each cohort and truth are in each split."""
    return Counter(zip(cohort.sources.tolist(), cohort.split.tolist(), cohort.truth.tolist(), strict=True))


@given(cohorts(cases=st.integers(1, 40)), LUCK)
def test_a_resplit_has_as_many_cases_of_each_cohort_and_truth_in_each_split(cohort: Cohort, number: int) -> None:
    dealt = resplit(cohort, number)
    assert sizes(dealt) == sizes(cohort)
    assert dealt.ids.tolist() == cohort.ids.tolist()


def test_every_case_of_the_benchmark_is_dealt_once_and_most_of_them_elsewhere(benchmark: Cohort) -> None:
    dealt = resplit(benchmark, 0)
    parts = [set(dealt.subset(split=split).ids.tolist()) for split in ("train", "val", "test")]
    assert sum(map(len, parts)) == len(set.union(*parts)) == len(benchmark)
    assert [len(part) for part in parts] == [1411, 885, 899]
    assert 0.3 < (dealt.split == benchmark.split).mean() < 0.4


def test_the_same_number_deals_the_same_and_another_one_something_else(benchmark: Cohort) -> None:
    first, again, other = resplit(benchmark, 3), resplit(benchmark, 3), resplit(benchmark, 4)
    assert (first.split == again.split).all()
    assert first.fingerprint == again.fingerprint
    assert (first.split != other.split).any()
    assert len({benchmark.fingerprint, first.fingerprint, other.fingerprint}) == 3


def test_whoever_learns_has_seen_no_case_of_a_newcomer_but_the_known_ones(benchmark: Cohort) -> None:
    dealt = leave_cohort_out(benchmark, "origa", 10, 0)
    learned, judged = dealt.rows(dealt.split != "test"), dealt.subset(split="test")
    assert Counter(learned.sources.tolist()) == {"refuge": 800, "chaksu": 1009, "origa": 10}
    assert judged.ids.tolist() == benchmark.subset(split="test", cohorts=["origa"]).ids.tolist()


@given(LUCK, st.integers(0, 200), st.integers(0, 200))
def test_more_local_cases_include_the_fewer(benchmark: Cohort, number: int, one: int, two: int) -> None:
    few, many = (set(leave_cohort_out(benchmark, "refuge", local, number).ids.tolist()) for local in sorted((one, two)))
    assert few <= many


def test_all_local_cases_leave_nothing_out_but_the_other_cohorts_test_cases(benchmark: Cohort) -> None:
    dealt = leave_cohort_out(benchmark, "refuge", 800, 5)
    left_out = benchmark.rows(~np.isin(benchmark.ids, dealt.ids))
    assert set(left_out.split) == {"test"}
    assert set(left_out.sources) == {"chaksu", "origa"}


def test_each_newcomer_has_a_fingerprint_of_its_own(benchmark: Cohort) -> None:
    dealt = [leave_cohort_out(benchmark, key, local, 0) for key in ("refuge", "origa") for local in (0, 5)]
    assert len({part.fingerprint for part in dealt}) == len(dealt)


def test_a_cohort_nobody_knows_cannot_be_new(benchmark: Cohort) -> None:
    with pytest.raises(UserError, match="cohort to leave out: found 'rome', expected one of refuge, origa, chaksu"):
        leave_cohort_out(benchmark, "rome", 0, 0)


def test_more_local_cases_than_there_are_cannot_be_known(benchmark: Cohort) -> None:
    with pytest.raises(UserError, match="local cases of origa: found 500, expected from 0 to 487"):
        leave_cohort_out(benchmark, "origa", 500, 0)


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(0, 1)), min_size=4, max_size=40),
    st.lists(st.sampled_from(("train", "val", "test")), min_size=9, max_size=9),
    LUCK,
    st.integers(0, 3),
)
def test_nobody_learns_from_other_rows_of_a_cluster_that_is_judged(
    rows: list[tuple[int, int, int]], splits: list[str], number: int, local: int
) -> None:
    cohort = clustered(rows, splits)
    for key in dict.fromkeys(cohort.sources.tolist()):
        pool = int(((cohort.sources == key) & (cohort.split != "test")).sum())
        dealt = leave_cohort_out(cohort, key, min(local, pool), number)
        judged = dealt.split == "test"
        assert not set(dealt.cluster[judged].tolist()) & set(dealt.cluster[~judged].tolist())
        assert set(dealt.sources[judged].tolist()) <= {key}


def test_a_cluster_divided_between_splits_cannot_be_left_out() -> None:
    cohort = clustered([(0, 0, 1), (1, 1, 0), (1, 0, 0)], ["train", "test"])
    divided = replace(cohort, split=np.array(["train", "train", "test"]))
    assert len(leave_cohort_out(cohort, "north", 1, 0)) == 2
    with pytest.raises(UserError, match="in another split than their"):
        leave_cohort_out(divided, "north", 0, 0)


def clustered(rows: list[tuple[int, int, int]], splits: list[str]) -> Cohort:
    """Rows of (cluster, cohort, truth), each cluster in one of the splits."""
    cluster, source, truth = np.array(rows).T
    n, names = len(rows), made_up_manifest(1).layout.names
    return Cohort(
        manifest=made_up_manifest(1),
        fingerprint="made up",
        ids=np.array([f"case {i}" for i in range(n)]),
        source=source,
        split=np.array(splits)[cluster],
        cluster=cluster,
        state=np.zeros((n, len(names))),
        absent=np.zeros((n, len(names)), bool),
        drawn=np.zeros((n, 0)),
        truth=truth,
        decisions=truth[:, None],
        available=np.ones((n, 1), bool),
    )
