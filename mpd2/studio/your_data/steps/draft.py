"""What a person has said so far about a table of their own: kept for the visit, written nowhere before they say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import streamlit as st

from mpd2.clinic.access.actor import Actor
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.lab.imports.arranging import arranged
from mpd2.lab.imports.drafting import Answers, answers_of, draft, proposals_of, suggest
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.matching import Proposal, changed, lacking, propose
from mpd2.lab.imports.mending import NOTHING, Omission, without
from mpd2.lab.imports.splitting import SHARES
from mpd2.lab.imports.uses import INPUTS, File
from mpd2.lab.received import receive

Way = Literal["column", "random", "date"]
DRAFT = "import_draft"  # key of the session
BY_KEY = ("names", "groups", "fees", "tiers", "cohort_names", "origins", "thresholds")
"""Answers that are given for each reader or each cohort."""
RANGE = ("low", "high", "missing")  # what can be said of a column besides its use


@dataclass(frozen=True, eq=False)
class Upload:
    """A file as it was dropped, and the table in it."""

    data: bytes
    table: RawTable

    @classmethod
    def of(cls, data: bytes, name: str, sheet: str = "", *, by: Actor) -> Upload:
        """The largest sheet of a workbook, or the one named."""
        return cls(data, receive(data, name, sheet, by=by))


@dataclass(frozen=True)
class Division:
    """How cases are divided into those to learn from, to choose by and to judge by."""

    way: Way | None = None  # none: as the table says, or else at random
    shares: tuple[float, float, float] = SHARES  # of train, val and test, where the table does not say it
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Draft:
    """A workspace that is not one yet; every change makes another draft."""

    files: Mapping[File, Upload] = field(default_factory=dict)
    tables: tuple[RawTable, RawTable | None] | None = None  # in them, one row a case and one row a reading
    proposals: tuple[Proposal, ...] = ()
    by_hand: Mapping[tuple[File, str], Mapping[str, Any]] = field(default_factory=dict)  # file and column: what is said
    said: Mapping[str, Any] = field(default_factory=dict)  # answers that were given, by field of `Answers`
    base: Manifest | None = None  # a manifest of the person's own
    division: Division = Division()
    left_out: Omission = NOTHING  # rows and cells of the tables that cannot be used
    name: str = ""  # of the workspace; empty: made from the title
    generation: int = 0  # of what fields show: another one where a file has filled them in

    @property
    def cases(self) -> RawTable:
        """The table of cases."""
        if self.tables is None:
            raise UserError("There is no table yet: drop one first.")
        return self.tables[0]

    @property
    def readings(self) -> RawTable | None:
        """The second table, if there is one."""
        return self.tables[1] if self.tables else None

    @property
    def kept(self) -> tuple[RawTable, RawTable | None]:
        """Both without what is to be left out."""
        return without((self.cases, self.readings), self.left_out, self.proposals)

    @property
    def answers(self) -> Answers:
        """What was answered, and what is suggested for the rest."""
        first = suggest(self.proposals, self.cases.name)
        mixed = {name: {**getattr(first, name), **said} for name, said in self.said.items() if name in BY_KEY}
        return replace(first, **{**self.said, **mixed})

    @property
    def lacking(self) -> tuple[str, ...]:
        """What must be said of the columns before anything else makes sense."""
        return lacking(self.proposals)

    def manifest(self) -> Manifest:
        """All of it as a manifest; a `UserError` where something is missing or out of range."""
        return draft(self.proposals, self.answers, self.base)

    # ------------------------------------------------------------------------------ changes

    def with_file(self, file: File, upload: Upload | None) -> Draft:
        """With another file, or without it; what was said of columns that are still there stays."""
        files = (
            {**self.files, file: upload} if upload else {key: each for key, each in self.files.items() if key != file}
        )
        if "cases" not in files:
            return replace(self, files=files, tables=None, proposals=(), base=None, left_out=NOTHING)
        tables = arranged(files["cases"].table, files["readings"].table if "readings" in files else None)
        proposals = propose(*tables)
        there = {(each.file, each.column) for each in proposals}
        by_hand = {key: said for key, said in self.by_hand.items() if key in there}
        fresh = replace(self, files=files, tables=tables, proposals=proposals, by_hand={}, base=None, left_out=NOTHING)
        for (of, column), said in by_hand.items():
            fresh = fresh.with_column(of, column, **said)
        return fresh

    def with_column(self, file: File, column: str, **said: Any) -> Draft:
        """With another use, usual range or leave to be missing of one column."""
        proposals = changed(self.proposals, {column: said["use"]}, file) if "use" in said else self.proposals
        rest = {name: value for name, value in said.items() if name in RANGE}
        proposals = tuple(
            replace(each, **rest) if (each.file, each.column) == (file, column) else each for each in proposals
        )
        key = (file, column)
        base = _with_input(self.base, column, rest) if file == "cases" else self.base
        by_hand = {**self.by_hand, key: {**self.by_hand.get(key, {}), **said}}
        return replace(self, proposals=proposals, by_hand=by_hand, base=base)

    def with_answers(self, **given: Any) -> Draft:
        """With other answers; those by reader or cohort are added to what was said of others."""
        known = {each.name for each in fields(Answers)}
        mixed = {name: {**self.said.get(name, {}), **value} for name, value in given.items() if name in BY_KEY}
        return replace(self, said={**self.said, **{k: v for k, v in given.items() if k in known}, **mixed})

    def without_key(self, name: str, key: str) -> Draft:
        """With the suggestion in place of what was answered for one reader or cohort."""
        left = {each: value for each, value in self.said.get(name, {}).items() if each != key}
        return replace(self, said={**self.said, name: left})

    def without_answer(self, name: str) -> Draft:
        """With the suggestion in place of what was answered."""
        return replace(self, said={key: value for key, value in self.said.items() if key != name})

    def with_division(self, **changes: Any) -> Draft:
        """With cases divided in another way."""
        return replace(self, division=replace(self.division, **changes))

    def leaving_out(self, omission: Omission) -> Draft:
        """Without rows and cells that cannot be used, besides those left out before; inputs may then be missing."""
        draft = replace(self, left_out=self.left_out | omission)
        inputs = [each.column for each in self.proposals if each.file == "cases" and each.use in INPUTS]
        for column in [name for name in inputs if omission.cells.get(name)]:
            draft = draft.with_column("cases", column, missing=True)
        return draft

    def leaving_nothing_out(self) -> Draft:
        """With every row and cell of the files."""
        return replace(self, left_out=NOTHING)

    def with_name(self, name: str) -> Draft:
        """With another name of the workspace."""
        return replace(self, name=name)

    def with_manifest(self, manifest: Manifest) -> Draft:
        """As a manifest of the person's own has it."""
        proposals = proposals_of(manifest, self.cases, self.readings)
        given = answers_of(manifest)
        said = {each.name: getattr(given, each.name) for each in fields(Answers) if each.name != "fee"}
        return replace(self, proposals=proposals, by_hand={}, said=said, base=manifest, generation=self.generation + 1)


def _with_input(base: Manifest | None, column: str, said: Mapping[str, Any]) -> Manifest | None:
    """A manifest in which one input has another range, if it is an input there."""
    if base is None or not said:
        return base
    inputs = [{**each.model_dump(), **(said if each.column == column else {})} for each in base.inputs]
    return base.but(inputs=inputs)


def current() -> Draft:
    """The draft of this visit."""
    kept = st.session_state.get(DRAFT)
    return kept if isinstance(kept, Draft) else Draft()


def keep(draft: Draft) -> None:
    """Go on with another draft."""
    st.session_state[DRAFT] = draft
