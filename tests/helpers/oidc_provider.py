"""A provider of identities on loopback: OpenID Connect with discovery, codes for one use, PKCE and RS256.

It asks for no password: its page has a link for each person. What some of them get is wrong on purpose.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "studio", "the client's secret"
HOUR = 3600
Claims = dict[str, Any]


@dataclass(frozen=True)
class Person:
    """What the provider says of somebody, beside what it says of everybody; None takes a claim away."""

    claims: Claims
    lasts: float = HOUR  # seconds their token is valid
    forged: bool = False  # signed with a key that the provider does not publish


@dataclass
class Provider:
    """The provider's state: who there is, which codes were given out and which came back."""

    people: Mapping[str, Person]
    address: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}))
    codes: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)  # person and what was asked for
    refused: list[str] = field(default_factory=list)  # why a code was not honoured

    def discovery(self) -> Claims:
        """What it says of itself."""
        places = {"authorization": "authorize", "token": "token"}
        return {
            "issuer": self.address,
            **{f"{name}_endpoint": f"{self.address}/{path}" for name, path in places.items()},
            "jwks_uri": f"{self.address}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        }

    def code_for(self, person: str, asked: dict[str, str]) -> str:
        """Where somebody is sent back to, with a code for them."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = (person, asked)
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token_for(self, given: dict[str, str]) -> Claims | None:
        """The tokens for a code; none, and why, if it was used, or does not belong to whoever brings it."""
        person, asked = self.codes.pop(given.get("code", ""), ("", {}))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given.get("code_verifier", "").encode()).digest())
        problems = {
            "no such code, or used before": not person,
            "another client": (given.get("client_id"), given.get("client_secret")) != (CLIENT, SECRET),
            "another address": given.get("redirect_uri") != asked.get("redirect_uri"),
            "another verifier": challenge.decode().rstrip("=") != asked.get("code_challenge"),
        }
        wrong = [problem for problem, holds in problems.items() if holds]
        if wrong:
            self.refused.append(wrong[0])
            return None
        token = self.id_token(self.people[person], person, asked.get("nonce", ""))
        return {"access_token": secrets.token_urlsafe(8), "token_type": "Bearer", "id_token": token, "expires_in": HOUR}

    def id_token(self, person: Person, name: str, nonce: str) -> str:
        """A signed token about somebody."""
        now = int(time())
        usual = {
            "iss": self.address, "sub": name, "aud": CLIENT, "iat": now, "exp": int(now + person.lasts), "nonce": nonce,
            "name": f"{name.capitalize()} Example",
        }  # fmt: skip
        claims = {key: value for key, value in {**usual, **person.claims}.items() if value is not None}
        key = RSAKey.generate_key(2048, {"kid": "one"}) if person.forged else self.key
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)


@contextmanager
def providing(people: Mapping[str, Person]) -> Iterator[Provider]:
    """A provider that answers on loopback for the length of the block."""
    provider = Provider(people)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/.well-known/openid-configuration":
                self.answer(json.dumps(provider.discovery()), "application/json")
            elif parts.path == "/jwks":
                self.answer(json.dumps({"keys": [provider.key.as_dict(private=False)]}), "application/json")
            elif parts.path == "/authorize":
                links = [f'<p><a href="{self.path}&person={name}">{name}</a></p>' for name in provider.people]
                if "person" not in asked:
                    self.answer(f"<title>Who are you?</title><h1>Who are you?</h1>{''.join(links)}", "text/html")
                else:
                    self.send_response(302)
                    self.send_header("Location", provider.code_for(asked["person"], asked))
                    self.end_headers()
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            given = {name: values[0] for name, values in parse_qs(body).items()}
            kind, _, words = self.headers.get("Authorization", "").partition(" ")
            if kind == "Basic":
                given["client_id"], _, given["client_secret"] = base64.b64decode(words).decode().partition(":")
            tokens = provider.token_for(given)
            self.answer(json.dumps(tokens or {"error": "invalid_grant"}), "application/json", 200 if tokens else 400)

        def answer(self, text: str, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield provider
        server.shutdown()
        thread.join()
