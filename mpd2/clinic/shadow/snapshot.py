"""All that is kept, as one cohort with its decisions: a function of the set of rows, in whatever order they came.

Whatever evaluates decisions elsewhere evaluates them here: a snapshot has a `Cohort` and its `Decisions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
import pandas as pd

from mpd2.clinic.shadow.rows import Basis
from mpd2.clinic.shadow.standing.answers import Answers, answers_of, as_times
from mpd2.clinic.shadow.standing.enquiry import Beliefs, Terms, standing, unpacked
from mpd2.clinic.shadow.standing.kept import Columns
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.manifest import Manifest
from mpd2.core.policy import NOBODY, Decisions
from mpd2.core.table_file.building import with_other


@dataclass(frozen=True, eq=False)
class Snapshot:
    """N arrivals, sorted by time and then by case (`place`, if one is erased); row i is the same in every array."""

    cohort: Cohort  # truth and readers' words where they are known; split is empty
    times: np.ndarray  # [N] datetime64[us], UTC
    decisions: Decisions  # what the run would have done; the label is UNKNOWN while a reading is awaited
    beliefs: Beliefs  # [N] before anybody was asked
    done: Ints  # [N] the answer the clinic acted on, UNKNOWN where it is not known
    truth_at: np.ndarray  # [N] datetime64[us] when the truth became known; NaT where it is not
    read_at: np.ndarray  # [N, M] datetime64[us] when each reader answered or declined; NaT where neither
    confidence: Floats  # [N, M] of each reader in what they said; NaN where not told
    declined: Bools  # [N, M]
    waiting: np.ndarray  # [N] str, column of the reader whose answer is awaited; "" where none is
    chosen: np.ndarray  # [N] str, the choice of a clinician who overrode the run: a column or ai; "" where none did
    stops: np.ndarray  # [N] str, what the hard stop says; "" where nothing
    reasons: np.ndarray  # [N] str, why the run decides so
    price: Floats  # [N] log-odds a case had to be worth to be sent
    basis: Ints  # [N] position in `bases`
    bases: tuple[Basis, ...]  # by which cases were decided: runs, operating points and settings
    elsewhere: int  # arrivals of another table, with other inputs or readers, which are left out
    version: int  # of the store when it was read

    def __len__(self) -> int:
        return len(self.cohort)

    @cached_property
    def days(self) -> np.ndarray:
        """The day each arrival is of, [N] datetime64[D], UTC."""
        return self.times.astype("datetime64[D]")

    @cached_property
    def action(self) -> Ints:
        """What was done with each case on arrival, [N]: 0 keeps the AI, j asks reader j − 1."""
        return self.beliefs.action

    @cached_property
    def runs(self) -> np.ndarray:
        """The digest of the run that decided each case, [N] str."""
        return np.array([str(each.content["run"]) for each in self.bases] or [""])[self.basis]

    @cached_property
    def countable(self) -> Bools:
        """The cases that can be judged, [N]: their truth is known and no reading is awaited."""
        return (self.cohort.truth != UNKNOWN) & (self.decisions.label != UNKNOWN)

    @cached_property
    def acted_on(self) -> Ints:
        """The answer that counted in the clinic, [N]: what it acted on, or the AI's where that is not known."""
        return np.where(self.done == UNKNOWN, self.cohort.ai_label, self.done)

    def costs(self) -> Costs:
        """What errors and readings cost in figures: the table's."""
        return self.cohort.manifest.default_costs()

    def rows(self, index: np.ndarray) -> Snapshot:
        """The arrivals at `index`, positions or a boolean mask."""
        own = {name: getattr(self, name)[index] for name in _ALIGNED}
        return Snapshot(
            cohort=self.cohort.rows(index), decisions=self.decisions.rows(index), beliefs=self.beliefs.rows(index),
            bases=self.bases, elsewhere=self.elsewhere, version=self.version, **own,
        )  # fmt: skip


_ALIGNED = (
    "times", "done", "truth_at", "read_at", "confidence", "declined", "waiting", "chosen", "stops", "reasons", "price",
    "basis",
)  # fmt: skip


def snapshot(store: ShadowStore, learned: Cohort, manifest: Manifest) -> Snapshot:
    """All arrivals with the inputs and readers of a manifest; what was not measured is filled in as in `learned`."""
    kept = store.everything()
    here = {digest: basis for digest, basis in kept.bases.items() if _fits(basis, manifest)}
    rows = kept.arrivals
    basis = pd.Index(list(here), dtype=object).get_indexer(pd.Index(rows["basis"], dtype=object))
    mine = np.flatnonzero(basis >= 0)
    mine = mine[np.lexsort((rows["case"][mine].astype(str), rows["place"][mine].astype(str), rows["time"][mine]))]
    basis, own = basis[mine], {name: values[mine] for name, values in rows.items()}
    cohort, said, bases = _cohort(own, learned, manifest), answers_of(kept, mine, manifest), tuple(here.values())
    beliefs = _beliefs(own, basis, len(bases), cohort.readers)
    decisions, waiting = _standing(beliefs, basis, bases, said)
    return Snapshot(
        cohort=_with_answers(cohort, said, manifest),
        times=as_times(own["time"]),
        decisions=decisions,
        beliefs=beliefs,
        done=said.done,
        truth_at=said.truth_at,
        read_at=said.read_at,
        confidence=said.confidence,
        declined=said.declined,
        waiting=np.array([*manifest.columns, ""])[waiting],
        chosen=said.chosen,
        stops=own["stop"].astype(str),
        reasons=own["reason"],
        price=own["price"],
        basis=basis,
        bases=bases,
        elsewhere=len(rows["number"]) - len(mine),
        version=kept.version,
    )


def terms_of(basis: Basis) -> Terms:
    """What an enquiry under a basis needs."""
    missed, alarm, *fees = basis.content["costs"]
    return Terms(Costs(missed, alarm, tuple(fees)), basis.content["limit"], basis.content["fuse"])


def _fits(basis: Basis, manifest: Manifest) -> bool:
    """Whether cases that were decided by it have the inputs and the readers of a manifest."""
    ours = {"inputs": manifest.layout.names, "drawn": manifest.drawn, "readers": manifest.columns}
    return all(tuple(basis.content[name]) == tuple(given) for name, given in ours.items())


def _cohort(rows: Columns, learned: Cohort, manifest: Manifest) -> Cohort:
    """The cases as they came in, without what was said of them."""
    cases, width = len(rows["number"]), len(manifest.layout)
    numbers = np.frombuffer(b"".join(rows["inputs"]), "<f8").reshape(cases, width + len(manifest.drawn))
    there = np.frombuffer(b"".join(rows["available"]), np.uint8).reshape(cases, len(manifest.columns))
    source = np.zeros(cases, np.int64)
    if manifest.row.cohort:
        keys = pd.Index([entry.key for entry in manifest.cohorts])
        source = keys.get_indexer(pd.Index(rows["cohort"], dtype=object)).astype(np.int64)
    known, source = with_other(manifest, source)
    state = numbers[:, :width]
    absent = np.isnan(state)
    alone = np.array(["\0"], object) + rows["case"]  # no group can have the name of a case
    return Cohort(
        manifest=known,
        fingerprint="",
        ids=rows["case"].astype(str),
        source=source,
        split=np.full(cases, ""),
        cluster=pd.factorize(np.where(rows["group"] == "", alone, rows["group"]))[0].astype(np.int64),
        state=np.where(absent, 0.0, state),
        absent=absent,
        drawn=numbers[:, width:],
        truth=np.full(cases, UNKNOWN),
        decisions=np.full(there.shape, UNKNOWN),
        available=there == 1,
    ).filled_with(learned.train_fills())


def _with_answers(cohort: Cohort, said: Answers, manifest: Manifest) -> Cohort:
    """The cases with truth and words; known by all of it."""
    parts = (cohort.ids.astype("S"), cohort.state, cohort.absent, cohort.available, said.truth, said.words)
    digest = blake2b(manifest.identity().encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return replace(
        cohort,
        truth=said.truth,
        decisions=said.words,
        available=cohort.available | (said.words != UNKNOWN),
        fingerprint=digest.hexdigest()[:16],
    )


def _beliefs(rows: Columns, basis: Ints, bases: int, readers: int) -> Beliefs:
    """What was believed of each case; rows of different methods keep different numbers."""
    kept, positive, packed = rows["kept"], rows["positive"], rows["beliefs"]
    parts = {one: np.flatnonzero(basis == one) for one in range(bases)}
    made = {
        one: unpacked(kept[where], positive[where], packed[where], readers)
        for one, where in parts.items()
        if len(where)
    }
    deepest = max((part.answers.shape[-1] for part in made.values()), default=0)
    worth, costs = np.empty((len(kept), readers)), np.empty((len(kept), 1 + readers))
    answers = np.full((len(kept), readers, deepest), np.nan)
    for one, part in made.items():
        where = parts[one]
        worth[where], costs[where] = part.worth, part.costs
        answers[where, :, : part.answers.shape[-1]] = part.answers
    return Beliefs(kept, positive, worth, costs, answers)


def _standing(beliefs: Beliefs, basis: Ints, bases: Sequence[Basis], said: Answers) -> tuple[Decisions, Ints]:
    """What would have been done with each case, and whose answer is awaited, [N]."""
    limit = max((int(each.content["limit"]) for each in bases), default=1)
    consulted = np.full((len(beliefs), limit), NOBODY)
    label, waiting = beliefs.kept.copy(), np.full(len(beliefs), NOBODY)
    for place, each in enumerate(bases):
        terms = terms_of(each)
        rows = np.flatnonzero((basis == place) & (beliefs.action > 0))
        part = beliefs.rows(rows)
        if terms.limit == 1:
            part = replace(part, answers=part.answers[..., :0]) if np.isnan(part.answers).all() else part
        found = standing(part, said.words[rows], said.declined[rows], terms)
        consulted[rows, : found.consulted.shape[1]] = found.consulted
        label[rows], waiting[rows] = found.label, found.waiting
    return Decisions(consulted, label), waiting
