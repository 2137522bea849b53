"""The OpenAPI document: what the interface takes and gives, in the words of the active run's manifest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpd2
from mpd2.core.manifest import Manifest
from mpd2.studio.server.interface.bodies import MOST_BYTES, MOST_ROWS
from mpd2.studio.server.interface.fields import Field, case_fields, outcome_fields, reading_fields

VERSION = "3.1.0"
JSON, PROBLEM = "application/json", "application/problem+json"
Schema = dict[str, Any]

REFUSALS = {
    "400": ("BadRequest", "It is no JSON, or not of the form described here."),
    "401": ("Unauthorized", "There is no token, or nobody's."),
    "403": ("Forbidden", "The role of the token may not do this."),
    "404": ("Off", "The interface is off."),
    "408": ("Slow", "The body took too long to arrive."),
    "413": ("TooLarge", f"More than {MOST_BYTES:,} bytes or {MOST_ROWS:,} rows."),
    "415": ("NotJson", "The body is of another type, or compressed."),
    "429": ("TooManyTokens", "Too many wrong tokens from this address; Retry-After says when it is listened to again."),
    "500": ("Failed", "An error of the program. Send the same again: nothing is kept twice."),
    "503": ("Unavailable", "No run is active, the record cannot be written, or too many requests wait."),
}
OF_BODIES = frozenset({"400", "408", "413", "415"})
RESULTS = {
    "200": "Every row was accepted, or had been before.",
    "207": "Some rows were refused; the others are kept.",
    "422": "Every row was refused.",
}


def document(manifest: Manifest, run: str, prefix: str) -> dict[str, Any]:
    """The whole document."""
    about = (
        f"Shadow mode of {manifest.title}, with the run {run}: what would have been done with each "
        f"{manifest.task.case}. Nothing in care is changed by it. Research software, not a medical device."
    )
    rows = {"Case": case_fields(manifest), "Reading": reading_fields(manifest), "Outcome": outcome_fields(manifest)}
    return {
        "openapi": VERSION,
        "info": {"title": "MPD² Studio, clinic", "version": mpd2.__version__, "description": about},
        "servers": [{"url": prefix}],
        "security": [{"token": []}],
        "paths": _paths(manifest),
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "From `mpd2 clinic token`."}
            },
            "schemas": {**{name: _row(fields) for name, fields in rows.items()}, **_results(), **_worklist(manifest)},
            "responses": {name: _refusal(told) for name, told in REFUSALS.values()},
        },
    }


def _paths(manifest: Manifest) -> dict[str, Any]:
    case, cases = manifest.task.case, manifest.task.cases
    return {
        "/cases": {"post": _taking("cases", "Case", f"Take in {cases}: each is routed before its truth is known.")},
        "/readings": {"post": _taking("readings", "Reading", f"Add what readers said of a {case}.")},
        "/outcomes": {"post": _taking("outcomes", "Outcome", "Add what turned out, and what the clinic acted on.")},
        "/worklist": {
            "get": {
                "operationId": "worklist",
                "summary": f"The {cases} that wait for a reader.",
                "parameters": _questions(manifest),
                "responses": {
                    "200": _json("The worklist.", {"$ref": "#/components/schemas/Worklist"}),
                    **_refusals(frozenset(REFUSALS) - OF_BODIES | {"400"}),
                },
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "document",
                "summary": "This document.",
                "responses": {
                    "200": _json("The document.", {"type": "object"}),
                    **_refusals(frozenset(REFUSALS) - OF_BODIES),
                },
            }
        },
    }


def _taking(name: str, row: str, summary: str) -> dict[str, Any]:
    """What takes rows in."""
    rows = {"type": "array", "minItems": 1, "maxItems": MOST_ROWS, "items": {"$ref": f"#/components/schemas/{row}"}}
    body = {"type": "object", "required": [name], "additionalProperties": False, "properties": {name: rows}}
    results = {status: _json(told, {"$ref": "#/components/schemas/Results"}) for status, told in RESULTS.items()}
    return {
        "operationId": f"add_{name}",
        "summary": summary,
        "description": "The same row again changes nothing.",
        "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
        "responses": {**results, **_refusals(frozenset(REFUSALS))},
    }


def _questions(manifest: Manifest) -> list[dict[str, Any]]:
    readers = {"type": "string", "enum": list(manifest.columns), "description": _named(manifest)}
    return [
        {"name": "reader", "in": "query", "required": True, "schema": readers},
        {
            "name": "day",
            "in": "query",
            "description": "Of arrival, in UTC; without it every day.",
            "schema": {"type": "string", "format": "date"},
        },
    ]


def _row(fields: Sequence[Field]) -> Schema:
    return {
        "type": "object",
        "required": [each.name for each in fields if each.required],
        "additionalProperties": False,
        "properties": {each.name: each.schema() for each in fields},
    }


def _results() -> dict[str, Schema]:
    """What is answered to rows."""
    number = {"type": "integer", "minimum": 0}
    result = {
        "type": "object",
        "required": ["row", "status"],
        "properties": {
            "row": {"type": "integer", "minimum": 1, "description": "Which row of the request."},
            "status": {"type": "string", "enum": ["accepted", "repeated", "refused"]},
            "reasons": {"type": "array", "items": {"type": "string"}, "description": "Why it was refused."},
        },
    }
    counts = dict.fromkeys(("accepted", "repeated", "refused"), number)
    return {
        "Result": result,
        "Results": {
            "type": "object",
            "required": [*counts, "rows"],
            "properties": {**counts, "rows": {"type": "array", "items": {"$ref": "#/components/schemas/Result"}}},
        },
        "Problem": {
            "type": "object",
            "required": ["status", "title", "detail"],
            "properties": {
                "status": {"type": "integer"},
                "title": {"type": "string"},
                "detail": {"type": "string", "description": "What was found, where, and what is expected."},
            },
        },
    }


def _worklist(manifest: Manifest) -> dict[str, Schema]:
    task = manifest.task
    waiting = {
        "case": {"type": "string"},
        "time": {"type": "string", "format": "date-time"},
        "cohort": {"type": "string"},
        "ai_answer": {"type": "string", "enum": [task.negative, task.positive]},
        "ai_probability": {"type": "number", "minimum": 0, "maximum": 1, "description": f"Of {task.positive}."},
        "asked": {"type": "integer", "minimum": 0, "description": "How many were asked before."},
        "chosen": {"type": "boolean", "description": "Whether a clinician sends it there, and not the run."},
        "stop": {"type": "string", "description": "What the hard stop says; empty if nothing."},
        "reason": {"type": "string", "description": "Why it goes there."},
    }
    whole = {
        "reader": {"type": "string"},
        "day": {"type": ["string", "null"], "format": "date"},
        "waiting": {"type": "integer", "minimum": 0, "description": "How many there are in all."},
        "cases": {
            "type": "array",
            "maxItems": MOST_ROWS,
            "description": f"The first of them, by when they came in; at most {MOST_ROWS:,}.",
            "items": {"$ref": "#/components/schemas/Waiting"},
        },
    }
    return {
        "Waiting": {"type": "object", "required": [*waiting], "properties": waiting},
        "Worklist": {"type": "object", "required": [*whole], "properties": whole},
    }


def _named(manifest: Manifest) -> str:
    return "; ".join(f"{reader.column}: {reader.name}" for reader in manifest.readers)


def _json(told: str, schema: Schema) -> dict[str, Any]:
    return {"description": told, "content": {JSON: {"schema": schema}}}


def _refusal(told: str) -> dict[str, Any]:
    return {"description": told, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


def _refusals(statuses: frozenset[str]) -> dict[str, Any]:
    return {status: {"$ref": f"#/components/responses/{REFUSALS[status][0]}"} for status in sorted(statuses)}
