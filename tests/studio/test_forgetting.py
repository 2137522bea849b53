"""A visit ends, and what was brought along with it is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from mpd2.cli.bench.slider import connected
from mpd2.core.files import ROOT

PATIENCE = 60.0  # seconds
SERVER = """
import weakref
from contextlib import asynccontextmanager
from pathlib import Path
import streamlit as st
from mpd2.studio.shell import forgetting

forgetting.GRACE, forgetting.EVERY = {grace}, 0.1

@asynccontextmanager
async def ready(_):
    async with forgetting.forgetting():
        yield

app = st.App("page.py", lifespan=ready)
"""
PAGE = """
import weakref
from pathlib import Path
import streamlit as st
from mpd2.studio.shell import forgetting

class Table:
    pass

forgetting.watch()
if "own" not in st.session_state:
    st.session_state["own"] = Table()
    weakref.finalize(st.session_state["own"], Path("gone").touch)
Path("come").touch()
"""


def visit(port: int) -> None:
    """Come, see the page, and go."""
    with connected(f"ws://127.0.0.1:{port}") as connection:
        wish = BackMsg()
        wish.rerun_script.page_name = ""
        connection.send(wish.SerializeToString())
        while True:
            message = ForwardMsg.FromString(bytes(connection.recv(timeout=PATIENCE, decode=False)))
            if message.WhichOneof("type") == "script_finished":
                return


def until(there: Path, seconds: float = PATIENCE) -> bool:
    end = monotonic() + seconds
    while not there.exists() and monotonic() < end:
        sleep(0.1)
    return there.exists()


def healthy(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def seen(folder: Path, grace: float, seconds: float) -> bool:
    """Whether the table of one visitor, after whom nobody comes, is gone in that time."""
    (folder / "served.py").write_text(SERVER.format(grace=grace))
    (folder / "page.py").write_text(PAGE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [sys.executable, "-m", "streamlit", "run", "served.py", "--server.port", str(port)]
    options = ["--server.headless", "true", "--server.address", "127.0.0.1", "--browser.gatherUsageStats", "false"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*line, *options], cwd=folder, env=environment, stdout=-3, stderr=-3) as server:
        try:
            end = monotonic() + PATIENCE
            while not healthy(port):
                assert server.poll() is None
                assert monotonic() < end
                sleep(0.2)
            visit(port)
            assert (folder / "come").exists()
            return until(folder / "gone", seconds)
        finally:
            server.terminate()


def test_a_table_is_gone_once_its_visit_has_ended_though_nobody_else_comes(tmp_path: Path) -> None:
    assert seen(tmp_path, grace=0.3, seconds=PATIENCE)


def test_whoever_comes_back_in_time_finds_it_still_there(tmp_path: Path) -> None:
    assert not seen(tmp_path, grace=PATIENCE, seconds=2)
