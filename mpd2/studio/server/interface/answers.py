"""What the interface answers: JSON, never kept by anybody on the way, and a refusal in words where it is one."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from starlette.responses import Response

from mpd2.core.text import without_folders

KEPT_NOWHERE = {"Cache-Control": "no-store"}


class Refused(Exception):
    """A request that is not done, and why."""

    def __init__(self, status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.headers = status, reason, dict(headers or {})


def answer(content: Any, status: int = HTTPStatus.OK) -> Response:
    """An answer."""
    return Response(orjson.dumps(content), status, KEPT_NOWHERE, "application/json")


def refusal(status: HTTPStatus, reason: str, headers: Mapping[str, str] | None = None) -> Response:
    """An answer to what is refused, in the form of RFC 9457."""
    content = {"status": int(status), "title": status.phrase, "detail": without_folders(reason)}
    return Response(orjson.dumps(content), status, {**KEPT_NOWHERE, **(headers or {})}, "application/problem+json")
