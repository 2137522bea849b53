"""The security headers of every answer; the one place for them, with a proxy in front and without.

Only what TLS alone allows, Strict-Transport-Security, is left to the proxy that ends it (`deploy/Caddyfile`).
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import cache
from ipaddress import ip_address
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mpd2.core.errors import UserError

METRICS = "/_stcore/metrics"
WATCHERS = "MPD2_METRICS_FROM"
"""Names addresses, with commas between, that may read the numbers besides this machine."""
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
SOURCES = {
    "default-src": "'none'",
    "script-src": "'self' blob: 'unsafe-eval'",  # components come as blobs; Plotly's WebGL compiles what it draws with
    "style-src": "'self' 'unsafe-inline'",  # Streamlit writes its styles into the page
    "font-src": "'self' data:",  # one of Streamlit's stands in its style sheet
    "img-src": "'self' data: blob:",  # drawings come as data
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
CLOSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")


def content_security_policy() -> str:
    """What a page may load and from where: from this server alone; scripts must be its own files."""
    return "; ".join(
        f"{name} {allowed}{_own_scripts() if name == 'script-src' else ''}" for name, allowed in SOURCES.items()
    )


@cache
def _own_scripts() -> str:
    """The scripts that stand inside of Streamlit's page, by their digests: no other may."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in INLINE.findall(page))
    return "".join(f" 'sha256-{digest}'" for digest in digests)


@cache
def security_headers() -> dict[str, str]:
    """What every answer says of itself."""
    return {
        "Content-Security-Policy": content_security_policy(),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",  # of browsers that do not know frame-ancestors
        "Referrer-Policy": "no-referrer",  # a link to a case must not reach another host
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in CLOSED),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


class SecurityHeaders:
    """ASGI middleware: headers on every answer, cookies for TLS alone where there is TLS, numbers for watchers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.watchers = named_watchers(os.environ.get(WATCHERS, ""))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        secure = scope["scheme"] in ("https", "wss")

        async def sending(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                add_headers(MutableHeaders(scope=message), secure)
            await send(message)

        refused = scope["type"] == "http" and _asks_for_numbers(scope) and not self.may_watch(scope)
        answer: ASGIApp = PlainTextResponse("Not Found", 404) if refused else self.app
        await answer(scope, receive, sending)

    def may_watch(self, scope: Scope) -> bool:
        """Whether a request comes from a watcher or from this machine itself, not through a proxy on it."""
        peer = scope["client"][0] if scope["client"] else ""
        if peer in self.watchers:
            return True
        return _is_loopback(peer) and not any(name in Headers(scope=scope) for name in FORWARDED)


def add_headers(headers: MutableHeaders, secure: bool) -> None:
    """Put the headers on an answer; `secure` if it goes out over TLS."""
    for name, value in security_headers().items():
        headers[name] = value
    cookies = headers.getlist("set-cookie")
    if secure and cookies:
        del headers["set-cookie"]
        for cookie in cookies:
            headers.append("set-cookie", cookie if _is_secure(cookie) else f"{cookie}; Secure")


def named_watchers(text: str) -> frozenset[str]:
    """The addresses that may read the numbers.

    >>> sorted(named_watchers("10.0.0.5, 10.0.0.6"))
    ['10.0.0.5', '10.0.0.6']
    """
    named = [part.strip() for part in text.split(",") if part.strip()]
    try:
        return frozenset(str(ip_address(part)) for part in named)
    except ValueError:
        raise UserError(
            f"{WATCHERS}: found {text!r}, expected addresses such as 10.0.0.5, with commas between"
        ) from None


def _asks_for_numbers(scope: Scope) -> bool:
    return str(scope["path"]).rstrip("/").endswith(METRICS)


def _is_loopback(peer: str) -> bool:
    try:
        return ip_address(peer).is_loopback
    except ValueError:
        return False


def _is_secure(cookie: str) -> bool:
    return "secure" in (part.strip().lower() for part in cookie.split(";")[1:])
