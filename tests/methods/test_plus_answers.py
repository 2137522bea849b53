"""What readers are foretold to say."""

from __future__ import annotations

import numpy as np
import pytest

from mpd2.core.cohort import Cohort
from mpd2.methods.plus.answers import LAPSE, fit_answers, predict_answers
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
