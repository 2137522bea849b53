"""The addresses of the interface, and what each does with a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed
from mpd2.core.errors import UserError
from mpd2.studio.server.interface.answers import Refused, answer, refusal
from mpd2.studio.server.interface.asking import asking
from mpd2.studio.server.interface.bodies import Rows, discard, read_body, rows_of
from mpd2.studio.server.interface.fields import KINDS, Kind
from mpd2.studio.server.interface.line import Line
from mpd2.studio.server.interface.together import Together

PREFIX = "/api/v1"
"""Below which all addresses are: the pages have theirs, such as /clinic, directly below the root."""
WRITERS = Line("writer", threads=1, most=64)
READERS = Line("reader", threads=2, most=64)


def routes() -> list[BaseRoute]:
    """What the server has beside its pages."""
    return [Mount(PREFIX, app=interface())]


def interface() -> Starlette:
    """The interface by itself: whatever is not an address of it, and every error, is answered in its own way."""
    handlers = {Refused: _refused, NotAllowed: _not_allowed, UserError: _cannot, HTTPException: _elsewhere}
    made = Starlette(
        routes=[
            *(Route(f"/{kind}", _taking(kind), methods=["POST"]) for kind in KINDS),
            Route("/worklist", _worklist, methods=["GET"]),
            Route("/openapi.json", _document, methods=["GET"]),
        ],
        exception_handlers={**handlers, Exception: _failed},
    )
    made.router.redirect_slashes = False  # a body would be sent twice, and a token to wherever it says
    return made


def _taking(kind: Kind) -> Callable[[Request], Awaitable[Response]]:
    """What takes rows of a kind in."""

    async def taking(request: Request) -> Response:
        try:
            by = asking(request)
        except Refused:
            await discard(request)
            raise
        rows = rows_of(await read_body(request), kind)
        return answer(*await TURNS.do((kind, by), rows))

    return taking


async def _worklist(request: Request) -> Response:
    by = asking(request)
    return answer(await READERS.do(_worklist_of, request.query_params.multi_items(), by))


async def _document(request: Request) -> Response:
    asking(request)
    return answer(await READERS.do(_described))


# What works at the desk brings a database along, and so is not imported before somebody asks.


def _take(sender: tuple[Kind, Actor], parts: Sequence[Rows]) -> list[tuple[dict[str, Any], int]]:
    from mpd2.studio.server.interface import desk

    kind, by = sender
    return [(reply.content(), reply.status) for reply in desk.take_each(kind, parts, by=by)]


TURNS = Together(WRITERS, _take)
"""Those of the writer."""


def _worklist_of(questions: list[tuple[str, str]], by: Actor) -> dict[str, Any]:
    from mpd2.studio.server.interface import desk

    return desk.worklist(questions, by=by)


def _described() -> dict[str, Any]:
    from mpd2.studio.server.interface import desk

    return desk.document(PREFIX)


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return refusal(error.status, error.reason, error.headers)


def _not_allowed(_: Request, error: Exception) -> Response:
    return refusal(HTTPStatus.FORBIDDEN, str(error))


def _cannot(_: Request, error: Exception) -> Response:
    return refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error))


def _elsewhere(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(HTTPStatus(error.status_code), error.detail, error.headers)


def _failed(_: Request, error: Exception) -> Response:
    reason = "an error of the program; send the same again, nothing is kept twice"
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, reason)
