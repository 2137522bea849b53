"""Caddy as `deploy/Caddyfile` has it, in front of servers on loopback, with an authority of its own."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from places import ROOT

CADDYFILE = ROOT / "deploy" / "Caddyfile"
AUTHORITY = Path("caddy", "pki", "authorities", "local", "root.crt")
PATIENCE = 60  # seconds, on a busy machine


@dataclass(frozen=True)
class Proxy:
    """A proxy that answers, and the authority its certificate is from."""

    address: str
    authority: Path

    def get(self, path: str, **headers: str) -> HTTPResponse | HTTPError:
        """An answer, whatever its status; its certificate must be from the authority."""
        trust = ssl.create_default_context(cafile=str(self.authority))
        try:
            return urlopen(Request(self.address + path, headers=headers), timeout=PATIENCE, context=trust)
        except HTTPError as error:
            return error


def caddy() -> str:
    """Where it is; that there is none is a failure."""
    found = shutil.which("caddy")
    assert found, "found no caddy; `make system` installs it on Debian"
    return found


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def proxying(servers: Sequence[str], folder: Path) -> Iterator[Proxy]:
    """Caddy in front of servers; what it keeps and says goes into the folder."""
    port = free_port()
    settings = {
        "MPD2_HOST": "localhost",
        "MPD2_HTTPS_PORT": str(port),
        "MPD2_HTTP_PORT": str(free_port()),
        "MPD2_PROCESSES": " ".join(server.removeprefix("http://") for server in servers),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    line = [caddy(), "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(line, env=os.environ | settings, stdout=log, stderr=log) as process,
    ):
        try:
            proxy = Proxy(f"https://localhost:{port}", folder / AUTHORITY)
            _await(proxy, process, folder / "log")
            yield proxy
        finally:
            process.terminate()


def _await(proxy: Proxy, process: subprocess.Popen[bytes], log: Path) -> None:
    end = monotonic() + PATIENCE
    while not _answers(proxy):
        assert process.poll() is None, log.read_text()
        assert monotonic() < end, log.read_text()
        sleep(0.2)


def _answers(proxy: Proxy) -> bool:
    try:
        return proxy.get("/_stcore/health").status == 200
    except OSError:
        return False
