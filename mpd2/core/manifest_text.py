"""A manifest as a TOML file that a person can read and change: with comments, and without what goes without saying."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mpd2.core.manifest import VERSION, Manifest

COMMENTS = {
    "task": "The question in words.",
    "columns": "Which column says what a row is.",
    "ai": "Where the AI's answer stands, and from which probability on it is positive.",
    "groups": "Rows with the same value belong together: they stay in one split and are resampled together.",
    "drawing": "What can be drawn of a case from its numbers.",
    "photographs": "The column with the name of each case's image file.",
    "readings": "The second file, with one row a reading: its columns.",
    "costs": "What an error costs; fees below are in the same unit.",
    "inputs": "Measured besides the AI's answer; role: ai, risk, structure (grows with the disease) or other.",
    "readers": "Readers in the order of their columns; what one reading costs is the fee.",
    "cohorts": "Where the cases come from, and whether their readings are real.",
}


def to_toml(manifest: Manifest) -> str:
    """The manifest as text; `parse_manifest` reads it back as the same."""
    given = manifest.model_dump(by_alias=True, exclude_defaults=True, exclude_none=True)
    task = given["task"]
    for one, several in (("positive", "positives"), ("case", "cases")):
        if task.get(several) == f"{task.get(one, 'case')}s":
            del task[several]
    if task.get("one") == task["positive"]:
        del task["one"]
    lines = ["# What the rows of this table are about. What is left out here is as usual.", f"version = {VERSION}"]
    lines += [f"{key} = {_value(value)}" for key, value in given.items() if key not in COMMENTS and key != "version"]
    for key, comment in COMMENTS.items():
        part = given.get(key)
        if isinstance(part, Mapping) and part:
            lines += ["", f"# {comment}", f"[{key}]", *_entries(part)]
        elif part:
            lines += ["", f"# {comment}"]
            for position, entry in enumerate(part):
                lines += [*([""] if position else []), f"[[{key}]]", *_entries(entry)]
    return "\n".join(lines) + "\n"


def _entries(part: Mapping[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in part.items()]


def _value(value: Any) -> str:
    """A value as TOML writes it.

    >>> _value("a, b"), _value(0.5), _value(True), _value(("a", "b")), _value({"F": 0.0})
    ('"a, b"', '0.5', 'true', '["a", "b"]', '{ "F" = 0.0 }')
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_value(str(key))} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
