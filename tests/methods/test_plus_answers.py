"""What readers say: rates, their intervals, newcomers, and whether two readers err together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.methods.plus.answers import LAPSE, NEWCOMER, dependence, fit_answers, predict_answers, reader_rates
from mpd2.methods.plus.posterior import fit_scaler


def answers_on(train: Cohort, cohort: Cohort) -> np.ndarray:
    scaler = fit_scaler(train)
    models = fit_answers(train, scaler, np.ones((len(train), 1)))
    return predict_answers(np.stack([pooled.readers for pooled in models], axis=1), scaler, cohort)


def test_on_val_the_mean_answer_is_about_as_often_glaucoma_as_foretold(benchmark: Cohort, train: Cohort) -> None:
    val = benchmark.subset(split="val")
    answers = answers_on(train, val)
    assert answers.shape == (len(val), val.readers, 2)
    assert ((answers >= LAPSE) & (answers <= 1 - LAPSE)).all()
    foretold = np.take_along_axis(answers, val.truth[:, None, None], -1)[..., 0]
    said = (val.decisions == 1)[val.available].mean()
    assert foretold[val.available].mean() == pytest.approx(said, abs=0.02)


def test_the_sick_are_called_glaucoma_more_often_by_every_reader_on_average(train: Cohort) -> None:
    answers = answers_on(train, train).mean(0)  # [M, 2]
    assert (answers[:, 1] >= answers[:, 0]).all()


def test_a_reader_seen_often_is_near_its_own_share_and_a_newcomer_is_known_least(train: Cohort) -> None:
    rows = reader_rates(train)
    assert len(rows) == 2 * (train.readers + 1)
    width = rows["high"] - rows["low"]
    newcomer = rows["reader"] == NEWCOMER
    for truth in (0, 1):
        of_truth = rows["truth"] == truth
        assert width[newcomer & of_truth].item() > width[~newcomer & of_truth].max()
    assert ((rows["low"] < rows["rate"]) & (rows["rate"] < rows["high"])).all()


def test_a_reader_heard_thirty_times_has_a_wider_interval_than_before(train: Cohort) -> None:
    mute = train.available & (np.arange(train.readers) == 7) & (np.cumsum(train.available[:, 7]) > 30)[:, None]
    rarely = replace(train, decisions=np.where(mute, UNKNOWN, train.decisions))
    before, after = (rows.query("reader == 'Chákṣu 1'") for rows in (reader_rates(train), reader_rates(rarely)))
    assert after["n"].sum() == 30
    assert ((after["high"] - after["low"]).to_numpy() > (before["high"] - before["low"]).to_numpy()).all()


def test_given_truth_and_state_readers_of_the_benchmark_hardly_err_together(benchmark: Cohort, train: Cohort) -> None:
    val = benchmark.subset(split="val")
    rows = dependence(answers_on(train, val), val)
    assert rows["n"].sum() == len(val)
    assert (rows.query("cohort != 'origa'")["correlation"].abs() < 0.15).all()


def test_readers_who_copy_each_other_are_found_out(train: Cohort) -> None:
    chaksu = train.subset(cohorts=["chaksu"])
    copied = replace(chaksu, decisions=np.where(chaksu.available, chaksu.decisions[:, 7:8], UNKNOWN))
    rate = np.zeros((len(copied), copied.readers, 2))
    for truth in (0, 1):
        rate[..., truth] = (copied.decisions[copied.truth == truth, 7] == 1).mean()
    rows = dependence(rate, copied).query("cohort == 'chaksu'")
    assert rows["correlation"].tolist() == pytest.approx([1.0, 1.0])
