"""The readers: how good each is, what each costs, who can be asked and who is, and how far they agree."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.clusters import design_effect
from mpd2.core.cohort import Cohort
from mpd2.core.policy import DECIDERS, Decisions, decided_cases
from mpd2.core.text import GAP, listed
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import percentiles, wilson
from mpd2.evaluation.metrics import BEST_ORACLE, load_of, readings
from mpd2.evaluation.tables import MATCHED

AI = "ai"
EVERYTHING = "all cases"
FEWEST = 20  # common cases below which two people cannot be compared


def availability(cohort: Cohort) -> pd.DataFrame:
    """Which share of a cohort's cases each reader can be asked about.

    Columns: reader, title, cohort, cohort_title, readings (how the cohort's words came about), n (cases of the
    cohort), cases (those the reader can be asked about), share. Cohorts without a case are left out.
    """
    present = np.unique(cohort.source)
    entries = [cohort.manifest.cohorts[position] for position in present]
    member = (cohort.source == present[:, None]).astype(int)  # [S, N]
    cases, n = member @ cohort.available, member.sum(1)  # [S, M], [S]
    rows = [
        (reader.column, reader.name, entry.key, entry.name, entry.readings)
        for entry, reader in product(entries, cohort.manifest.readers)
    ]
    frame = pd.DataFrame(rows, columns=["reader", "title", "cohort", "cohort_title", "readings"])
    return frame.assign(n=np.repeat(n, cohort.readers), cases=cases.ravel(), share=(cases / n[:, None]).ravel())


def who_decides(decisions: Decisions, cohort: Cohort) -> pd.DataFrame:
    """How many cases each of DECIDERS decides: of all, and of every cohort that has any where there are several.

    Columns: part (all cases, or the cohort's name), who, cases (mean over members), share, n (cases of the part).
    """
    present = np.unique(cohort.source).tolist()
    parts = {EVERYTHING: np.ones(len(cohort), bool)}
    if len(present) > 1:
        parts |= {cohort.manifest.cohorts[place].name: cohort.source == place for place in present}
    rows = [
        (part, who, cases, cases / inside.sum(), int(inside.sum()))
        for part, inside in parts.items()
        for who, cases in zip(DECIDERS, decided_cases(decisions.rows(inside), cohort.rows(inside)), strict=True)
    ]
    return pd.DataFrame(rows, columns=["part", "who", "cases", "share", "n"])


def never_available(evidence: Evidence) -> pd.DataFrame:
    """Where a method can ask nobody: cohorts in which no case was read by any of the readers it ever asks.

    Columns: method, title, readers (names of those it asks elsewhere), cohort, cohort_title.
    """
    cohort, rows = evidence.cohort, []
    names = np.array([reader.name for reader in cohort.manifest.readers])
    for method, outcome in evidence.outcomes.items():
        asked = load_of(outcome.decisions, cohort.readers).sum(0) > 0  # [M]
        for place in np.unique(cohort.source) if asked.any() else ():
            if not cohort.available[cohort.source == place][:, asked].any():
                entry = cohort.manifest.cohorts[place]
                rows.append((method, outcome.title, listed(names[asked].tolist()), entry.key, entry.name))
    return pd.DataFrame(rows, columns=["method", "title", "readers", "cohort", "cohort_title"])


def load(outcome: Outcome, cohort: Cohort, weights: Floats) -> pd.DataFrame:
    """How many cases each reader gets, mean over members, with the interval over resamples `weights`, [R, N].

    Columns: reader, title, fee, tier, kind, cases, low, high, n (cases there are). Kind `hard` counts the cases in
    which the reader is asked; `soft` adds up d_i q_ij, how much the members lean to them, where there is a policy.
    """
    asked = (outcome.decisions.consulted[..., None] == np.arange(cohort.readers)).sum(-2)  # [E, N, M]
    per_case = {"hard": asked.mean(0)}  # [N, M]
    if outcome.policy is not None:
        per_case["soft"] = outcome.policy.actions[..., 1:].mean(0)
    readers = [reader.model_dump(include={"column", "name", "fee", "tier"}) for reader in cohort.manifest.readers]
    base = pd.DataFrame(readers).rename(columns={"column": "reader", "name": "title"})
    parts = []
    for kind, amount in per_case.items():
        low, high = percentiles(weights @ amount)  # [M]
        parts.append(base.assign(kind=kind, cases=amount.sum(0), low=low, high=high, n=len(cohort)))
    return pd.concat(parts, ignore_index=True)


def busiest(rows: pd.DataFrame, capacity: int | None = None) -> str:
    """Who is asked most and who never, and who is asked more often than `capacity`, in words; `rows`: `load`."""
    hard = rows[rows["kind"] == "hard"].sort_values("cases", ascending=False)
    total = float(hard["cases"].sum())
    if total == 0:
        return "No reader is asked: every case is kept."
    first = hard.iloc[0]
    sentences = [f"{first['title']} is asked most often: {first['cases']:.0f} of {total:.0f} readings."]
    idle = hard.loc[hard["cases"] == 0, "title"].tolist()
    sentences += [f"Never asked: {', '.join(idle)}."] if idle else []
    if capacity is not None:
        over = hard[hard["cases"] > capacity]
        excess = float((over["cases"] - capacity).sum())
        names = ", ".join(over["title"])
        sentences += (
            [f"Above {capacity} cases: {names}; {excess:.0f} cases would have to go elsewhere."]
            if names
            else [f"Nobody is asked about more than {capacity} cases."]
        )
    return " ".join(sentences)


def sheet(matched: pd.DataFrame, gaps: pd.DataFrame, cohort: Cohort) -> pd.DataFrame:
    """One row a reader: what they cost, how good they are, and how good a method is on the same cases.

    `matched` and `gaps`: the rows of `tables.readers` and, for one method, of `tables.reader_gaps`. Columns: reader,
    title, tier, fee, n, the metrics MATCHED, method_f1, difference, low, high, favours_method; the best gap first,
    readers without a case left out.
    """
    alone = matched[matched["method"] == matched["reader"]].pivot(index="reader", columns="metric", values="value")
    rows = gaps[["reader", "n", "method_f1", "difference", "low", "high", "favours_method"]]
    people = pd.DataFrame([reader.model_dump() for reader in cohort.manifest.readers])
    people = people[["column", "name", "tier", "fee"]].set_axis(["reader", "title", "tier", "fee"], axis=1)
    merged = people.merge(alone[list(MATCHED)], on="reader").merge(rows, on="reader")
    ordered = ["reader", "title", "tier", "fee", "n", *MATCHED, *rows.columns[2:]]
    return merged.loc[merged["n"] > 0, ordered].sort_values("difference", ascending=False, ignore_index=True)


def operating_points(matched: pd.DataFrame, overall: pd.DataFrame, active: str) -> pd.DataFrame:
    """Sensitivity and specificity of every reader on their own cases, and of the AI and a method on all cases.

    Columns: kind (`reader`, `ai` or `run`), title, Sens, Sens_low, Sens_high, the same of Spec, n.
    """
    readers = matched[(matched["method"] == matched["reader"]) & (matched["reader"] != BEST_ORACLE)]
    methods = overall[overall["method"].isin([AI, active])]
    rows = pd.concat([readers.assign(kind="reader"), methods.assign(kind=methods["method"].replace({active: "run"}))])
    axes = [
        rows[rows["metric"] == metric]
        .set_index(["kind", "title", "n"])[["value", "low", "high"]]
        .set_axis([metric, f"{metric}_low", f"{metric}_high"], axis=1)
        for metric in ("Sens", "Spec")
    ]
    return pd.concat(axes, axis=1).dropna().reset_index()


def beaten(wins: pd.Series[Any]) -> str:
    """Against how many readers a method wins, in words; `wins`: a row of `tables.reader_wins`."""
    low, high = int(wins["low"]), int(wins["high"])
    sampled = f"{low}" if low == high else f"{low} to {high}"
    return (
        f"{wins['title']} has a higher F1 than {wins['wins']} of {wins['n']} readers "
        f"(95{GAP}% interval {sampled}), each compared on the cases that reader has read."
    )


# ---------------------------------------------------------------------------------- agreement


def agreement(cohort: Cohort, weights: Floats) -> pd.DataFrame:
    """Cohen's κ of every two readers, and of every reader with the AI, on the cases both have judged.

    Columns: first, second (columns of readers, or AI), first_title, second_title, n (common cases), agree (share of
    them with the same word), kappa, low, high (from resamples `weights`, [R, N]). With fewer than FEWEST common cases,
    or where chance alone gives full agreement, kappa is NaN.
    """
    words = cohort.action_labels.T  # [1 + M, N], the AI first
    judged = np.column_stack([np.ones(len(cohort), bool), readings(cohort)]).T
    first, second = np.triu_indices(len(words), k=1)  # [P]
    common = judged[first] & judged[second]  # [P, N]
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
    Intervals count rows that belong together by their design effect.
    """
    read = readings(cohort) & (cohort.truth >= 0)[:, None]  # [N, M]
    differ = read & (cohort.decisions != cohort.ai_label[:, None])
    right = differ & (cohort.decisions == cohort.truth[:, None])
    n, differing, won = read.sum(0), differ.sum(0), right.sum(0)  # [M]
    low, high = wilson(differing, n, _effects(differ, read, cohort))
    right_low, right_high = wilson(won, differing, _effects(right, differ, cohort))
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


def _effects(came: np.ndarray, among: np.ndarray, cohort: Cohort) -> Floats:
    """The design effect of the clusters of each reader's cases, [N, M] to [M]; 1 where there is none."""
    pairs = zip(came.T, among.T, strict=True)
    effects = [design_effect(y[rows].astype(float), cohort.cluster[rows]) if rows.any() else 1.0 for y, rows in pairs]
    return np.array(effects)


def _share(part: np.ndarray, whole: np.ndarray) -> Floats:
    """part / whole, NaN where there is no whole."""
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
