"""What a study shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tiny_search import TRIALS, searched, worker_on

from mpd2.core.errors import UserError
from mpd2.lab.tuning.space import SPACE
from mpd2.lab.tuning.study import best_trial
from mpd2.lab.tuning.tables import SHOWN, front, history, importances, parallel, trials_frame


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return searched(tmp_path_factory.mktemp("study") / "search.db")


@pytest.fixture(scope="module")
def trials(study) -> pd.DataFrame:
    return trials_frame(study)


@pytest.fixture(scope="module")
def done(trials) -> pd.DataFrame:
    return trials[trials["state"] == "complete"].reset_index(drop=True)


def test_the_trials_table_has_a_row_a_trial_with_its_settings_and_metrics_where_it_was_completed(study, trials, done):
    assert trials["trial"].tolist() == list(range(TRIALS))
    assert trials["training__learning_rate"].tolist() == [t.params["training__learning_rate"] for t in study.trials]
    assert done[list(SHOWN)].notna().all().all()
    assert trials.loc[trials["state"] == "pruned", list(SHOWN)].isna().all().all()
    assert done.loc[done["Score"].idxmin(), "trial"] == best_trial(study).number
    np.testing.assert_allclose(done["TotalCost"], done["ClinicalCost"] + done["ExpertCost"])
    assert (done["seconds"] > 0).all()


def test_the_best_so_far_never_rises_and_ends_with_the_best(study, trials):
    rows = history(trials)
    assert rows["best"].is_monotonic_decreasing
    assert rows["best"].iloc[-1] == best_trial(study).value


def test_a_trial_is_on_the_front_unless_another_is_as_good_in_both_ways_and_better_in_one(trials, done):
    for score, cost in (("MCC", "TotalCost"), ("AUPRC", "Defer"), ("ClinicalCost", "ExpertCost")):
        sign = 1 if score in ("MCC", "AUPRC") else -1
        points = np.column_stack([sign * done[score], -done[cost]])
        beaten = [any((other >= point).all() and (other > point).any() for other in points) for point in points]
        assert front(trials, score, cost)["on_front"].tolist() == [not lost for lost in beaten]
    with pytest.raises(UserError, match="metric: found Luck, expected some of Acc, Prec"):
        front(trials, "Luck")


def test_importances_share_out_the_spread_the_largest_first(study):
    rows = importances(study)
    assert set(rows["setting"]) == {dimension.setting for dimension in SPACE}
    assert rows["importance"].sum() == pytest.approx(1)
    assert rows["importance"].is_monotonic_decreasing
    pd.testing.assert_frame_equal(rows, importances(study))


def test_parallel_coordinates_lie_between_the_ends_of_every_range(trials, done):
    rows = parallel(trials)
    assert len(rows) == len(done) * len(SPACE)
    assert rows["place"].between(0, 1).all()
    best = rows[rows["rank"] == 1]
    assert set(best["trial"]) == {done.loc[done["Score"].idxmin(), "trial"]}


def test_a_study_without_trials_gives_empty_tables(tmp_path):
    study = worker_on(tmp_path / "search.db").study
    trials = trials_frame(study)
    for rows in (trials, history(trials), front(trials), importances(study), parallel(trials)):
        assert len(rows) == 0
