"""How far two readers, or a reader and the AI, say the same, and who is right where they do not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.evaluation.intervals import percentiles, wilson
from mpd2.evaluation.metrics import readings

AI = "ai"
FEWEST = 20  # common cases below which two people cannot be compared


def agreement(cohort: Cohort, weights: Floats) -> pd.DataFrame:
    """Cohen's κ of every two readers, and of every reader with the AI, on the cases both have judged.

    Columns: first, second (columns of readers, or AI), first_title, second_title, n (common cases), agree (share of
    them with the same word), kappa, low, high (from resamples `weights`, [R, N]). With fewer than FEWEST common cases,
    or where chance alone gives full agreement, kappa is NaN.
    """
    words = cohort.action_labels.T  # [1 + M, N], the AI first
    said = np.column_stack([np.ones(len(cohort), bool), readings(cohort)]).T
    first, second = np.triu_indices(len(words), k=1)  # [P]
    common = said[first] & said[second]  # [P, N]
    counts = np.stack(
        [common, common & (words[first] == words[second]), common & (words[first] == 1), common & (words[second] == 1)],
        axis=-1,
    ).astype(float)  # [P, N, 4]
    n, same, *_ = np.moveaxis(counts.sum(1), -1, 0)  # [P]
    enough = n >= FEWEST
    drawn = kappa(np.tensordot(weights, counts, axes=(1, 1)))  # [R, P]
    low, high = np.where(enough, percentiles(drawn), np.nan)
    names = np.array([AI, *cohort.manifest.columns])
    titles = np.array(["AI", *(reader.name for reader in cohort.manifest.readers)])
    return pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "first_title": titles[first],
            "second_title": titles[second],
            "n": n.astype(int),
            "agree": np.divide(same, n, out=np.full(len(n), np.nan), where=n > 0),
            "kappa": np.where(enough, kappa(counts.sum(1)), np.nan),
            "low": low,
            "high": high,
        }
    )


def kappa(counts: Floats) -> Floats:
    """Cohen's κ of [..., 4]: common cases, same word, first says 1, second says 1; NaN where it does not exist.

    >>> kappa(np.array([[50, 35, 25, 30], [10, 10, 10, 10]])).round(3).tolist()
    [0.4, nan]
    """
    n, same, first, second = np.moveaxis(np.asarray(counts, float), -1, 0)
    by_chance = first * second + (n - first) * (n - second)  # n² times the share expected by chance
    room = n**2 - by_chance
    return np.divide(n * same - by_chance, room, out=np.full_like(room, np.nan), where=room > 0)


def against_ai(cohort: Cohort) -> pd.DataFrame:
    """How often each reader contradicts the AI, and who is then right, on the cases with a known truth.

    Columns: reader, title, n, differ (share of them), low, high (Wilson), reader_right, ai_right (counts among the
    differing cases: with two words and one truth exactly one side is right), reader_right_share and its low, high.
    """
    read = readings(cohort) & (cohort.truth >= 0)[:, None]  # [N, M]
    differ = read & (cohort.decisions != cohort.ai_label[:, None])
    right = differ & (cohort.decisions == cohort.truth[:, None])
    n, differing, won = read.sum(0), differ.sum(0), right.sum(0)  # [M]
    low, high = wilson(differing, n)
    right_low, right_high = wilson(won, differing)
    readers = cohort.manifest.readers
    return pd.DataFrame(
        {
            "reader": [reader.column for reader in readers],
            "title": [reader.name for reader in readers],
            "n": n,
            "differ": _share(differing, n),
            "low": low,
            "high": high,
            "reader_right": won,
            "ai_right": differing - won,
            "reader_right_share": _share(won, differing),
            "reader_right_low": right_low,
            "reader_right_high": right_high,
        }
    )


def _share(part: np.ndarray, whole: np.ndarray) -> Floats:
    """part / whole, NaN where there is no whole."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
