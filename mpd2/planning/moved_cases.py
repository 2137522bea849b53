"""From one way of routing to another: which cases moved, from whom to whom, and what it gained and lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import DECIDED_BY, NOBODY, Decisions, deciders
from mpd2.core.text import numbered
from mpd2.evaluation.metrics import load_of

NOW_SENT, NO_LONGER, ELSEWHERE, SAME_READER = "now sent", "no longer sent", "another reader", "another answer"
KINDS = (NOW_SENT, NO_LONGER, ELSEWHERE, SAME_READER)
GAINED, LOST, SAME, NOT_KNOWN = "error gained", "error lost", "same", "not known"


def moved(cohort: Cohort, costs: Costs, before: Decisions, after: Decisions) -> pd.DataFrame:
    """A row for each case that is routed or answered otherwise; both decisions are single ones, [N].

    Columns: case_id, cohort, from, to (names of all who are asked, in order, else AI or rule), kind (one of KINDS),
    error (GAINED, LOST, SAME, or NOT_KNOWN without the truth), clinical and fees (what they are more than before, NaN
    where not known).
    """
    other = _other(cohort, before, after)
    cohort, before, after = cohort.rows(other), before.rows(other), after.rows(other)
    names = [entry.name for entry in cohort.manifest.cohorts]
    return pd.DataFrame(
        {
            "case_id": cohort.ids,
            "cohort": np.array(names)[cohort.source],
            "from": _asked(cohort, before),
            "to": _asked(cohort, after),
            "kind": _kinds(before, after),
            "error": _errors(cohort.truth, before, after),
            "clinical": _clinical(cohort, costs, after) - _clinical(cohort, costs, before),
            "fees": _fees(costs, after) - _fees(costs, before),
        }
    )


def moved_summary(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of `moved` by kind, in the order of KINDS: cases, gained, lost, and the sums of clinical and fees."""
    marked = rows.assign(gained=rows["error"] == GAINED, lost=rows["error"] == LOST)
    counted = marked.groupby("kind").agg(
        cases=("case_id", "size"),
        gained=("gained", "sum"),
        lost=("lost", "sum"),
        clinical=("clinical", "sum"),
        fees=("fees", "sum"),
    )
    return counted.reindex([kind for kind in KINDS if kind in counted.index]).reset_index()


def load_change(cohort: Cohort, before: Decisions, after: Decisions) -> pd.DataFrame:
    """Readings of each reader before and after: reader, name, before, after, change."""
    loads = {"before": load_of(before, cohort.readers), "after": load_of(after, cohort.readers)}
    frame = pd.DataFrame({"reader": cohort.manifest.columns, "name": [r.name for r in cohort.manifest.readers]} | loads)
    return frame.assign(change=frame["after"] - frame["before"])


def in_words(rows: pd.DataFrame) -> str:
    """What a change of routing did, in a sentence or two.

    >>> in_words(pd.DataFrame(columns=["case_id", "kind", "error", "clinical", "fees"]))
    'Nothing moved.'
    """
    return _sentence(rows["kind"], rows["error"], float(rows["fees"].sum()))


def in_short(cohort: Cohort, costs: Costs, before: Decisions, after: Decisions) -> str:
    """What `in_words` says of `moved`, without the table of them, which takes longer than a moving hand can wait."""
    other = _other(cohort, before, after)
    before, after = before.rows(other), after.rows(other)
    fees = (_fees(costs, after) - _fees(costs, before)).sum()
    return _sentence(_kinds(before, after).tolist(), _errors(cohort.truth[other], before, after).tolist(), float(fees))


def _sentence(kinds: Iterable[str], errors: Iterable[str], fees: float) -> str:
    moves, outcomes = Counter(kinds), Counter(errors)  # far quicker than a table of them
    if not moves:
        return "Nothing moved."
    parts = [f"{numbered(moves[kind], 'case')} {kind}" for kind in KINDS if moves[kind]]
    ending = f"{numbered(outcomes[GAINED], 'error')} more, {outcomes[LOST]} fewer"
    return f"{', '.join(parts)}: {ending}, {abs(fees):.2f} {'more' if fees >= 0 else 'less'} in fees."


def _other(cohort: Cohort, before: Decisions, after: Decisions) -> Bools:
    """The cases that are routed or answered otherwise, [N]; most are not."""
    for decisions in (before, after):
        if decisions.label.shape != (len(cohort),):
            raise UserError(f"decisions: found shape {decisions.label.shape}, expected one a case of {len(cohort)}")
    return _elsewhere(before, after) | (before.label != after.label)


def _elsewhere(before: Decisions, after: Decisions) -> Bools:
    """The cases about which others are asked, [N]."""
    most = max(part.consulted.shape[-1] for part in (before, after))
    first, second = (
        np.pad(part, ((0, 0), (0, most - part.shape[-1])), constant_values=NOBODY)
        for part in (before.consulted, after.consulted)
    )
    return (first != second).any(-1)


def _kinds(before: Decisions, after: Decisions) -> np.ndarray:
    """What happened to each case that moved, [N], one of KINDS."""
    sent, kept = after.deferred & ~before.deferred, before.deferred & ~after.deferred
    return np.select([sent, kept, _elsewhere(before, after)], [NOW_SENT, NO_LONGER, ELSEWHERE], SAME_READER)


def _asked(cohort: Cohort, decisions: Decisions) -> np.ndarray:
    """Who is asked about each case, or who decides it unread, in words, [N]."""
    names = np.array([*(reader.name for reader in cohort.manifest.readers), ""], object)  # NOBODY is the last
    asked = names[decisions.consulted]  # [N, K]
    words = asked[:, 0]
    for later in asked.T[1:]:
        words = np.where(later == "", words, words + ", " + later)
    return np.where(words == "", np.array(DECIDED_BY)[deciders(decisions, cohort)], words).astype(str)


def _errors(truth: Ints, before: Decisions, after: Decisions) -> np.ndarray:
    wrong_before, wrong_after = before.label != truth, after.label != truth
    judged = (truth != UNKNOWN) & (before.label != UNKNOWN) & (after.label != UNKNOWN)
    apart = [~judged, wrong_after & ~wrong_before, wrong_before & ~wrong_after]
    return np.select(apart, [NOT_KNOWN, GAINED, LOST], SAME)


def _clinical(cohort: Cohort, costs: Costs, decisions: Decisions) -> Floats:
    judged = (cohort.truth != UNKNOWN) & (decisions.label != UNKNOWN)
    return np.where(judged, costs.of_errors(decisions.label, cohort.truth), np.nan)


def _fees(costs: Costs, decisions: Decisions) -> Floats:
    return np.append(costs.fees, 0.0)[np.where(decisions.consulted == NOBODY, -1, decisions.consulted)].sum(-1)
