"""From the cells of a table that is known to be good to a `Cohort`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import logit

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.manifest import Classifier, CohortEntry, Input, Manifest
from mpd2.core.state import IS_MISSING, LOG_ODDS, PROBABILITY, UNCERTAINTY
from mpd2.core.table_file.cells import numbers

SUREST = 1e-7  # a probability nearer to 0 or 1 counts as this near, so that its log-odds are finite
OTHER = CohortEntry(key="other", name="Other", readings="unknown")  # every cohort a manifest does not know


def availability_columns(manifest: Manifest) -> list[str]:
    """The columns of a routing table that say who can be asked, in the readers' order."""
    return [f"{column}_available" for column in manifest.columns]


def softmax(cells: pd.DataFrame, logits: tuple[str, str]) -> Floats:
    """The classifier's probability of positive from its two logits, [N]."""
    negative, positive = (numbers(cells[name]) for name in logits)
    return _expit((positive - negative).to_numpy())


def _expit(log_odds: Floats) -> Floats:
    return np.exp(-np.logaddexp(0, -log_odds))  # without overflow


def _ai_variables(cells: pd.DataFrame, ai: Classifier) -> dict[str, Floats]:
    """What the state holds of the AI's answer, each [N]."""
    scores = {name: numbers(cells[name]).to_numpy() for name in ai.columns}
    if ai.probability is not None:
        probability = scores[ai.probability]
        scores = {LOG_ODDS: logit(probability.clip(SUREST, 1 - SUREST))}
    elif ai.logits:
        probability = softmax(cells, ai.logits)
    else:
        probability = _expit(next(iter(scores.values())))
    return scores | {PROBABILITY: probability, UNCERTAINTY: np.minimum(probability, 1 - probability)}


def _measured(cells: pd.DataFrame, inputs: Sequence[Input]) -> dict[str, Floats]:
    """Every input, NaN where it was not measured, and whether it was not, each [N]."""
    found = {}
    for each in inputs:
        words = cells[each.column]
        found[each.column] = numbers(words.map(each.codes) if each.codes else words).to_numpy()
        found[f"{each.column}{IS_MISSING}"] = np.isnan(found[each.column]).astype(float)
    return found


def _bits(cells: pd.DataFrame, columns: Sequence[str]) -> Ints:
    """Columns of 0 and 1 side by side; UNKNOWN where a cell is empty or the column is not there."""
    found = _numbers_of(cells, columns)
    return np.where(np.isnan(found), UNKNOWN, found).astype(np.int64)


def _numbers_of(cells: pd.DataFrame, columns: Sequence[str]) -> Floats:
    """Columns side by side as numbers, [N, columns]; NaN where a cell is none or the column is not there."""
    found = np.full((len(cells), len(columns)), np.nan)
    there = [place for place, name in enumerate(columns) if name in cells]
    if there:
        all_cells = cells[[columns[place] for place in there]].to_numpy(object)
        found[:, there] = numbers(pd.Series(all_cells.ravel(), dtype=object)).to_numpy().reshape(all_cells.shape)
    return found


def build_cohort(cells: pd.DataFrame, manifest: Manifest, fingerprint: str) -> Cohort:
    variables = _ai_variables(cells, manifest.ai) | _measured(cells, manifest.inputs)
    state = np.column_stack([variables[name] for name in manifest.layout.names])  # [N, S]
    words, flags = (_bits(cells, columns) for columns in (manifest.columns, availability_columns(manifest)))  # [N, M]
    available = np.where(flags == UNKNOWN, words != UNKNOWN, flags == 1)
    row = manifest.row
    source = np.zeros(len(cells), np.int64)
    if row.cohort:
        keys = pd.Index([entry.key for entry in manifest.cohorts])
        source = keys.get_indexer(pd.Index(_text_of(cells, row.cohort)))
    manifest, source = with_other(manifest, source)
    absent = np.isnan(state)
    return Cohort(
        manifest=manifest,
        fingerprint=fingerprint,
        ids=cells[row.case].to_numpy(str),
        source=source,
        split=_text_of(cells, row.split).to_numpy(str),
        cluster=_clusters(cells, manifest),
        state=np.where(absent, 0.0, state),
        absent=absent,
        drawn=_numbers_of(cells, manifest.drawn),
        truth=_bits(cells, [row.truth])[:, 0],
        decisions=np.where(available, words, UNKNOWN),
        available=available,
    ).refilled()


def _text_of(cells: pd.DataFrame, column: str) -> pd.Series:
    """A column, empty where the table has none."""
    return cells[column] if column in cells else pd.Series("", cells.index)


def _clusters(cells: pd.DataFrame, manifest: Manifest) -> Ints:
    """Which rows belong together, [N]; each by itself where nothing is said."""
    if manifest.groups is None or manifest.groups.column not in cells:
        return np.arange(len(cells))
    return pd.factorize(cells[manifest.groups.column])[0].astype(np.int64)


def with_other(manifest: Manifest, source: Ints) -> tuple[Manifest, Ints]:
    """A manifest that has a place for cases of unknown cohorts, marked by -1, and their cohorts in it, [N]."""
    if not (source < 0).any():
        return manifest, source
    keys = [entry.key for entry in manifest.cohorts]
    if OTHER.key not in keys:
        manifest = manifest.but(cohorts=(*manifest.cohorts, OTHER))
        keys.append(OTHER.key)
    return manifest, np.where(source < 0, keys.index(OTHER.key), source)
