"""What `streamlit run app.py` starts: warm up once, then serve the studio."""

# ruff: noqa: E402
from mpd2.studio.server.memory import give_back_memory

give_back_memory()  # before libraries start threads

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

import mpd2
from mpd2.core.files import INSTALLED
from mpd2.lab.confined.process import kept_ready
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.jobs.maintenance import tended
from mpd2.studio import serving, warm
from mpd2.studio.server.headers import SecurityHeaders
from mpd2.studio.server.interface.routes import routes
from mpd2.studio.server.lookups import spare_copies
from mpd2.studio.server.numbers import show_numbers
from mpd2.studio.server.wakeups import spare_wakeups
from mpd2.studio.shell import discreet_log
from mpd2.studio.shell.forgetting import forgetting

discreet_log.install()  # before anything can go wrong with what visitors send

if INSTALLED:  # what people make does not belong among the libraries; workers, who live elsewhere, are told as well
    os.environ[PLACE] = str(Path(os.environ.get(PLACE, "")).absolute())


@asynccontextmanager
async def ready(_: st.App) -> AsyncIterator[None]:
    """Make ready what the first visitor needs; then the rest, and look after the jobs meanwhile."""
    serving.check_or_exit()  # here, and not on import: by now it is known where it would listen
    show_numbers()
    spare_wakeups(asyncio.get_running_loop())
    spare_copies()
    warm.warm_up()
    async with warm.warming(), warm.tidied(), tended(Workshop.here()), forgetting():
        with kept_ready():
            yield


app = st.App(
    Path(mpd2.__file__).parent / "studio" / "main.py",
    lifespan=ready,
    routes=routes(),
    middleware=[Middleware(SecurityHeaders)],
)
