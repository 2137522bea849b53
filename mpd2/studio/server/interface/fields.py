"""What a row may say: each entry with its form, as the manifest has it. Checks and document are made of this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mpd2.clinic.shadow.columns import CASE, LONGEST, TIME
from mpd2.core.manifest import Input, Manifest
from mpd2.core.table_file.building import availability_columns

Kind = Literal["cases", "readings", "outcomes"]
"""Of rows."""
KINDS: tuple[Kind, ...] = get_args(Kind)
Form = Literal["words", "number", "bit", "time"]
"""Of an entry."""
EXPECTED: dict[Form, str] = {
    "words": "words between quotation marks",
    "number": "a number",
    "bit": "0 or 1",
    "time": "a time with its offset such as 2026-11-18T08:30:00Z between quotation marks",
}
SCHEMAS: dict[Form, dict[str, Any]] = {
    "words": {"type": "string"},
    "number": {"type": "number"},
    "bit": {"type": "integer", "enum": [0, 1]},
    "time": {"type": "string", "format": "date-time"},
}


@dataclass(frozen=True)
class Field:
    """One entry of a row."""

    name: str
    form: Form
    about: str
    required: bool = True  # and neither missing nor null
    limits: dict[str, Any] = field(default_factory=dict)  # further keywords of its JSON schema

    def schema(self) -> dict[str, Any]:
        """Its JSON schema."""
        made = {**SCHEMAS[self.form], "description": self.about, **self.limits}
        if self.required:
            return made
        several = {"enum": [*made["enum"], None]} if "enum" in made else {}
        return made | {"type": [made["type"], "null"]} | several


def case_fields(manifest: Manifest) -> tuple[Field, ...]:
    """What a case says of itself when it comes in."""
    row, task = manifest.row, manifest.task
    found = [
        Field(CASE, "words", f"id of the {task.case}, the same in readings and outcomes", limits=_id()),
        Field(TIME, "time", f"when the {task.case} came in, with its offset from UTC"),
    ]
    if row.cohort:
        keys = {"examples": [entry.key for entry in manifest.cohorts]}
        found.append(Field(row.cohort, "words", "where it comes from", required=False, limits=keys))
    if manifest.groups:
        about = f"id of the {manifest.groups.word} it belongs to"
        found.append(Field(manifest.groups.column, "words", about, required=False, limits=_id()))
    found += _scores(manifest)
    found += [_input(each) for each in manifest.inputs]
    found += [Field(name, "number", "drawn, never routed on", False, _range(0, 1)) for name in manifest.drawn]
    found += [
        Field(flag, "bit", f"whether {reader.name} can be asked; without it they can", False)
        for flag, reader in zip(availability_columns(manifest), manifest.readers, strict=True)
    ]
    return tuple(found)


def reading_fields(manifest: Manifest) -> tuple[Field, ...]:
    """What a reader says of a case that came in."""
    answers = f"0: {manifest.task.negative}; 1: {manifest.task.positive}"
    return (
        *_of_an_arrival(manifest),
        Field("reader", "words", "who read it", limits={"enum": list(manifest.columns)}),
        Field("at", "time", "when it was read, else now; of several readings by one reader the newest holds", False),
        Field("says", "bit", f"{answers}; null where it was declined", required=False),
        Field("confidence", "number", "how sure the reader is", False, _range(0, 1)),
        Field("declined", "bit", "1 if the reader would not say", required=False),
    )


def outcome_fields(manifest: Manifest) -> tuple[Field, ...]:
    """What turned out to be true of a case that came in, and what the clinic acted on."""
    answers = f"0: {manifest.task.negative}; 1: {manifest.task.positive}"
    return (
        *_of_an_arrival(manifest),
        Field("at", "time", "when it became known, else now; of several outcomes the newest holds", False),
        Field("truth", "bit", f"what turned out; {answers}", required=False),
        Field("done", "bit", f"the answer the clinic itself acted on; {answers}", required=False),
    )


FIELDS: dict[Kind, Callable[[Manifest], tuple[Field, ...]]] = {
    "cases": case_fields,
    "readings": reading_fields,
    "outcomes": outcome_fields,
}


def _of_an_arrival(manifest: Manifest) -> tuple[Field, Field]:
    """Which arrival a row is about."""
    case = manifest.task.case
    return (
        Field(CASE, "words", f"id of the {case}", limits=_id()),
        Field(TIME, "time", f"when the {case} came in, as it was said then"),
    )


def _scores(manifest: Manifest) -> list[Field]:
    """The AI's answer."""
    ai, task = manifest.ai, manifest.task
    if ai.probability is not None:
        return [Field(ai.probability, "number", f"AI's probability of {task.positive}", limits=_range(0, 1))]
    if ai.logits:
        pairs = zip(ai.logits, (task.negative, task.positive), strict=True)
        return [Field(name, "number", f"AI's score, {answer}") for name, answer in pairs]
    return [Field(name, "number", f"AI's log-odds of {task.positive}") for name in ai.columns]


def _input(given: Input) -> Field:
    title = given.title or given.column
    about = [title if not given.unit else f"{title}, in {given.unit}", given.means]
    if given.codes:
        return Field(given.column, "words", _told(about), not given.missing, {"enum": list(given.codes)})
    limits = _range(given.low, given.high) if given.strict else {}
    if not given.strict and (given.low, given.high) != (None, None):
        least, most = ("any" if end is None else f"{end:g}" for end in (given.low, given.high))
        about.append(f"usual range {least} to {most}")
    if given.missing:
        about.append("null where it was not measured")
    return Field(given.column, "number", _told(about), not given.missing, limits)


def _told(parts: Sequence[str]) -> str:
    return "; ".join(filter(None, parts))


def _range(low: float | None, high: float | None) -> dict[str, Any]:
    return {name: end for name, end in (("minimum", low), ("maximum", high)) if end is not None}


def _id() -> dict[str, Any]:
    return {"minLength": 1, "maxLength": LONGEST}
