"""A private PostgreSQL, gone when the block ends."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

OWNER = "postgres"  # who runs it if we are root, which the database refuses to be


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database that is reached by a socket in its own folder and listens to no network."""
    folder = Path(mkdtemp(prefix="pg"))  # short, as the path of a socket must be, and open to its owner
    root = os.geteuid() == 0
    become = [_binary("runuser"), "-u", OWNER, "--"] if root else []
    user = OWNER if root else pwd.getpwuid(os.geteuid()).pw_name
    if root:
        shutil.chown(folder, OWNER)

    def run(program: str, *line: str) -> None:
        subprocess.run([*become, _binary(program), *line], check=True, cwd=folder, stdout=subprocess.DEVNULL)

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8")
        settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "start", "-w", "-D", data, "-l", str(folder / "log"), "-o", settings)
        try:
            yield f"postgresql+psycopg://{user}@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binary(name: str) -> str:
    """Debian keeps the database's programs off every path, and those of the system off some."""
    versions = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin", *versions])
    program = shutil.which(name, path=path)
    assert program, f"{name} is not installed; `make system` does it on Debian"
    return program
