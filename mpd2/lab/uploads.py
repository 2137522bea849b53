"""A run tried out on somebody's own cases: read, routed and, where the diagnosis is known, judged."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.arrays import Bools
from mpd2.core.clusters import design_effect
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.policy import NOBODY, Decisions, Policy, decided_together, mean_policy
from mpd2.core.runs import Run
from mpd2.core.table_file.cells import LONGEST_CELL, CellLimits
from mpd2.core.text import GAP, NOTHING, decimal, interval, percent, percent_interval
from mpd2.evaluation import tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import RESAMPLES, resample_weights, wilson
from mpd2.lab.confined.reading import read_cohort
from mpd2.methods.registry import continuations_of, policy_of
from mpd2.planning.worklist import decisions_frame

MAX_BYTES = 20 * 2**20
MAX_CASES = 20_000
MAX_COLUMNS = 2_000
MAX_UNPACKED = 100 * 2**20  # bytes its cells may grow to
MAX_DRAWS = 10_000_000  # cases drawn in all resamples together, so that memory does not grow with the table
RUN, AI = "run", "ai"


@dataclass(frozen=True, eq=False)
class Trial:
    """What a run does with the cases, all its routers deciding together."""

    cohort: Cohort
    outcome: Outcome  # [1, N]
    worklist: pd.DataFrame  # one row a case, as `decisions_frame` makes it
    routers: int

    @property
    def countable(self) -> Bools:
        """The cases that can be judged, [N]: the truth is known, and so is the word of whoever decides."""
        return (self.cohort.truth != UNKNOWN) & (self.outcome.decisions.label != UNKNOWN).all(0)


def read_own(data: bytes, name: str, manifest: Manifest, *, by: Actor) -> Cohort:
    """The cases of an uploaded table, read in a process of its own within limits that keep a server responsive."""
    authorise(by, Action.UPLOAD, bytes=len(data), sha256=sha256(data).hexdigest())
    if len(data) > MAX_BYTES:
        raise UserError(f"found {len(data) / 2**20:.1f} MB, expected at most {MAX_BYTES // 2**20}")
    return read_cohort(data, name, manifest, "routing", CellLimits(MAX_CASES, MAX_COLUMNS, LONGEST_CELL, MAX_UNPACKED))


def try_out(run: Run, title: str, cohort: Cohort, *, by: Actor) -> Trial:
    """Route every case; the decisions are those of the mean of all routers."""
    authorise(by, Action.ROUTE_CASE, run=title, table=cohort.fingerprint, cases=len(cohort))
    policy = policy_of(run, cohort)
    mean = mean_policy(policy)
    together = Policy(mean.defer[None], mean.allocation[None], mean.available)
    continuations = continuations_of(run, cohort)
    made = decided_together(policy, cohort, run.rule, continuations)
    outcome = Outcome(title, None, Decisions(made.consulted[None], made.label[None]), together, run.rule)
    return Trial(cohort, outcome, decisions_frame(policy, cohort, run.rule, continuations), len(policy.defer))


def sent_share(trial: Trial) -> str:
    """Which share of the cases goes to a reader, with its interval, in words."""
    deferred, n = trial.outcome.decisions.deferred[0], len(trial.cohort)
    sent = int(deferred.sum())
    low, high = wilson(sent, n, design_effect(deferred, trial.cohort.cluster))
    return f"{percent(sent / n, 0)} of cases (95{GAP}% interval {percent_interval(float(low), float(high), 0)})"


def judge(trial: Trial) -> pd.DataFrame:
    """Every metric of the run and of the AI alone on the same countable cases, with intervals over their resamples.

    Columns: metric, value, low, high, the same of the AI with prefix ai_, difference (run minus AI), difference_low,
    difference_high, n. Without a countable case there are no rows.
    """
    keep = trial.countable
    if not keep.any():
        return pd.DataFrame()
    cases, made = trial.cohort.rows(keep), trial.outcome.decisions
    alone = Decisions(np.full((1, len(cases), 1), NOBODY), cases.ai_label[None])
    outcomes = {
        RUN: Outcome(trial.outcome.title, None, Decisions(made.consulted[:, keep], made.label[:, keep])),
        AI: Outcome("AI alone", None, alone),
    }
    evidence = Evidence(cases, cases.manifest.default_costs(), outcomes)
    weights = resample_weights(cases, resamples_for(len(cases)))
    metrics = tables.overall(evidence, weights)
    ends = ["metric", "value", "low", "high"]
    run, ai = (metrics.loc[metrics["method"] == name, ends].set_index("metric") for name in (RUN, AI))
    gain = tables.paired(evidence, AI, weights).set_index("metric")[["difference", "low", "high"]]
    gain = gain.rename(columns={"low": "difference_low", "high": "difference_high"})
    return run.join(ai.add_prefix("ai_")).join(gain).assign(n=len(cases)).reset_index()


def as_text(judged: pd.DataFrame) -> pd.DataFrame:
    """The metrics of `judge` as text: metric, then the run, the AI and the difference, each with its interval."""

    def column(prefix: str, value: str, signed: bool = False) -> list[str]:
        ends = judged[[value, f"{prefix}low", f"{prefix}high"]].to_numpy(float)
        return [
            NOTHING if np.isnan(middle) else f"{decimal(middle, signed=signed)} ({interval(low, high, signed=signed)})"
            for middle, low, high in ends
        ]

    return pd.DataFrame(
        {
            "metric": judged["metric"],
            "run": column("", "value"),
            "ai": column("ai_", "ai_value"),
            "difference": column("difference_", "difference", signed=True),
        }
    )


def resamples_for(cases: int) -> int:
    """How often a table of this size is resampled.

    >>> resamples_for(900), resamples_for(20_000)
    (2000, 500)
    """
    return min(RESAMPLES, max(1, MAX_DRAWS // cases))


def example_table(path: Path, cases: int = 20) -> str:
    """A CSV table to try: the first val cases of every cohort of the table at `path`, as text."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    chosen = rows[rows["split"] == "val"].groupby("cohort", sort=False).head(cases)
    return chosen.to_csv(index=False, lineterminator="\n")
