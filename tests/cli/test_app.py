"""An installed wheel serves the dashboard from anywhere, with its data, pages and assets."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

import pytest
from places import ROOT

from mpd2.cli.bench.slider import Visitor, connected

SOURCES = ("mpd2", "pages", "data", "assets", ".streamlit", "app.py", "setup.py", "pyproject.toml", "requirements.txt",
           "README.md", "LICENSE")  # fmt: skip
PATIENCE = 180  # seconds, on a busy machine


@dataclass(frozen=True)
class Served:
    """A server that was started in a folder of its own and has answered."""

    port: int
    libraries: Path  # where the wheel was installed
    before: set[Path]  # what the wheel brought
    log: Path


def pip(*line: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *line]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout, installed alone into a folder."""
    copy, wheels, target = (tmp_path_factory.mktemp(name) for name in ("checkout", "wheels", "libraries"))
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(wheels), str(copy))
    pip("install", "--no-deps", "--no-index", "--target", str(target), *map(str, wheels.glob("*.whl")))
    return target


@pytest.fixture(scope="module")
def served(libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`mpd2 app` of the wheel, in another folder."""
    folder, before = tmp_path_factory.mktemp("elsewhere"), files_of(libraries)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if name != "MPD2_WORKSHOP"}
    environment["PYTHONPATH"] = str(libraries)
    command, log = [str(libraries / "bin" / "mpd2"), "app", "--port", str(port)], folder / "log.txt"
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output) as server,
    ):
        try:
            end = monotonic() + PATIENCE
            while not healthy(port):
                assert server.poll() is None, log.read_text()
                assert monotonic() < end, log.read_text()
                sleep(0.2)
            yield Served(port, libraries, before, log)
        finally:
            server.terminate()


def healthy(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_an_installed_wheel_serves_its_pages_with_their_data(served: Served) -> None:
    with connected(f"ws://127.0.0.1:{served.port}") as connection:
        visitor = Visitor(connection)
        visitor.open()  # the Budget page, whose slider is drawn last
        assert visitor.slider
    with urlopen(f"http://127.0.0.1:{served.port}/app/static/inter-latin.woff2", timeout=5) as font:
        assert font.status == 200


def test_it_answers_this_machine_alone_and_prints_its_address_and_nothing_else(served: Served) -> None:
    with pytest.raises(OSError, match=r"refused|unreachable|assign"):
        socket.create_connection(("127.0.0.2", served.port), timeout=5).close()
    printed = [line.strip() for line in served.log.read_text().splitlines() if line.strip()]
    assert printed == [
        "You can now view your Streamlit app in your browser.",
        f"URL: http://localhost:{served.port}",
    ]


def test_nothing_is_written_among_the_libraries(served: Served, tmp_path: Path) -> None:
    assert files_of(served.libraries) == served.before
    probe = "import app; from mpd2.lab.jobs.folder import Workshop; print(Workshop.here().jobs, Workshop.here().runs)"
    path = os.pathsep.join([str(served.libraries), str(served.libraries / "mpd2" / "bundle")])
    for named, place in (({}, tmp_path), ({"MPD2_WORKSHOP": "shop"}, tmp_path / "shop")):
        environment = {name: value for name, value in os.environ.items() if name != "MPD2_WORKSHOP"}
        environment |= {"PYTHONPATH": path} | named
        done = subprocess.run(
            [sys.executable, "-c", probe], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == [str(place / "jobs"), str(place / "runs")]


def test_a_command_of_the_wheel_reads_the_shipped_table_from_anywhere(libraries: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(libraries)}
    program = str(libraries / "bin" / "mpd2")
    line = [program, "evaluate", str(libraries / "mpd2" / "bundle" / "data" / "glaucoma" / "runs" / "ai")]
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "TotalCost" in done.stdout
    usage = subprocess.run([program, "check"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert usage.stderr.startswith("usage: mpd2 check")


def test_the_wheel_holds_every_file_that_lies_beside_a_module(libraries: Path) -> None:
    beside = [path.relative_to(ROOT) for path in (ROOT / "mpd2").rglob("*.json")]
    assert beside
    assert not [path for path in beside if not (libraries / path).is_file()]
