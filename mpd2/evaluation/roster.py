"""The readers: how good each is, what each costs, who can be asked, and who is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.evaluation.evidence import Outcome
from mpd2.evaluation.intervals import percentiles
from mpd2.evaluation.metrics import BEST_ORACLE
from mpd2.evaluation.tables import MATCHED

AI = "ai"


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
    readings = float(hard["cases"].sum())
    if readings == 0:
        return "No reader is asked: the AI decides every case."
    first = hard.iloc[0]
    sentences = [f"{first['title']} is asked most often: {first['cases']:.0f} of {readings:.0f} readings."]
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
        f"(95\N{NO-BREAK SPACE}% interval {sampled}), each compared on the cases that reader has read."
    )
