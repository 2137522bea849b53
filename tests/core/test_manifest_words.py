"""The words of a manifest, and the page that explains its fields."""

from __future__ import annotations

import re
import typing

import pytest
from other_fields import FIELDS, manifest_of
from places import ROOT

from mpd2.core.manifest import Manifest, Record, Task, load_manifest, parse_manifest

PAGE = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")


def records(record: type[Record] = Manifest) -> dict[str, type[Record]]:
    """Every part of a manifest by the name it has in the file; the whole has none."""
    found = {"": record} if record is Manifest else {}
    for name, field in record.model_fields.items():
        for part in (field.annotation, *typing.get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, Record):
                found[field.alias or name] = part
    return found


@pytest.mark.parametrize("part", records())
def test_every_field_is_explained(part: str) -> None:
    assert not part or f"[{part}]" in PAGE
    fields = [field.alias or name for name, field in records()[part].model_fields.items()]
    missing = [name for name in fields if f"`{name}`" not in PAGE and f"[{name}]" not in PAGE]
    assert not missing


def test_every_field_on_the_page_is_one() -> None:
    fields = {field.alias or name for each in records().values() for name, field in each.model_fields.items()}
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.M)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(named) > 30
    assert named <= fields


def test_the_example_of_the_page_is_a_manifest() -> None:
    [text] = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    task = parse_manifest(text).task
    assert (task.positives, task.one, task.cases) == ("atrial fibrillations", "atrial fibrillation", "tracings")


def test_what_is_not_said_follows_from_the_rest() -> None:
    task = Task(positive="pathology", positives="pathologies", negative="none", case="biopsy", cases="")
    assert (task.one, task.positives, task.cases, task.people) == ("pathology", "pathologies", "biopsies", "people")
    assert Task.model_validate(task.model_dump()) == task


@pytest.mark.parametrize("field", FIELDS)
def test_words_do_not_make_another_table(field: str) -> None:
    manifest = manifest_of(field)
    renamed = manifest.task.model_dump() | {"positive": "anything", "one": "some", "people": "adults"}
    inputs = [each.model_dump() | {"means": "Nobody knows.", "title": "It"} for each in manifest.inputs]
    assert manifest.but(task=renamed, inputs=inputs, credit="Us").identity() == manifest.identity()


def test_the_benchmarks_manifest_says_what_version_one_left_unsaid() -> None:
    path = ROOT / "data" / "glaucoma" / "manifest.toml"
    manifest, text = load_manifest(path), path.read_text(encoding="utf-8")
    head = [line for line in text.splitlines() if line.startswith(('title = "Glaucoma', "table = "))]
    first = parse_manifest("\n".join([*head, text[text.index("# What an error costs") :]]))
    assert first.identity() == manifest.identity()
    assert first.task == manifest.task
    assert first.layout == manifest.layout
