"""From what columns are and what a person answers to a manifest, and back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from mpd2.core.errors import Problem, TableError, UserError, invalid_entries
from mpd2.core.manifest import MOST, MOST_COHORTS, Input, Manifest
from mpd2.core.manifest_text import to_toml
from mpd2.core.text import capital, count, plain_words, several
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.matching import lacking, propose
from mpd2.lab.imports.names import stem
from mpd2.lab.imports.uses import INPUTS, File, Proposal, Use
from mpd2.lab.imports.words import name_words, says

__all__ = [
    "Answers",
    "answer_words",
    "answers_of",
    "cohort_keys",
    "draft",
    "proposals_of",
    "reader_columns",
    "suggest",
    "to_toml",
]

FALSE_NEGATIVE, FALSE_POSITIVE, FEE = 5.0, 1.0, 0.1
"""Where nobody has said what errors and readings cost; a manifest says that these are assumptions."""
UNNAMED = "unknown"  # the cohort of cases that name none
LONGEST_WORDS = 60  # characters of a word that sentences use
EVERYBODY = "readers"  # the group of readers who are of none

Origin = Literal["real", "semi-synthetic", "induced", "simulated", "unknown"]


@dataclass(frozen=True)
class Answers:
    """What is asked of a person; each answer has a first suggestion."""

    title: str = "My table"
    table: str = "table.csv"
    credit: str = ""
    positive: str = "positive"
    negative: str = "negative"
    positives: str = ""
    case: str = "case"
    cases: str = ""
    currency: str = ""
    unit: float | None = None
    group_word: str = "patient"
    false_negative: float = FALSE_NEGATIVE
    false_positive: float = FALSE_POSITIVE
    fee: float = FEE  # of a reader of whom nothing else is said
    threshold: float = 0.5
    thresholds: Mapping[str, float] = field(default_factory=dict)  # by cohort
    names: Mapping[str, str] = field(default_factory=dict)  # by reader's column, as are the next three
    groups: Mapping[str, str] = field(default_factory=dict)
    fees: Mapping[str, float] = field(default_factory=dict)
    tiers: Mapping[str, str] = field(default_factory=dict)
    cohort_names: Mapping[str, str] = field(default_factory=dict)  # by cohort's key, as are the next two
    origins: Mapping[str, Origin] = field(default_factory=dict)
    credits: Mapping[str, str] = field(default_factory=dict)
    assumptions: tuple[str, ...] | None = None  # none: those that follow from what was left as suggested


def reader_columns(proposals: Sequence[Proposal]) -> tuple[str, ...]:
    """The readers: columns of the cases, then those whom the second file names, as people sort them."""
    wide = [each.column for each in proposals if each.use == Use.READER]
    long = {name for each in proposals if each.use == Use.READING_READER for name in each.readers}
    return (*wide, *sorted(long - set(wide), key=_as_people_sort))


def cohort_keys(proposals: Sequence[Proposal]) -> tuple[str, ...]:
    """The cohorts there are; the last is of cases that name none, if there are such."""
    for each in proposals:
        if each.use == Use.COHORT:
            return (*sorted(each.cohorts, key=_as_people_sort), *((UNNAMED,) if each.missing else ()))
    return ()


def suggest(proposals: Sequence[Proposal], name: str = "") -> Answers:
    """First answers: words from the truth's cells, names and groups of readers from their columns."""
    by_use = {each.use: each for each in proposals}
    words = {bit: word for word, bit in by_use[Use.TRUTH].answers.items()} if Use.TRUTH in by_use else {}
    group = by_use.get(Use.GROUP)
    readers = reader_columns(proposals)
    stems = Counter(map(stem, readers))
    return Answers(
        title=_spoken(capital(_readable(Path(name).stem)), "My table"),
        positive=_spoken(words.get(1, "") or _disease(by_use), "positive"),
        negative=_spoken(words.get(0, ""), "negative"),
        group_word=(says(group.column, "group") or _one_word(group.column) or "group") if group else "patient",
        names={column: _reader_name(column, place) for place, column in enumerate(readers, start=1)},
        groups={
            column: _spoken(capital(stem(column)), EVERYBODY) if stems[stem(column)] > 1 else EVERYBODY
            for column in readers
        },
    )


def _disease(by_use: Mapping[Use, Proposal]) -> str:
    """What is looked for, where the truth's column is called after it and not truth, label, result or the like."""
    truth = by_use.get(Use.TRUTH)
    return _one_word(truth.column) if truth and not any(says(truth.column, kind) for kind in ("truth", "says")) else ""


def _one_word(column: str) -> str:
    """The name of a column if it is one plain word, else nothing.

    >>> _one_word("Cancer"), _one_word("x_27"), _one_word("HbA1c"), _one_word("id")
    ('cancer', '', '', '')
    """
    words = name_words(column)
    return words[0] if len(words) == 1 and words[0].isalpha() and len(words[0]) > 3 else ""


def _reader_name(column: str, place: int) -> str:
    return _spoken(capital(_readable(column)), f"Reader {place}")


def _spoken(words: str, otherwise: str) -> str:
    """Words that a page can show and a sentence use, or others in their place."""
    return words if 0 < len(plain_words(words)) <= LONGEST_WORDS else otherwise


def answer_words(proposals: Sequence[Proposal]) -> dict[str, int]:
    """What words in the cells of truth and readers mean beyond yes and no; the truth decides."""
    truth = [each.answers for each in proposals if each.use == Use.TRUTH]
    others = [each.answers for each in proposals if each.use in (Use.READER, Use.READING_SAYS)]
    return {word: bit for meanings in (*others, *truth) for word, bit in meanings.items()}


def draft(proposals: Sequence[Proposal], answers: Answers, base: Manifest | None = None) -> Manifest:
    """The manifest of a table. What a person's own manifest, `base`, says of an input or a drawing is kept."""
    wants = lacking(proposals)
    if wants:
        raise UserError("\n".join(wants))
    _refuse_many(proposals)
    by_use = {each.use: each.column for each in proposals}
    taken = {each.column for each in proposals if each.file == "cases"} | set(reader_columns(proposals))
    readers, cohorts = (base.columns, [each.key for each in base.cohorts]) if base else ((), [])
    entries: dict[str, Any] = {
        "title": answers.title,
        "table": answers.table,
        "credit": answers.credit,
        "assumptions": _assumptions(proposals, answers),
        "task": _task(answers, base, Use.GROUP in by_use),
        "columns": {
            "case": by_use.get(Use.CASE) or _free("case_id", taken),
            "truth": by_use[Use.TRUTH],
            "cohort": by_use.get(Use.COHORT, ""),
            "split": by_use.get(Use.SPLIT) or _free("split", taken),
            "date": by_use.get(Use.DATE, ""),
        },
        "ai": {**_ai(by_use), "threshold": answers.threshold, "thresholds": _known(answers.thresholds, proposals)},
        "inputs": [_input(each, base) for each in proposals if each.use in INPUTS],
        "groups": {"column": by_use[Use.GROUP], "word": answers.group_word} if Use.GROUP in by_use else None,
        "drawing": _drawing(proposals, base),
        "readings": _long(by_use),
        "costs": {"false_negative": answers.false_negative, "false_positive": answers.false_positive},
        "readers": [
            _reader(column, place, answers)
            for place, column in enumerate(_as_in(readers, reader_columns(proposals)), start=1)
        ],
        "cohorts": _cohorts(_as_in(cohorts, cohort_keys(proposals)), answers),
    }
    try:
        return Manifest.model_validate(entries)
    except ValidationError as error:
        raise UserError(invalid_entries(error)) from None


def _task(answers: Answers, base: Manifest | None, grouped: bool) -> dict[str, Any]:
    """The question in words; two that nobody is asked for are as `base` has them, or follow from the rest."""
    asked = ("positive", "negative", "positives", "case", "cases", "currency", "unit")
    words = {key: getattr(answers, key) for key in asked}
    same = base is not None and base.task.positive == answers.positive
    words["one"] = base.task.one if base is not None and same else ""
    if base is not None:
        words["people"] = base.task.people
    elif grouped:  # one person has several cases
        words["people"] = answers.cases or several(answers.case)
    return words


def _refuse_many(proposals: Sequence[Proposal]) -> None:
    inputs = sum(each.use in INPUTS for each in proposals)
    for what, n, most in (
        ("readers", len(reader_columns(proposals)), MOST),
        ("inputs", inputs, MOST),
        ("cohorts", len(cohort_keys(proposals)), MOST_COHORTS + 1),
    ):
        if n > most:
            raise UserError(f"{what}: found {count(n)}, expected at most {most}; leave some columns out")
    if not reader_columns(proposals):
        raise UserError("readers: found none, expected at least one who has read a case")
    for each in proposals:
        if each.use == Use.COHORT and not each.cohorts:
            raise UserError(f"column {each.column}: found more than {MOST_COHORTS} cohorts, expected at most that many")


def _assumptions(proposals: Sequence[Proposal], answers: Answers) -> tuple[str, ...]:
    if answers.assumptions is not None:
        return answers.assumptions
    found = []
    if (answers.false_negative, answers.false_positive) == (FALSE_NEGATIVE, FALSE_POSITIVE):
        found.append(f"A miss is taken to cost {FALSE_NEGATIVE:g} and a false alarm {FALSE_POSITIVE:g}.")
    if any(column not in answers.fees for column in reader_columns(proposals)) and answers.fee == FEE:
        found.append(f"Where nothing is said, a reading is taken to cost {FEE:g}.")
    return tuple(found)


def _ai(by_use: Mapping[Use, str]) -> dict[str, Any]:
    if Use.PROBABILITY in by_use:
        return {"probability": by_use[Use.PROBABILITY]}
    if Use.LOGIT in by_use:
        return {"logit": by_use[Use.LOGIT]}
    return {"logits": (by_use[Use.LOGIT_NEGATIVE], by_use[Use.LOGIT_POSITIVE])}


def _input(proposal: Proposal, base: Manifest | None) -> dict[str, Any]:
    role, signal = INPUTS[proposal.use]
    for given in base.inputs if base else ():
        if given.column == proposal.column:
            return {**given.model_dump(), "role": role, "signal": signal}
    title = proposal.title or _readable(proposal.column)
    return {
        "column": proposal.column,
        "title": "" if title == proposal.column else title,
        "unit": proposal.unit,
        "role": role,
        "signal": signal,
        "low": None if proposal.codes else proposal.low,
        "high": None if proposal.codes else proposal.high,
        "missing": proposal.missing,
        "codes": dict(proposal.codes),
    }


def _drawing(proposals: Sequence[Proposal], base: Manifest | None) -> dict[str, Any] | None:
    if base is None or base.drawing is None:
        return None
    there = {each.column for each in proposals if each.file == "cases"}
    return base.drawing.model_dump() if {base.drawing.vertical, base.drawing.horizontal} <= there else None


def _long(by_use: Mapping[Use, str]) -> dict[str, str] | None:
    if Use.READING_READER not in by_use:
        return None
    parts = {"case": Use.READING_CASE, "reader": Use.READING_READER, "says": Use.READING_SAYS}
    return {key: by_use[use] for key, use in parts.items()}


def _reader(column: str, place: int, answers: Answers) -> dict[str, Any]:
    return {
        "column": column,
        "name": answers.names.get(column) or _reader_name(column, place),
        "group": answers.groups.get(column) or EVERYBODY,
        "fee": answers.fees.get(column, answers.fee),
        "tier": answers.tiers.get(column, ""),
    }


def _known(thresholds: Mapping[str, float], proposals: Sequence[Proposal]) -> dict[str, float]:
    keys = cohort_keys(proposals)
    return {key: value for key, value in thresholds.items() if key in keys}


def _cohorts(keys: Sequence[str], answers: Answers) -> list[dict[str, str]]:
    return [
        {
            "key": key,
            "name": answers.cohort_names.get(key) or (_spoken(key, f"Cohort {place}") if keys else "All cases"),
            "readings": answers.origins.get(key, "unknown"),
            "credit": answers.credits.get(key, ""),
        }
        for place, key in enumerate(keys or ("all",), start=1)
    ]


def _as_in(order: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Keys in the order of a person's own manifest, new ones last."""
    before = [key for key in order if key in keys]
    return [*before, *(key for key in keys if key not in before)]


def proposals_of(manifest: Manifest, cases: RawTable, readings: RawTable | None = None) -> tuple[Proposal, ...]:
    """The columns of a person's files as their own manifest has them; what it does not name is left out."""
    uses = _uses(manifest)
    if manifest.long is None and readings is not None:
        raise UserError(f"{readings.name}: found a file of readings, but the manifest has no part [readings]")
    if manifest.long is not None and readings is None:
        raise UserError("the manifest has a part [readings]: expected a second file, of readings")
    proposals = propose(cases, readings)
    present = {(each.file, each.column) for each in proposals}
    made = {manifest.row.case, manifest.row.split}  # they are made where a table has none
    absent = [key for key, use in uses.items() if key not in present and not (key[0] == "cases" and key[1] in made)]
    if manifest.long is not None:
        absent = [(file, column) for file, column in absent if uses[file, column] != Use.READER]
    if absent:
        expected = "a column of this name, for the manifest has one"
        raise TableError(cases.name, [Problem(None, column, "no such column", expected) for _, column in absent])
    given = {each.column: each for each in manifest.inputs}
    return tuple(_as_given(each, uses.get((each.file, each.column)), given.get(each.column)) for each in proposals)


def _as_given(proposal: Proposal, use: Use | None, given: Input | None) -> Proposal:
    if use is None:
        return replace(proposal, use=Use.IGNORED, reason="not in the manifest")
    changed = replace(proposal, use=use, reason="in the manifest")
    if given is None or use not in INPUTS:
        return changed
    changed = replace(changed, low=given.low, high=given.high, unit=given.unit, title=given.title)
    return replace(changed, missing=given.missing, codes=given.codes)


def _uses(manifest: Manifest) -> dict[tuple[File, str], Use]:
    """What a manifest says of each column, by file."""
    row, ai = manifest.row, manifest.ai
    found: dict[tuple[File, str], Use] = {("cases", column): Use.READER for column in manifest.columns}
    named = {row.case: Use.CASE, row.truth: Use.TRUTH, row.cohort: Use.COHORT, row.split: Use.SPLIT, row.date: Use.DATE}
    named |= {manifest.groups.column: Use.GROUP} if manifest.groups else {}
    named |= {ai.probability or "": Use.PROBABILITY, ai.logit or "": Use.LOGIT}
    named |= dict(zip(ai.logits or (), (Use.LOGIT_NEGATIVE, Use.LOGIT_POSITIVE), strict=False))
    kinds = {kind: use for use, kind in INPUTS.items()}
    named |= {each.column: kinds.get((each.role, each.signal), kinds[each.role, ""]) for each in manifest.inputs}
    found |= {("cases", column): use for column, use in named.items() if column}
    if manifest.long:
        parts = (manifest.long.case, manifest.long.reader, manifest.long.says)
        second = (Use.READING_CASE, Use.READING_READER, Use.READING_SAYS)
        found |= {("readings", column): use for column, use in zip(parts, second, strict=True)}
    return found


def answers_of(manifest: Manifest) -> Answers:
    """What a manifest answers."""
    task, ai = manifest.task, manifest.ai
    return Answers(
        title=manifest.title,
        table=manifest.table,
        credit=manifest.credit,
        positive=task.positive,
        negative=task.negative,
        positives=task.positives,
        case=task.case,
        cases=task.cases,
        currency=task.currency,
        unit=task.unit,
        group_word=manifest.groups.word if manifest.groups else "patient",
        false_negative=manifest.costs.false_negative,
        false_positive=manifest.costs.false_positive,
        threshold=ai.threshold,
        thresholds=ai.thresholds,
        names={reader.column: reader.name for reader in manifest.readers},
        groups={reader.column: reader.group for reader in manifest.readers},
        fees={reader.column: reader.fee for reader in manifest.readers},
        tiers={reader.column: reader.tier for reader in manifest.readers},
        cohort_names={entry.key: entry.name for entry in manifest.cohorts},
        origins={entry.key: entry.readings for entry in manifest.cohorts},
        credits={entry.key: entry.credit for entry in manifest.cohorts},
        assumptions=manifest.assumptions,
    )


def _readable(column: str) -> str:
    """A column's name as people write it.

    >>> _readable("north_expert_1"), _readable("cardiologist1"), _readable("pHa"), _readable("Dr. Müller")
    ('north expert 1', 'cardiologist 1', 'pHa', 'Dr. Müller')
    """
    return " ".join(re.sub(r"(?<=[a-z]{2})(?=\d)", " ", re.sub(r"_+|(?<=\w)-(?=\w)", " ", column)).split())


def _as_people_sort(text: str) -> tuple[tuple[int, int, str], ...]:
    """Reader 2 before reader 10."""
    words = [(0, int(word), "") if word.isdecimal() else (1, 0, word) for word in name_words(text)]
    return (*words, (2, 0, text))


def _free(name: str, taken: set[str]) -> str:
    """The name, or with a number if a column has it."""
    return next(free for free in (name, *(f"{name}_{n}" for n in range(2, len(taken) + 3))) if free not in taken)
