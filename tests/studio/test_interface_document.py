"""The OpenAPI document: of the form that its specification asks for, in the words of any manifest, and true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from other_fields import FIELDS, manifest_of
from small_workspace import MANIFEST

from mpd2.core.manifest import Manifest, parse_manifest
from mpd2.studio.server.interface.document import document
from mpd2.studio.server.interface.routes import PREFIX, interface

VERBS = {"get", "post"}
ROWS = ("Case", "Reading", "Outcome")
MANIFESTS = {"nights": parse_manifest(MANIFEST), **{field: manifest_of(field) for field in FIELDS}}
"""Of three fields, with a probability, log-odds and two logits."""


@pytest.fixture(params=MANIFESTS)
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return MANIFESTS[request.param]


@pytest.fixture
def made(manifest: Manifest) -> dict[str, Any]:
    return orjson.loads(orjson.dumps(document(manifest, "mine", PREFIX)))


def inside(part: Any) -> Iterator[dict[str, Any]]:
    """Every object in a document."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    for each in part if isinstance(part, list) else []:
        yield from inside(each)


def found(made: dict[str, Any], pointer: str) -> Any:
    """What a reference leads to."""
    assert pointer.startswith("#/")
    for name in pointer.removeprefix("#/").split("/"):
        made = made[name]
    return made


def operations(made: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, verb, each) for path, item in made["paths"].items() for verb, each in item.items()]


def test_it_has_what_every_such_document_must_have(made: dict[str, Any]) -> None:
    assert re.fullmatch(r"3\.1\.\d+", made["openapi"])
    assert all(isinstance(made["info"][name], str) and made["info"][name] for name in ("title", "version"))
    assert made["paths"]
    assert all(path.startswith("/") for path in made["paths"])
    assert set(made) <= {"openapi", "info", "servers", "security", "paths", "components"}
    assert made["servers"] == [{"url": PREFIX}]


def test_every_reference_leads_to_something_of_its_kind(made: dict[str, Any]) -> None:
    references = [each["$ref"] for each in inside(made) if "$ref" in each]
    assert references
    for pointer in references:
        assert ("description" in found(made, pointer)) == pointer.startswith("#/components/responses/")
    assert all(set(each) == {"$ref"} for each in inside(made) if "$ref" in each)
    used = {pointer.split("/")[-1] for pointer in references}
    assert used == {*made["components"]["schemas"], *made["components"]["responses"]}
    assert all(re.fullmatch(r"[a-zA-Z0-9._-]+", name) for name in used)


def test_every_operation_is_described_as_the_specification_asks(made: dict[str, Any]) -> None:
    names = [each["operationId"] for _, _, each in operations(made)]
    assert len(names) == len(set(names))
    for _, verb, each in operations(made):
        assert verb in VERBS
        assert each["responses"]
        for status, answer in each["responses"].items():
            assert re.fullmatch(r"[1-5]\d\d", status)
            full = found(made, answer["$ref"]) if "$ref" in answer else answer
            assert full["description"]
            assert all("schema" in media for media in full["content"].values())
        parameters = each.get("parameters", [])
        assert len({(one["name"], one["in"]) for one in parameters}) == len(parameters)
        assert all(one["in"] == "query" and "schema" in one for one in parameters)
        assert ("requestBody" in each) == (verb == "post")


def test_every_operation_takes_a_token(made: dict[str, Any]) -> None:
    schemes = made["components"]["securitySchemes"]
    assert [list(each) for each in made["security"]] == [list(schemes)]
    assert all((each["type"], each["scheme"]) == ("http", "bearer") for each in schemes.values())
    assert not [each for _, _, each in operations(made) if "security" in each]
    assert not [each for _, _, each in operations(made) if not {"401", "403"} <= set(each["responses"])]


def test_every_schema_is_one(made: dict[str, Any]) -> None:
    schemas = [*made["components"]["schemas"].values(), *(each["schema"] for each in inside(made) if "schema" in each)]
    for schema in schemas:
        Draft202012Validator.check_schema(schema)


def test_it_has_every_route_and_no_other(made: dict[str, Any]) -> None:
    served = {(each.path, method.lower()) for each in interface().routes for method in each.methods - {"HEAD"}}
    assert {(path, verb) for path, verb, _ in operations(made)} == served


def test_it_speaks_the_words_of_the_manifest(made: dict[str, Any], manifest: Manifest) -> None:
    rows = {name: made["components"]["schemas"][name]["properties"] for name in ROWS}
    for each in manifest.inputs:
        told = rows["Case"][each.column]
        assert each.title in told["description"] or not each.title
        assert each.unit in told["description"]
        if each.strict:
            assert (told.get("minimum"), told.get("maximum")) == (each.low, each.high)
        if each.codes:
            assert set(each.codes) <= set(told["enum"])
        assert (each.column in made["components"]["schemas"]["Case"]["required"]) is not each.missing
    assert rows["Reading"]["reader"]["enum"] == list(manifest.columns)
    assert manifest.task.positive in rows["Outcome"]["truth"]["description"]
    assert manifest.row.truth not in rows["Case"]
