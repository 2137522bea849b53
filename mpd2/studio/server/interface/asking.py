"""Whose token a request shows; without one it goes no further."""

from __future__ import annotations

import os
from functools import lru_cache
from http import HTTPStatus
from math import ceil
from pathlib import Path
from time import monotonic

from starlette.requests import Request

from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.tokens import hash_of, holder_of
from mpd2.clinic.settings import SETTINGS, Token, read_settings
from mpd2.core.errors import UserError
from mpd2.studio.server.interface.answers import Refused
from mpd2.studio.server.interface.attempts import Attempts

OFF = f"the interface is off: the settings, the file that {SETTINGS} names, have no [[clinic.tokens]]"
ASKED = {"WWW-Authenticate": 'Bearer realm="mpd2"'}
LONGEST = 200  # characters of a token

WRONG = Attempts()
"""Those of this process."""


def asking(request: Request) -> Actor:
    """Who asks."""
    known = tokens_here()
    if not known:
        raise Refused(HTTPStatus.NOT_FOUND, OFF)
    address = request.client.host if request.client else ""
    token = _shown(request)
    left = WRONG.wait(address, monotonic())
    if left:
        reason = f"too many wrong tokens from your address; come again in {ceil(left)} seconds"
        raise Refused(HTTPStatus.TOO_MANY_REQUESTS, reason, {"Retry-After": str(ceil(left))})
    holder = holder_of(token, known)
    if holder is None:
        WRONG.failed(address, hash_of(token), monotonic())
        raise Refused(HTTPStatus.UNAUTHORIZED, "Authorization: this token is not known here", ASKED)
    return holder


def tokens_here() -> tuple[Token, ...]:
    """The tokens that are taken; none where the settings have none, and a refusal where they cannot be read."""
    named = os.environ.get(SETTINGS)
    if not named:
        return ()
    try:
        status = os.stat(named)
        return _read(Path(named), (status.st_mtime_ns, status.st_size, status.st_ino))
    except OSError as error:
        reason = f"the settings cannot be read: {error.strerror}"
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, reason) from None
    except UserError:
        reason = "the settings cannot be read; whoever looks after the server has to mend them"
        raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, reason) from None


@lru_cache(maxsize=4)
def _read(path: Path, _: tuple[int, int, int]) -> tuple[Token, ...]:
    return read_settings(path).clinic.tokens


def _shown(request: Request) -> str:
    """The token of a request, as `Authorization: Bearer TOKEN`; it is taken from nowhere else."""
    told = request.headers.getlist("authorization")
    scheme, _, token = told[0].partition(" ") if len(told) == 1 else ("", "", "")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > LONGEST:
        raise Refused(HTTPStatus.UNAUTHORIZED, "Authorization: expected one header, Bearer and your token", ASKED)
    return token
