"""What a reader says given the truth and the state: P(reader j says glaucoma | truth, state), readers pooled."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.logistic import sigmoid
from mpd2.methods.plus.pooling import Pooled, fit_pooled
from mpd2.methods.plus.posterior import Scaler, fit_scaler

COMMON, APART = 10.0, 3.0  # penalties on what readers share and on how far one departs from it
LAPSE = 0.01  # nobody is taken to be surer than this of what a reader will say
Z = 1.96
NEWCOMER = "a new reader"


def fit_answers(train: Cohort, scaler: Scaler, weights: Floats) -> tuple[Pooled, Pooled]:
    """Models of every reader's word about the healthy and about the sick, for T weightings of the cases, [N, T].

    A reader's word counts only where available. One who was never heard answers like the population.
    """
    design, spoken = scaler.linear(train), train.available & (train.decisions != UNKNOWN)  # [N, Q], [N, M]

    def fit(truth: int) -> Pooled:
        part = train.truth == truth
        counted = weights[part, :, None] * spoken[part, None]  # [N, T, M]
        targets = np.broadcast_to((train.decisions[part, None] == 1).astype(float), counted.shape)
        return fit_pooled(design[part], targets, counted, COMMON, APART)

    return fit(0), fit(1)


def predict_answers(coefficients: np.ndarray, scaler: Scaler, cohort: Cohort) -> Floats:
    """P(says glaucoma | truth 0 or 1), [..., B, 2, M, Q] to [..., N, M, 2]: the mean over the B models of a member."""
    rates = sigmoid(coefficients.astype(float) @ scaler.linear(cohort).T).mean(-4)  # [..., 2, M, N]
    return np.moveaxis(rates, (-3, -2, -1), (-1, -2, -3)).clip(LAPSE, 1 - LAPSE)


def reader_rates(train: Cohort) -> pd.DataFrame:
    """How often each reader calls a typical training case glaucoma, by truth, with Laplace's interval of 95 %.

    The last two rows are a reader nobody has heard yet. Columns: reader, truth, rate, low, high, alone (the share among
    the reader's own words), n.
    """
    heard = train.with_available(train.decisions != UNKNOWN)
    scaler = fit_scaler(heard)
    models = fit_answers(heard, scaler, np.ones((len(heard), 1)))
    typical = scaler.linear(heard).mean(0)  # [Q]
    names = [reader.name for reader in train.manifest.readers]
    rows = []
    for truth, pooled in enumerate(models):
        own = heard.available & (heard.truth == truth)[:, None]  # [N, M]
        n = own.sum(0)
        centre = np.vstack([pooled.readers[0], pooled.population]) @ typical  # [M + 1]
        covariance = np.concatenate([pooled.covariance[0], pooled.unheard])
        reach = Z * np.sqrt(typical @ covariance @ typical)
        said = (own & (heard.decisions == 1)).sum(0)
        rows.append(pd.DataFrame({
            "reader": [*names, NEWCOMER],
            "truth": truth,
            "rate": sigmoid(centre),
            "low": sigmoid(centre - reach),
            "high": sigmoid(centre + reach),
            "alone": np.append(np.divide(said, n, out=np.full(len(n), np.nan), where=n > 0), np.nan),
            "n": np.append(n, 0),
        }))  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def dependence(answers: Floats, cohort: Cohort) -> pd.DataFrame:
    """How far two readers agree beyond what truth and state explain, pooled over pairs; `answers` is [N, M, 2].

    0 is the independence that fusing two answers takes for granted; readers who share their mistakes are above it.
    Columns: cohort, truth, correlation (of the answers' residuals), pairs (of readings), n (cases).
    """
    rows = []
    spoken = cohort.available & (cohort.decisions != UNKNOWN)
    for entry in cohort.manifest.cohorts:
        for truth in (0, 1):
            part = (cohort.sources == entry.key) & (cohort.truth == truth)
            rate, there = answers[part, :, truth], spoken[part]
            residual = np.where(there, cohort.decisions[part] - rate, 0.0)
            spread = np.where(there, np.sqrt(rate * (1 - rate)), 0.0)
            pairs = list(combinations(range(cohort.readers), 2))
            left, right = np.array(pairs, int).reshape(-1, 2).T
            scale = float((spread[:, left] * spread[:, right]).sum())
            rows.append({
                "cohort": entry.key,
                "truth": truth,
                "correlation": float((residual[:, left] * residual[:, right]).sum()) / scale if scale else np.nan,
                "pairs": int((there[:, left] & there[:, right]).sum()),
                "n": int(part.sum()),
            })  # fmt: skip
    return pd.DataFrame(rows)
